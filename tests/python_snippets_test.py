"""Each snippet of docs/guides/python.md runs as it is printed, in a folder that has the models it names, and is
typed.

Usage: python_snippets_test.py [PYTHON]
PYTHON has the wheel, and mypy; without it, that of build/python, where scripts/check_python puts it. Exit status 77
where there is none.
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from fixture_folders import copy_encoder, copy_model, write_text, write_vocabulary

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ROOT / "build" / "python" / "bin" / "python").absolute()
GUIDE = ROOT / "docs" / "guides" / "python.md"
MODELS = {"reviews": "classification", "names": "token_classification", "reader": "question_answering",
          "bert": "pretraining_a"}
FEWEST = 14  # snippets


def make_folder(folder):
    """Puts the files that the snippets name into a folder."""
    for name, fixture in MODELS.items():
        copy_model(fixture, folder / name)
    copy_encoder(folder / "encoder")
    write_vocabulary(folder, 32)
    write_text(folder)


class SnippetsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        make_folder(cls.folder)
        snippets = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
        cls.files = [cls.folder / f"snippet_{number}.py" for number in range(1, len(snippets) + 1)]
        for file, snippet in zip(cls.files, snippets):
            file.write_text(snippet)

    def run_python(self, *words):
        return subprocess.run([PYTHON, *map(str, words)], cwd=self.folder, capture_output=True, text=True, timeout=300)

    def test_each_snippet_runs_and_prints(self):
        self.assertGreaterEqual(len(self.files), FEWEST)
        for file in self.files:
            with self.subTest(snippet=file.read_text()):
                result = self.run_python(file.name)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertNotEqual(result.stdout, "")

    def test_the_snippets_and_the_package_are_typed(self):
        for checked in (self.files, ("-p", "cloze")):
            result = self.run_python("-m", "mypy", "--strict", *checked)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    if not PYTHON.exists():
        print(f"SKIPPED: no wheel is installed in {PYTHON.parent.parent}; scripts/check_python builds it")
        sys.exit(77)
    unittest.main()
