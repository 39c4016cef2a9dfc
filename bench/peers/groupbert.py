"""GroupBERT in PyTorch, for fixtures and as the peer of speed: transformers' BERT with another encoder.

Written from the description of arXiv 2106.05822 and of its two published programs; parameters have
the names of Optimum-Graphcore's. Each layer is four modules, each x + dropout(f(LayerNorm(x))):
convolution, grouped feed-forward, attention, grouped feed-forward; a LayerNorm follows the last.
"""
import torch
from torch import nn
from torch.nn import functional
from transformers import BertConfig
from transformers.modeling_outputs import BaseModelOutputWithPastAndCrossAttentions


class Convolution(nn.Module):
    def __init__(self, config):
        super().__init__()
        width, epsilon = config.hidden_size, config.layer_norm_eps
        self.prenorm = nn.LayerNorm(width, eps=epsilon)
        self.glu = nn.Linear(width, 2 * width)
        self.groupconv = nn.Conv1d(width, width, config.conv_kernel_size, padding="same",
                                   groups=width // config.conv_group_size, bias=config.conv_bias)
        self.conv_norm = nn.LayerNorm(width, eps=epsilon)
        self.output_projection = nn.Linear(width, width)

    def forward(self, x, is_real):
        gates, values = self.glu(self.prenorm(x)).chunk(2, dim=-1)
        gated = values * torch.sigmoid(gates)
        if is_real is not None:
            gated = gated * is_real[:, :, None].to(gated.dtype)
        convolved = self.groupconv(gated.transpose(1, 2)).transpose(1, 2)
        return self.output_projection(functional.silu(self.conv_norm(convolved)))


class Intermediate(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.intermediate_size)
        self.approximate = "none" if config.hidden_act == "gelu" else "tanh"

    def forward(self, x):
        return functional.gelu(self.dense(self.LayerNorm(x)), approximate=self.approximate)


class Output(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.grouped_matmul = nn.Conv1d(config.intermediate_size, config.hidden_size, 1,
                                        groups=config.ffn_groups)
        self.has_mixer = config.ffn_groups > 1
        if self.has_mixer:
            self.dense_output_projection = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(self, x):
        grouped = self.grouped_matmul(x.transpose(1, 2)).transpose(1, 2)
        return self.dense_output_projection(grouped) if self.has_mixer else grouped


class Attention(nn.Module):
    def __init__(self, config):
        super().__init__()
        width = config.hidden_size
        self.heads = config.num_attention_heads
        self.LayerNorm = nn.LayerNorm(width, eps=config.layer_norm_eps)
        self.self = nn.ModuleDict({name: nn.Linear(width, width)
                                   for name in ("query", "key", "value")})
        self.output = nn.ModuleDict({"dense": nn.Linear(width, width)})
        self.dropout = config.attention_probs_dropout_prob

    def forward(self, x, is_real):
        normed = self.LayerNorm(x)
        q, k, v = (self.self[name](normed).unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for name in ("query", "key", "value"))
        mask = None if is_real is None else is_real[:, None, None, :]
        context = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, dropout_p=self.dropout if self.training else 0.0)
        return self.output["dense"](context.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.convolution = Convolution(config)
        self.intermediate_first, self.output_first = Intermediate(config), Output(config)
        self.attention = Attention(config)
        self.intermediate_second, self.output_second = Intermediate(config), Output(config)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x, is_real):
        x = x + self.dropout(self.convolution(x, is_real))
        x = x + self.dropout(self.output_first(self.intermediate_first(x)))
        x = x + self.dropout(self.attention(x, is_real))
        return x + self.dropout(self.output_second(self.intermediate_second(x)))


class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layer = nn.ModuleList([Layer(config) for _ in range(config.num_hidden_layers)])
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)

    def forward(self, hidden_states, attention_mask=None, *_, **__):
        """attention_mask as transformers passes it on: [B, 1, 1 or S, S], 0 or True where real."""
        is_real = None
        if attention_mask is not None:
            first = attention_mask[:, 0, 0, :]
            is_real = first if first.dtype == torch.bool else first == 0
        for layer in self.layer:
            hidden_states = layer(hidden_states, is_real)
        return BaseModelOutputWithPastAndCrossAttentions(
            last_hidden_state=self.LayerNorm(hidden_states))


class GroupBertConfig(BertConfig):
    model_type = "groupbert"


def make_groupbert(model, conv_bias=True, conv_group_size=16, conv_kernel_size=7, ffn_groups=4):
    """The transformers' BERT with GroupBERT's encoder; its config says so when it is saved."""
    model.config.update({"conv_bias": conv_bias, "conv_group_size": conv_group_size,
                         "conv_kernel_size": conv_kernel_size, "ffn_groups": ffn_groups})
    model.bert.encoder = Encoder(model.config)
    model.config.__class__ = GroupBertConfig
    model.__class__ = type("Group" + type(model).__name__, (type(model),), {})
    return model
