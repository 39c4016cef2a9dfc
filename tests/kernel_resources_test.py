"""What ptxas says of the kernels for cards, compared with the table of docs/design/cuda.md: registers of a thread, and
that nothing is spilled.

Usage: kernel_resources_test.py REPORT ...
"""
import pathlib
import re
import subprocess
import sys
import unittest

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent / "docs" / "design" / "cuda.md"
REPORTS = sys.argv[1:]
del sys.argv[1:]

ENTRY = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'.*?"
                   r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads.*?"
                   r"Used (\d+) registers", re.DOTALL)


def kernel_names(mangled):
    """{mangled name: the name of the struct that is the kernel}"""
    demangled = subprocess.run(["c++filt"], input="\n".join(mangled), capture_output=True, text=True, check=True).stdout
    # run<cloze::backend::gpu::card::(anonymous namespace)::Map<float, ...> >
    names = [re.search(r"\brun<(?:[\w ()]+::)*(\w+)", line)[1] for line in demangled.splitlines()]
    return dict(zip(mangled, names))


def limits():
    """{kernel: the most registers of a thread}, from the table."""
    table = re.search(r"<!-- registers: begin -->\n.*?\n.*?\n(.*?)<!-- registers: end -->", DOCUMENT.read_text(), re.DOTALL)[1]
    return {name: int(most) for line in table.splitlines() for names, most in [line.strip("| ").split("|")]
            for name in re.findall(r"\w+", names)}


class Resources(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        entries = [entry for report in REPORTS for entry in ENTRY.findall(pathlib.Path(report).read_text())]
        names = kernel_names([entry[0] for entry in entries])
        cls.entries = [(names[mangled], architecture, *map(int, numbers)) for mangled, architecture, *numbers in entries]

    def test_nothing_is_spilled(self):
        for name, architecture, stack, stores, loads, _ in self.entries:
            with self.subTest(kernel=name, architecture=architecture):
                self.assertEqual((stack, stores, loads), (0, 0, 0))

    def test_each_kernel_keeps_to_its_registers(self):
        most = {}
        for name, *_, registers in self.entries:
            most[name] = max(most.get(name, 0), registers)
        self.assertEqual(set(most), set(limits()), "the table names each kernel, and no other")
        for name, registers in most.items():
            with self.subTest(kernel=name):
                self.assertLessEqual(registers, limits()[name])


if __name__ == "__main__":
    unittest.main()
