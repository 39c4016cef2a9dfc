"""What happens when a process of a run dies, stands still, is cut off or is asked to stop: all end, in
bounded time, and the right one is named.

Usage: mpirun_faults_test.py PROGRAM
CLOZE_FAULTS=50 in the environment makes 50 kills and stops and 100 signals instead of a few.
"""
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import mpirun_test as runs

FAULTS = int(os.environ.get("CLOZE_FAULTS", "2"))
SILENCE = 2.0  # seconds


def newest_checkpoint(folder):
    steps = [int(path.name.split("-")[1]) for path in folder.glob("checkpoint-*")]
    return max(steps, default=None)


def newest_step(folder):
    return max(runs.losses(folder), default=0)


def wait_until(is_true, seconds):
    deadline = time.monotonic() + seconds
    while not is_true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_true()


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class FaultCase(unittest.TestCase):
    setUp = runs.MpirunTest.setUp
    run_command = runs.MpirunTest.run_command
    start = runs.MpirunTest.start
    ranks_of = runs.MpirunTest.ranks_of
    assert_same_weights = runs.MpirunTest.assert_same_weights

    def assert_all_end(self, process, ranks, within):
        """Returns what they said."""
        began = time.monotonic()
        messages = process.communicate(timeout=60)[1]
        self.assertLess(time.monotonic() - began, within, messages)
        self.assertTrue(wait_until(lambda: not any(map(runs.is_running, ranks)), 1.0), messages)
        return messages

    def assert_named(self, messages, rank, process, what):
        said = [line for line in messages.splitlines() if line.startswith("cloze: ")]
        self.assertEqual(len(said), 1, messages)
        self.assertRegex(said[0], rf"^cloze: rank {rank} \(host \S+, process {process}\) {what}.* "
                                  r"it was in step \d+, [a-z -]+; all ranks end$")

    def assert_newest_is_valid(self):
        step = newest_checkpoint(self.folder / "run")
        again = self.run_command([runs.PROGRAM, *runs.RUN, "--restore-dir=run", f"--num-train-steps={step + 1}"])
        self.assertIn(f"resumed from run/checkpoint-{step} at", again.stderr)


class FaultTest(FaultCase):
    def started(self, size, *words):
        shutil.rmtree(self.folder / "run", ignore_errors=True)
        process = self.start(size, "--save-path=run", *words)
        return process, self.ranks_of(process, size)

    def test_a_rank_that_is_killed_ends_all(self):
        for i in range(FAULTS):
            with self.subTest(i=i):
                process, ranks = self.started(4, "--steps-per-ckpts=20")
                self.assertTrue(wait_until(lambda: newest_checkpoint(self.folder / "run"), 30))
                time.sleep(random.Random(i).uniform(0.3, 0.6))  # the first has heard of its steps
                victim = (2 + i) % 4
                os.kill(ranks[victim], signal.SIGKILL)
                messages = self.assert_all_end(process, ranks, runs.ENDS_WITHIN)
                self.assertEqual(process.returncode, 128 + signal.SIGKILL, messages)
                self.assert_named(messages, victim, ranks[victim], "has died;")
                self.assert_newest_is_valid()

    def test_a_rank_that_is_stopped_ends_all(self):
        for i in range(FAULTS):
            with self.subTest(i=i):
                process, ranks = self.started(4, f"--heartbeat-timeout={SILENCE}")
                time.sleep(random.Random(i).uniform(0.3, 0.6))  # the first has heard of its steps
                victim = (2 + i) % 4
                os.kill(ranks[victim], signal.SIGSTOP)
                messages = self.assert_all_end(process, ranks, SILENCE + runs.ENDS_WITHIN)
                self.assertEqual(process.returncode, 4, messages)
                self.assert_named(messages, victim, ranks[victim], r"has been silent for 2\.\d s:")

    def test_a_stop_shorter_than_the_bound_changes_nothing(self):
        process, ranks = self.started(2, f"--heartbeat-timeout={4 * SILENCE}")
        os.kill(ranks[1], signal.SIGSTOP)
        time.sleep(SILENCE)
        os.kill(ranks[1], signal.SIGCONT)
        before = newest_step(self.folder / "run")
        self.assertTrue(wait_until(lambda: newest_step(self.folder / "run") > before + 3, 20))
        os.kill(ranks[1], signal.SIGTERM)
        self.assert_all_end(process, ranks, runs.ENDS_WITHIN)
        self.assertEqual(process.returncode, 75)

    def test_a_signal_to_any_rank_saves_within_one_step(self):
        for i in range(2 * FAULTS):
            with self.subTest(i=i):
                process, ranks = self.started(3, "--steps-per-ckpts=1000000")
                time.sleep(random.Random(i).uniform(0, 0.3))
                os.kill(ranks[i % 3], signal.SIGTERM)
                # The first may log a step a little after the others have done it.
                done = newest_step(self.folder / "run") + 1
                messages = self.assert_all_end(process, ranks, runs.ENDS_WITHIN)
                self.assertEqual(process.returncode, 75, messages)
                self.assertLessEqual(newest_checkpoint(self.folder / "run"), done + 1)
                self.assertEqual(len(list(self.folder.glob("run/**/checkpoint-*"))), 1)


class Hosts:
    """Two network namespaces with a cable between them: hosts that share a kernel and files."""

    SUBNET = "10.77.0"

    def __init__(self, folder):
        mark = f"cz{os.getpid() % 100000}"
        self.names = [mark + "a", mark + "b"]
        self.folder = folder
        for name in self.names:
            self.ip("netns", "add", name)
        self.ip("link", "add", mark + "va", "netns", self.names[0], "type", "veth", "peer", "name",
                mark + "vb", "netns", self.names[1])
        self.ends = [mark + "va", mark + "vb"]
        for i, (name, end) in enumerate(zip(self.names, self.ends)):
            self.ip("-n", name, "addr", "add", f"{self.SUBNET}.{i + 1}/24", "dev", end)
            self.ip("-n", name, "link", "set", end, "up")
            self.ip("-n", name, "link", "set", "lo", "up")
        # What mpirun calls to start its part on another host.
        self.agent = folder / "agent"
        self.agent.write_text('#!/bin/sh\nhost=$1\nshift\nexec ip netns exec "$host" sh -c "$*"\n')
        self.agent.chmod(0o755)
        (folder / "hosts").write_text(f"localhost slots=2\n{self.names[1]} slots=2\n")

    @staticmethod
    def ip(*words):
        return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout

    def inside(self, command):
        return ["ip", "netns", "exec", self.names[0], *command]

    def mpirun(self, *words):
        net = self.SUBNET + ".0/24"
        settings = {"plm_rsh_agent": self.agent, "btl": "tcp,self", "btl_tcp_if_include": net,
                    "oob_tcp_if_include": net}
        words_of_settings = [str(word) for pair in settings.items() for word in ("--mca", *pair)]
        return self.inside(["mpirun", "-n", "4", "--hostfile", "hosts", *words_of_settings, runs.PROGRAM,
                            *words])

    def processes(self):
        return [int(word) for name in self.names for word in self.ip("netns", "pids", name).split()]

    def remove(self):
        for process in self.processes():
            os.kill(process, signal.SIGKILL)
        for name in self.names:
            self.ip("netns", "del", name)


class HostsTest(FaultCase):
    def setUp(self):
        super().setUp()
        try:
            self.hosts = Hosts(self.folder)
        except (OSError, subprocess.CalledProcessError) as error:
            self.skipTest(f"network namespaces cannot be made here: {error}")
        self.addCleanup(self.hosts.remove)

    def test_two_hosts_are_the_run_of_one_process(self):
        words = [*runs.RUN, "--num-train-steps=20"]
        self.run_command([runs.PROGRAM, *words, "--save-path=one"])
        self.run_command(self.hosts.mpirun(*words, "--save-path=run"))
        for step, loss in runs.losses(self.folder / "one").items():
            self.assertAlmostEqual(runs.losses(self.folder / "run")[step], loss, delta=1e-4)
        self.assert_same_weights("run", "one", 20)


if __name__ == "__main__":
    unittest.main()
