"""The parts of scripts/gpu_check run, in the order of their value. docs/guides/cards.md says what each of them asks.

A part is a program with a limit. What it prints on stdout becomes rows of results.jsonl. All that its functions take is
the arguments of the run: device, tiny, build_dir, out.
"""
import json
import re
import shutil
import sys
from typing import NamedTuple

from gpu.programs import ROOT, device_complaint, no_program, peers_python, program, torch_facts

LARGE, BASE, TINY = "configs/bert_large.json", "configs/bert_base.json", "configs/bert_tiny.json"
SMALL = "bench/gpu/small.json"
LENGTHS, SQUAD_LENGTHS = "tests/fixtures/lengths/wikipedia_512.tsv", "tests/fixtures/lengths/squad_384.tsv"
SHORT, LONG = "--seq-length 128 --predictions 20", "--seq-length 512 --predictions 76"
NATURAL = f"{LONG} --lengths {LENGTHS}"
FLASH, LAYERS, WHOLE = "--attention flash", "--mode compiled-layers", "--mode compiled"
RAGGED, NESTED = "--layout ragged", "--layout nested"
# Name, configuration, arguments of pytorch_step.py. What is wanted most comes first: the part may be stopped.
TRAINING = (
    ("large 128 flash", LARGE, f"{SHORT} {FLASH}"),
    ("large 128 compiled layers", LARGE, f"{SHORT} {LAYERS}"),
    ("large natural padded", LARGE, NATURAL),
    ("large natural ragged", LARGE, f"{NATURAL} {RAGGED}"),
    ("large natural ragged compiled", LARGE, f"{NATURAL} {RAGGED} {LAYERS}"),
    ("large 512 flash", LARGE, f"{LONG} {FLASH}"),
    ("large 512 compiled layers", LARGE, f"{LONG} {LAYERS}"),
    ("base 128 flash", BASE, f"{SHORT} {FLASH}"),
    ("base 128 compiled", BASE, f"{SHORT} {WHOLE}"),
    ("base 512 flash", BASE, f"{LONG} {FLASH}"),
    ("base natural ragged compiled", BASE, f"{NATURAL} {RAGGED} {LAYERS}"),
    ("large natural nested", LARGE, f"{NATURAL} {NESTED}"),
    ("large 128, vocabulary everywhere", LARGE, SHORT),
    ("large 128 flash, LAMB", LARGE, f"{SHORT} {FLASH} --optimizer lamb"),
    ("large 128 compiled", LARGE, f"{SHORT} {WHOLE}"),
)

# Runs the program $0 once for each processor, with --part. Each has a file: lines of many in one pipe may mix.
IN_PARTS = """
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
parts=$(nproc)
for ((part = 0; part < parts; ++part)); do "$0" "$@" --part "$part/$parts" >"$folder/$part" & running+=($!); done
status=0
for process in "${running[@]}"; do wait "$process" || status=$?; done
cat "$folder"/*
exit "$status"
"""


class Part(NamedTuple):
    name: str
    limit: int  # seconds
    command: callable  # (arguments) -> words, or a text that says why the part cannot run
    cases: callable = lambda arguments: ()  # lines for its stdin
    read: callable = json.loads  # a line of stdout -> a row; ValueError or None for one that is no result
    takes_slack: bool = False  # what other parts have left of their time


def probe_command(only):
    def command(arguments):
        if arguments.device != "cuda" and only != "library":
            return "needs a card"
        probe = program(arguments.build_dir, "cuda_probe")
        return [probe, "--only", only, *["--tiny"] * arguments.tiny] if probe else no_program("cuda_probe")
    return command


def own_command(name, words):
    """A program of ours on the device."""
    def command(arguments):
        found, cloze = (program(arguments.build_dir, wanted) for wanted in (name, "cloze"))
        if not found or not cloze:
            return no_program(name if not found else "cloze")
        return device_complaint(cloze, arguments.device) or words(found, arguments)
    return command


def own_script(script, name):
    """A script beside this one that runs a program of ours, on the device."""
    return own_command(name, lambda found, arguments: [
        sys.executable, "-B", ROOT / "bench" / "gpu" / script, "--program", found, "--device", arguments.device,
        *["--tiny"] * arguments.tiny])


def with_torch(command):
    return lambda arguments: command(arguments) if torch_facts() else f"{peers_python()} has no torch with transformers"


def peer_command(script, words=lambda arguments: ()):
    return with_torch(lambda arguments: [
        peers_python(), ROOT / "bench" / "peers" / script, "--device", "cuda" if arguments.device == "cuda" else "cpu",
        *words(arguments)])


def tool_command(tool, words, command):
    """A program of ours under one of NVIDIA's tools, which come with CUDA and not with the bundle."""
    def with_tool(arguments):
        if arguments.device != "cuda":
            return "needs a card"
        inner = command(arguments)
        if isinstance(inner, str):
            return inner
        return [tool, *words(arguments), *inner] if shutil.which(tool) else f"no {tool} here"
    return with_tool


def few_words(sweep, arguments):
    """Words of kernel_sweep: few cases of the thin sweep."""
    chosen = {"cuda": ["--device", "cuda"], "emulated": ["--emulated", "1"], "cpu": []}[arguments.device]
    return [sweep, *chosen, "--thin", "--part", "0/60"]


def sweep_words(sweep, arguments):
    """All of its cases, shared out to processes: the reference on the CPU takes most of the time."""
    if arguments.tiny:
        return few_words(sweep, arguments)
    return ["bash", "-c", IN_PARTS, sweep, "--device", arguments.device, "--thin"]


def fixture_words(tests, arguments):
    """The models of tests/fixtures on this device, in the test that transformers' numbers are compared in."""
    some = "bert_pretraining_a_*" if arguments.tiny else "*"
    return ["env", f"CLOZE_TEST_DEVICE={arguments.device}", f"CLOZE_FIXTURES={ROOT / 'tests' / 'fixtures'}",
            tests, f"--gtest_filter=*ModelFixtureTest.*/{some}"]


def profile_words(bench, arguments):
    if arguments.tiny:
        sizes = ("--config", ROOT / SMALL)
    else:
        sizes = ("--config", ROOT / LARGE, "--batch", 512, "--tokens-per-micro-batch", 65536)
    return [bench, *sizes, "--dtype", "bf16", "--device", arguments.device, "--steps", 2]


def counter_words(arguments):
    """Words of ncu, for launches of the second step."""
    return ["--clock-control", "none", "--target-processes", "all", "--csv", "--log-file", arguments.out / "ncu.csv",
            "--launch-skip", 400, "--launch-count", 40]


def sanitizer_words(tool):
    return lambda arguments: ["--tool", tool, "--target-processes", "all", "--print-limit", 20, "--error-exitcode", 1]


def training_cases(arguments):
    return [f"--name '{name}' {training_case(config, words, arguments.tiny)}" for name, config, words in TRAINING]


def training_case(config, words, is_tiny):
    """Returns the arguments of a case. All cases but one gather the predicted positions."""
    gathered = "" if words == SHORT else "--gather-predictions "
    if not is_tiny:
        return f"--config {config} --dtype bf16 --batch fit --steps 10 {gathered}{words}"
    words = words.replace(SHORT, "--seq-length 32 --predictions 5")
    return f"--config {SMALL} --dtype bf16 --batch fit --most-tokens 1024 --steps 2 {gathered}{words}"


def latency_calls(is_tiny):
    """Configuration, tokens, sequences of a call, calls that are timed."""
    if is_tiny:
        return ((SMALL, 32, 2, 3),)
    return ((BASE, 128, 1, 200), (BASE, 384, 1, 200), (BASE, 128, 128, 20), (LARGE, 384, 1, 100), (LARGE, 128, 128, 20))


def latency_cases(arguments):
    """A line for pytorch's latency.py: every call in each mode, those without compilation first."""
    return [f"--config {config} --dtype bf16 --mode {mode} --seq-length {length} --batch-size {batch} "
            f"--num-iter {number}" for mode in ("eager", "reduce-overhead")
            for config, length, batch, number in latency_calls(arguments.tiny)]


def matched(pattern, what, names, numbers):
    """Makes a reader of lines that match: groups become the named values, of these types."""
    def read(line):
        found = re.search(pattern, line)
        return {"what": what, **{name: kind(text) for name, kind, text in zip(names, numbers, found.groups(), strict=True)}} \
            if found else None
    return read


sweep_row = matched(r"^(\S+) (\S+) cases (\d+) failures (\d+)$", "sweep", ("operator", "set", "cases", "failures"),
                    (str, str, int, int))
fixture_row = matched(r"^\[ +(OK|FAILED) +\] \w+/\w+\.(\S+?)(?:,.*)? \((\d+) ms\)$", "fixture", ("passes", "test", "ms"),
                      (lambda word: word == "OK", str, int))
operator_row = matched(r"^(\S+)  (\S.*?) +([\d.]+)% +([\d.]+) +(\d+) +(\S+)$", "operator",
                       ("operator", "kernel", "percent", "ms", "calls", "gflops"), (str, str, float, float, int, float))
findings_row = matched(r"^=+ (ERROR|RACECHECK) SUMMARY: (\d+)", "findings", ("tool", "findings"), (str, int))

# The limits are 540 seconds together.
PARTS = (
    Part("start", 20, probe_command("library")),
    Part("conformance", 10, probe_command("conformance")),
    Part("questions", 15, probe_command("questions")),
    Part("sweep", 40, own_command("kernel_sweep", sweep_words), read=sweep_row),
    Part("fixtures", 15, own_command("model_test", fixture_words), read=fixture_row),
    Part("whole", 50, own_script("whole_model.py", "cloze")),
    Part("ceilings", 40, probe_command("ceilings")),
    Part("rates", 145, own_script("rates.py", "bench_step")),
    Part("training", 45, peer_command("pytorch_step.py", lambda arguments: ["--each"]), training_cases, takes_slack=True),
    Part("operators", 25, peer_command("pytorch_operators.py", lambda arguments: ["--tiny"] * arguments.tiny)),
    Part("answers", 30, with_torch(own_script("answers.py", "cloze"))),
    Part("latency", 50, peer_command("latency.py", lambda arguments: ["--each"]), latency_cases),
    Part("profile", 15, own_command("bench_step", profile_words), read=operator_row),
    Part("memcheck", 15, tool_command("compute-sanitizer", sanitizer_words("memcheck"),
                                      own_command("kernel_sweep", few_words)), read=findings_row),
    Part("racecheck", 15, tool_command("compute-sanitizer", sanitizer_words("racecheck"),
                                       own_command("kernel_sweep", few_words)), read=findings_row),
    Part("counters", 10, tool_command("ncu", counter_words, own_command("bench_step", profile_words))),
)
