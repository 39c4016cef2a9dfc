"""libcloze_runtime needs few shared libraries, and each is written down here with what it is for.

Usage: runtime_needs_test.py LIBRARY
A library that is not in the list may stand for a room that inference should not have, as one that reads HDF5.
"""
import re
import subprocess
import sys

NEEDED = {
    "libdnnl": "products in bf16, where the processor multiplies it",
    "libhwy": "what the processor has",
    "libgomp": "threads",
    "libxxhash": "checksums of packed models",
    "libfmt": "messages",
    "libstdc++": "C++",
    "libm": "C++",
    "libgcc_s": "C++",
    "libc": "C",
    "ld-linux-x86-64": "variables of a thread",
}


def main():
    library = sys.argv[1]
    printed = subprocess.run(["readelf", "-d", library], check=True, capture_output=True, text=True).stdout
    needed = {name.split(".so")[0] for name in re.findall(r"\(NEEDED\).*\[(.*)\]", printed)}
    more, fewer = sorted(needed - NEEDED.keys()), sorted(NEEDED.keys() - needed)
    if more or fewer:
        sys.exit(f"{library} needs {', '.join(more) or 'nothing'} beyond the list in {__file__}, and does not need "
                 f"{', '.join(fewer) or 'nothing'} of it; leave out what inference does not need, or change the list")
    print(f"{len(needed)} shared libraries, each in the list")


if __name__ == "__main__":
    main()
