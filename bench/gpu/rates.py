#!/usr/bin/env python3
"""Training steps of ours and of PyTorch's best, in turns on one machine, both with AdamW in bf16 and predictions gathered;
then ours alone, in more sizes.

For each case both sides are started and warmed, and take turns of a step each, in reversed order every other round. Prints
one JSON line per side, the median of its rounds, and one for their ratio. A side that cannot run is a line with its error,
and the other one is measured alone. Without PyTorch only ours runs.
"""
import json
import pathlib
import sys
import tempfile
from typing import NamedTuple

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "bench" / "peers")]
from gpu.parts import BASE, LARGE, LENGTHS, SMALL, SQUAD_LENGTHS, TINY  # noqa: E402  found by the line above
from gpu.programs import peers_python, script_arguments, torch_facts  # noqa: E402
from pytorch_step import read_config  # noqa: E402
from turns import Runner, RunnerError  # noqa: E402

ROUNDS = 5
TOKENS = 65536  # of our micro-batch; what fits a card of 80 GB with BERT-large


class Case(NamedTuple):
    name: str
    config: str
    length: int
    predictions: int
    sequences: int  # of a step of ours
    peer_sequences: int = 0  # without any, ours runs alone
    peer_words: tuple = ()
    lengths: str = ""  # of natural texts, in a file; else all are full


def cases(is_tiny):
    """The peer in the mode that should be its best, with a batch that fits beside ours; the part `training` has the others."""
    ragged, compiled = ("--layout", "ragged"), ("--mode", "compiled-layers")
    if is_tiny:  # without compilation, which takes minutes on a processor
        return (Case("small 32", SMALL, 32, 5, 4, 4), Case("small natural", SMALL, 512, 76, 2, 2, ragged, LENGTHS),
                Case("small SQuAD", SMALL, 384, 56, 2, lengths=SQUAD_LENGTHS))
    return (Case("large 128", LARGE, 128, 20, 512, 256, compiled),
            Case("large natural", LARGE, 512, 76, 256, 128, (*ragged, *compiled), LENGTHS),
            Case("base 128", BASE, 128, 20, 512, 256, compiled),
            Case("large SQuAD", LARGE, 384, 56, 256, lengths=SQUAD_LENGTHS), Case("large 512", LARGE, 512, 76, 128),
            Case("base 512", BASE, 512, 76, 128), Case("tiny 128", TINY, 128, 20, 512))


def write_config(case, folder):
    """A configuration for both sides, of the case's lengths."""
    config = read_config(ROOT / case.config)
    path = pathlib.Path(folder) / f"{case.name.replace(' ', '_')}.json"
    path.write_text(json.dumps({**config, "seq_length": case.length, "max_predictions_per_seq": case.predictions}))
    return path


def commands(case, config, arguments):
    """Yields the name of each side and the words that start it."""
    common = ["--config", config, "--dtype", "bf16", *["--lengths", ROOT / case.lengths] * bool(case.lengths), "--serve"]
    tokens = max(512, 128 * case.sequences) if arguments.tiny else TOKENS
    yield "ours", [arguments.program, *common, "--device", arguments.device, "--optimizer", "adamw",
                   "--batch", case.sequences, "--tokens-per-micro-batch", tokens]
    if case.peer_sequences and torch_facts():
        yield "PyTorch", [peers_python(), ROOT / "bench" / "peers" / "pytorch_step.py", *common,
                          "--device", "cuda" if arguments.device == "cuda" else "cpu",
                          "--batch", case.peer_sequences, "--gather-predictions", *case.peer_words]


def take_turn(runner, turns):
    runner.run()
    turns.setdefault(runner.name, []).append(runner.last)


def run_case(case, config, arguments):
    """Yields the rows of the case."""
    runners = [Runner(who, command, "tokens_per_second") for who, command in commands(case, config, arguments)]
    turns = {}

    def attempt(action, runner):
        """Drops the side if it fails."""
        try:
            action()
        except (RunnerError, BrokenPipeError) as error:
            runners.remove(runner)
            turns.pop(runner.name, None)
            yield {"what": "step", "case": f"{case.name}, {runner.name}", "error": str(error)}
    for runner in list(runners):
        yield from attempt(runner.wait_until_warm, runner)
    for number in range(2 if arguments.tiny else ROUNDS):
        for runner in runners[::-1] if number % 2 else list(runners):
            yield from attempt(lambda runner=runner: take_turn(runner, turns), runner)
    for runner in runners:
        runner.stop()
    yield from summed_up(case, turns)


def summed_up(case, turns):
    rates = {}
    for who, rows in turns.items():
        middle = sorted(rows, key=lambda row: row["seconds"])[(len(rows) - 1) // 2]
        rates[who] = middle["tokens_per_second"]
        yield {"what": "step", "case": f"{case.name}, {who}", "name": f"{case.name}, {who}", "steps": len(rows),
               **{name: middle[name] for name in ("seconds", "sequences", "sequences_per_second", "tokens_per_second")},
               **({"tflops": middle["useful_gflops"] / 1e3} if "useful_gflops" in middle else {})}
    if len(rates) == 2:
        yield {"what": "ratio", "of": case.name, **rates, "ratio": rates["ours"] / rates["PyTorch"]}


def main():
    arguments = script_arguments(__doc__, "bench_step")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(arguments.tiny):
            for row in run_case(case, write_config(case, folder), arguments):
                print(json.dumps(row), flush=True)
                if "error" in row:
                    failed.append(f"{row['case']}: {row['error']}")
    if failed:
        sys.exit(f"rates: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
