"""`python -m cloze`, and `cloze` on the path: the program itself, which lies beside this file."""
import os
import sys

from ._program import PROGRAM


def main() -> None:
    os.execv(PROGRAM, [str(PROGRAM), *sys.argv[1:]])


if __name__ == "__main__":
    main()
