"""Real tasks of one's own labels, as tables for `cloze finetune`: bank questions, intents, similarity, entities and
tags of words. DATA is the folder that tests/data_manifest.tsv describes."""
import csv
import json
import math
from typing import NamedTuple


class LabelTask(NamedTuple):
    command: str  # of `cloze finetune`
    score: str    # the one that is compared, as eval_results.json names it
    train: list   # rows
    test: list
    epochs: int = 3


def banking(data):
    """77 classes of bank customers' questions."""
    rows = {split: [{"text": row["text"], "label": row["category"]} for row in
                    csv.DictReader((data / "labels" / "banking77" / f"{split}.csv").open(encoding="utf-8"))]
            for split in ("train", "test")}
    return LabelTask("classify", "accuracy", rows["train"], rows["test"])


def intents(data):
    """NLU++: sets of intents; each fifth fold is the test."""
    parts = ([], [])
    for number, path in enumerate(sorted((data / "labels" / "nlupp").glob("*/fold*.json"))):
        parts[number % 5 == 0].extend({"text": row["text"].strip(), "labels": row.get("intents", [])}
                                      for row in json.loads(path.read_text()))
    known = {label for row in parts[0] for label in row["labels"]}
    for row in parts[1]:
        row["labels"] = [label for label in row["labels"] if label in known]
    return LabelTask("multilabel", "micro F1", *parts, epochs=8)


def similarity(data):
    """STS-B: how similar two sentences are, from 0 to 5."""
    def rows(split):
        lines = csv.DictReader((data / "glue" / "STS-B" / f"{split}.tsv").open(encoding="utf-8"), delimiter="\t",
                               quoting=csv.QUOTE_NONE)
        return [{"text": line["sentence1"], "text_pair": line["sentence2"], "label": float(line["score"])} for line in lines]
    return LabelTask("regress", "pearson", rows("train"), rows("dev"))


def sentences(path, word, tag):
    """Those of a file with a word and its tag in columns of lines."""
    rows, tokens, tags = [], [], []
    for line in [*path.read_text(encoding="utf-8").splitlines(), ""]:
        fields = line.split("\t")
        if not line.strip():
            if tokens:
                rows.append({"tokens": tokens, "tags": tags})
            tokens, tags = [], []
        elif not line.startswith("# ") and fields[0].isdigit() or word == 0:
            tokens.append(fields[word])
            tags.append(fields[tag])
    return rows


def entities(data):
    """WNUT-17: rare entities in messages."""
    folder = data / "labels" / "wnut17"
    return LabelTask("tag", "micro F1", sentences(folder / "wnut17train.conll", 0, 1),
                     sentences(folder / "emerging.test.annotated", 0, 1))


def parts_of_speech(data, train, test):
    folder = data / "languages"
    return LabelTask("tag", "accuracy", sentences(folder / train, 1, 3), sentences(folder / test, 1, 3))


TASKS = {"banking77": banking, "NLU++": intents, "STS-B": similarity, "WNUT-17": entities,
         "UPOS English": lambda data: parts_of_speech(data, "en_ewt-ud-dev.conllu", "en_ewt-ud-test.conllu"),
         "UPOS Vietnamese": lambda data: parts_of_speech(data, "vi_vtb-ud-train.conllu", "vi_vtb-ud-test.conllu")}


def labels_in(task):
    """The names of what is learned, in the order in which cloze numbers them; none of a regression."""
    if task.command == "regress":
        return []
    of_row = {"classify": lambda row: [row["label"]], "multilabel": lambda row: row["labels"],
              "tag": lambda row: row["tags"]}[task.command]
    return sorted({label for row in task.train for label in of_row(row)})


def first_bias(task, labels):
    """The classifier's bias before training, as cloze begins: what fits the labels whatever the text. None: zeros."""
    if task.command == "regress":
        return [sum(row["label"] for row in task.train) / len(task.train)]
    if task.command != "multilabel":
        return None
    counts = [sum(label in row["labels"] for row in task.train) for label in labels]
    return [math.log((count + 0.5) / (len(task.train) - count + 0.5)) for count in counts]


def write_rows(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
