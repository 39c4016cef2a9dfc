#!/usr/bin/env python3
"""One BERT pre-training step in torch + transformers: the peer that bench_step is compared with.

The model is BertForPreTraining in the sizes of the configuration. It has GroupBERT's encoder
(groupbert.py) where the configuration says so, and lacks the biases and the MLM transform that the
configuration turns off. Every sequence has the full length S with P predictions;
with --lengths it is as long as a histogram of lengths says, with 15 % of it to predict, and padded to
S, or laid end to end with --layout ragged or nested. Forward, backward and one update: AdamW (fused), or
LAMB over all parameters at once (pytorch_lamb.py). The library projects every position on the vocabulary;
with --gather-predictions only the predicted ones, as PyTorch's best users do and we do. pytorch_bert.py has
the forms of the model.

Modes, all with sdpa attention:
  f32    eager, compiled, compiled-layers
  bf16   autocast, compiled and compiled-layers (autocast too), bf16-weights, bf16-weights-compiled
compiled-layers compiles one layer and uses it for all: a fraction of the time that the whole model takes.

On a card (--device cuda) a step is timed by events. --batch fit halves the batch from --most-tokens
until two steps fit into the memory; a compiled mode takes the batch that fits without compilation.

Prints one JSON line per repetition:
  {"mode": "eager", "dtype": "f32", "seconds": 1.5, "sequences": 32, "sequences_per_second": 21.3,
   "tokens_per_second": 2726.4}
With --serve it prints "ready" when it is warm, then answers each line "run" on stdin with one such
line and leaves at the end of stdin, so that two programs can take turns on one machine.
With --each every line of stdin holds the arguments of one case. Each is answered with one line, the
median of --steps steps with what was asked and the case itself, or {"what": "step", "case": ..., "error": ...}.
"""
import argparse
import contextlib
import gc
import json
import os
import re
import statistics
import sys
import time

from cases import answer_cases

MODES = {"f32": ("eager", "compiled", "compiled-layers"),
         "bf16": ("autocast", "compiled", "compiled-layers", "bf16-weights", "bf16-weights-compiled")}
ATTENTIONS = {"flash": "FLASH_ATTENTION", "cudnn": "CUDNN_ATTENTION", "efficient": "EFFICIENT_ATTENTION",
              "math": "MATH"}
END_TO_END = ("ragged", "nested")
WARM_UP_STEPS = 2


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", help="a configuration of ours (configs/*.json)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--batch", default="", help="sequences in a step, or fit; default: micro_batch_size")
    parser.add_argument("--most-tokens", type=int, default=65536, help="where --batch fit begins")
    parser.add_argument("--seq-length", type=int, help="S; default: the configuration's")
    parser.add_argument("--predictions", type=int, help="P at most; default: max_predictions_per_seq")
    parser.add_argument("--lengths", help="histogram of lengths (TSV); default: all are full")
    parser.add_argument("--layout", choices=("padded", *END_TO_END), default="padded")
    parser.add_argument("--optimizer", choices=("adamw", "lamb"), default="adamw")
    parser.add_argument("--attention", choices=sorted(ATTENTIONS), help="the only kind that sdpa may choose")
    parser.add_argument("--dtype", choices=sorted(MODES), default="f32")
    parser.add_argument("--mode", choices=sorted({m for modes in MODES.values() for m in modes}))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--steps", type=int, default=1, help="repetitions without --serve")
    parser.add_argument("--name", default="", help="of a case, for its line")
    parser.add_argument("--gather-predictions", action="store_true",
                        help="project only the predicted positions on the vocabulary")
    answers = parser.add_mutually_exclusive_group()
    answers.add_argument("--serve", action="store_true")
    answers.add_argument("--each", action="store_true", help="cases on stdin, one a line")
    return parser


def check_arguments(arguments, refuse):
    arguments.mode = arguments.mode or MODES[arguments.dtype][0]
    if not arguments.config:
        refuse("--config is required")
    if arguments.mode not in MODES[arguments.dtype]:
        refuse(f"--dtype {arguments.dtype} has the modes {', '.join(MODES[arguments.dtype])}")
    if arguments.batch != "fit" and not re.fullmatch(r"[1-9]\d*|", arguments.batch):
        refuse(f"--batch {arguments.batch}: give a number of sequences, or fit")
    if arguments.layout in END_TO_END and not arguments.gather_predictions:
        refuse(f"--layout {arguments.layout} needs --gather-predictions")
    if arguments.layout == "ragged" and arguments.attention:
        refuse("--attention chooses among sdpa's kinds, which --layout ragged does not use")
    if arguments.layout == "ragged" and arguments.device == "cuda" and arguments.dtype == "f32":
        refuse("varlen_attn takes no f32: --layout ragged --device cuda needs --dtype bf16")


def read_config(path):
    """Our configurations are JSON with comments on lines of their own."""
    with open(path, encoding="utf-8") as file:
        return json.loads(re.sub(r"^\s*//.*$", "", file.read(), flags=re.MULTILINE))


def read_lengths(path, sequences):
    """Returns this many lengths, as frequent as in the histogram and in ascending order."""
    with open(path, encoding="utf-8") as file:
        rows = [tuple(map(int, line.split())) for line in file if line.strip() and not line.startswith("#")]
    total = sum(count for _, count in rows)
    lengths, seen = [], 0
    for length, count in sorted(rows):
        seen += count
        while (2 * len(lengths) + 1) * total < 2 * sequences * seen:
            lengths.append(length)
    return lengths


class Clock:
    """Measures one step: by events on a card, else by the processor's clock."""

    def __init__(self, is_cuda):
        import torch
        self.is_cuda = is_cuda
        if is_cuda:
            self.first, self.last = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def seconds(self, run):
        if not self.is_cuda:
            begin = time.perf_counter()
            run()
            return time.perf_counter() - begin
        self.first.record()
        run()
        self.last.record()
        self.last.synchronize()
        return self.first.elapsed_time(self.last) / 1e3


class Step:
    """A training step in one mode; calling it runs one and returns its measurements."""

    def __init__(self, arguments, config, sequences, is_compiled):
        import torch
        from pytorch_bert import make_model, make_samples, useful_flops
        self.arguments, self.sequences = arguments, sequences
        slots = arguments.seq_length or config["seq_length"]
        most = arguments.predictions or config["max_predictions_per_seq"]
        lengths = read_lengths(arguments.lengths, sequences) if arguments.lengths else [slots] * sequences
        samples = make_samples(lengths, min(most, slots - 3), config["vocab_size"])
        self.tokens, self.flops = sum(lengths), useful_flops(config, samples)
        form = form_of(arguments)
        with torch.device(arguments.device):  # where the weights are drawn
            model = make_model(config).train()
        if arguments.mode.startswith("bf16-weights"):
            model = model.to(torch.bfloat16)
        self.optimizer = make_optimizer(arguments.optimizer, model.parameters())
        self.batch = {name: value.to(arguments.device) if torch.is_tensor(value) else value
                      for name, value in form.batch(samples, slots).items()}
        self.loss = compiled(form(model), arguments.mode) if is_compiled else form(model)
        self.clock = Clock(arguments.device == "cuda")

    def contexts(self):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        contexts = contextlib.ExitStack()
        if self.arguments.dtype == "bf16" and not self.arguments.mode.startswith("bf16-weights"):
            contexts.enter_context(torch.autocast(self.arguments.device, torch.bfloat16))
        if self.arguments.attention:
            contexts.enter_context(sdpa_kernel(getattr(SDPBackend, ATTENTIONS[self.arguments.attention])))
        return contexts

    def run(self):
        self.optimizer.zero_grad(set_to_none=True)
        with self.contexts():
            loss = self.loss(**self.batch)
        loss.backward()
        self.optimizer.step()
        loss.item()

    def __call__(self):
        return self.row(self.clock.seconds(self.run))

    def row(self, seconds):
        return {"mode": self.arguments.mode, "dtype": self.arguments.dtype, "seconds": seconds,
                "sequences": self.sequences, "sequences_per_second": self.sequences / seconds,
                "tokens_per_second": self.tokens / seconds}


def form_of(arguments):
    from pytorch_bert import Gathered, Library, Nested, Ragged
    ends = {"ragged": Ragged, "nested": Nested}
    return ends.get(arguments.layout) or (Gathered if arguments.gather_predictions else Library)


def make_optimizer(name, parameters):
    import torch
    if name == "lamb":
        from pytorch_lamb import Lamb
        return Lamb(parameters, lr=1e-4, eps=1e-6, weight_decay=0.01)
    return torch.optim.AdamW(parameters, lr=1e-4, eps=1e-6, weight_decay=0.01, fused=True)


def compiled(model, mode):
    import torch
    if not mode.endswith("-layers"):
        return torch.compile(model)
    for layer in model.layers:
        layer.compile()
    return model


def free_memory():
    import torch
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()


def warm(step):
    for _ in range(WARM_UP_STEPS):
        step()
    return step


def largest_that_fits(make_step, sequences):
    """Returns the step with the most sequences, halved from these, that has run WARM_UP_STEPS times. The
    optimiser's moments are there from the second step on."""
    import torch
    while True:
        try:
            return warm(make_step(sequences))
        except torch.OutOfMemoryError:
            if sequences == 1:
                raise
        free_memory()  # outside the handler, which still holds the tensors of the failed step
        sequences //= 2


def make_step(arguments, config):
    """A warm step. With --batch fit it is found without compilation, which takes minutes."""
    is_compiled = "compiled" in arguments.mode
    if arguments.batch != "fit":
        sequences = int(arguments.batch or config["micro_batch_size"])
        return warm(Step(arguments, config, sequences, is_compiled))
    slots = arguments.seq_length or config["seq_length"]
    step = largest_that_fits(lambda sequences: Step(arguments, config, sequences, False),
                             max(1, arguments.most_tokens // slots))
    if not is_compiled:
        return step
    sequences, step = step.sequences, None
    free_memory()
    return warm(Step(arguments, config, sequences, True))


def run_case(arguments):
    """The median of the steps, and what they were."""
    import torch
    config = read_config(arguments.config)
    is_cuda = arguments.device == "cuda"
    if is_cuda:
        torch.cuda.reset_peak_memory_stats()
    step = make_step(arguments, config)
    seconds = [step()["seconds"] for _ in range(arguments.steps)]
    row = step.row(statistics.median(seconds))
    drops_attention = arguments.layout != "ragged" and config.get("attention_probs_dropout_prob", 0.1) > 0
    row |= {"name": arguments.name, "fastest_seconds": min(seconds), "steps": arguments.steps, "device": arguments.device,
            "layout": arguments.layout, "attention": arguments.attention or "any", "optimizer": arguments.optimizer,
            "gathers_predictions": arguments.gather_predictions, "drops_attention": drops_attention,
            "config": os.path.basename(arguments.config), "torch": torch.__version__,
            "seq_length": arguments.seq_length or config["seq_length"], "tokens": step.tokens}
    if step.flops:
        row["tflops"] = step.flops / row["seconds"] / 1e12
    if is_cuda:
        row["memory_gib"] = torch.cuda.max_memory_allocated() / 2**30
    return row


def forget():
    """Frees what the last case compiled and allocated."""
    import torch
    torch.compiler.reset()
    free_memory()


def parse(parser, words=None):
    arguments = parser.parse_args(words)
    if words is not None or not arguments.each:
        check_arguments(arguments, parser.error)
    return arguments


def main():
    parser = make_parser()
    arguments = parse(parser)
    import torch
    if arguments.device == "cuda" and not torch.cuda.is_available():
        parser.exit(4, f"pytorch_step: torch {torch.__version__} finds no CUDA device that it can use\n")
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1234)
    if arguments.each:
        answer_cases("step", parser, lambda words: parse(parser, words), run_case, forget)
        return
    step = make_step(arguments, read_config(arguments.config))
    if not arguments.serve:
        for _ in range(arguments.steps):
            print(json.dumps(step()), flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "run":
            print(json.dumps(step()), flush=True)


if __name__ == "__main__":
    main()
