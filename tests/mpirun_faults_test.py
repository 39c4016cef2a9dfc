"""What happens when a process of a run dies, hangs, is cut off or is asked to stop: all processes
end within a bounded time, and the message names the right one.

Usage: mpirun_faults_test.py PROGRAM
CLOZE_FAULTS=50 in the environment makes 50 kills and stops and 100 signals instead of a few.
"""
import contextlib
import json
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import time
import unittest

import mpirun_test as runs

FAULTS = int(os.environ.get("CLOZE_FAULTS", "2"))
SILENCE = 2.0  # seconds
ENDS_WITHIN = 10.0
SILENT = r"has been silent for (?P<seconds>\d+\.\d) s:"  # longer than SILENCE where this machine stands still
SECONDS_TO_HEAR = 1.0
LONG = "--num-train-steps=1000000"


def newest_checkpoint(folder):
    steps = [int(path.name.split("-")[1]) for path in folder.glob("checkpoint-*")]
    return max(steps, default=None)


def newest_step(folder):
    return max(runs.losses(folder), default=0) if (folder / "metrics.jsonl").exists() else 0


def children_of(process):
    return [int(word) for word in subprocess.run(["pgrep", "-P", str(process)], capture_output=True,
                                                 text=True).stdout.split()]


def is_running(process):
    status = pathlib.Path(f"/proc/{process}/stat")
    try:
        return status.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def name_of(process):
    try:
        return pathlib.Path(f"/proc/{process}/comm").read_text().strip()
    except OSError:
        return ""  # it has ended


def wait_until(is_true, seconds):
    deadline = time.monotonic() + seconds
    while not is_true() and time.monotonic() < deadline:
        time.sleep(0.05)
    return is_true()


def let_the_first_hear(more=0.0):
    """Gives the first rank time to hear of the others' steps. It sleeps in short pieces, as the
    machine may stand still during one."""
    for _ in range(round((SECONDS_TO_HEAR + more) / 0.05)):
        time.sleep(0.05)


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class FaultCase(unittest.TestCase):
    setUp = runs.MpirunTest.setUp
    run_command = runs.MpirunTest.run_command
    start = runs.MpirunTest.start
    ranks_of = runs.MpirunTest.ranks_of
    assert_same_curve = runs.MpirunTest.assert_same_curve
    assert_same_weights = runs.MpirunTest.assert_same_weights

    def assert_all_end(self, process, ranks, within):
        """Returns the messages of the run."""
        began = time.monotonic()
        messages = process.communicate(timeout=60)[1]
        self.assertLess(time.monotonic() - began, within, messages)
        self.assertTrue(wait_until(lambda: not any(map(is_running, ranks)), 1.0), messages)
        return messages

    def assert_named(self, messages, rank, process, what):
        said = [line for line in messages.splitlines() if line.startswith("cloze: ")]
        self.assertEqual(len(said), 1, messages)
        named = re.search(rf"^cloze: rank {rank} \(host \S+, process {process}\) {what}.* "
                          r"it was in step \d+, [a-z -]+; all ranks end$", said[0])
        self.assertIsNotNone(named, messages)
        return named

    def assert_silent_long_enough(self, named):
        self.assertGreaterEqual(float(named["seconds"]), SILENCE)

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
                let_the_first_hear(random.Random(i).uniform(0, 0.3))
                victim = (2 + i) % 4
                os.kill(ranks[victim], signal.SIGKILL)
                messages = self.assert_all_end(process, ranks, ENDS_WITHIN)
                self.assertEqual(process.returncode, 128 + signal.SIGKILL, messages)
                self.assert_named(messages, victim, ranks[victim], "has died;")
                self.assert_newest_is_valid()

    def test_a_rank_that_is_stopped_ends_all(self):
        for i in range(FAULTS):
            with self.subTest(i=i):
                process, ranks = self.started(4, f"--heartbeat-timeout={SILENCE}")
                let_the_first_hear(random.Random(i).uniform(0, 0.3))
                victim = (3 + i) % 4
                os.kill(ranks[victim], signal.SIGSTOP)
                messages = self.assert_all_end(process, ranks, SILENCE + ENDS_WITHIN)
                self.assertEqual(process.returncode, 4, messages)
                named = self.assert_named(messages, victim, ranks[victim], SILENT)
                self.assert_silent_long_enough(named)

    def test_a_stop_shorter_than_the_bound_changes_nothing(self):
        process, ranks = self.started(2, f"--heartbeat-timeout={4 * SILENCE}")
        os.kill(ranks[1], signal.SIGSTOP)
        time.sleep(SILENCE)
        os.kill(ranks[1], signal.SIGCONT)
        before = newest_step(self.folder / "run")
        self.assertTrue(wait_until(lambda: newest_step(self.folder / "run") > before + 3, 20))
        os.kill(ranks[1], signal.SIGTERM)
        self.assert_all_end(process, ranks, ENDS_WITHIN)
        self.assertEqual(process.returncode, 75)

    def test_a_signal_to_any_rank_saves_within_one_step(self):
        for i in range(2 * FAULTS):
            with self.subTest(i=i):
                process, ranks = self.started(3, "--steps-per-ckpts=1000000")
                time.sleep(random.Random(i).uniform(0, 0.3))
                os.kill(ranks[i % 3], signal.SIGTERM)
                logged = newest_step(self.folder / "run")
                messages = self.assert_all_end(process, ranks, ENDS_WITHIN)
                self.assertEqual(process.returncode, 75, messages)
                # The first rank may not yet have logged a step that it has summed. So another rank
                # may be in step logged + 2, and may have told all that it takes the next step too.
                self.assertLessEqual(newest_checkpoint(self.folder / "run"), logged + 3)
                self.assertEqual(len(list(self.folder.glob("run/**/checkpoint-*"))), 1)


class LaunchTest(FaultCase):
    """cloze launch, of four processes."""

    def launched(self, options, *words, command=runs.RUN):
        process = subprocess.Popen([runs.PROGRAM, "launch", "-n", "4", *options, "--", *command, LONG,
                                    "--save-path=run", *words], cwd=self.folder, env=runs.ENVIRONMENT,
                                   text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(runs.end, process)
        return process

    def ranks_of_launch(self, process, size):
        """Returns the ranks once they have trained for a while."""
        before = newest_step(self.folder / "run")
        ranks = []

        def are_at_work():
            ranks[:] = [rank for mpirun in children_of(process.pid) for rank in children_of(mpirun)]
            return len(ranks) == size and newest_step(self.folder / "run") > before + 5
        self.assertTrue(wait_until(are_at_work, 30))
        return ranks

    def test_a_signal_saves_once(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1):
            with self.subTest(number):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                process = self.launched([], "--steps-per-ckpts=1000000")
                ranks = self.ranks_of_launch(process, 4)
                process.send_signal(number)
                messages = self.assert_all_end(process, ranks, ENDS_WITHIN)
                self.assertEqual(process.returncode, 75, messages)
                self.assertEqual(len(list(self.folder.glob("run/**/checkpoint-*"))), 1)

    def test_each_process_has_its_part_of_the_processors(self):
        process = self.launched([])
        shares = [os.sched_getaffinity(rank) for rank in self.ranks_of_launch(process, 4)]
        process.terminate()
        process.communicate()
        here = os.sched_getaffinity(0)
        self.assertLessEqual({len(share) for share in shares}, set(range(1, max(1, len(here) // 4) + 1)))
        self.assertEqual(len(set.union(*shares)), min(len(here), sum(map(len, shares))))

    def test_a_launch_that_is_killed_leaves_nothing(self):
        process = self.launched([])
        ranks = self.ranks_of_launch(process, 4)
        process.kill()
        process.communicate()
        self.assertTrue(wait_until(lambda: not any(map(is_running, ranks)), ENDS_WITHIN))

    def test_ranks_that_all_stand_still_are_ended(self):
        process = self.launched([], f"--heartbeat-timeout={SILENCE}")
        ranks = self.ranks_of_launch(process, 4)
        for rank in ranks:
            os.kill(rank, signal.SIGSTOP)
        messages = self.assert_all_end(process, ranks, SILENCE + 10 + ENDS_WITHIN)
        self.assertEqual(process.returncode, 4, messages)
        self.assertRegex(messages, r"(?m)^cloze: no rank has been heard from for \d+ s: all are stopped, or cannot be "
                                   "reached; ending them$")

    def test_elastic_continues_with_all_that_stood_still(self):
        process = self.launched(["--elastic", "--max-restarts=1"], f"--heartbeat-timeout={SILENCE}",
                                "--steps-per-ckpts=5")
        ranks = self.ranks_of_launch(process, 4)
        self.assertTrue(wait_until(lambda: newest_checkpoint(self.folder / "run"), 30))
        for rank in ranks:
            os.kill(rank, signal.SIGSTOP)
        self.assertTrue(wait_until(lambda: not any(map(is_running, ranks)), SILENCE + 10 + ENDS_WITHIN))
        self.ranks_of_launch(process, 4)
        process.terminate()
        messages = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 75, messages)
        self.assertRegex(messages, "(?m)^cloze: the run ended with 4; 4 processes continue from run/checkpoint-")

    def test_exit_codes_are_passed_through(self):
        for words, code in ((["--restore-dir=none"], 2), (["--base-learning-rate=1e38"], 5)):
            command = [word for word in runs.RUN if word.split("=")[0] not in words[0]]
            result = subprocess.run([runs.PROGRAM, "launch", "-n", "2", "--elastic", "--", *command, *words,
                                     "--save-path=run", "--num-train-steps=9"], cwd=self.folder,
                                    env=runs.ENVIRONMENT, text=True, capture_output=True)
            self.assertEqual(result.returncode, code, result.stderr)
            self.assertNotIn("continue from", result.stderr)

    def lose_a_rank_after_a_checkpoint(self, process, size):
        ranks = self.ranks_of_launch(process, size)
        before = newest_checkpoint(self.folder / "run") or 0
        self.assertTrue(wait_until(lambda: (newest_checkpoint(self.folder / "run") or 0) > before, 30))
        os.kill(ranks[-1], signal.SIGKILL)
        self.assertTrue(wait_until(lambda: not any(map(is_running, ranks)), ENDS_WITHIN))

    def test_elastic_goes_on_with_those_left(self):
        process = self.launched(["--elastic", "--max-restarts=2"], "--steps-per-ckpts=20")
        for size in (4, 3, 2):
            self.lose_a_rank_after_a_checkpoint(process, size)
        messages = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGKILL, messages)
        restarts = re.findall(r"^cloze: the run ended with 137: a process was killed by signal 9; (\d) processes "
                              r"continue from run/checkpoint-\d+$", messages, re.M)
        self.assertEqual(restarts, ["3", "2"], messages)
        self.assertEqual(len(re.findall("^resumed from run/checkpoint-", messages, re.M)), 2, messages)
        self.assert_newest_is_valid()

    def test_elastic_keeps_all_after_an_error_of_the_machine(self):
        """A disk that takes no more has not cost a process."""
        process = self.launched(["--elastic", "--max-restarts=1"], "--steps-per-ckpts=20")
        for _ in range(2):
            ranks = self.ranks_of_launch(process, 4)
            for rank in ranks:
                resource.prlimit(rank, resource.RLIMIT_FSIZE, (2000, 2000))
            self.assertTrue(wait_until(lambda: not any(map(is_running, ranks)), ENDS_WITHIN))
        messages = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 4, messages)
        self.assertEqual(re.findall(r"^cloze: the run ended with 4; (\d) processes continue", messages, re.M), ["4"],
                         messages)

    def test_elastic_begins_again_with_the_same_batch(self):
        """There is no checkpoint yet, and the batch is given per process."""
        command = [word for word in runs.RUN if not word.startswith("--global-batch-size")]
        process = self.launched(["--elastic"], "--steps-per-ckpts=1000000", "--micro-batch-size=3", "--replicas=4",
                                command=command)
        ranks = self.ranks_of_launch(process, 4)
        os.kill(ranks[-1], signal.SIGKILL)
        self.assertTrue(wait_until(lambda: not any(map(is_running, ranks)), ENDS_WITHIN))
        ranks = self.ranks_of_launch(process, 3)
        process.terminate()
        messages = self.assert_all_end(process, ranks, ENDS_WITHIN)
        self.assertEqual(process.returncode, 75, messages)
        self.assertIn("; 3 processes continue from the start\n", messages)
        lines = map(json.loads, (self.folder / "run" / "metrics.jsonl").read_text().splitlines())
        self.assertEqual({line["samples"] // line["step"] for line in lines if "samples" in line}, {12})

    def test_a_signal_while_hosts_are_asked_ends_it(self):
        agent = self.folder / "agent"
        agent.write_text("#!/bin/sh\nkill -TERM $PPID\n")
        agent.chmod(0o755)
        (self.folder / "hosts").write_text("elsewhere slots=4\n")
        process = self.launched(["--hosts=hosts", f"--remote-shell={agent}"])
        messages = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 75, messages)
        self.assertIn("stopped on signal 15", messages)

    def test_elastic_keeps_whole_replicas(self):
        process = self.launched(["--elastic"], "--pipeline-stages=2", "--steps-per-ckpts=20")
        for size in (4, 2):
            self.lose_a_rank_after_a_checkpoint(process, size)
        messages = process.communicate(timeout=30)[1]
        self.assertEqual(process.returncode, 128 + signal.SIGKILL, messages)
        end = "cloze: the run ended with 137: a process was killed by signal 9; "
        self.assertRegex(messages, f"(?m)^{end}2 processes continue from run/checkpoint-\\d+$")
        self.assertIn(f"{end}it cannot continue with 1 of the 2 processes that one replica of the model takes; start "
                      "it again on more processes, or with other pipeline_stages\n", messages)


class Hosts:
    """Two network namespaces with a cable between them: hosts that share a kernel and files."""

    SUBNET = "10.77.0"

    def __init__(self, folder):
        mark = f"cz{os.getpid() % 100000}"
        self.names = [mark + "a", mark + "b"]
        self.folder = folder
        self.ends = [mark + "va", mark + "vb"]
        try:
            self.connect()
        except (OSError, subprocess.CalledProcessError):
            self.remove()
            raise
        # mpirun calls this to start its part on another host.
        self.agent = folder / "agent"
        self.is_cut = folder / "is_cut"
        self.agent.write_text(f'#!/bin/sh\ntest -e {self.is_cut} && exit 255\nhost=$1\nshift\n'
                              'exec ip netns exec "$host" sh -c "$*"\n')
        self.agent.chmod(0o755)
        (folder / "hosts").write_text(f"localhost slots=2\n{self.names[1]} slots=2\n")

        net = self.SUBNET + ".0/24"
        self.environment = {**runs.ENVIRONMENT, "OMPI_MCA_btl": "tcp,self", "OMPI_MCA_btl_tcp_if_include": net,
                            "OMPI_MCA_oob_tcp_if_include": net}

    def connect(self):
        for name in self.names:
            self.ip("netns", "add", name)
        self.ip("link", "add", self.ends[0], "netns", self.names[0], "type", "veth", "peer", "name",
                self.ends[1], "netns", self.names[1])
        for i, (name, end) in enumerate(zip(self.names, self.ends)):
            self.ip("-n", name, "addr", "add", f"{self.SUBNET}.{i + 1}/24", "dev", end)
            self.ip("-n", name, "link", "set", end, "up")
            self.ip("-n", name, "link", "set", "lo", "up")

    @staticmethod
    def ip(*words):
        return subprocess.run(["ip", *words], check=True, capture_output=True, text=True).stdout

    def inside(self, command):
        return ["ip", "netns", "exec", self.names[0], *command]

    def mpirun(self, *words):
        return self.inside(["mpirun", "-n", "4", "--hostfile", "hosts", "--mca", "plm_rsh_agent", self.agent,
                            runs.PROGRAM, *words])

    def launch(self, *words):
        return self.inside([runs.PROGRAM, "launch", "-n", "4", "--hosts", "hosts", "--remote-shell", self.agent,
                            *words])

    def cut(self):
        self.is_cut.touch()
        self.ip("-n", self.names[1], "link", "set", self.ends[1], "down")

    def processes(self):
        return [process for name in self.names for process in self.processes_of(name)]

    def processes_of(self, name):
        return [int(word) for word in self.ip("netns", "pids", name).split()]

    def ranks(self):
        return [process for process in self.processes() if is_running(process) and name_of(process) == "cloze"]

    def remove(self):
        """Removes whatever was made."""
        made = {line.split()[0] for line in self.ip("netns", "list").splitlines()}
        for name in made.intersection(self.names):
            for process in self.processes_of(name):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            self.ip("netns", "del", name)


LONG_RUN = [*runs.RUN, LONG, "--save-path=run", "--steps-per-ckpts=20", f"--heartbeat-timeout={SILENCE}"]


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
        result = subprocess.run(self.hosts.mpirun(*words, "--save-path=run"), cwd=self.folder, text=True,
                                capture_output=True, env=self.hosts.environment, timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assert_same_curve("run", "one")
        self.assert_same_weights("run", "one", 20)

    def cut_off(self, *options):
        """Returns a launched run, one host of which has been cut off."""
        return self.cut_while_it_runs(self.hosts.launch(*options, "--", *LONG_RUN))

    def cut_while_it_runs(self, command):
        with (self.folder / "messages").open("w") as messages:
            process = subprocess.Popen(command, cwd=self.folder, env=self.hosts.environment,
                                       stdout=subprocess.DEVNULL, stderr=messages)
        self.addCleanup(runs.end, process)
        self.assertTrue(wait_until(lambda: newest_checkpoint(self.folder / "run"), 60))
        let_the_first_hear()
        self.hosts.cut()
        return process

    def test_a_cut_link_ends_the_ranks_of_plain_mpirun(self):
        """mpirun itself goes on waiting for its daemon."""
        process = self.cut_while_it_runs(self.hosts.mpirun(*LONG_RUN))
        self.assertTrue(wait_until(lambda: not self.hosts.ranks(), SILENCE + ENDS_WITHIN))
        process.kill()
        process.wait()
        self.assert_lost_is_named((self.folder / "messages").read_text())

    def assert_lost_is_named(self, messages):
        said = list(re.finditer(rf"^cloze: rank (?P<rank>\d) .* {SILENT} .* in step \d+", messages, re.M))
        self.assertIn([named["rank"] for named in said], (["2"], ["3"]), messages)
        self.assert_silent_long_enough(said[0])

    def assert_ends(self, process, code, within):
        """Returns the messages, from a file: a daemon that is cut off keeps ends of pipes open."""
        status = process.wait(within)
        messages = (self.folder / "messages").read_text()
        self.assertEqual(status, code, messages)
        return messages

    def test_elastic_goes_on_with_the_host_that_answers(self):
        process = self.cut_off("--elastic")
        time.sleep(SILENCE)
        before = newest_step(self.folder / "run")
        self.assertTrue(wait_until(lambda: newest_step(self.folder / "run") > before + 3,
                                   SILENCE + 3 * ENDS_WITHIN))
        process.terminate()
        messages = self.assert_ends(process, 75, ENDS_WITHIN)
        self.assertRegex(messages, rf"cloze: the run ended with 4, and no answer from {self.hosts.names[1]}; "
                                   r"2 processes continue from run/checkpoint-\d+")
        self.assertRegex(messages, r"resumed from run/checkpoint-\d+")

    def test_a_cut_link_ends_all_and_names_who_was_lost(self):
        process = self.cut_off()
        messages = self.assert_ends(process, 4, SILENCE + 2 * ENDS_WITHIN)
        self.assert_lost_is_named(messages)
        # The daemon of mpirun on the other host waits for its connection to time out; no rank does.
        self.assertTrue(wait_until(lambda: not self.hosts.ranks(), ENDS_WITHIN))


if __name__ == "__main__":
    unittest.main()
