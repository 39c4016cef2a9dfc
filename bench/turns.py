"""Programs that are timed in turns on one machine, each a process that runs a step when it is asked.

They speak one protocol (--serve): they print "ready" when warm and answer each line "run" with a
JSON line of what they measured.
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RELEASE = ROOT / "build" / "release"


class RunnerError(Exception):
    pass


class Runner:
    """One side of a comparison. The larger its measure, the better."""

    def __init__(self, name, command, measure="sequences_per_second"):
        self.name = name
        self.measure = measure
        self.best = None
        self.last = None
        self.process = subprocess.Popen([str(part) for part in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def next_line(self):
        line = self.process.stdout.readline()
        if not line:
            raise RunnerError(f"{self.name} ended early with status {self.process.wait()}")
        return line.strip()

    def wait_until_warm(self):
        while self.next_line() != "ready":
            pass

    def run(self):
        self.process.stdin.write("run\n")
        self.process.stdin.flush()
        line = self.next_line()
        while not line.startswith("{"):
            line = self.next_line()
        self.last = json.loads(line)
        if self.best is None or self.last[self.measure] > self.best[self.measure]:
            self.best = self.last
        return self.last[self.measure]

    def stop(self):
        self.process.stdin.close()
        self.process.wait()


def build(folder, *targets):
    """Builds targets in a build folder. Configures build/release first."""
    subprocess.run([ROOT / "scripts" / "setup"], check=True)
    if folder == RELEASE:
        subprocess.run(["cmake", "--preset", "release"], check=True, cwd=ROOT, stdout=sys.stderr)
    subprocess.run(["cmake", "--build", folder, "--target", *targets], check=True, cwd=ROOT, stdout=sys.stderr)
