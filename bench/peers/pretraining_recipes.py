#!/usr/bin/env python3
"""How far a recipe gets: pre-trains a model of a configuration in torch on a CUDA GPU, once a recipe.

Usage: pretraining_recipes.py STORE --config configs/bert_mini.json --recipes 128:1e-3,32:1e-3
                              [--sequences 768000]
A recipe is BATCH:RATE; everything else is the configuration's. STORE is a token store (cloze data
tokens). A minute or two here tell what hours on a processor will give.

The model is BERT or GroupBERT (groupbert.py) with the MLM head over the predicted positions and the
NSP head, bf16 by autocast with f32 weights. Sequences are pairs of windows of text, half of the second
drawn from elsewhere, masked anew each time; unlike ours, windows begin anywhere in a sentence, may
run over the end of a document, and all have the full length. One step is one CUDA graph.

Prints one JSON line per recipe: its name, seconds, and the curve of 40 points, each
[sequences, MLM loss, NSP loss, MLM accuracy], means since the point before.
"""
import argparse
import json
import pathlib
import struct
import sys
import time
from types import SimpleNamespace

import numpy
import torch
from torch import nn
from torch.nn import functional

from groupbert import Encoder as GroupBertEncoder
from pytorch_step import read_config

POINTS = 40
SEQUENCES_MADE_AT_ONCE = 8192


def read_special_ids(store):
    """The ids of [CLS], [SEP] and [MASK]."""
    pieces = (store / "vocab.txt").read_text(encoding="utf-8").splitlines()
    return [pieces.index(piece) for piece in ("[CLS]", "[SEP]", "[MASK]")]


def read_tokens(store):
    """All ids of a store, one after the other; token_shard.h has the form of a shard."""
    parts = []
    for key in json.loads((store / "store.json").read_text())["shards"]:
        shard = (store / f"{key}.tokens").read_bytes()
        id_bytes, documents, sentences, tokens = struct.unpack_from("<I3Q", shard, 12)
        tables = 4 * (2 * (documents + 1) + sentences + 1)
        parts.append(numpy.frombuffer(shard, f"<u{id_bytes}", tokens, 104 + tables).astype(numpy.int32))
    return torch.from_numpy(numpy.concatenate(parts))


class BertLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, inner = config.hidden_size, config.intermediate_size
        self.heads = config.num_attention_heads
        self.qkv, self.output = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, inner), nn.Linear(inner, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=config.layer_norm_eps) for _ in range(2))

    def forward(self, x):
        q, k, v = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        context = functional.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)
        x = self.norms[0](x + self.output(context))
        return self.norms[1](x + self.down(functional.gelu(self.up(x))))


class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, deviation = config.hidden_size, config.initializer_range
        self.word = nn.Embedding(config.vocab_size, width)
        self.position = nn.Embedding(config.max_position_embeddings, width)
        self.token_type = nn.Embedding(config.type_vocab_size, width)
        self.norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.is_grouped = getattr(config, "groupbert", False)
        self.encoder = GroupBertEncoder(config) if self.is_grouped else nn.Sequential(
            *[BertLayer(config) for _ in range(config.num_hidden_layers)])
        self.pooler, self.next_sentence = nn.Linear(width, width), nn.Linear(width, 2)
        self.transform = nn.Linear(width, width)
        self.transform_norm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.bias = nn.Parameter(torch.zeros(config.vocab_size))
        for module in self.modules():
            if isinstance(module, (nn.Linear, nn.Embedding, nn.Conv1d)):
                nn.init.trunc_normal_(module.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
                if getattr(module, "bias", None) is not None:
                    nn.init.zeros_(module.bias)

    def forward(self, ids, types, positions, labels, is_next):
        """MLM loss, NSP loss and MLM accuracy of a batch."""
        x = self.norm(self.word(ids) + self.token_type(types) + self.position.weight[:ids.shape[1]])
        x = self.encoder(x).last_hidden_state if self.is_grouped else self.encoder(x)
        rows = x.gather(1, positions[:, :, None].expand(-1, -1, x.shape[2])).flatten(0, 1)
        hidden = self.transform_norm(functional.gelu(self.transform(rows)))
        scores = functional.linear(hidden, self.word.weight, self.bias).float()
        mlm = functional.cross_entropy(scores, labels.flatten())
        pooled = torch.tanh(self.pooler(x[:, 0]))
        nsp = functional.cross_entropy(self.next_sentence(pooled).float(), is_next)
        return mlm, nsp, (scores.detach().argmax(-1) == labels.flatten()).float().mean()


def make_batches(tokens, steps, batch, config, generator):
    """Inputs of Model.forward for so many steps, each [steps, batch, ...]."""
    count, length = steps * batch, config.seq_length
    cls, sep, mask = config.special_ids

    def draw(high, shape):
        return torch.randint(0, high, shape, device=tokens.device, generator=generator)

    first = 8 + draw(length - 19, (count, 1))
    start, elsewhere = draw(len(tokens) - length, (count, 1)), draw(len(tokens) - length, (count, 1))
    is_next = draw(2, (count, 1))
    place = torch.arange(length, device=tokens.device)[None]
    source = torch.where(place <= first, start + place - 1,
                         torch.where(is_next == 1, start, elsewhere) + place - 2)
    is_special = (place == 0) | (place == first + 1) | (place == length - 1)
    ids = torch.where(is_special, sep, tokens[source.clamp_(0, len(tokens) - 1)].long())
    ids[:, 0] = cls
    order = torch.rand((count, length), device=tokens.device, generator=generator)
    predictions = min(config.max_predictions_per_seq, round(0.15 * length))
    positions = order.masked_fill_(is_special, 2.0).topk(predictions, dim=1, largest=False).indices
    labels = ids.gather(1, positions)
    kind = torch.rand(positions.shape, device=tokens.device, generator=generator)
    replaced = torch.where(kind < 0.8, mask,
                           torch.where(kind < 0.9, labels, draw(config.vocab_size, positions.shape)))
    ids.scatter_(1, positions, replaced)
    parts = (ids, (place > first + 1).long(), positions, labels)
    return [part.view(steps, batch, -1) for part in parts] + [is_next.view(steps, batch)]


class Training:
    """One recipe's run."""

    def __init__(self, config, tokens, batch, rate, sequences):
        self.config, self.tokens, self.batch, self.rate = config, tokens, batch, rate
        self.steps = sequences // batch
        torch.manual_seed(config.seed)
        self.model = Model(config).to(tokens.device)
        is_cuda = tokens.is_cuda
        self.step_rate = torch.tensor(0.0, device=tokens.device)
        groups = [{"params": [p for p in self.model.parameters() if p.ndim > 1],
                   "weight_decay": config.weight_decay_rate},
                  {"params": [p for p in self.model.parameters() if p.ndim <= 1], "weight_decay": 0.0}]
        self.optimizer = torch.optim.AdamW(groups, lr=self.step_rate, betas=(config.beta1, config.beta2),
                                           eps=config.epsilon, foreach=False, fused=is_cuda,
                                           capturable=is_cuda)
        self.generator = torch.Generator(tokens.device).manual_seed(config.seed)
        self.inputs = [part[0].clone() for part in self.make_batches(1)]
        self.sums = torch.zeros(3, device=tokens.device)
        self.step = self.captured_step() if is_cuda else self.compute

    def make_batches(self, steps):
        return make_batches(self.tokens, steps, self.batch, self.config, self.generator)

    def captured_step(self):
        """The step as a graph. Its first three runs, at a rate of zero, change no weight."""
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(3):
                self.compute()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            self.compute()
        self.sums.zero_()
        return graph.replay

    def compute(self):
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.tokens.device.type, torch.bfloat16, cache_enabled=False):
            mlm, nsp, accuracy = self.model(*self.inputs)
        (mlm + nsp).backward()
        self.optimizer.step()
        self.sums += torch.stack([mlm.detach(), nsp.detach(), accuracy])

    def rate_at(self, step):
        """Linear warm-up, then linear to zero."""
        warmup = max(1, int(self.config.warmup * self.steps))
        return self.rate * min((step + 1) / warmup, (self.steps - step) / max(1, self.steps - warmup))

    def run(self):
        curve, done = [], 0
        for point in range(1, POINTS + 1):
            first, end = done, self.steps * point // POINTS
            while done < end:
                steps = min(max(1, SEQUENCES_MADE_AT_ONCE // self.batch), end - done)
                for parts in zip(*self.make_batches(steps)):
                    for to, part in zip(self.inputs, parts):
                        to.copy_(part)
                    self.step_rate.fill_(self.rate_at(done))
                    self.step()
                    done += 1
            means = (self.sums / max(1, done - first)).tolist()
            curve.append([done * self.batch, *(round(mean, 4) for mean in means)])
            self.sums.zero_()
        return curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--config", required=True, help="a configuration of ours (configs/*.json)")
    parser.add_argument("--recipes", required=True, help="BATCH:RATE,...")
    parser.add_argument("--sequences", type=int, default=768_000, help="that each recipe sees")
    parser.add_argument("--device", default="cuda", help="cpu is for a look at the program")
    arguments = parser.parse_args()
    values = read_config(arguments.config)
    config = SimpleNamespace(**values, special_ids=read_special_ids(arguments.store), conv_bias=False,
                             conv_kernel_size=values.get("groupbert_conv_kernel_size"),
                             conv_group_size=values.get("groupbert_conv_group_size"),
                             ffn_groups=values.get("groupbert_ffn_output_groups"))
    tokens = read_tokens(arguments.store).to(arguments.device)
    for recipe in arguments.recipes.split(","):
        batch, rate = recipe.split(":")
        begin = time.monotonic()
        curve = Training(config, tokens, int(batch), float(rate), arguments.sequences).run()
        seconds = round(time.monotonic() - begin, 1)
        print(json.dumps({"recipe": recipe, "seconds": seconds, "curve": curve}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
