"""`cloze launch`: the mpirun command that it makes from its options, and what it refuses. What becomes of a launched
run that is signalled or loses a process is in mpirun_faults_test.py.

Usage: launch_test.py PROGRAM
"""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from option_effects import PROGRAM, Effect, OptionEffects

MODEL = ["--generated-data", "--vocab-size=120", "--hidden-size=16", "--num-hidden-layers=1",
         "--num-attention-heads=2", "--intermediate-size=24"]


def launch(folder, options, command=("pretrain", "--compile-only", *MODEL), **environment):
    words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items() if value is not None]
    border = ["--", *command] if command else []
    return subprocess.run([PROGRAM, "launch", *words, *border], cwd=folder, capture_output=True, text=True,
                          timeout=60, env={**os.environ, **environment})


class LaunchRun:
    def __init__(self, folder, name, command, options):
        result = launch(folder, options)
        self.status, self.output, self.messages = result.returncode, result.stdout, result.stderr


def prints(text):
    return lambda run, base: run.status == base.status == 0 and text in run.output and text not in base.output


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class LaunchEffectsTest(OptionEffects, unittest.TestCase):
    COMMAND = "launch"
    RUN = LaunchRun
    BASE = {"processes": 2, "dry_run": "true"}
    KNOWN = {"elastic", "max_restarts"}  # mpirun_faults_test.py
    EFFECTS = {
        "processes": Effect(3, prints("mpirun -n 3 ")),
        "hosts": Effect("hosts", prints(" --hostfile hosts "), remote_shell="/bin/true"),
        "remote_shell": Effect("/bin/false", prints(" plm_rsh_agent /bin/false "), hosts="hosts"),
        "dry_run": Effect("false", lambda run, base: "mpirun" not in run.output and
                          run.output.count("instruction set") == 1, base={}, processes=2),
    }

    @staticmethod
    def make_data(folder):
        (folder / "hosts").write_text("localhost slots=4\n")


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class LaunchErrorsTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def assert_refused(self, status, message, options, *more, **environment):
        result = launch(self.folder, options, *more, **environment)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertEqual(result.stderr, f"cloze: {message}\n")

    def test_what_it_cannot_start(self):
        self.assert_refused(2, "launch has nothing to start; write it after --: cloze launch -n 2 -- "
                               "pretrain ...", {"processes": 2}, ())
        self.assert_refused(2, "squad runs in one process; start it without mpirun, which is for cloze "
                               "pretrain", {"processes": 2}, ("squad",))
        self.assert_refused(2, "--elastic resumes from checkpoints, but the command does not say where they "
                               "are; add --save-path FOLDER to it", {"processes": 2, "elastic": "true"})

    def test_what_is_not_installed(self):
        self.assert_refused(4, "mpirun is not installed; install openmpi-bin, on each host of a run",
                            {"processes": 2}, PATH="/nowhere")
        (self.folder / "hosts").write_text("far\n")
        self.assert_refused(4, "there is no no-shell to reach hosts with; install it, or name another "
                               "program with --remote-shell",
                            {"processes": 2, "hosts": "hosts", "remote_shell": "no-shell"})

    def test_hosts_that_cannot_be_used(self):
        options = {"processes": 2, "hosts": "hosts", "remote_shell": "/bin/false"}
        self.assert_refused(2, "cannot read the hosts file hosts; write one, with one host per line: "
                               "NAME slots=4", options)
        (self.folder / "hosts").write_text("\n# none\n")
        self.assert_refused(2, "the hosts file hosts names no host; write one per line: NAME slots=4", options)
        (self.folder / "hosts").write_text("localhost slots=1\nfar slots=1\nfarther slots=1\n")
        self.assert_refused(4, "no answer from far, farther: `/bin/false far true` must work without a "
                               "password; fix that, or remove the host from the hosts file", options)


if __name__ == "__main__":
    unittest.main()
