"""libcloze_runtime shows its C functions and nothing else, holds nothing of training, and has cloze's version.

Usage: runtime_symbols_test.py LIBRARY
"""
import ctypes
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TRAINING = re.compile(r"cloze::(train|optim)::|cloze::passes::(differentiate|accumulate)")


def symbols(library, *options):
    lines = subprocess.run(["nm", "-C", "--defined-only", *options, library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return [line.split(maxsplit=2)[2] for line in lines]


def version(library):
    function = ctypes.CDLL(library).cloze_version
    function.restype = ctypes.c_char_p
    return function().decode()


def main():
    library = sys.argv[1]
    shown = symbols(library, "--dynamic")
    foreign = [name for name in shown if not name.startswith("cloze_")]
    everything = symbols(library)
    training = [name for name in everything if TRAINING.search(name)]
    if foreign:
        sys.exit(f"{library} shows more than its C functions: {foreign[:5]}")
    if training:
        sys.exit(f"{library} holds parts of training: {training[:5]}")
    if "cloze_run" not in shown or not any("InferenceClient" in name for name in everything):
        sys.exit(f"{library} does not hold what it should; has it been stripped?")
    built = re.search(r"^project\(cloze VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
    if version(library) != built:
        sys.exit(f"{library} says it is version {version(library)}; CMakeLists.txt says {built}")
    print(f"{len(shown)} C functions, {len(everything)} symbols, none of training")


if __name__ == "__main__":
    main()
