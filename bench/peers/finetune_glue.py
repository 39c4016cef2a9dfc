#!/usr/bin/env python3
"""Fine-tunes BERT for a GLUE task with torch + transformers: the peer of compare_finetuning.

The recipe is that of configs/finetune_glue.json: AdamW (decay 0.01, not of biases and LayerNorm),
the gradient's norm clipped at 1, warm-up over a tenth of the steps, then linear decay to 0; sentences
cut at 128 tokens and padded to the longest of their batch; scored once, at the end. torch's own
fused AdamW, sdpa attention; bf16 is autocast.

Prints one JSON line; seconds are those of training and scoring, without imports and loading:
  {"seconds": 61.2, "scores": {"accuracy": 0.86, "f1": 0.9}}
"""
import argparse
import contextlib
import csv
import json
import pathlib
import time

import scipy.stats
import sklearn.metrics
import torch
import transformers

LENGTH = 128
EVALUATION_BATCH = 64
# Columns of the sentences and of the label, and whether the file's first line is a header.
COLUMNS = {"CoLA": ((3,), 1, False), "SST-2": ((0,), 1, True), "MRPC": ((3, 4), 0, True),
           "STS-B": ((7, 8), 9, True), "RTE": ((1, 2), 3, True)}
RTE_CLASSES = ("entailment", "not_entailment")


def read_examples(task, path):
    sentences, label, has_header = COLUMNS[task]
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))[int(has_header):]
    number = {"RTE": RTE_CLASSES.index, "STS-B": float}.get(task, int)
    return [([row[column] for column in sentences], number(row[label])) for row in rows]


def scores_of(task, labels, logits):
    if task == "STS-B":
        values = logits[:, 0]
        return {"pearson": scipy.stats.pearsonr(values, labels)[0],
                "spearman": scipy.stats.spearmanr(values, labels)[0]}
    classes = logits.argmax(axis=1)
    if task == "CoLA":
        return {"matthews": sklearn.metrics.matthews_corrcoef(labels, classes)}
    scores = {"accuracy": sklearn.metrics.accuracy_score(labels, classes)}
    if task == "MRPC":
        scores["f1"] = sklearn.metrics.f1_score(labels, classes)
    return scores


class Run:
    def __init__(self, arguments):
        self.arguments = arguments
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(arguments.model)
        torch.manual_seed(arguments.seed)
        self.model = transformers.BertForSequenceClassification.from_pretrained(
            arguments.model, num_labels=1 if arguments.task == "STS-B" else 2,
            attn_implementation="sdpa")
        self.label_type = torch.float if arguments.task == "STS-B" else torch.long

    def autocast(self):
        if self.arguments.dtype == "f32":
            return contextlib.nullcontext()
        return torch.autocast("cpu", dtype=torch.bfloat16)

    def inputs_of(self, examples):
        columns = zip(*(sentences for sentences, _ in examples))
        return self.tokenizer(*(list(column) for column in columns), truncation=True,
                              max_length=LENGTH, padding=True, return_tensors="pt")

    def train(self, examples):
        arguments = self.arguments
        steps = len(examples) * arguments.epochs // arguments.batch
        plain = [p for p in self.model.parameters() if p.dim() == 1]
        decayed = [p for p in self.model.parameters() if p.dim() > 1]
        optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01},
                                       {"params": plain, "weight_decay": 0.0}],
                                      lr=arguments.learning_rate, eps=1e-6, fused=True)
        schedule = transformers.get_linear_schedule_with_warmup(optimizer, int(0.1 * steps), steps)
        order = [index for _ in range(arguments.epochs)
                 for index in torch.randperm(len(examples)).tolist()]
        self.model.train()
        for start in range(0, steps * arguments.batch, arguments.batch):
            batch = [examples[index] for index in order[start:start + arguments.batch]]
            labels = torch.tensor([label for _, label in batch], dtype=self.label_type)
            with self.autocast():
                loss = self.model(**self.inputs_of(batch), labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()

    def logits_of(self, examples):
        self.model.eval()
        with torch.no_grad(), self.autocast():
            return torch.cat([self.model(**self.inputs_of(examples[i:i + EVALUATION_BATCH])).logits
                              for i in range(0, len(examples), EVALUATION_BATCH)]).float().numpy()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=pathlib.Path, required=True)
    parser.add_argument("--task", choices=sorted(COLUMNS), required=True)
    parser.add_argument("--data-dir", type=pathlib.Path, required=True, help="GLUE's folder")
    parser.add_argument("--epochs", type=int, required=True)
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--learning-rate", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--dtype", choices=("f32", "bf16"), default="f32")
    arguments = parser.parse_args()
    run = Run(arguments)
    folder = arguments.data_dir / arguments.task
    training, dev = (read_examples(arguments.task, folder / name) for name in ("train.tsv", "dev.tsv"))
    start = time.monotonic()
    run.train(training)
    scores = scores_of(arguments.task, [label for _, label in dev], run.logits_of(dev))
    print(json.dumps({"seconds": time.monotonic() - start, "scores": scores}))


if __name__ == "__main__":
    main()
