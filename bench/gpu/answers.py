#!/usr/bin/env python3
"""Measures how long our models of random weights take to answer: by cloze compile and cloze latency on a device, with the
calls that bench/peers/latency.py makes with PyTorch. Prints one JSON line per case. Exit: 1 when one of them failed.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from gpu.parts import latency_calls  # noqa: E402  found by the line above
from gpu.programs import peers_python, script_arguments  # noqa: E402


def finished(*words):
    result = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError((result.stderr.strip().splitlines() or [f"status {result.returncode}"])[-1])
    return result.stdout


class Models:
    """Compiled models of configurations, each made when it is first asked for."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.made = arguments, pathlib.Path(folder), set()

    def compiled(self, config):
        name = pathlib.Path(config).stem
        to = self.folder / f"{name}.cloze"
        if name not in self.made:
            weights = self.folder / name
            finished(peers_python(), ROOT / "bench" / "peers" / "latency.py", "--save-model", weights, "--config", ROOT / config)
            finished(self.arguments.program, "compile", "--init-checkpoint", weights, "--precision", "bf16",
                     "--device", self.arguments.device, "--output-file", to)
            self.made.add(name)
        return to


def figures(text):
    """The figures that cloze latency prints."""
    times = re.search(r"p50 ([\d.]+) .*p99 ([\d.]+) ", text)
    rate = re.search(r"throughput: ([\d.]+) sequences/s", text)
    return {"p50_ms": float(times[1]), "p99_ms": float(times[2]), "sequences_per_second": float(rate[1])}


def row(models, arguments, config, length, batch, number):
    said = {"what": "latency", "who": "ours", "model": pathlib.Path(config).stem.removeprefix("bert_"), "seq_length": length,
            "batch_size": batch}
    try:
        text = finished(arguments.program, "latency", "--program", models.compiled(config), "--device", arguments.device,
                        "--seq-length", length, "--batch-size", batch, "--clients", 1, "--num-iter", number)
        return said | figures(text)
    except RuntimeError as error:
        return said | {"error": str(error)}


def main():
    arguments = script_arguments(__doc__, "cloze")
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        models = Models(arguments, folder)
        for case in latency_calls(arguments.tiny):
            said = row(models, arguments, *case)
            errors += [said["error"]] if "error" in said else []
            print(json.dumps(said), flush=True)
    if errors:
        sys.exit(f"answers: {errors[0]}")


if __name__ == "__main__":
    main()
