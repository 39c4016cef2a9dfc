"""The Python packages that scripts compare with; scripts/setup --peers installs them into build/peers."""
import contextlib
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def peers_python():
    """Returns the Python that has them: that of PEERS_PYTHON, that of build/peers, or this one."""
    installed = ROOT / "build" / "peers" / "bin" / "python"
    return os.environ.get("PEERS_PYTHON") or (installed if installed.exists() else sys.executable)


def install_peers():
    """Installs them, unless PEERS_PYTHON names a Python that has them. Returns the Python."""
    if not os.environ.get("PEERS_PYTHON"):
        subprocess.run([ROOT / "scripts" / "setup", "--peers"], check=True)
    return peers_python()


@contextlib.contextmanager
def packages(installed_by="scripts/setup --peers"):
    """A context for imports. If one finds no package, the script ends with a message."""
    try:
        yield
    except ModuleNotFoundError as error:
        script = pathlib.Path(sys.argv[0]).name
        raise SystemExit(f"{script}: no package {error.name}; {installed_by} installs it, then "
                         f"build/peers/bin/python scripts/{script}") from None
