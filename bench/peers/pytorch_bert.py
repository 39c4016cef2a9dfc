"""BERT for pre-training in PyTorch as its users train it, and its batches: the model of pytorch_step.py.

Four forms of one model, all from transformers' modules:
  Library    BertForPreTraining as it is: rows of S slots, and the vocabulary at every position
  Gathered   the same rows, and the vocabulary at the predicted positions alone, as its best users have it
  Ragged     sequences laid end to end, [T, H]: no padding at all. On a card attention is torch's varlen_attn
             (torch 2.10 and later), elsewhere one call per sequence; neither has dropout on its probabilities
  Nested     the same, but attention is sdpa on torch's nested tensors (jagged), with dropout
A batch of sequences that are all full has no attention mask, so that sdpa may choose flash attention.
"""
import torch
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

IGNORED = -100
MASKED_SHARE = 0.15


def shape_of(config):
    """The values of a configuration of ours that transformers' BertConfig takes."""
    names = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
             "intermediate_size", "max_position_embeddings", "type_vocab_size", "hidden_act",
             "hidden_dropout_prob", "attention_probs_dropout_prob", "layer_norm_eps")
    return {name: config[name] for name in names if name in config}


def make_model(config):
    from transformers import BertConfig, BertForPreTraining
    model = BertForPreTraining(BertConfig(**shape_of(config), attn_implementation="sdpa"))
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


def pretraining_loss(model, rows, pooled, labels, next_sentence_label):
    """`rows` [P, H]: the hidden states of the predicted positions."""
    return cross_entropy(model.cls.predictions(rows), labels) + \
        cross_entropy(model.cls.seq_relationship(pooled), next_sentence_label)


class Library(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.layers = model.bert.encoder.layer

    def forward(self, **batch):
        return self.model(**batch).loss

    @staticmethod
    def batch(samples, slots):
        labels = torch.full((len(samples), slots), IGNORED)
        for row, sample in enumerate(samples):
            labels[row, sample.predicted] = sample.ids[sample.predicted]
        return {**padded(samples, slots), "labels": labels, "next_sentence_label": next_labels(samples)}


class Gathered(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model
        self.layers = model.bert.encoder.layer

    def forward(self, input_ids, token_type_ids, predicted, labels, next_sentence_label, attention_mask=None):
        bert = self.model.bert
        is_real = None if attention_mask is None else attention_mask[:, None, None, :].bool()
        hidden = bert.embeddings(input_ids=input_ids, token_type_ids=token_type_ids)
        hidden = bert.encoder(hidden, attention_mask=is_real)[0]
        rows = hidden.flatten(0, 1)[predicted]
        return pretraining_loss(self.model, rows, bert.pooler(hidden), labels, next_sentence_label)

    @staticmethod
    def batch(samples, slots):
        predicted = torch.cat([row * slots + sample.predicted for row, sample in enumerate(samples)])
        return {**padded(samples, slots), **predictions(samples, predicted)}


class RaggedLayer(torch.nn.Module):
    """A layer of transformers' BERT on [T, H]; `starts` [B + 1] are the sequences' borders."""

    def __init__(self, layer, heads, dropout):
        super().__init__()
        self.layer = layer
        self.heads = heads
        self.dropout = dropout  # of attention's probabilities, where attention has it

    def attend(self, query, key, value, starts, longest):
        return attend_within(query, key, value, starts, longest)

    def forward(self, hidden, starts, longest):
        attention = self.layer.attention
        query, key, value = (getattr(attention.self, name)(hidden).unflatten(-1, (self.heads, -1))
                             for name in ("query", "key", "value"))
        context = self.attend(query, key, value, starts, longest).flatten(1)
        hidden = attention.output(context, hidden)
        return self.layer.output(self.layer.intermediate(hidden), hidden)


class NestedLayer(RaggedLayer):
    def attend(self, query, key, value, starts, longest):
        rows = [torch.nested.nested_tensor_from_jagged(tensor, starts, max_seqlen=longest).transpose(1, 2)
                for tensor in (query, key, value)]
        dropout = self.dropout if self.training else 0.0
        return scaled_dot_product_attention(*rows, dropout_p=dropout).transpose(1, 2).values()


class Ragged(torch.nn.Module):
    Layer = RaggedLayer

    def __init__(self, model):
        super().__init__()
        self.model = model
        heads, dropout = model.config.num_attention_heads, model.config.attention_probs_dropout_prob
        self.layers = torch.nn.ModuleList(self.Layer(layer, heads, dropout) for layer in model.bert.encoder.layer)

    def forward(self, input_ids, token_type_ids, position_ids, starts, longest, predicted, labels,
                next_sentence_label):
        bert = self.model.bert
        hidden = bert.embeddings(input_ids=input_ids[None], token_type_ids=token_type_ids[None],
                                 position_ids=position_ids[None])[0]
        for layer in self.layers:
            hidden = layer(hidden, starts, longest)
        pooled = bert.pooler(hidden[starts[:-1], None])
        return pretraining_loss(self.model, hidden[predicted], pooled, labels, next_sentence_label)

    @staticmethod
    def batch(samples, _):
        lengths = torch.tensor([len(sample.ids) for sample in samples])
        starts = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)])
        predicted = torch.cat([start + sample.predicted for start, sample in zip(starts, samples)])
        return {"input_ids": torch.cat([sample.ids for sample in samples]),
                "token_type_ids": torch.cat([sample.types for sample in samples]),
                "position_ids": torch.cat([torch.arange(length) for length in lengths]),
                "starts": starts.to(torch.int32), "longest": int(lengths.max()),
                **predictions(samples, predicted)}


class Nested(Ragged):
    Layer = NestedLayer


def attend_within(query, key, value, starts, longest):
    """Attention within each sequence; query, key, value [T, N, d]."""
    if query.is_cuda:
        from torch.nn.attention.varlen import varlen_attn
        return varlen_attn(query, key, value, starts, starts, longest, longest)
    lengths = starts.diff().tolist()
    heads_first = [[part.transpose(0, 1)[None] for part in tensor.split(lengths)] for tensor in (query, key, value)]
    return torch.cat([scaled_dot_product_attention(*parts)[0].transpose(0, 1) for parts in zip(*heads_first)])


class Sample:
    """Random tokens of one sequence. `predicted` [P]: where it is asked, never at its first or last token."""

    def __init__(self, length, predictions, vocab_size, generator):
        self.ids = torch.randint(5, vocab_size, (length,), generator=generator)
        self.types = (torch.arange(length) >= length // 2).long()
        self.predicted = 1 + torch.randperm(length - 2, generator=generator)[:predictions]
        self.is_next = int(torch.randint(0, 2, (), generator=generator))


def make_samples(lengths, most_predictions, vocab_size):
    """A sequence with this many predictions where all have one length; 15 % of it otherwise."""
    generator = torch.Generator().manual_seed(1234)
    are_equal = min(lengths) == max(lengths)
    return [Sample(length, most_predictions if are_equal else
                   min(most_predictions, max(1, round(MASKED_SHARE * length))), vocab_size, generator)
            for length in lengths]


def padded(samples, slots):
    """[B, S] ids and types; a mask only where something is padded."""
    shape = (len(samples), slots)
    batch = {name: torch.zeros(shape, dtype=torch.int64) for name in ("input_ids", "token_type_ids", "attention_mask")}
    for row, sample in enumerate(samples):
        real = len(sample.ids)
        batch["input_ids"][row, :real] = sample.ids
        batch["token_type_ids"][row, :real] = sample.types
        batch["attention_mask"][row, :real] = 1
    if batch["attention_mask"].all():
        del batch["attention_mask"]
    return batch


def predictions(samples, predicted):
    """`predicted` counts slots of the whole batch."""
    return {"predicted": predicted, "labels": torch.cat([sample.ids[sample.predicted] for sample in samples]),
            "next_sentence_label": next_labels(samples)}


def next_labels(samples):
    return torch.tensor([sample.is_next for sample in samples])


def useful_flops(config, samples):
    """Floating-point operations of a step's products, forward and backward, on real tokens and predicted
    positions alone. None for GroupBERT, whose operators are others."""
    if config.get("groupbert"):
        return None
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    asked = 2 * hidden * config["vocab_size"] + 2 * hidden * hidden * config.get("use_cls_layer", True)
    total = 0
    for sample in samples:
        length = len(sample.ids)
        layer = length * (8 * hidden * hidden + 4 * hidden * inner) + 4 * length * length * hidden
        total += config["num_hidden_layers"] * layer + len(sample.predicted) * asked + 2 * hidden * hidden
    return 3 * total
