"""Fine-tuning by torch + transformers on cloze's own batches, step by step: for checks and comparisons.

This file computes the order of the samples and the learning rates by itself. transformers pads and
cloze does not, so the losses of answers leave the padding out of their softmax.
"""
import dataclasses
import json
import os
import subprocess

import torch


@dataclasses.dataclass
class Recipe:
    """AdamW with decay 0.01 (not of biases and LayerNorm), the gradient's norm clipped at 1."""
    steps: int  # of the whole schedule
    peak_rate: float
    batch: int
    seed: int = 42
    warmup: float = 0.1
    layer_decay: float = 1.0  # of learning rates, from layer to layer down

    def learning_rate(self, step):
        warmup = int(self.warmup * self.steps)
        rate = self.peak_rate * step / warmup if warmup and step <= warmup else \
            self.peak_rate * (self.steps - step - 1) / (self.steps - warmup)
        return max(rate, 1e-7)

    def samples_of_step(self, size, step):
        """Returns the numbers of this step's samples, from a data set of `size` samples."""
        return [permuted(place % size, size, self.seed, place // size)
                for place in range(step * self.batch, (step + 1) * self.batch)]


def philox(counter, key):
    """Philox 4x32-10 (Salmon et al. 2011)."""
    mask = 0xFFFFFFFF
    c, k = list(counter), list(key)
    for _ in range(10):
        first, second = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(second >> 32) ^ c[1] ^ k[0], second & mask, (first >> 32) ^ c[3] ^ k[1], first & mask]
        k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
    return c


def permuted(index, size, seed, epoch):
    """Returns where src/data/shuffle.h sends an index: a Feistel network permutes the bits, again
    and again until the result is below `size`."""
    bits = (size - 1).bit_length()
    low_bits = bits // 2
    high_bits = bits - low_bits
    key = seed ^ 0x5EED0F5A0FF1E000 ^ (epoch << 32 | epoch >> 32)

    def scramble(half, number):
        words = philox([half & 0xFFFFFFFF, half >> 32, number, epoch],
                       [key & 0xFFFFFFFF, key >> 32 & 0xFFFFFFFF])
        return words[0] | words[1] << 32

    while True:
        low, high = index & ((1 << low_bits) - 1), index >> low_bits
        for number in range(0, 8, 2):
            high ^= scramble(low, number) & ((1 << high_bits) - 1)
            low ^= scramble(high, number + 1) & ((1 << low_bits) - 1)
        index = high << low_bits | low
        if index < size:
            return index


def padded(rows, value=0):
    width = max(map(len, rows))
    return torch.tensor([list(row) + [value] * (width - len(row)) for row in rows])


def inputs_of(batch):
    return {"input_ids": padded([one["input_ids"] for one in batch]),
            "token_type_ids": padded([one["token_type_ids"] for one in batch]),
            "attention_mask": padded([[1] * len(one["input_ids"]) for one in batch])}


def span_loss(model, batch):
    inputs = inputs_of(batch)
    output = model(**inputs)
    outside = inputs["attention_mask"] == 0
    cross_entropy = torch.nn.functional.cross_entropy
    return sum(cross_entropy(logits.masked_fill(outside, float("-inf")),
                             torch.tensor([one[label] for one in batch])) / 2
               for logits, label in ((output.start_logits, "start"), (output.end_logits, "end")))


def class_loss(model, batch):
    return model(**inputs_of(batch), labels=torch.tensor([one["label"] for one in batch])).loss


def weighed_class_loss(weights, smoothing):
    """The same by torch.nn.CrossEntropyLoss with class weights and label smoothing."""
    loss = torch.nn.CrossEntropyLoss(torch.tensor(weights), label_smoothing=smoothing)
    return lambda model, batch: loss(model(**inputs_of(batch)).logits,
                                     torch.tensor([one["label"] for one in batch]))


def score_loss(model, batch):
    """Regression: mean squared error."""
    return model(**inputs_of(batch), labels=torch.tensor([[one["label"]] for one in batch])).loss


def label_set_loss(model, batch):
    """Several labels: "label" is 1.0 or 0.0 for each of them."""
    return model(**inputs_of(batch), labels=torch.tensor([one["label"] for one in batch])).loss


def choice_loss(model, batch):
    """Multiple choice, of samples whose "choices" may differ in number: transformers takes one question of each
    number at a time, so its sequences are classified together and its loss is taken question by question."""
    logits = model(**{name: rows[:, None] for name, rows in
                      inputs_of([choice for one in batch for choice in one["choices"]]).items()}).logits[:, 0]
    of_questions = logits.split([len(one["choices"]) for one in batch])
    return torch.stack([-one.log_softmax(0)[sample["label"]]
                        for one, sample in zip(of_questions, batch, strict=True)]).mean()


def tag_loss(model, batch):
    """The mean over the labelled pieces of the batch; -100 is no label."""
    return model(**inputs_of(batch), labels=padded([one["labels"] for one in batch], -100)).loss


def freeze(model, layers):
    """Freezes the embeddings and so many of the lowest layers."""
    for part in (model.bert.embeddings, *model.bert.encoder.layer[:layers]):
        part.requires_grad_(False)


def parameter_groups(model, layer_decay):
    """Returns the parameters that train, as AdamW takes them: by their decay and their share of the rate."""
    layers = model.config.num_hidden_layers
    groups = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        parts = name.split(".")
        above = layers + 1 if parts[1] == "embeddings" else layers - int(parts[3]) if parts[1] == "encoder" else 0
        decay = 0.0 if name.endswith("bias") or "LayerNorm" in name else 0.01
        groups.setdefault((decay, layer_decay ** above), []).append(parameter)
    return [{"params": parameters, "weight_decay": decay, "share": share}
            for (decay, share), parameters in groups.items()]


def train(model, loss_of, recipe, batches):
    """Yields the loss of each step. batches: the samples of the first steps."""
    optimizer = torch.optim.AdamW(parameter_groups(model, recipe.layer_decay), betas=(0.9, 0.999), eps=1e-6)
    for step, batch in enumerate(batches):
        for group in optimizer.param_groups:
            group["lr"] = group["share"] * recipe.learning_rate(step)
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        yield loss.item()


def write_squad_features(driver, style, squad, vocabulary, folder):
    """Writes the windows of a SQuAD file with their labels, by tests/squad_driver. Returns the
    file, which holds JSON lines."""
    logits = folder / "logits"
    with logits.open("wb") as file:
        # Zeros, more than enough of them: their values do not matter.
        os.truncate(file.fileno(), squad.stat().st_size * 64)
    subprocess.run([driver, style, squad, vocabulary, logits, folder / "features"], check=True)
    logits.unlink()
    return folder / "features" / "features.jsonl"


def read_losses(metrics):
    """Returns {step: loss} of a run of cloze, from the last record of each step."""
    lines = (json.loads(line) for line in metrics.open())
    return {line["step"]: line["loss"] for line in lines if "step" in line}
