#!/usr/bin/env python3
"""One BERT pre-training step in torch + transformers: the peer that bench_step is compared with.

The model is BertForPreTraining in the sizes of the configuration. It has GroupBERT's encoder
(groupbert.py) where the configuration says so, and lacks the biases and the MLM transform that the
configuration turns off. Every sequence has the full length S with P predictions;
with --lengths it is as long as a histogram of lengths says, with 15 % of it to predict, and padded to
S. Forward, backward and one AdamW update (fused). The library projects every position on the
vocabulary; with --gather-predictions only the predicted ones, as PyTorch's best users do and we do.

Modes, all with sdpa attention:
  f32    eager, compiled
  bf16   autocast, compiled (autocast too), bf16-weights, bf16-weights-compiled

Prints one JSON line per repetition:
  {"mode": "eager", "dtype": "f32", "seconds": 1.5, "sequences": 32, "sequences_per_second": 21.3,
   "tokens_per_second": 2726.4}
With --serve it prints "ready" when it is warm, then answers each line "run" on stdin with one such
line and leaves at the end of stdin, so that two programs can take turns on one machine.
"""
import argparse
import contextlib
import json
import os
import re
import sys
import time

MODES = {"f32": ("eager", "compiled"),
         "bf16": ("autocast", "compiled", "bf16-weights", "bf16-weights-compiled")}
IGNORED = -100
MASKED_SHARE = 0.15
WARM_UP_STEPS = 2


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", required=True, help="a configuration of ours (configs/*.json)")
    parser.add_argument("--batch", type=int, help="sequences in a step; default: micro_batch_size")
    parser.add_argument("--seq-length", type=int, help="S; default: the configuration's")
    parser.add_argument("--lengths", help="histogram of lengths (TSV); default: all are full")
    parser.add_argument("--dtype", choices=sorted(MODES), default="f32")
    parser.add_argument("--mode", choices=sorted({m for modes in MODES.values() for m in modes}))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--steps", type=int, default=1, help="repetitions without --serve")
    parser.add_argument("--gather-predictions", action="store_true",
                        help="project only the predicted positions on the vocabulary")
    parser.add_argument("--serve", action="store_true")
    arguments = parser.parse_args()
    arguments.mode = arguments.mode or MODES[arguments.dtype][0]
    if arguments.mode not in MODES[arguments.dtype]:
        parser.error(f"--dtype {arguments.dtype} has the modes {', '.join(MODES[arguments.dtype])}")
    return arguments


def read_config(path):
    """Our configurations are JSON with comments on lines of their own."""
    with open(path, encoding="utf-8") as file:
        return json.loads(re.sub(r"^\s*//.*$", "", file.read(), flags=re.MULTILINE))


def gathered(model, predictions):
    """The model with a loss over the predicted positions alone: `predictions` in each sequence."""
    import torch

    class Gathered(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, labels, next_sentence_label, **inputs):
            hidden, pooled = self.model.bert(**inputs, return_dict=False)
            rows = torch.arange(len(labels)).unsqueeze(1)
            positions = (labels != IGNORED).int().topk(predictions, dim=1, sorted=False).indices
            scores = self.model.cls.predictions(hidden[rows, positions].flatten(0, 1))
            cross_entropy = torch.nn.functional.cross_entropy
            return cross_entropy(scores, labels[rows, positions].flatten()) + \
                cross_entropy(self.model.cls.seq_relationship(pooled), next_sentence_label)

    return Gathered()


def make_model(config):
    from transformers import BertConfig, BertForPreTraining
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
             "intermediate_size", "max_position_embeddings", "type_vocab_size", "hidden_act",
             "hidden_dropout_prob", "attention_probs_dropout_prob", "layer_norm_eps")
    shape = {name: config[name] for name in names if name in config}
    model = BertForPreTraining(BertConfig(**shape, attn_implementation="sdpa"))
    if config.get("groupbert"):
        from groupbert import make_groupbert
        own = {name: config[f"groupbert_{key}"] for name, key in
               (("conv_bias", "conv_bias"), ("conv_group_size", "conv_group_size"),
                ("conv_kernel_size", "conv_kernel_size"), ("ffn_groups", "ffn_output_groups"))
               if f"groupbert_{key}" in config}
        make_groupbert(model, **{"conv_bias": False, **own})
    drop_unused_parts(model, config)
    return model


def drop_unused_parts(model, config):
    """Takes out what the configuration turns off, so that both sides compute the same model."""
    import torch
    for layer in model.bert.encoder.layer:
        if not config.get("use_qkv_bias", True):
            for name in ("query", "key", "value"):
                getattr(layer.attention.self, name).bias = None
        if not config.get("use_attention_projection_bias", True):
            layer.attention.output.dense.bias = None
    if not config.get("use_cls_layer", True):
        model.cls.predictions.transform = torch.nn.Identity()
    if not config.get("use_prediction_bias", True):
        model.cls.predictions.bias = None
        model.cls.predictions.decoder.bias = None


def predictions_of(config, length):
    return min(config["max_predictions_per_seq"], length - 3)


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


def make_batch(config, sequences, length, lengths):
    import torch
    generator = torch.Generator().manual_seed(1234)
    vocab_size = config["vocab_size"]
    shape = (sequences, length)
    ids = torch.randint(5, vocab_size, shape, generator=generator)
    mask = torch.ones(shape, dtype=torch.int64)
    labels = torch.full(shape, IGNORED)
    most = predictions_of(config, length)
    for row in range(sequences):
        real = lengths[row] if lengths else length
        predictions = min(most, max(1, round(MASKED_SHARE * real))) if lengths else most
        chosen = 1 + torch.randperm(real - 2, generator=generator)[:predictions]
        labels[row, chosen] = ids[row, chosen]
        mask[row, real:] = 0
    types = torch.zeros(shape, dtype=torch.int64)
    types[:, length // 2:] = 1
    return dict(input_ids=ids, token_type_ids=types, labels=labels, attention_mask=mask,
                next_sentence_label=torch.randint(0, 2, (sequences,), generator=generator))


class Step:
    """A training step in one mode; calling it runs one and returns its measurements."""

    def __init__(self, arguments, config):
        import torch
        self.mode, self.dtype = arguments.mode, arguments.dtype
        self.sequences = arguments.batch or config["micro_batch_size"]
        length = arguments.seq_length or config["seq_length"]
        lengths = read_lengths(arguments.lengths, self.sequences) if arguments.lengths else None
        self.batch = make_batch(config, self.sequences, length, lengths)
        self.tokens = int(self.batch["attention_mask"].sum())
        model = make_model(config).train()
        if self.mode.startswith("bf16-weights"):
            model = model.to(torch.bfloat16)
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, eps=1e-6,
                                           weight_decay=0.01, fused=True)
        if arguments.gather_predictions:
            model = gathered(model, predictions_of(config, length))
        self.model = torch.compile(model) if self.mode.endswith("compiled") else model
        self.loss = lambda output: output if arguments.gather_predictions else output.loss
        uses_autocast = self.dtype == "bf16" and not self.mode.startswith("bf16-weights")
        self.precision = lambda: (torch.autocast("cpu", torch.bfloat16) if uses_autocast
                                  else contextlib.nullcontext())

    def __call__(self):
        start = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        with self.precision():
            loss = self.loss(self.model(**self.batch))
        loss.backward()
        self.optimizer.step()
        loss.item()
        seconds = time.perf_counter() - start
        return {"mode": self.mode, "dtype": self.dtype, "seconds": seconds,
                "sequences": self.sequences, "sequences_per_second": self.sequences / seconds,
                "tokens_per_second": self.tokens / seconds}


def main():
    arguments = parse_arguments()
    import torch
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(1234)
    step = Step(arguments, read_config(arguments.config))
    for _ in range(WARM_UP_STEPS):
        step()
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
