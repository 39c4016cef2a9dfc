"""What a run of scripts/gpu_check leaves in its folder: results.jsonl, log.txt, clocks.csv."""
import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time


class Results:
    """results.jsonl, to which each row goes at once."""

    def __init__(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        self.rows, self.begin = [], time.monotonic()
        self.file = open(folder / "results.jsonl", "x", encoding="utf-8")
        self.lock = threading.Lock()

    def add(self, row):
        with self.lock:
            self.rows.append(row)
            self.file.write(json.dumps({**row, "at_second": round(time.monotonic() - self.begin, 1)}) + "\n")
            self.file.flush()

    def seconds(self):
        return time.monotonic() - self.begin


class Log:
    """log.txt: what the programs said, but for results, under a heading for each."""

    def __init__(self, folder):
        self.path = folder / "log.txt"

    @contextlib.contextmanager
    def of(self, part):
        with open(self.path, "a+", encoding="utf-8", errors="replace") as file:
            file.write(f"== {part}\n")
            file.flush()
            self.begin = file.tell()
            yield file

    def last_line(self):
        """The last line of the newest program, or an empty text."""
        with open(self.path, encoding="utf-8", errors="replace") as file:
            file.seek(self.begin)
            lines = [line.strip() for line in file if line.strip()]
        return lines[-1][:300] if lines else ""


def kill(process):
    """Ends a program and what it has started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_program(words, lines, limit, keep, log, folder):
    """Runs a program in this folder and in a session of its own, and calls keep with each line of its stdout. Returns its
    status, or None when it was stopped at the limit, in seconds."""
    process = subprocess.Popen([str(word) for word in words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                               text=True, errors="replace", cwd=folder, start_new_session=True)
    reader = threading.Thread(target=lambda: [keep(line) for line in process.stdout])
    reader.start()
    try:
        with contextlib.suppress(BrokenPipeError):  # it may end before it has read them
            process.stdin.write("".join(line + "\n" for line in lines))
            process.stdin.close()
        return process.wait(timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    finally:
        kill(process)
        reader.join()


@contextlib.contextmanager
def clocks(folder):
    """Has nvidia-smi write the card's clock, power and temperature each second."""
    program = shutil.which("nvidia-smi")
    if program is None:
        yield
        return
    with open(folder / "clocks.csv", "w", encoding="utf-8") as file:
        query = "--query-gpu=timestamp,name,clocks.sm,power.draw,temperature.gpu"
        process = subprocess.Popen([program, query, "--format=csv", "--loop=1"], stdout=file,
                                   stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            yield
        finally:
            kill(process)
