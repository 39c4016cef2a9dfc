"""scripts/check_all runs checks, says why it skips one, and keeps a table for each processor."""
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check_all"
LOADER = importlib.machinery.SourceFileLoader("check_all", str(SCRIPT))
SPEC = importlib.util.spec_from_loader("check_all", LOADER)
check_all = importlib.util.module_from_spec(SPEC)
sys.modules["check_all"] = check_all
LOADER.exec_module(check_all)

PROGRAM = """#!/bin/sh
case "$*" in
  "train --help-all") echo " --instruction-set" ;;
  *) echo "$*" ;;
esac
"""

TESTS = """#!/bin/sh
case "$*" in
  "--gtest_list_tests --gtest_filter=Known.*") printf 'Known.\\n  one\\n' ;;
  --gtest_list_tests*) ;;
  *) echo "[       OK ] Known.one" ;;
esac
"""


class CheckAllTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        root = mock.patch.object(check_all, "ROOT", self.folder)
        root.start()
        self.addCleanup(root.stop)

    def run_check(self, *command, **needs):
        check = check_all.Check("name", list(command), **needs)
        return check_all.run_check(check, "avx2", sys.executable)

    def test_a_check_passes_or_fails_with_its_last_line(self):
        row = self.run_check("echo", "9 cases: 0 differences")
        self.assertEqual((row.result, row.last_line), ("passed", "9 cases: 0 differences"))
        row = self.run_check("sh", "-c", "echo started; echo 1 difference; echo; exit 1")
        self.assertEqual((row.result, row.last_line), ("FAILED", "1 difference"))
        row = self.run_check(self.folder / "absent")
        self.assertEqual((row.result, row.last_line),
                         ("FAILED", f"{self.folder}/absent is not built"))
        log = self.folder / "build" / "checks" / "name_avx2.log"
        self.assertEqual(log.read_text(), "started\n1 difference\n\n")

    def test_what_is_missing_skips_with_the_reason(self):
        row = self.run_check("false", modules=("no_such_package",))
        self.assertEqual(row.result, "skipped")
        self.assertIn("no_such_package; scripts/setup --peers", row.last_line)
        with mock.patch.dict("os.environ", {"CLOZE_DATA": str(self.folder)}):
            row = self.run_check("false", data=("squad",))
        self.assertEqual(row.last_line, f"{self.folder}/squad does not exist")
        row = self.run_check("echo", "[  SKIPPED ] 1 test")
        self.assertEqual(row.result, "skipped", "a test program that found no data")
        row = self.run_check("sh", "-c", "echo '[       OK ] a'; echo '[  SKIPPED ] b'")
        self.assertEqual(row.result, "skipped", "one that found only some of it")
        row = self.run_check("sh", "-c", "echo no mounts; exit 77")
        self.assertEqual((row.result, row.last_line), ("skipped", "no mounts"))

    def test_a_pattern_that_matches_no_test_fails(self):
        program = self.folder / "data_test"
        program.write_text(TESTS)
        program.chmod(0o755)
        row = self.run_check(program, "--gtest_filter=Known.*")
        self.assertEqual((row.result, row.last_line), ("passed", "[       OK ] Known.one"))
        row = self.run_check(program, "--gtest_filter=Known.*:Absent.*")
        self.assertEqual((row.result, row.last_line), ("FAILED", "no test is called Absent.*"))

    def test_the_environment_reaches_the_check(self):
        row = self.run_check("sh", "-c", "echo campaign $CLOZE_CAMPAIGN",
                             environment={"CLOZE_CAMPAIGN": "7"})
        self.assertEqual(row.last_line, "campaign 7")

    def test_only_commands_that_compute_are_limited(self):
        build = self.folder / "a build"
        build.mkdir()
        program = build / "cloze"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        limited = check_all.limited_build(build, "avx2", tempfile.mkdtemp(dir=self.folder))
        for words, expected in ((["train"], "train --instruction-set avx2"), (["data"], "data")):
            output = subprocess.run([limited / "cloze", *words], capture_output=True, text=True)
            self.assertEqual(output.stdout.strip(), expected)
        with self.assertRaisesRegex(SystemExit, "has no --instruction-set"):
            check_all.require_limits(limited)

    def test_only_checks_that_compute_keep_to_an_instruction_set(self):
        def planned(*sets):
            limited = {name: self.folder / name for name in sets}
            return list(check_all.planned_checks(sys.executable, self.folder, limited, 1))
        whole = planned()
        self.assertEqual({name for name, _ in whole}, {"all"})
        computing = [check.name for _, check in whole if check.computes]
        limited = planned("avx2", "avx512")
        for name in ("avx2", "avx512"):
            self.assertEqual([check.name for of, check in limited if of == name], computing)
        self.assertEqual(len(limited), len(whole) + len(computing))
        for name, check in limited:
            words = " ".join(map(str, check.command)) + " ".join(check.environment.values())
            self.assertEqual(f"{self.folder}/avx" in words, name != "all", check.name)

    def test_a_table_of_some_checks_is_no_document(self):
        result = subprocess.run([sys.executable, SCRIPT, "--only", "kernels", "--write-docs"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("leave out --only", result.stderr)

    def test_the_document_has_one_section_for_a_processor(self):
        document = self.folder / "checks.md"
        document.write_text("# Checks\n\nWords.\n\n## Other\n\nCommit 1.\n\n## This\n\nCommit 2.\n")
        rows = [check_all.Row("server", "avx2", "passed", 12.4, "a | b")]
        with mock.patch.object(check_all, "processor_name", lambda: "This"), \
                mock.patch.object(check_all, "commit", lambda: "3"):
            for _ in range(2):
                check_all.write_document(rows, document)
        text = document.read_text()
        self.assertTrue(text.startswith("# Checks\n\nWords.\n\n## Other\n\nCommit 1.\n\n## This\n"))
        self.assertEqual(text.count("## This"), 1)
        self.assertIn("Commit 3, ", text)
        self.assertNotIn("Commit 2", text)
        self.assertIn("| server | avx2 | passed | 12 | a \\| b |", text)


if __name__ == "__main__":
    unittest.main()
