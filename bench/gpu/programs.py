"""The programs that scripts/gpu_check runs: where they are, and why one cannot run."""
import argparse
import functools
import json
import pathlib
import subprocess
import tempfile

from peer_packages import peers_python

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
UNUSABLE = (2, 4)  # exit codes: a device that is unknown or not built; one that this machine lacks
TRIAL = ("--generated-data", "--vocab-size=64", "--hidden-size=16", "--num-hidden-layers=1", "--num-attention-heads=1",
         "--intermediate-size=16", "--max-position-embeddings=16", "--seq-length=16", "--max-predictions-per-seq=2",
         "--micro-batch-size=2", "--num-train-steps=1", "--steps-per-ckpts=0", "--threads=1", "--progress-bar=false")


def program(build_dir, name):
    """The program of an unpacked bundle, else the one that was built here; None where neither is."""
    places = (ROOT / "bin" / name, build_dir / "bin" / name, build_dir / name)
    return next((place for place in places if place.is_file()), None)


def script_arguments(description, name):
    """The arguments of a script that parts.own_script() starts for this program of ours."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--program", type=lambda path: pathlib.Path(path).resolve(), required=True, help=name)
    parser.add_argument("--device", required=True)
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


def no_program(name):
    return f"no {name} here; scripts/gpu_check pack makes an archive with it where nvcc is"


def lines_of(command):
    """The lines that a program prints; none if it fails."""
    try:
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=60, cwd=ROOT)
    except (OSError, subprocess.TimeoutExpired):
        return []
    return result.stdout.strip().splitlines() if result.returncode == 0 else []


def first_line(command):
    return next(iter(lines_of(command)), "none")


@functools.cache
def torch_facts():
    """Versions of the peers' packages; None where they cannot be imported."""
    code = ("import json, torch, transformers; print(json.dumps(dict(torch=torch.__version__, "
            "transformers=transformers.__version__, torch_finds_card=torch.cuda.is_available())))")
    line = first_line([peers_python(), "-c", code])
    return json.loads(line) if line.startswith("{") else None


@functools.cache
def device_complaint(cloze, device):
    """Why the program cannot compute on the device, in its own words; empty where it can, or where it breaks otherwise: the
    parts will then show how."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(cloze), "pretrain", *TRIAL, f"--device={device}", f"--save-path={folder}/run"]
        try:
            trial = subprocess.run(command, capture_output=True, text=True, timeout=60, cwd=folder)
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"cloze was tried on {device}: {error}"
    if trial.returncode not in UNUSABLE:
        return ""
    said = trial.stderr.strip().splitlines() or [f"status {trial.returncode}"]
    return f"not built: {said[-1]}" if trial.returncode == 2 else said[-1]
