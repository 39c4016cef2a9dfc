#!/usr/bin/env python3
"""BERT for question answering, or for vectors of texts, in PyTorch or ONNX Runtime, one call after the other: the peers
that `cloze latency` is compared with.

The model has the sizes of a configuration and random weights. Modes:
  eager, compiled        PyTorch; bf16: weights and activations in bf16
  reduce-overhead        compiled so too: on a card, calls are replayed as CUDA graphs
  onnxruntime            the same model exported with torch.onnx, all graph optimisations on (f32)
  onnxruntime-fused      and BERT's own fusions of onnxruntime.transformers on top

Without --lengths every sequence has S tokens. With it, lengths follow the histogram (one line:
length, how many) and every call pads its batch to S, with an attention mask.

Prints one JSON line per run of --num-iter calls:
  {"mode": "eager", "seconds": [0.2, ...], "sequences": 8, "tokens": 1024}
where sequences and (real) tokens are those of all the calls. With --serve it prints "ready" when it
is warm, then answers each line "run" on stdin with one such line. With --each every line of stdin holds the
arguments of one case; each is answered with one line of its medians, or {"what": "latency", "case": ..., "error": ...}. On a
card (--device cuda) a call takes its ids there and its logits back.
"""
import argparse
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

from cases import answer_cases
from pytorch_step import forget, read_config

GOLDEN_RATIO = 0.6180339887498949
WARM_UP_CALLS = 3


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", help="config.json as Hugging Face writes it, or a configuration of ours; default: BERT-base")
    parser.add_argument("--task", choices=("answer", "embed"), default="answer",
                        help="embed: the encoder, the mean over tokens, made of length 1")
    parser.add_argument("--save-model", metavar="FOLDER",
                        help="write the model with a made-up vocabulary, and leave")
    parser.add_argument("--mode", default="eager",
                        choices=("eager", "compiled", "reduce-overhead", "onnxruntime", "onnxruntime-fused"))
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    parser.add_argument("--seq-length", type=int, default=128, help="S")
    parser.add_argument("--batch-size", type=int, default=1)
    parser.add_argument("--lengths", help="histogram of lengths; every call is padded to S")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--num-iter", type=int, default=1, help="calls of a run")
    answers = parser.add_mutually_exclusive_group()
    answers.add_argument("--serve", action="store_true")
    answers.add_argument("--each", action="store_true", help="cases on stdin, one a line")
    return parser


def parse(parser, words=None):
    arguments = parser.parse_args(words)
    if arguments.dtype == "bf16" and arguments.mode.startswith("onnxruntime"):
        parser.error("ONNX Runtime has no bf16 for BERT on processors")
    if arguments.device == "cuda" and arguments.mode.startswith("onnxruntime"):
        parser.error("ONNX Runtime is measured on processors only")
    return arguments


def make_model(arguments):
    import torch
    from pytorch_bert import shape_of
    from transformers import BertConfig, BertForQuestionAnswering, BertModel
    torch.manual_seed(1234)
    config = BertConfig(**shape_of(read_config(arguments.config))) if arguments.config else BertConfig()
    config._attn_implementation = "sdpa"
    if arguments.task == "embed":
        return BertModel(config, add_pooling_layer=False).eval()
    return BertForQuestionAnswering(config).eval()


def called(model, arguments):
    """What a call computes, as a module that returns a tuple."""
    import torch

    class MeanVectors(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.encoder = model

        def forward(self, input_ids, token_type_ids, attention_mask=None):
            hidden = self.encoder(input_ids, attention_mask, token_type_ids, return_dict=False)[0]
            if attention_mask is None:
                mean = hidden.mean(1)
            else:
                mask = attention_mask.unsqueeze(-1).to(hidden.dtype)
                mean = (hidden * mask).sum(1) / mask.sum(1)
            return (torch.nn.functional.normalize(mean, dim=-1),)

    class Answers(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, **batch):
            return self.model(**batch, return_dict=False)

    return (MeanVectors if arguments.task == "embed" else Answers)().eval()


def save_model(model, folder):
    model.save_pretrained(folder)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words += [f"word{i}" for i in range(len(words), model.config.vocab_size)]
    (pathlib.Path(folder) / "vocab.txt").write_text("\n".join(words) + "\n", encoding="utf-8")


def compiled(model, arguments):
    """Frozen on processors: only then does torch pack the weights for oneDNN."""
    import torch
    import torch._inductor.config
    torch._inductor.config.freezing = arguments.device == "cpu"
    return torch.compile(model, mode=None if arguments.mode == "compiled" else arguments.mode)


class TorchModel:
    def __init__(self, arguments):
        import torch
        self.torch = torch
        torch.set_num_threads(arguments.threads)
        model = called(make_model(arguments), arguments)
        if arguments.dtype == "bf16":
            model = model.to(torch.bfloat16)
        self.device = arguments.device
        model = model.to(self.device)
        self.model = model if arguments.mode == "eager" else compiled(model, arguments)

    def __call__(self, batch):
        with self.torch.inference_mode():
            outputs = self.model(**{name: values.to(self.device) for name, values in batch.items()})
            return [values.cpu() for values in outputs]

    def prepare(self, batch):
        return {name: self.torch.from_numpy(values) for name, values in batch.items()}


class OnnxModel:
    def __init__(self, arguments, names):
        import onnxruntime
        self.folder = tempfile.TemporaryDirectory()
        path = pathlib.Path(self.folder.name) / "model.onnx"
        export(arguments, path, names)
        if arguments.mode == "onnxruntime-fused":
            path = fuse(arguments, path)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = arguments.threads
        options.inter_op_num_threads = 1
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
        self.session = onnxruntime.InferenceSession(str(path), options,
                                                    providers=["CPUExecutionProvider"])
        self.names = {value.name for value in self.session.get_inputs()}

    def __call__(self, batch):
        return self.session.run(None, batch)

    def prepare(self, batch):
        return {name: values for name, values in batch.items() if name in self.names}


def export(arguments, path, names):
    import torch
    model = make_model(arguments)
    outputs = ["start_logits", "end_logits"]
    if arguments.task == "embed":
        model, outputs = called(model, arguments), ["vectors"]
    shape = (arguments.batch_size, arguments.seq_length)
    example = {name: torch.ones(shape, dtype=torch.int64) for name in names}
    with torch.inference_mode():
        torch.onnx.export(model, (), str(path), kwargs=example, input_names=list(names),
                          output_names=outputs, dynamo=True,
                          optimize=True, verbose=False)


def fuse(arguments, path):
    from onnxruntime.transformers import optimizer
    with open(arguments.config, encoding="utf-8") as file:
        config = json.load(file)
    fused = optimizer.optimize_model(str(path), model_type="bert",
                                     num_heads=config["num_attention_heads"],
                                     hidden_size=config["hidden_size"], opt_level=0)
    to = path.with_name("fused.onnx")
    fused.save_model_to_file(str(to))
    print(f"fused: {fused.get_fused_operator_statistics()}", file=sys.stderr)
    return to


def read_ends(path):
    """Pairs of a length and how many sequences are at most that long."""
    ends, total = [], 0
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                length, count = map(int, line.split())
                total += count
                ends.append((length, total))
    return ends


def length_of(index, ends):
    """Spreads lengths evenly over the histogram by the golden ratio, as
    src/data/offline_packing/length_histogram.cc does."""
    place = int((((index + 1) * GOLDEN_RATIO) % 1.0) * ends[-1][1])
    return next(length for length, end in ends if end > place)


class Batches:
    def __init__(self, arguments):
        self.arguments = arguments
        self.ends = read_ends(arguments.lengths) if arguments.lengths else None
        self.words = read_config(arguments.config)["vocab_size"] if arguments.config else 30000
        self.next_index = 0

    def make(self):
        import numpy
        rows, length = self.arguments.batch_size, self.arguments.seq_length
        generator = numpy.random.default_rng(self.next_index)
        ids = generator.integers(5, self.words, (rows, length), dtype=numpy.int64)
        lengths = numpy.full(rows, length)
        if self.ends:
            lengths = numpy.array([length_of(self.next_index + row, self.ends)
                                   for row in range(rows)])
        self.next_index += rows
        batch = {"input_ids": ids, "token_type_ids": numpy.zeros_like(ids)}
        batch["token_type_ids"][:, length // 2:] = 1
        if self.ends:
            mask = numpy.arange(length)[None, :] < lengths[:, None]
            batch["attention_mask"] = mask.astype(numpy.int64)
        return batch, int(lengths.sum())


def run(model, batches, arguments):
    seconds, tokens = [], 0
    for _ in range(arguments.num_iter):
        batch, real = batches.make()
        batch = model.prepare(batch)
        start = time.perf_counter()
        model(batch)
        seconds.append(time.perf_counter() - start)
        tokens += real
    return {"mode": arguments.mode, "dtype": arguments.dtype, "seconds": seconds,
            "sequences": arguments.batch_size * arguments.num_iter, "tokens": tokens}


def warm(arguments):
    """A model that has been called, and its batches."""
    batches = Batches(arguments)
    names = tuple(batches.make()[0])
    onnx = arguments.mode.startswith("onnxruntime")
    model = OnnxModel(arguments, names) if onnx else TorchModel(arguments)
    for _ in range(WARM_UP_CALLS):
        model(model.prepare(batches.make()[0]))
    return model, batches


def run_case(arguments):
    model, batches = warm(arguments)
    calls = sorted(run(model, batches, arguments)["seconds"])
    return {"who": f"PyTorch {arguments.mode}", "model": pathlib.Path(arguments.config or "bert_base").stem.removeprefix("bert_"),
            "seq_length": arguments.seq_length, "batch_size": arguments.batch_size, "p50_ms": 1e3 * statistics.median(calls),
            "p99_ms": 1e3 * calls[-(-99 * len(calls) // 100) - 1],
            "sequences_per_second": arguments.batch_size * len(calls) / sum(calls)}


def main():
    parser = make_parser()
    arguments = parse(parser)
    if arguments.save_model:
        save_model(make_model(arguments), arguments.save_model)
        return
    if arguments.device == "cuda":
        import torch
        if not torch.cuda.is_available():
            parser.exit(4, f"latency: torch {torch.__version__} finds no CUDA device that it can use\n")
    if arguments.each:
        answer_cases("latency", parser, lambda words: parse(parser, words), run_case, forget)
        return
    model, batches = warm(arguments)
    if not arguments.serve:
        print(json.dumps(run(model, batches, arguments)), flush=True)
        return
    print("ready", flush=True)
    for line in sys.stdin:
        if line.strip() == "run":
            print(json.dumps(run(model, batches, arguments)), flush=True)


if __name__ == "__main__":
    main()
