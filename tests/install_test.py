"""An installed tree is complete, can be moved, and is found by CMake and by pkg-config.

Usage: install_test.py BUILD_FOLDER
A program that asks the library for its version is built against the tree, in both ways, and run.
"""
import gzip
import os
import pathlib
import re
import shutil
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


def is_shipped(name):
    """A name of a document that is one of the repository's configurations, not a file of the reader's."""
    path = ROOT / "configs" / name.removeprefix("configs/")
    return name.startswith("configs/") or path.exists() or path.with_name(f"{path.name}.json").exists()


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
        cls.elsewhere = cls.folder / "elsewhere"
        cls.elsewhere.mkdir()
        cls.version = run(cls.tree / "bin" / "cloze", "--version").split()[1]
        (cls.folder / "consumer.c").write_text(PROGRAM)
        (cls.folder / "CMakeLists.txt").write_text(PROJECT)

    def print_configuration(self, command, name):
        return subprocess.run([self.tree / "bin" / "cloze", "config", "print", command, "--config", name], cwd=self.elsewhere,
                              capture_output=True, text=True, timeout=60)

    def library_folder(self):
        return next(self.tree.rglob("libcloze_runtime.so")).parent

    def test_the_manual_page_and_the_completion_are_there(self):
        page = gzip.decompress((self.tree / "share" / "man" / "man1" / "cloze.1.gz").read_bytes()).decode()
        self.assertIn(".SS cloze data records", page)
        completion = self.tree / "share" / "bash-completion" / "completions" / "cloze"
        run("bash", "-n", completion)

    def test_the_program_finds_its_configurations_from_anywhere(self):
        configurations = self.tree / "share" / "cloze" / "configs"
        for path in (ROOT / "configs").rglob("*.*"):
            self.assertTrue((configurations / path.relative_to(ROOT / "configs")).exists(), path)
        for name in ("bert_tiny", "bert_tiny.json", "configs/bert_tiny.json"):
            printed = self.print_configuration("pretrain", name)
            self.assertIn(f"hidden_size 128  ({configurations}/bert_tiny.json)", printed.stdout, printed.stderr)
        listed = subprocess.run([self.tree / "bin" / "cloze", "benchmark", "--list"], cwd=self.elsewhere,
                                capture_output=True, text=True, timeout=60)
        self.assertIn("bert_tiny_pretrain\n", listed.stdout, listed.stderr)

    def test_the_program_finds_every_configuration_that_a_document_names(self):
        documents = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
        named = {pair for path in documents
                 for pair in re.findall(r"cloze (pretrain|plan|squad|glue) .*?--config[ =]([\w/.,]+)", path.read_text())}
        shipped = [(command, names) for command, names in sorted(named) if all(map(is_shipped, names.split(",")))]
        self.assertIn(("pretrain", "configs/bert_tiny.json"), shipped)
        self.assertIn(("plan", "bert_large"), shipped)
        for command, names in shipped:
            found = self.print_configuration(command.replace("plan", "pretrain"), names)
            self.assertIn(f"({self.tree}/share/cloze/configs/", found.stdout, f"{command} {names}: {found.stderr}")

    def test_plug_ins_are_found_beside_the_program(self):
        made = {path.name for path in (BUILD / "lib" / "cloze" / "plug_ins").glob("*.so")}
        self.assertEqual({path.name for path in (self.tree / "lib" / "cloze" / "plug_ins").glob("*.so")}, made)
        needed = run("readelf", "-d", self.tree / "bin" / "cloze")
        self.assertNotRegex(needed, "NEEDED.*(mpi|hdf5)")

    def test_a_plug_in_that_is_missing_is_named_with_what_installs_it(self):
        alone = self.folder / "alone"
        alone.mkdir()
        program = shutil.copy(self.tree / "bin" / "cloze", alone)
        shard = ROOT / "tests" / "fixtures" / "records" / "shard.hdf5"
        for name, code, begin, words in (
                ("mpi", 4, "mpirun started it", ("pretrain", "--config", "bert_tiny")),
                ("hdf5", 2, f"{shard} is an HDF5 file", ("data", "stats", "--train-file", shard))):
            ended = subprocess.run([program, *words], cwd=self.elsewhere, capture_output=True, text=True, timeout=60,
                                   env=os.environ | ({"OMPI_COMM_WORLD_SIZE": "2"} if name == "mpi" else {}))
            self.assertEqual(ended.returncode, code, ended.stderr)
            self.assertIn(f"{begin}, but this program's part for {name.upper()}, {self.folder}/lib/cloze/plug_ins/cloze_{name}.so, "
                          f"is not there; install the package cloze-{name}, or install lib", ended.stderr)

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
