"""What scripts/measure runs for docs/results.md: each measurement's command, what it needs, and the figures in
its output.

A command is a list of words. DATA in a word stands for the folder of data (CLOZE_DATA), WORK for a folder that is
empty when the measurement begins. Figures are what docs/results.json keeps: names and numbers, or short texts.
"""
import dataclasses
import os
import pathlib
import re

CLOZE = "build/release/cloze"
UNCASED, CASED = "DATA/vocab/bert-base-uncased-vocab.txt", "DATA/vocab/bert-base-cased-vocab.txt"
WIKIPEDIA, FEW_ARTICLES = "DATA/wikipedia/AB", "DATA/wikipedia/AB/wiki_00"
PEERS = ("torch", "transformers")
SIZES = ("tiny", "base", "large")
CHECKS = ("transformers", "optimisers", "squad", "glue sequences", "tokenizers", "files of tokenizers", "scikit-learn",
          "stops (f32)", "stops (bf16)")


class NotUnderstood(Exception):
    """The output of a command does not hold the figures."""


@dataclasses.dataclass
class Measurement:
    name: str           # PART/WHAT
    commands: list      # run one after the other
    quick: list         # the same, small: shows that all works, and measures nothing
    figures: object     # output -> figures
    seconds: int        # about how long it takes on two cores of a Zen 4
    packages: tuple = ()
    data: tuple = ()
    processor: tuple = ()  # words of /proc/cpuinfo, one of which must be there

    @property
    def part(self):
        return self.name.split("/")[0]


def found(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    if not match:
        raise NotUnderstood(f"no line like {pattern}")
    return match


def demo_figures(text):
    def blanks(when):
        return found(rf"^Held-out blanks {when} training: +top-1 (.*)$", text)[1]
    scores = found(r"^Questions on unseen paragraphs: +exact ([\d.]+) f1 ([\d.]+)", text)
    return {"before": blanks("before"), "after": blanks("after"), "exact": float(scores[1]), "f1": float(scores[2]),
            "seconds": int(found(r"all of it took (\d+) s", text)[1])}


def step_figures(text):
    """Of scripts/bench_step --gather-predictions both."""
    lines = re.findall(r"^ratio ([\d.]+) ours ([\d.]+) peer ([\d.]+) (\S+) ceiling (\S+)( %)?(, peer gathers)?$", text, re.MULTILINE)
    figures = {}
    for ratio, ours, peer, unit, ceiling, _, gathers in lines:
        kind = "same" if gathers else "all"
        figures |= {"ours": float(ours), "unit": unit, kind: float(peer), f"{kind}_ratio": float(ratio)}
        if ceiling != "unknown":
            figures["ceiling"] = float(ceiling)
    if not {"same", "all"} <= figures.keys():
        raise NotUnderstood("no ratio to either kind of peer")
    return figures


def latency_figures(text):
    """Medians of scripts/bench_latency by length, in ms, and tokens/s of batches of SQuAD's lengths."""
    figures = {}
    for line in text.splitlines():
        if setting := re.match(r"S=(\d+) threads", line):
            figures[setting[1]] = current = {}
        elif call := re.match(r"  (\S+) +best .* p50 +([\d.]+)", line):
            current[call[1]] = float(call[2])
        elif rate := re.match(r"  (\S+) +([\d.]+) real tokens/s", line):
            figures.setdefault("ragged", {})[rate[1]] = float(rate[2])
    if not figures or any(len(values) < 2 for values in figures.values()):
        raise NotUnderstood("no medians of ours and of a peer")
    return figures


def tokenizer_figures(text):
    ratio = found(r"^ratio ([\d.]+) ours ([\d.]+) peer ([\d.]+) MB/s", text)
    return {"ratio": float(ratio[1]), "ours": float(ratio[2]), "peer": float(ratio[3]),
            "differences": int(found(r"^total: (\d+) differences", text)[1])}


def store_figures(text):
    written = [float(rate.replace(",", "")) for rate in re.findall(r" ([\d.,]+) MB/s$", text, re.MULTILINE)]
    if len(written) < 2:
        raise NotUnderstood("no speeds of cloze data tokens")
    share = found(r"\(([\d.]+) of it\)", text)[1]

    def rate(length):
        return float(found(rf"^load_step/{length}\S* .*items_per_second=([\d.]+)M/s", text)[1])

    def milliseconds(name):
        return int(found(rf"^{name}\S* +(\d+) ns", text)[1]) / 1e6
    return {"megabytes_per_second": max(written[:-1]), "again": written[-1], "share": float(share),
            "open_ms": milliseconds("open"), "far_ms": milliseconds("reach_step/1000000"),
            "million_tokens_128": rate(128), "million_tokens_512": rate(512)}


def memory_figures(text):
    line = found(r"memory: ([\d.]+) MiB at the peak, ([\d.]+) MiB planned", text)
    return {"taken": float(line[1]), "planned": float(line[2])}


def plan_figures(text):
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")]
    line = found(r"at most ([\d.]+) % off in memory \(aim \S+ %\), ([\d.]+) % in time", text)
    return {"most_memory": float(line[1]), "most_time": float(line[2]), "runs": len(rows) - 2}


def check_figures(text):
    """Result and last line of each check, from the table of scripts/check_all."""
    rows = re.findall(r"^\| (.+?) \| (?:all|avx\S*|amx) \| (\S+) \| \d+ \| (.*) \|$", text, re.MULTILINE)
    if not rows:
        raise NotUnderstood("no table of checks")
    return {name: f"{result}: {last}" for name, result, last in rows}


def step(name, config, batch, seconds, *options, precision="f32", modes="eager,compiled", rounds=2, **needs):
    def words(*rest):
        return [["scripts/bench_step", *rest, *options, "--dtype", precision, "--gather-predictions", "both"]]
    quick = words("bench/tiny_128.json", "--batch", 2, "--rounds", 1, "--modes", modes.split(",")[0])
    return Measurement(f"training/{name}", words(config, "--batch", batch, "--rounds", rounds, "--modes", modes), quick,
                       step_figures, seconds, packages=PEERS, **needs)


def memory(size, precision):
    def words(model, length):
        return [[CLOZE, "pretrain", "--config", f"configs/bert_{model}.json", "--generated-data", "--seq-length", length,
                 "--global-batch-size", 16, "--num-train-steps", 1, "--precision", precision, "--save-path", "WORK/run"]]
    seconds = {"tiny": 2, "base": 15, "large": 50}[size]
    return Measurement(f"memory/{size} {precision}", words(size, 128), words("tiny", 32), memory_figures, seconds)


def store_commands(text, count):
    tokens = [CLOZE, "data", "tokens", "--input-file", text, "--vocab-file", UNCASED, "--output-dir"]
    folders = [f"WORK/{number}" for number in range(count)]
    return [[*tokens, folder] for folder in [*folders, folders[0]]] + [
        ["build/release/bin/loader_bench", folders[0], "--benchmark_filter=open|reach|load_step"]]


def tokenizer(text, *options):
    return [["scripts/bench_tokenizer", "--uncased-vocab", UNCASED, "--cased-vocab", CASED, *options, text]]


def latency(*options):
    return [["scripts/bench_latency", "--dtypes", "f32", "--threads", 2, *options]]


# PyTorch's fast modes of bf16, and the units without which they are slow on both sides.
BF16 = {"precision": "bf16", "modes": "bf16-weights,bf16-weights-compiled", "processor": ("avx512_bf16", "amx_bf16")}


def all_measurements():
    """In the order of the page."""
    yield Measurement("demo/two commands", [["scripts/demo"]], [["scripts/demo", "--quick"]], demo_figures, 180)
    yield step("tiny f32", "bench/tiny_128.json", 128, 150, rounds=3)
    yield step("base f32", "bench/base_128.json", 16, 330)
    yield step("tiny bf16", "bench/tiny_128.json", 128, 150, rounds=3, **BF16)
    yield step("base bf16", "bench/base_128.json", 16, 240, **BF16)
    yield step("GroupBERT-base bf16", "configs/groupbert/pretrain_base_groupbert_128.json", 8, 240, **BF16)
    yield step("base, SQuAD's lengths, bf16", "bench/base_512.json", 16, 300, "--seq-length", 384, "--lengths",
               "tests/fixtures/lengths/squad_384.tsv", **{**BF16, "modes": "bf16-weights"})
    yield Measurement("answering/base f32", latency("--rounds", 9, "--num-iter", 3, "--modes", "compiled,onnxruntime"),
                      latency("--rounds", 1, "--num-iter", 1, "--seq-lengths", 8, "--ragged-rounds", 1, "--ragged-batch", 1,
                              "--modes", "onnxruntime"),
                      latency_figures, 330, packages=(*PEERS, "onnx", "onnxscript", "onnxruntime"))
    vocabularies = ("vocab/bert-base-uncased-vocab.txt", "vocab/bert-base-cased-vocab.txt")
    yield Measurement("tokenizer/uncased", tokenizer(WIKIPEDIA, "--rounds", 2), tokenizer(FEW_ARTICLES, "--rounds", 1),
                      tokenizer_figures, 360, packages=("tokenizers",), data=("wikipedia/AB", *vocabularies))
    yield Measurement("store/wikipedia", store_commands(WIKIPEDIA, 3), store_commands(FEW_ARTICLES, 1), store_figures, 40,
                      data=("wikipedia/AB", vocabularies[0]))
    for size in SIZES:
        for precision in ("f32", "bf16"):
            yield memory(size, precision)
    yield Measurement("memory/plans", [["scripts/check_plan", "--steps", 6]],
                      [["scripts/check_plan", "--sizes", "tiny", "--steps", 3]], plan_figures, 180)
    yield Measurement("exactness/checks", [["scripts/check_all", "--only", ",".join(CHECKS)]],
                      [["scripts/check_all", "--no-build", "--only", "scikit-learn"]], check_figures, 900,
                      packages=(*PEERS, "tokenizers", "sklearn", "scipy"), data=("squad", "glue", "vocab", "novels"))


def what_is_missing(measurement, has_package, processor=None):
    """Returns why the measurement cannot run here; an empty text if it can."""
    missing = [name for name in measurement.packages if not has_package(name)]
    if missing:
        return f"no Python package {missing[0]}; scripts/setup --peers installs it"
    if measurement.data and "CLOZE_DATA" not in os.environ:
        return "CLOZE_DATA is not set"
    for name in measurement.data:
        if not (pathlib.Path(os.environ["CLOZE_DATA"]) / name).exists():
            return f"there is no {name} in CLOZE_DATA"
    flags = (pathlib.Path("/proc/cpuinfo").read_text() if processor is None else processor).split()
    if measurement.processor and not set(measurement.processor) & set(flags):
        return f"this processor has none of {', '.join(measurement.processor)}"
    return ""
