"""Runs of `cloze` that a script measures, in one process or in several (mpirun). Signals stop them
in good order, and a file keeps the command that began them."""
import argparse
import contextlib
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess

MEBIBYTE = 1 << 20
WARM_STEPS = 2
USER_ERROR = 2  # exit status of cloze for options that it does not take
STOPPED = 75  # exit status of cloze when a signal has stopped it, and of scripts that run it
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Lets mpirun run as root, and start more processes than there are processors.
ENVIRONMENT = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def measured_steps(text):
    """Converts a number of steps for argparse."""
    if int(text) <= WARM_STEPS:
        raise argparse.ArgumentTypeError(f"{text} is too few: the first {WARM_STEPS} do not count")
    return int(text)


def require_program(program):
    """Ends the script when the program is not built."""
    if not program.exists():
        raise SystemExit(f"there is no {program}; build it: cmake --preset release && "
                         "cmake --build --preset release --target cloze")


def words_of(options):
    return [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]


def output_of(command, folder):
    """Returns standard output and standard error. Ends the script when the command fails."""
    result = subprocess.run(list(map(str, command)), cwd=folder, env=ENVIRONMENT, text=True,
                            capture_output=True)
    if result.returncode:
        raise SystemExit(f"{' '.join(map(str, command))}: {result.stderr}")
    return result.stdout, result.stderr


def on_stop(handler):
    """Sets the handler of the signals that stop a script, and returns the previous handlers. A
    signal that is ignored stays ignored, as under nohup."""
    return {number: signal.signal(number, handler) for number in STOP_SIGNALS
            if signal.getsignal(number) != signal.SIG_IGN}


@contextlib.contextmanager
def stoppable(command, **options):
    """Runs the command as a process that saves its work when it is stopped, which may take a while.

    A signal that stops the script reaches the process as SIGTERM. The script first completes the
    block, in which it keeps what the process left, and then ends with STOPPED. It ends so, too,
    when somebody else stopped the process.
    """
    process, is_stopped = None, False

    def stop(*_):
        nonlocal is_stopped
        is_stopped = True
        if process is not None:
            process.send_signal(signal.SIGTERM)

    before = on_stop(stop)
    try:
        # A session of its own: what the terminal sends reaches the script only.
        with subprocess.Popen(list(map(str, command)), start_new_session=True, **options) as process:
            if is_stopped:
                stop()
            yield process
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if is_stopped or (process is not None and process.returncode in (STOPPED, -signal.SIGTERM)):
            raise SystemExit(STOPPED)


def finish(process):
    """Waits for the end of a process; CalledProcessError when it failed."""
    if process.wait():
        raise subprocess.CalledProcessError(process.returncode, process.args)


def run_stoppable(command, **options):
    """Runs the command to its end. When a signal stops it, the script ends as well."""
    with stoppable(command, **options) as process:
        finish(process)


def write_whole(file, text):
    """Replaces the file; a kill or a power cut leaves the old one or the new one."""
    partial = file.with_name(file.name + ".partial")
    with partial.open("w") as written:
        written.write(text)
        written.flush()
        os.fsync(written.fileno())
    partial.replace(file)


def keep_command(file, command, is_finished=False):
    """Writes the command of a run into the file. Ends the script when the file holds another
    command. A finished run without the file is taken as it is."""
    words = list(map(str, command))
    if not file.exists():
        if not is_finished:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, json.dumps(words, indent=1) + "\n")
        return
    before = json.loads(file.read_text())
    if before != words:
        raise SystemExit(f"{file.parent} was begun with other options; give those, or another folder\n"
                         f"  then {' '.join(before)}\n  now  {' '.join(words)}")


def failure(run, status, messages, kept=None):
    """Returns what to say of a run that failed. `messages` is the file of its messages, `kept` that of
    keep_command(): it is removed when the command was refused, since the corrected one is another."""
    if kept and status == USER_ERROR:
        kept.unlink()
    lines = messages.read_text().splitlines() or ["nothing"]
    return f"{run} ended with {status} and said: {lines[-1]}; see {messages}"


def of_ranks(ranks, command):
    """Returns the command for this many processes."""
    return command if ranks == 1 else ["mpirun", "-n", str(ranks), *command]


class Run:
    """A run of this many ranks on generated samples, in the folder, and what it took."""

    def __init__(self, program, options, ranks, folder):
        save_path = pathlib.Path(folder) / "run"
        command = [program, "pretrain", *words_of(options), "--generated-data", "--progress-bar=false",
                   "--steps-per-logs=1", "--save-path=run"]
        _, said = output_of(of_ranks(ranks, command), folder)
        logs = [said] + [path.read_text() for path in save_path.glob("rank-*/log.txt")]
        memory = [re.search(r"memory: ([\d.]+) MiB at the peak, ([\d.]+) MiB planned", log).groups()
                  for log in logs]
        peaks = [(float(peak), float(planned)) for peak, planned in memory]
        # Bytes, of the rank that took most.
        self.peak, self.planned = (MEBIBYTE * value for value in max(peaks))
        lines = [json.loads(line) for line in (save_path / "metrics.jsonl").read_text().splitlines()]
        self.steps = [line for line in lines if "step" in line][WARM_STEPS:]

    def seconds(self):
        """Returns the seconds of a step, without the time that it waits for data."""
        return statistics.median(step["seconds"] * (1 - step["data_wait_share"]) for step in self.steps)

    def hidden_share(self):
        """Returns the share of communication that was hidden, as the first rank measured it."""
        return statistics.median(step["communication_hidden_share"] for step in self.steps)
