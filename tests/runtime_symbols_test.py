"""libcloze_runtime shows its C functions and nothing else, and holds nothing of training.

Usage: runtime_symbols_test.py LIBRARY
"""
import re
import subprocess
import sys

TRAINING = re.compile(r"cloze::(train|optim)::|cloze::passes::(differentiate|accumulate)")


def symbols(library, *options):
    lines = subprocess.run(["nm", "-C", "--defined-only", *options, library], check=True,
                           capture_output=True, text=True).stdout.splitlines()
    return [line.split(maxsplit=2)[2] for line in lines]


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
    print(f"{len(shown)} C functions, {len(everything)} symbols, none of training")


if __name__ == "__main__":
    main()
