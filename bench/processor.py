"""The processor of this machine, as /proc/cpuinfo describes it."""
import pathlib
import re


def processor_field(name, otherwise):
    """Returns a field of the first processor, such as "model name"."""
    found = re.search(rf"^{name}\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else otherwise
