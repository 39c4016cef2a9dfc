"""scripts/check_data finds what a folder lacks, and the manifest lists all that tests and scripts read."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load(name):
    loader = importlib.machinery.SourceFileLoader(name, str(ROOT / "scripts" / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module


check_data = load("check_data")
check_all = load("check_all")


class CheckDataTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "texts" / "deep").mkdir(parents=True)
        (self.folder / "texts" / "deep" / "a").write_text("one")
        (self.folder / "texts" / "b").write_text("two")

    def problem(self, **changes):
        entry = check_data.Entry(path="texts", bytes="6", licence="ours", source="this test",
                                 sha256=check_data.sha256_of(self.folder / "texts"))
        return check_data.problem(entry._replace(**changes), self.folder)

    def test_a_folder_has_the_digest_of_what_sha256sum_prints(self):
        printed = subprocess.run("find . -type f | LC_ALL=C sort | cut -c3- | xargs sha256sum | sha256sum",
                                 shell=True, cwd=self.folder / "texts", capture_output=True, text=True)
        self.assertEqual(printed.stdout.split()[0], check_data.sha256_of(self.folder / "texts"))
        self.assertEqual(self.problem(), "")

    def test_problems_are_found(self):
        self.assertEqual(self.problem(path="novels"), "is missing")
        self.assertEqual(self.problem(bytes="7"), "has 6 bytes, not 7")
        (self.folder / "texts" / "b").write_text("tWo")
        self.assertEqual(self.problem(sha256="12ab"), "has another SHA-256 than 12ab")

    def test_the_program_says_what_is_missing_and_where_it_comes_from(self):
        ran = subprocess.run([sys.executable, ROOT / "scripts" / "check_data", self.folder],
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("squad/dev-v1.1.json is missing; it comes from rajpurkar.github.io", ran.stdout)
        self.assertRegex(ran.stdout, r"\n0 of \d+ entries are as tests/data_manifest.tsv says\n$")

    def test_the_manifest_lists_what_check_all_reads(self):
        paths = [entry.path for entry in check_data.read_manifest()]
        for check in check_all.all_checks("python", ROOT / "build", 1):
            for name in check.data:
                self.assertTrue(any(path == name or path.startswith(name + "/") for path in paths),
                                f"{check.name} reads {name}, which tests/data_manifest.tsv lacks")

    def test_every_entry_is_whole(self):
        for entry in check_data.read_manifest():
            self.assertRegex(entry.sha256, "^[0-9a-f]{64}$", entry.path)
            self.assertGreater(int(entry.bytes), 0)
            self.assertTrue(entry.licence and entry.source, entry.path)


if __name__ == "__main__":
    unittest.main()
