"""The archive that scripts/gpu_check pack makes: all that a run needs on a machine with a card, but for Python, the driver
and NVIDIA's and PyTorch's libraries.

In its folder gpu_check: bin/ and lib/, stripped; the scripts, configurations and fixtures where they are in the repository.
Programs look for libraries in ../lib (cmake/targets.cmake). The C library is the machine's own: it must be as new as that of
the machine that built the programs.
"""
import pathlib
import re
import shutil
import struct
import subprocess
import tarfile
import tempfile

from gpu.programs import ROOT, program
from turns import build

PROGRAMS = ("cloze", "bench_step", "cuda_probe", "kernel_sweep", "model_test")
SOURCES = ("scripts/gpu_check", "bench/gpu", "bench/peers", "bench/peer_packages.py", "bench/turns.py",
           "configs/bert_tiny.json", "configs/bert_base.json", "configs/bert_large.json", "examples/sample_world",
           "tests/fixtures/lengths", "tests/fixtures/bert_*")
MOST_MIB = 56  # less than the 64 that a lent machine may take, with the repository beside it
PT_DYNAMIC, DT_RUNPATH, DT_LOOS = 2, 29, 0x6000000d  # elf(5)
C_LIBRARY = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|resolv|util|anl|mvec)\.so\..*)$")


class BundleError(Exception):
    pass


def libraries(programs):
    """Files of the shared libraries that these programs load, by the names by which they are looked for, without the C
    library's."""
    found = {}
    for path in programs:
        text = subprocess.run(["ldd", path], capture_output=True, text=True, check=True).stdout
        for name, file in re.findall(r"^\s*(\S+) => (.+?)(?: \(0x\w+\))?$", text, re.MULTILINE):
            if file == "not found":
                raise BundleError(f"{path} needs {name}, which is not found here")
            if not C_LIBRARY.match(name):
                found[name] = file
    return found


def put_stripped(source, to):
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, to)
    subprocess.run(["strip", to], capture_output=True)  # a script stays what it is
    to.chmod(0o755)


def forget_runpath(library):
    """Makes the loader pass over a library's RUNPATH, which would keep it from looking where the program does (ld.so(8))."""
    image = bytearray(library.read_bytes())
    headers, (size, count) = struct.unpack_from("<Q", image, 0x20)[0], struct.unpack_from("<HH", image, 0x36)
    for header in range(headers, headers + size * count, size):
        kind, _, begin, _, _, length = struct.unpack_from("<IIQQQQ", image, header)
        for entry in range(begin, begin + length, 16) if kind == PT_DYNAMIC else ():
            if struct.unpack_from("<Q", image, entry)[0] == DT_RUNPATH:
                struct.pack_into("<Q", image, entry, DT_LOOS)  # a tag that means nothing
    library.write_bytes(image)


def put_sources(folder):
    for pattern in SOURCES:
        for source in ROOT.glob(pattern):
            to = folder / source.relative_to(ROOT)
            to.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, to, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(source, to)


def fill(folder, programs, commit):
    for name, source in programs.items():
        put_stripped(source, folder / "bin" / name)
    binaries = [path for path in programs.values() if path.read_bytes()[:4] == b"\x7fELF"]  # stand-ins are scripts
    for name, file in libraries(binaries).items():
        put_stripped(file, folder / "lib" / name)
        forget_runpath(folder / "lib" / name)
    put_sources(folder)
    (folder / "commit").write_text(commit + "\n")


def pack(to, build_dir, builds, commit):
    """Makes the archive. Returns a line about it."""
    if builds:
        build(build_dir, *PROGRAMS)
    programs = {name: program(build_dir, name) for name in PROGRAMS}
    if missing := [name for name, path in programs.items() if path is None]:
        raise BundleError(f"no {', '.join(missing)} in {build_dir}; cuda_probe is built where nvcc is found (CLOZE_CUDA)")
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=to.parent) as scratch:
        folder = pathlib.Path(scratch) / "gpu_check"
        fill(folder, programs, commit)
        unpacked = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        with tarfile.open(to, "w:gz", compresslevel=6) as archive:
            archive.add(folder, "gpu_check")
    size = to.stat().st_size / 2**20
    if size > MOST_MIB:
        raise BundleError(f"{to} has {size:.1f} MiB, and no more than {MOST_MIB} should travel to a card")
    return (f"{to}: {size:.1f} MiB, {unpacked / 2**20:.1f} unpacked; there: tar -xzf {to.name}; "
            "gpu_check/scripts/gpu_check run --out FOLDER")
