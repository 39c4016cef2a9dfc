#!/usr/bin/env python3
"""Speed of the `tokenizers` package on lines of text: the peer that tokenizer_bench is compared with.

Usage: tokenizers_speed.py VOCAB TEXT. Runs, uncased, in one thread and prints one JSON line:
  {"bytes_per_second": 3.1e6}
The lines are handed over in batches by encode_batch_fast, its quickest way: ids without offsets.
"""
import argparse
import json
import os
import pathlib
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402  after the environment is set

BATCH_LINES = 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("vocabulary")
    parser.add_argument("text", type=pathlib.Path)
    arguments = parser.parse_args()
    tokenizer = tokenizers.BertWordPieceTokenizer(arguments.vocabulary, lowercase=True)
    text = arguments.text.read_bytes()
    lines = text.decode("utf-8", errors="replace").split("\n")
    start = time.perf_counter()
    for begin in range(0, len(lines), BATCH_LINES):
        tokenizer._tokenizer.encode_batch_fast(lines[begin:begin + BATCH_LINES],
                                               add_special_tokens=False)
    print(json.dumps({"bytes_per_second": len(text) / (time.perf_counter() - start)}))


if __name__ == "__main__":
    main()
