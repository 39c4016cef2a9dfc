"""The program that lies beside this file, run as a child: its output, its errors as exceptions, its end by Ctrl-C."""
import os
import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from typing import IO, NamedTuple, Union

from ._errors import Error, UsageError

PROGRAM = pathlib.Path(__file__).parent / "bin" / "cloze"

Value = Union[str, int, float, "os.PathLike[str]"]
# What an option of a command may be: None leaves it out, a sequence is a list with commas.
Option = Union[Value, Sequence[Value], None]

_SECONDS_BETWEEN_LOOKS = 0.1
_USAGE = 2


class Printed(NamedTuple):
    output: str    # on standard output: results
    messages: str  # on standard error: what it does, notes, progress


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def words_of(options: dict[str, Option]) -> list[str]:
    """Returns options by their Python names as a command line has them: seq_length=128 is --seq-length=128."""
    words = []
    for name, option in options.items():
        if option is None:
            continue
        is_list = isinstance(option, Sequence) and not isinstance(option, str)
        text = ",".join(map(_text, option)) if is_list else _text(option)  # type: ignore[arg-type]
        words.append(f"--{name.replace('_', '-')}={text}")
    return words


def _error(status: int, printed: str) -> Error:
    """Returns what the program said before it ended: the text after its last `cloze: `."""
    message = printed.rpartition("\ncloze: ")[2] if "\ncloze: " in printed else printed.removeprefix("cloze: ")
    if status < 0:
        message = f"the program was ended by signal {-status}; {message}"
    return UsageError(message.strip()) if status == _USAGE else Error(message.strip(), status)


class _Output:
    """What the program prints, in a file, so that no pipe fills and no thread has to read one."""

    def __init__(self, file: IO[bytes], shown_on: IO[str] | None) -> None:
        self.file = file
        self._shown_on = shown_on
        self._shown = 0

    def show(self) -> None:
        """Prints what has come since the last call."""
        if self._shown_on is None:
            return
        new = os.pread(self.file.fileno(), 1 << 20, self._shown)
        self._shown += len(new)
        if new:
            self._shown_on.write(new.decode(errors="replace"))
            self._shown_on.flush()

    def text(self) -> str:
        self.show()
        size = os.fstat(self.file.fileno()).st_size
        return os.pread(self.file.fileno(), size, 0).decode(errors="replace")


def _end(child: "subprocess.Popen[bytes]") -> None:
    """Asks the program to save and end, and waits; a second Ctrl-C ends it at once."""
    child.terminate()
    try:
        child.wait()
    except BaseException:
        child.kill()
        child.wait()
        raise


def run_program(words: Sequence[str], look: Callable[[], None] = lambda: None, *, show: bool = False) -> Printed:
    """Runs a command and returns what it prints. `look` is called every tenth of a second or so, in this
    thread; an exception in it, as KeyboardInterrupt anywhere, first ends the program, which saves. What the
    program refuses raises its sentence. show: also print all that it prints, as it comes."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        outputs = (_Output(out, sys.stdout if show else None), _Output(err, sys.stderr if show else None))
        child = subprocess.Popen([str(PROGRAM), *words], stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            while True:
                try:
                    status = child.wait(_SECONDS_BETWEEN_LOOKS)
                    break
                except subprocess.TimeoutExpired:
                    look()
                    for output in outputs:
                        output.show()
        except BaseException:
            _end(child)
            raise
        printed = Printed(*(output.text() for output in outputs))
    if status != 0:
        raise _error(status, printed.messages)
    look()
    return printed
