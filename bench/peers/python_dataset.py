#!/usr/bin/env python3
"""Batches for a PyTorch loop: cloze.Dataset beside transformers' DataCollatorForLanguageModeling, rows of 128 tokens in
batches of 32, tensors out. Time is the processor's, all threads together.

Usage: python_dataset.py STORE [--batches 300] [--rounds 3]
The peer reads the store's tokens from memory, cut into rows before the clock starts, by a DataLoader that shuffles
them; it masks them, but makes no pairs. Ours reads the store, draws pairs, and masks. The last line is
  collator: ratio R ours A (packed P) peer B batches/s
"""
import argparse
import itertools
import os
import sys
import time

import cloze
import torch
import transformers

LENGTH, ROWS = 128, 32


def ours(store, packed):
    return ({name: torch.from_numpy(values) for name, values in batch.items()}
            for batch in cloze.Dataset(store, batch_size=ROWS, seq_length=LENGTH, packed=packed))


def peer(store, samples):
    tokenizer = transformers.BertTokenizerFast(os.path.join(store, "vocab.txt"))
    whole = cloze.Dataset(store, batch_size=samples, seq_length=LENGTH, next_sentence="none", short_seq_prob=0)
    batch = next(iter(whole))
    ids = batch["input_ids"].copy()
    ids[batch["masked_positions"]] = batch["masked_labels"]
    starts = batch["sequence_starts"]
    rows = [{"input_ids": ids[begin:end].tolist(), "special_tokens_mask": [1, *[0] * (end - begin - 2), 1]}
            for begin, end in itertools.pairwise(starts.tolist())]
    collator = transformers.DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15)
    while True:
        yield from torch.utils.data.DataLoader(rows, batch_size=ROWS, shuffle=True, collate_fn=collator, drop_last=True)


def batches_per_second(batches, count):
    next(batches)
    start = time.process_time()
    for batch in itertools.islice(batches, count):
        batch["input_ids"].sum()
    return count / (time.process_time() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("store")
    parser.add_argument("--batches", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    torch.set_num_threads(1)
    samples = min(10000, cloze.Dataset(arguments.store, seq_length=LENGTH, next_sentence="none").samples)
    sides = {"ours": ours(arguments.store, False), "packed": ours(arguments.store, True),
             "peer": peer(arguments.store, samples)}
    best = dict.fromkeys(sides, 0.0)
    for _ in range(arguments.rounds):
        for name, batches in sides.items():
            best[name] = max(best[name], batches_per_second(batches, arguments.batches))
    print(f"collator: ratio {best['ours'] / best['peer']:.1f} ours {best['ours']:.0f} (packed {best['packed']:.0f}) "
          f"peer {best['peer']:.0f} batches/s")


if __name__ == "__main__":
    sys.exit(main())
