"""Tables of real data for `cloze finetune`, each with the samples that transformers' own tokenizer makes of it:
for checks and comparisons."""
import json
import re
from typing import NamedTuple

import transformers
from label_tasks import similarity, write_rows

SEQUENCE_LENGTH = 128


class Labelled(NamedTuple):
    """A table, the samples of its rows in their order, and the configuration of a model that learns it."""
    table: str
    samples: list
    config: dict


def tokenizer_of(vocabulary):
    return transformers.BertTokenizerFast(vocab_file=str(vocabulary), do_lower_case=True)


def names_of(labels):
    return {"id2label": dict(enumerate(labels)), "label2id": {label: i for i, label in enumerate(labels)}}


def encoded(tokenizer, texts, pairs=None):
    rows = tokenizer(texts, pairs, truncation=True, max_length=SEQUENCE_LENGTH)
    return [{"input_ids": ids, "token_type_ids": types}
            for ids, types in zip(rows["input_ids"], rows["token_type_ids"])]


def similarities(data, vocabulary, folder):
    """STS-B's pairs with their numbers."""
    rows = similarity(data).train
    samples = encoded(tokenizer_of(vocabulary), [row["text"] for row in rows], [row["text_pair"] for row in rows])
    for sample, row in zip(samples, rows, strict=True):
        sample["label"] = row["label"]
    return Labelled(write_rows(folder / "similarities.jsonl", rows), samples, {"num_labels": 1})


def intents(data, vocabulary, folder):
    """NLU++'s utterances with their sets of intents, some of them empty."""
    rows = []
    for path in sorted((data / "labels" / "nlupp").glob("*/fold*.json")):
        rows += [{"text": row["text"].strip(), "intents": row.get("intents", [])} for row in json.loads(path.read_text())]
    labels = sorted({intent for row in rows for intent in row["intents"]})
    samples = encoded(tokenizer_of(vocabulary), [row["text"] for row in rows])
    for sample, row in zip(samples, rows, strict=True):
        sample["label"] = [float(label in row["intents"]) for label in labels]
    return Labelled(write_rows(folder / "intents.jsonl", rows), samples,
                    {"problem_type": "multi_label_classification", **names_of(labels)})


def answers(data, vocabulary, folder):
    """SQuAD's questions, each with its answer among two to four of its article."""
    rows = []
    for article in json.loads((data / "squad" / "dev-v1.1.json").read_text())["data"][:8]:
        asked = [qa for paragraph in article["paragraphs"] for qa in paragraph["qas"]]
        texts = [qa["answers"][0]["text"] for qa in asked]
        for i, qa in enumerate(asked):
            choices = list(dict.fromkeys(texts[(i + 7 * k) % len(texts)] for k in range(2 + i % 3)))
            choices = choices[i % len(choices):] + choices[:i % len(choices)]
            if len(choices) > 1:
                rows.append({"question": qa["question"].strip(), "choices": choices, "label": choices.index(texts[i])})
    tokenizer = tokenizer_of(vocabulary)
    samples = [{"choices": encoded(tokenizer, [row["question"]] * len(row["choices"]), row["choices"]),
                "label": row["label"]} for row in rows]
    lettered = [{**row, "label": "ABCD"[row["label"]]} for row in rows]  # an answer may be the number of another
    return Labelled(write_rows(folder / "answers.jsonl", lettered), samples, {})


def tagged_words(data, vocabulary, folder):
    """Sentences of WNUT-17 that fit one sequence, and all of whose words have a piece. The first piece of a word has its
    tag."""
    tokenizer = tokenizer_of(vocabulary)
    text = (data / "labels" / "wnut17" / "wnut17train.conll").read_text()
    blocks = [[line.split("\t") for line in block.splitlines()] for block in re.split(r"\n\s*\n", text.strip())]
    kinds = sorted({tag[2:] for block in blocks for _, tag in block} - {""})
    tags = ["O", *(f"{place}-{kind}" for kind in kinds for place in "BI")]
    rows, samples = [], []
    for block in blocks:
        encoding = tokenizer([word for word, _ in block], is_split_into_words=True)
        words = encoding.word_ids()
        if len(words) > SEQUENCE_LENGTH or set(words) - {None} != set(range(len(block))):
            continue
        labels = [-100 if word is None or word == before else tags.index(block[word][1])
                  for before, word in zip([None, *words], words)]
        rows.append({"tokens": [word for word, _ in block], "ner_tags": [tag for _, tag in block]})
        samples.append({"input_ids": encoding["input_ids"], "token_type_ids": encoding["token_type_ids"], "labels": labels})
    return Labelled(write_rows(folder / "tagged_words.jsonl", rows), samples, names_of(tags))
