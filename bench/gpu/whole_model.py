#!/usr/bin/env python3
"""Trains a small BERT on a device and compares: 20 steps beside the CPU's, with dropout; two runs, and one that was
interrupted, with the same bytes; 200 steps on the text of a sample world. Prints one JSON line per comparison. Exit: 1 when
one of them failed.

Two devices round differently, and training lets the difference grow. How far they may be apart is computed: the CPU's own
losses are compared with those of a more exact run, in f32 with the scalar kernels in double (--device reference), in bf16
with f32. A device that computes the same with other roundings is about as far from the exact run, so at most LARGEST_RATIO
times as far from the CPU. Another dropout mask, or a missing term, is much farther. In 200 steps single losses drift apart
whatever the rounding; there the same is asked of their means over windows of steps, and that they fall.
"""
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from gpu.programs import ROOT, script_arguments  # noqa: E402  found by the line above

STEPS, LARGEST_RATIO = 20, 4
WINDOWS = 10  # of a run on the sample world
ROUNDOFF = 2.0**-24  # of f32, in which losses are summed


def model_options(is_tiny):
    hidden, words, sequences = (16, 128, 2) if is_tiny else (128, 1024, 8)
    return ["--generated-data", f"--hidden-size={hidden}", f"--intermediate-size={4 * hidden}", "--num-hidden-layers=2", "--num-attention-heads=2",
            f"--vocab-size={words}", "--max-position-embeddings=32", "--seq-length=32", "--max-predictions-per-seq=5",
            f"--global-batch-size={sequences}", "--micro-batch-size=2", f"--tokens-per-micro-batch={16 * sequences}",
            "--hidden-dropout-prob=0.1", "--attention-probs-dropout-prob=0.1", "--optimizer=lamb", "--base-learning-rate=0.02",
            "--lr-schedule=constant", "--warmup=0", "--max-grad-norm=1", "--on-loss-spike=ignore"]


def world_options(program, folder, is_tiny):
    """Writes text of a sample world and a vocabulary. Returns the options of a model, without dropout, that learns it."""
    hidden, words, size = (16, 256, ["--documents=40"]) if is_tiny else (128, 2048, ["--megabytes=1"])
    text, vocabulary = folder / "corpus.txt", folder / "vocab.txt"
    run("make_world", [sys.executable, ROOT / "examples" / "sample_world" / "make_world", f"--output-dir={folder}", *size], folder)
    run("vocabulary", [program, "data", "vocabulary", f"--input-file={text}", f"--output-file={vocabulary}", f"--size={words}"], folder)
    return [f"--input-file={text}", f"--vocab-file={vocabulary}", f"--vocab-size={words}", f"--hidden-size={hidden}",
            f"--intermediate-size={4 * hidden}", "--num-hidden-layers=2", "--num-attention-heads=2", "--max-position-embeddings=64",
            "--initializer-range=0.08", "--hidden-dropout-prob=0", "--attention-probs-dropout-prob=0",
            *(["--seq-length=32", "--global-batch-size=8"] if is_tiny else ["--seq-length=64", "--global-batch-size=16"]),
            "--max-predictions-per-seq=10", "--optimizer=adamw", f"--base-learning-rate={0.01 if is_tiny else 0.002}", "--warmup=0.1"]


def run(what, command, folder):
    """Runs a command in the folder; it must succeed."""
    result = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=folder)
    if result.returncode != 0:
        raise RuntimeError(f"{what}: {(result.stderr.strip().splitlines() or ['no message'])[-1]}")


class Runs:
    """Runs of one model in a folder, by name."""

    def __init__(self, program, folder, options):
        self.program, self.folder, self.options = program, folder, options

    def train(self, name, device, precision, *more, steps=STEPS):
        words = ["pretrain", *self.options, f"--num-train-steps={steps}", "--steps-per-logs=1", "--max-to-keep=0",
                 "--progress-bar=false", f"--device={device}", f"--precision={precision}", f"--save-path={self.folder / name}", *more]
        run(f"{name} on {device}", [self.program, *words], self.folder)

    def losses(self, name):
        lines = (self.folder / name / "metrics.jsonl").read_text().splitlines()
        return [row["loss"] for row in map(json.loads, lines) if "loss" in row]

    def weights(self, name):
        """The bytes of the last checkpoint: weights and the optimiser's states."""
        checkpoints = (self.folder / name).glob("checkpoint-*")
        last = max(checkpoints, key=lambda path: int(path.name.split("-")[1]))
        return [(last / f"{kind}.safetensors").read_bytes() for kind in ("model", "optimizer")]


def largest_gap(some, others):
    return max(abs(a - b) for a, b in zip(some, others, strict=True))


def curve(runs, device, precision):
    exact = ("reference", "f32") if precision == "f32" else ("cpu", "f32")
    kinds = {"exact": exact, "cpu": ("cpu", precision), "device": (device, precision)}
    losses = {}
    for name, (on, at) in kinds.items():
        runs.train(f"{precision}-{name}", on, at, "--steps-per-ckpts=0")
        losses[name] = runs.losses(f"{precision}-{name}")
    gap = largest_gap(losses["device"], losses["cpu"])
    bound = LARGEST_RATIO * largest_gap(losses["cpu"], losses["exact"]) + ROUNDOFF * max(losses["cpu"])
    return {"what": "curve", "precision": precision, "steps": len(losses["cpu"]), "largest_gap": gap, "bound": bound,
            "first_loss": losses["device"][0], "last_loss": losses["device"][-1], "passes": gap <= bound}


def same_bytes(runs, device, precision):
    def train(name, *more, steps=6):
        runs.train(f"{precision}-{name}", device, precision, "--steps-per-ckpts=3", *more, steps=steps)
        return runs.weights(f"{precision}-{name}")
    once, again = train("once"), train("again")
    yield {"what": "same_bytes", "precision": precision, "of": "two runs", "passes": once == again}
    train("resumed", steps=3)
    resumed = train("resumed", f"--restore-dir={runs.folder / f'{precision}-resumed'}")
    yield {"what": "same_bytes", "precision": precision, "of": "a run and a resumed one", "passes": once == resumed}


def learning(runs, device, steps):
    """The means of the losses in each window of steps: the device's and the CPU's in bf16, and the CPU's in f32."""
    means = {}
    for name, (on, precision) in {"exact": ("cpu", "f32"), "cpu": ("cpu", "bf16"), "device": (device, "bf16")}.items():
        runs.train(f"world-{name}", on, precision, "--steps-per-ckpts=0", steps=steps)
        losses, width = runs.losses(f"world-{name}"), steps // WINDOWS
        means[name] = [statistics.mean(losses[begin:begin + width]) for begin in range(0, steps, width)]
    gap = largest_gap(means["device"], means["cpu"])
    bound = LARGEST_RATIO * largest_gap(means["cpu"], means["exact"])
    return {"what": "learning", "precision": "bf16", "steps": steps, "largest_gap": gap, "bound": bound,
            **{name: [round(mean, 4) for mean in means[name]] for name in ("cpu", "device")},
            "passes": gap <= bound and means["device"][-1] < means["device"][0]}


def rows(arguments, folder):
    runs = Runs(arguments.program, folder, model_options(arguments.tiny))
    for precision in ("f32", "bf16"):
        yield curve(runs, arguments.device, precision)
        yield from same_bytes(runs, arguments.device, precision)
    in_world = Runs(arguments.program, folder, world_options(arguments.program, folder, arguments.tiny))
    yield learning(in_world, arguments.device, steps=STEPS if arguments.tiny else 10 * STEPS)


def main():
    arguments = script_arguments(__doc__, "cloze")
    failed = []
    with tempfile.TemporaryDirectory() as folder, contextlib.suppress(BrokenPipeError):
        for row in rows(arguments, pathlib.Path(folder)):
            print(json.dumps(row), flush=True)
            if not row["passes"]:
                failed.append(f"{row['what']} {row['precision']} {row.get('of', '')}".strip())
    if failed:
        sys.exit(f"whole_model: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
