#!/usr/bin/env python3
"""The tokenizer of the wheel beside the `tokenizers` package, as a Python program calls both: one processor, lines of
text in batches of a thousand, ids and offsets out.

Usage: python_tokenizer.py VOCABULARY TEXT... [--rounds 2]
Time is the processor's, all threads together, so that neighbours count little; the best round of each counts. Then
every id and offset of every line is compared. The last line is
  ratio R ours A peer B MB/s (fast F: ratio S), L lines: D differences
where `fast` is the peer's encode_batch_fast, which gives no offsets. Exit status 1 when anything differs.
"""
import argparse
import os
import pathlib
import sys
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import cloze  # noqa: E402  after the environment is set
import tokenizers  # noqa: E402

BATCH_LINES = 1000


def batches(text):
    """Makes new strings each time: Python keeps the UTF-8 of one that was asked for it."""
    lines = text.decode("utf-8", errors="replace").split("\n")
    return [lines[begin:begin + BATCH_LINES] for begin in range(0, len(lines), BATCH_LINES)]


def megabytes_per_second(encode, text):
    some = batches(text)
    start = time.process_time()
    for batch in some:
        encode(batch)
    return len(text) / 1e6 / (time.process_time() - start)


def count_differences(ours, peer, text):
    lines = differences = 0
    for batch in batches(text):
        mine = ours(batch)
        for number, expected in enumerate(peer(batch)):
            one = mine[number]
            lines += 1
            if one.ids.tolist() != expected.ids or [tuple(place) for place in one.offsets.tolist()] != expected.offsets:
                differences += 1
                if differences <= 5:
                    print(f"  {batch[number]!a}\n    expected {expected.tokens} {expected.offsets}\n"
                          f"    answer   {one.tokens} {one.offsets.tolist()}")
    return lines, differences


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vocabulary")
    parser.add_argument("text", type=pathlib.Path, nargs="+")
    parser.add_argument("--rounds", type=int, default=2)
    arguments = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    text = b"\n".join(path.read_bytes() for path in arguments.text)
    ours = cloze.Tokenizer(arguments.vocabulary).encode_batch
    own = tokenizers.BertWordPieceTokenizer(arguments.vocabulary, lowercase=True)._tokenizer
    sides = {"ours": ours, "peer": own.encode_batch, "fast": own.encode_batch_fast}
    best = dict.fromkeys(sides, 0.0)
    for _ in range(arguments.rounds):
        for name, encode in sides.items():
            best[name] = max(best[name], megabytes_per_second(encode, text))
    lines, differences = count_differences(ours, own.encode_batch, text)
    print(f"ratio {best['ours'] / best['peer']:.1f} ours {best['ours']:.1f} peer {best['peer']:.2f} MB/s "
          f"(fast {best['fast']:.2f}: ratio {best['ours'] / best['fast']:.1f}), {lines} lines: {differences} differences")
    return int(differences > 0)


if __name__ == "__main__":
    sys.exit(main())
