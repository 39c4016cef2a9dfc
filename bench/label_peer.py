"""Fine-tunes a model of transformers on a task of bench/label_tasks.py as its examples do, and scores it by
scikit-learn, scipy and seqeval.

Usage: label_peer.py MODEL DATA TASK SEED RATE BATCH
AdamW with decay 0.01 (not of biases and LayerNorm), a linear schedule with 6 % warm-up, the gradient's norm clipped
at 1; batches are padded to their longest sequence. Prints {"score", "seconds", "training_seconds"} as JSON.
"""
import json
import pathlib
import sys
import time

import label_tasks
import scipy.stats
import seqeval.metrics
import sklearn.metrics
import torch
import transformers

IGNORED = -100
LENGTH = 128
ARCHITECTURES = {"tag": transformers.BertForTokenClassification}
PROBLEMS = {"classify": "single_label_classification", "multilabel": "multi_label_classification",
            "regress": "regression", "tag": None}


class Encoder:
    def __init__(self, tokenizer, task, labels):
        self.tokenizer, self.task = tokenizer, task
        self.numbers = {label: i for i, label in enumerate(labels)}

    def label(self, row):
        if self.task.command == "classify":
            return self.numbers[row["label"]]
        if self.task.command == "regress":
            return row["label"]
        return [float(label in row["labels"]) for label in self.numbers]

    def batch(self, rows):
        if self.task.command == "tag":
            inputs = self.tokenizer([row["tokens"] for row in rows], is_split_into_words=True, padding=True,
                                    truncation=True, max_length=LENGTH, return_tensors="pt")
            inputs["labels"] = torch.tensor([self.tags(inputs.word_ids(i), row) for i, row in enumerate(rows)])
            return inputs
        pairs = [row["text_pair"] for row in rows] if "text_pair" in rows[0] else None
        inputs = self.tokenizer([row["text"] for row in rows], pairs, padding=True, truncation=True,
                                max_length=LENGTH, return_tensors="pt")
        inputs["labels"] = torch.tensor([self.label(row) for row in rows])
        return inputs

    def tags(self, words, row):
        """The tag of each word at its first piece."""
        firsts = [word is not None and (i == 0 or words[i - 1] != word) for i, word in enumerate(words)]
        return [self.numbers.get(row["tags"][word], IGNORED) if first else IGNORED
                for word, first in zip(words, firsts, strict=True)]


def train(model, encoder, rows, epochs, rate, size, seed):
    steps = epochs * ((len(rows) + size - 1) // size)
    plain = [p for n, p in model.named_parameters() if n.endswith("bias") or "LayerNorm" in n]
    decayed = [p for n, p in model.named_parameters() if not (n.endswith("bias") or "LayerNorm" in n)]
    optimizer = torch.optim.AdamW([{"params": decayed, "weight_decay": 0.01}, {"params": plain, "weight_decay": 0.0}],
                                  lr=rate, eps=1e-6)
    schedule = transformers.get_linear_schedule_with_warmup(optimizer, int(0.06 * steps), steps)
    generator = torch.Generator().manual_seed(seed)
    model.train()
    for _ in range(epochs):
        for batch in torch.randperm(len(rows), generator=generator).split(size):
            model(**encoder.batch([rows[i] for i in batch])).loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()


def predicted(model, encoder, rows):
    model.eval()
    with torch.no_grad():
        for begin in range(0, len(rows), 64):
            part = rows[begin:begin + 64]
            inputs = encoder.batch(part)
            yield part, inputs["labels"], model(**inputs).logits


def score(model, encoder, rows, labels):
    """The score that the task names, of the rows."""
    gold, found = [], []
    command = encoder.task.command
    for part, truth, logits in predicted(model, encoder, rows):
        if command == "tag":
            for row, numbers, one in zip(part, truth, logits.argmax(-1), strict=True):
                tags = [labels[i] for i in one[numbers != IGNORED]]
                gold.append(row["tags"])
                found.append(tags + ["O"] * (len(row["tags"]) - len(tags)))
        else:
            gold += truth.tolist()
            found += (logits[:, 0] if command == "regress" else logits > 0 if command == "multilabel" else
                      logits.argmax(-1)).tolist()
    if command == "regress":
        return scipy.stats.pearsonr(gold, found)[0]
    if command == "multilabel":
        return sklearn.metrics.f1_score(gold, found, average="micro")
    if command == "classify":
        return sklearn.metrics.accuracy_score(gold, found)
    return seqeval.metrics.f1_score(gold, found) if encoder.task.score == "micro F1" else \
        seqeval.metrics.accuracy_score(gold, found)


def main():
    model_folder, data, name, seed, rate, size = sys.argv[1:]
    task = label_tasks.TASKS[name](pathlib.Path(data))
    labels = label_tasks.labels_in(task)
    transformers.set_seed(int(seed))
    start = time.monotonic()
    model = ARCHITECTURES.get(task.command, transformers.BertForSequenceClassification).from_pretrained(
        model_folder, num_labels=len(labels) or 1, problem_type=PROBLEMS[task.command])
    bias = label_tasks.first_bias(task, labels)
    if bias:
        model.classifier.bias.data = torch.tensor(bias)
    encoder = Encoder(transformers.AutoTokenizer.from_pretrained(model_folder), task, labels)
    train(model, encoder, task.train, task.epochs, float(rate), int(size), int(seed))
    trained = time.monotonic()
    result = score(model, encoder, task.test, labels)
    print(json.dumps({"score": result, "seconds": time.monotonic() - start, "training_seconds": trained - start}))


if __name__ == "__main__":
    transformers.logging.set_verbosity_error()
    main()
