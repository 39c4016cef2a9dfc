"""docs/seed-options.md tells the truth: what it calls supported, the program's help knows.

Usage: seed_options_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys
import unittest

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "seed-options.md"
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else "cloze"


def supported_options(heading):
    """Command-line names of the rows marked supported in the section of that heading."""
    section = DOCUMENT.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*) \| supported \|", section, re.MULTILINE)
    names = [name for row in rows for name in re.findall(r"`(\w+)`", row)]
    return ["--" + name.replace("_", "-") for name in names]


def known_options(*subcommand):
    text = subprocess.run([PROGRAM, *subcommand, "--help"], check=True, capture_output=True,
                          text=True, timeout=60).stdout
    return set(re.findall(r"--[a-z0-9-]+", text))


class SeedOptionsTest(unittest.TestCase):
    def check(self, heading, *subcommand):
        promised = supported_options(heading)
        self.assertTrue(promised, f"no row is marked supported under '{heading}'")
        known = known_options(*subcommand)
        self.assertEqual([option for option in promised if option not in known], [])

    def test_pretrain(self):
        self.check("Graphcore TensorFlow 1: the pre-training program", "pretrain")

    def test_squad(self):
        self.check("Graphcore TensorFlow 1: run_squad.py", "squad")

    def test_glue(self):
        self.check("Graphcore TensorFlow 1: run_classifier.py", "glue")

    def test_latency(self):
        self.check("Graphcore TensorFlow 1: the embedded runtime", "latency")

    def test_data_records(self):
        self.check("Graphcore TensorFlow 1: data programs", "data", "records")


if __name__ == "__main__":
    unittest.main()
