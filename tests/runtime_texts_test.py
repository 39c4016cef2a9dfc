"""libcloze_runtime says of texts what the commands say: examples/runtime_texts.cc, written for the C++ header,
prints the same lines.

Usage: runtime_texts_test.py PROGRAM EXAMPLE
The models are those of tests/fixtures, with a vocabulary beside them.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest

from fixture_folders import copy_encoder, copy_model

EXAMPLE, PROGRAM = (pathlib.Path(sys.argv.pop()).resolve() for _ in range(2))
TEXTS = ("the cat sat on the hill .", "a dog ran", "who sat ? the zebra")
QUESTION, CONTEXT = "who sat ?", "the cat sat on a hill . a dog ran ."
BLANKS = ("the [MASK] sat on a [MASK] .", "a dog [MASK]")


def printed(*words):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=120)


def options(name, texts):
    return [f"--{name}={text}" for text in texts]


class RuntimeTextsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def model(self, name):
        model = self.folder / name
        return model if model.exists() else copy_model(name, model)

    def commands_lines(self, command, model, *words):
        result = printed(PROGRAM, command, "--init-checkpoint", model, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def examples_lines(self, *words):
        result = printed(EXAMPLE, *words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_classes_labels_and_numbers(self):
        for name in ("classification", "multi_label", "regression"):
            model = self.model(name)
            packed = self.folder / f"{name}.cloze"
            self.commands_lines("compile", model, "--output-file", packed)
            expected = self.commands_lines("classify", model, *options("text", TEXTS))
            self.assertEqual(expected.count("\n"), 3)
            for path in (model, packed):
                self.assertEqual(self.examples_lines(path, *TEXTS), expected, path)

    def test_tags(self):
        model = self.model("token_classification")
        expected = self.commands_lines("tag", model, *options("text", TEXTS))
        self.assertNotEqual(expected, "")
        # The command prints an empty line between texts, and says where a text has no tags.
        kept = [line for line in expected.splitlines() if line and line != "no part of the text has a tag"]
        self.assertEqual(self.examples_lines(model, *TEXTS).splitlines(), kept)

    def test_answers(self):
        model = self.model("question_answering")
        expected = self.commands_lines("answer", model, "--question", QUESTION, "--context", CONTEXT)
        self.assertIn("%", expected)
        self.assertEqual(self.examples_lines(model, QUESTION, CONTEXT), expected)

    def test_blanks(self):
        model = self.model("pretraining_a")
        expected = self.commands_lines("fill", model, *options("text", BLANKS))
        # The command prints each text, and numbers its blanks.
        kept = [re.sub(r"blank \d+  ", "", line) for line in expected.splitlines() if line not in BLANKS]
        self.assertEqual(len(kept), 3 * 6)
        self.assertEqual(self.examples_lines(model, *BLANKS).splitlines(), kept)

    def test_choices(self):
        model = self.model("multiple_choice")
        choices = ("a cat", "a dog", "the hill")
        expected = self.commands_lines("choose", model, f"--text={QUESTION}", *options("choice", choices))
        self.assertEqual(self.examples_lines(model, QUESTION, *choices), expected)

    def test_vectors(self):
        """Those of the command's file, to the bit: nine digits tell two numbers of f32 apart."""
        model = copy_encoder(self.folder / "encoder")
        file = self.folder / "vectors.bin"
        self.commands_lines("embed", model, *options("text", TEXTS), "--output-file", file)
        numbers = [float(word) for word in self.examples_lines(model, *TEXTS).split()]
        self.assertEqual(struct.pack(f"<{len(numbers)}f", *numbers), file.read_bytes())

    def test_tokens(self):
        model = self.model("classification")
        self.assertEqual(self.examples_lines("--tokens", model, "Running .."),
                         "2\t[CLS]\t[0, 0)\n16\trun\t[0, 3)\n17\t##ning\t[3, 7)\n14\t.\t[8, 9)\n14\t.\t[9, 10)\n"
                         "3\t[SEP]\t[0, 0)\n")

    def test_what_fails_is_said(self):
        for words, said in (((), "give a model and a text"),
                            ((self.folder / "none", "text"), "none does not exist"),
                            ((self.model("pretraining_a"), "no blank"), "there is no [MASK] in")):
            result = printed(EXAMPLE, *words)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn(said, result.stderr)


if __name__ == "__main__":
    unittest.main()
