"""An installed tree is complete, can be moved, and is found by CMake and by pkg-config.

Usage: install_test.py BUILD_FOLDER
A program that asks the library for its version is built against the tree, in both ways, and run.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else "build/release").resolve()

PROGRAM = """#include <cloze_runtime.h>
#include <stdio.h>
int main(void) { return puts(cloze_version()) < 0; }
"""
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(consumer LANGUAGES C)
find_package(cloze_runtime 0.1 REQUIRED)
add_executable(consumer consumer.c)
target_link_libraries(consumer PRIVATE cloze::runtime)
"""


def run(*command, **environment):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=300, env=os.environ | environment)
    if result.returncode != 0:
        raise AssertionError(f"{command}: {result.stdout}{result.stderr}")
    return result.stdout.strip()


class DemoTest(unittest.TestCase):
    def test_the_demo_builds_all_that_is_installed(self):
        lists = [path.read_text() for path in ROOT.glob("src/*/CMakeLists.txt")]
        installed = re.findall(r"^install\(TARGETS (\w+)", "\n".join(lists), re.MULTILINE)
        self.assertIn("cloze", installed)
        built = re.search(r"--target ([\w ]+)", (ROOT / "scripts" / "demo").read_text()).group(1)
        self.assertEqual(sorted(built.split()), sorted(installed))


class InstallTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        run("cmake", "--install", BUILD, "--prefix", cls.folder / "first")
        cls.tree = (cls.folder / "first").rename(cls.folder / "moved")
        cls.version = run(cls.tree / "bin" / "cloze", "--version").split()[1]
        (cls.folder / "consumer.c").write_text(PROGRAM)
        (cls.folder / "CMakeLists.txt").write_text(PROJECT)

    def library_folder(self):
        return next(self.tree.rglob("libcloze_runtime.so")).parent

    def test_the_manual_page_and_the_completion_are_there(self):
        page = (self.tree / "share" / "man" / "man1" / "cloze.1").read_text()
        self.assertIn(".SS cloze data records", page)
        completion = self.tree / "share" / "bash-completion" / "completions" / "cloze"
        run("bash", "-n", completion)

    def test_the_program_finds_its_configurations_from_anywhere(self):
        configurations = self.tree / "share" / "cloze" / "configs"
        for path in (ROOT / "configs").rglob("*.*"):
            self.assertTrue((configurations / path.relative_to(ROOT / "configs")).exists(), path)
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        for name in ("bert_tiny", "bert_tiny.json", "configs/bert_tiny.json"):
            printed = subprocess.run([self.tree / "bin" / "cloze", "config", "print", "pretrain", "--config", name],
                                     cwd=elsewhere, capture_output=True, text=True, timeout=60)
            self.assertIn(f"hidden_size 128  ({configurations}/bert_tiny.json)", printed.stdout, printed.stderr)
        listed = subprocess.run([self.tree / "bin" / "cloze", "benchmark", "--list"], cwd=elsewhere,
                                capture_output=True, text=True, timeout=60)
        self.assertIn("bert_tiny_pretrain\n", listed.stdout, listed.stderr)

    def test_cmake_finds_the_package(self):
        build = self.folder / "build"
        run("cmake", "-S", self.folder, "-B", build, f"-DCMAKE_PREFIX_PATH={self.tree}")
        run("cmake", "--build", build)
        self.assertEqual(run(build / "consumer"), self.version)

    def test_the_header_for_cpp_is_installed(self):
        flags = run("pkg-config", "--cflags", "--libs", "cloze_runtime",
                    PKG_CONFIG_PATH=str(self.library_folder() / "pkgconfig"))
        program = self.folder / "in_cpp"
        run("c++", "-std=c++17", ROOT / "examples" / "runtime_texts.cc", "-o", program, *flags.split())
        refused = subprocess.run([program, "no_model", "text"], capture_output=True, text=True, timeout=60,
                                 env=os.environ | {"LD_LIBRARY_PATH": str(self.library_folder())})
        self.assertIn("no_model does not exist", refused.stderr)

    def test_pkg_config_finds_the_library(self):
        packages = str(self.library_folder() / "pkgconfig")
        flags = run("pkg-config", "--cflags", "--libs", "cloze_runtime", PKG_CONFIG_PATH=packages)
        program = self.folder / "by_pkg_config"
        run("cc", self.folder / "consumer.c", "-o", program, *flags.split())
        printed = run(program, LD_LIBRARY_PATH=str(self.library_folder()))
        self.assertEqual(printed, self.version)
        self.assertEqual(run("pkg-config", "--modversion", "cloze_runtime",
                             PKG_CONFIG_PATH=packages), self.version)


if __name__ == "__main__":
    unittest.main()
