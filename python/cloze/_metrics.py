"""metrics.jsonl of a run, followed while the program writes it."""
import json
import os
import pathlib
from typing import Any, BinaryIO

# A line of metrics.jsonl: numbers by name (docs/reference/metrics-and-exit-codes.md).
Metrics = dict[str, Any]


def _whole_lines(file: BinaryIO) -> list[bytes]:
    """Returns what is there, up to the last line that has ended."""
    return file.read().rpartition(b"\n")[0].splitlines()


def _as_metrics(lines: list[bytes]) -> list[Metrics]:
    """Returns the steps and evaluations among lines; the first of a file names its schema."""
    values: list[Metrics] = [json.loads(line) for line in lines]
    return [value for value in values if "schema" not in value]


class MetricsFile:
    """Gives each line once. A resumed run takes lines back, and writes them again: then those after the
    last one in common are new."""

    def __init__(self, path: pathlib.Path) -> None:
        self._path = path
        self._state: tuple[int, int, int] | None = None
        self._lines: list[bytes] = []
        self.new()  # what an earlier run has left

    def new(self) -> list[Metrics]:
        """Returns the lines that have come since the last call."""
        try:
            with self._path.open("rb") as file:
                status = os.fstat(file.fileno())
                state = (status.st_ino, status.st_size, status.st_mtime_ns)
                if state == self._state:
                    return []
                self._state = state
                lines = _whole_lines(file)
        except FileNotFoundError:
            return []
        common = next((number for number, (old, new) in enumerate(zip(self._lines, lines)) if old != new),
                      min(len(self._lines), len(lines)))
        self._lines = lines
        return _as_metrics(lines[common:])

    def all(self) -> list[Metrics]:
        """Returns every line that is there now."""
        self.new()
        return _as_metrics(self._lines)
