#!/usr/bin/env python3
"""Attention and layer normalisation alone in PyTorch, on a card: the yardsticks of kernels for them.

Attention has 16 heads of 64 on 65,536 tokens, in sequences of S: each kind that sdpa has, without dropout and with
0.1, and varlen_attn (without). Layer normalisation is of [65536, 1024]. Numbers are random bf16, statistics f32.
Backward is the time of both directions less that of the forward pass alone.

Prints one JSON line per case; what a kind cannot do is a line with its error. --tiny has small sizes, to try the script.
"""
import argparse
import json
import statistics

ATTENTIONS = ("FLASH_ATTENTION", "CUDNN_ATTENTION", "EFFICIENT_ATTENTION")
HEAD_SIZE = 64


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cuda")
    parser.add_argument("--tiny", action="store_true")
    return parser.parse_args()


class Sizes:
    def __init__(self, is_tiny):
        self.tokens, self.heads, self.hidden = (512, 2, 64) if is_tiny else (65536, 16, 1024)
        self.lengths = (32, 64) if is_tiny else (128, 512, 64, 256, 384)
        self.repetitions = 2 if is_tiny else 10


class Measure:
    def __init__(self, device, repetitions):
        import torch
        self.device, self.repetitions = device, repetitions
        self.generator = torch.Generator(device).manual_seed(1234)

    def normal(self, *shape):
        import torch
        numbers = torch.randn(shape, device=self.device, generator=self.generator)
        return numbers.to(torch.bfloat16).requires_grad_()

    def milliseconds(self, run):
        """Median of the calls after two that are not counted."""
        from pytorch_step import Clock
        clock = Clock(self.device == "cuda")
        return 1e3 * statistics.median([clock.seconds(run) for _ in range(2 + self.repetitions)][2:])

    def directions(self, forward, inputs):
        """Milliseconds forward and backward; the latter None where a busy machine hides it."""
        import torch
        upstream = torch.randn_like(forward())
        one = self.milliseconds(forward)
        both = self.milliseconds(lambda: torch.autograd.grad(forward(), inputs, upstream))
        return one, both - one if both > one else None


def attention_kinds(device):
    """Names of sdpa's kinds, each with its dropout; then varlen_attn."""
    kinds = ATTENTIONS if device == "cuda" else ("FLASH_ATTENTION", "MATH")
    return [(kind, dropout) for kind in kinds for dropout in (0.0, 0.1)] + [("varlen", 0.0)]


def attention(measure, sizes, length, kind, dropout):
    """What runs attention, and its inputs: [B, N, S, d], or [T, N, d] for varlen."""
    import torch
    sequences = sizes.tokens // length
    if kind == "varlen":
        from torch.nn.attention.varlen import varlen_attn
        inputs = [measure.normal(sizes.tokens, sizes.heads, HEAD_SIZE) for _ in range(3)]
        starts = torch.arange(0, sizes.tokens + 1, length, device=measure.device, dtype=torch.int32)
        return lambda: varlen_attn(*inputs, starts, starts, length, length), inputs
    from torch.nn.attention import SDPBackend, sdpa_kernel
    inputs = [measure.normal(sequences, sizes.heads, length, HEAD_SIZE) for _ in range(3)]

    def forward():
        with sdpa_kernel(getattr(SDPBackend, kind)):
            return torch.nn.functional.scaled_dot_product_attention(*inputs, dropout_p=dropout)
    return forward, inputs


def attention_row(measure, sizes, length, kind, dropout):
    forward, inputs = attention(measure, sizes, length, kind, dropout)
    one, other = measure.directions(forward, inputs)
    flops = 4.0 * sizes.tokens * length * sizes.heads * HEAD_SIZE
    return {"forward_ms": one, "backward_ms": other, "forward_tflops": flops / one / 1e9,
            "backward_tflops": other and 2.5 * flops / other / 1e9}


def layer_norm_row(measure, sizes, is_compiled):
    """Bytes: x read and y written forward; x and dy read and dx written backward."""
    import torch
    x, weight, bias = measure.normal(sizes.tokens, sizes.hidden), measure.normal(sizes.hidden), measure.normal(sizes.hidden)

    def normalised():
        return torch.nn.functional.layer_norm(x.float(), (sizes.hidden,), weight.float(), bias.float()).to(x.dtype)
    forward = torch.compile(normalised) if is_compiled else normalised
    one, other = measure.directions(forward, (x, weight, bias))
    values = sizes.tokens * sizes.hidden
    return {"forward_ms": one, "backward_ms": other, "forward_tb_per_s": 4 * values / one / 1e9,
            "backward_tb_per_s": other and 6 * values / other / 1e9}


def write(row, run):
    try:
        row |= run()
    except Exception as error:  # a kind that this card or this torch lacks
        row["error"] = f"{type(error).__name__}: {error}".strip().splitlines()[0][:200]
    print(json.dumps(row), flush=True)


def main():
    arguments = parse_arguments()
    import torch
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise SystemExit(f"pytorch_operators: torch {torch.__version__} finds no CUDA device that it can use")
    sizes = Sizes(arguments.tiny)
    measure = Measure(arguments.device, sizes.repetitions)
    for length in sizes.lengths:
        for kind, dropout in attention_kinds(arguments.device):
            write({"what": "attention", "kind": kind, "seq_length": length, "dropout": dropout},
                  lambda: attention_row(measure, sizes, length, kind, dropout))
    for is_compiled in (False, True):
        write({"what": "layer_norm", "compiled": is_compiled}, lambda: layer_norm_row(measure, sizes, is_compiled))


if __name__ == "__main__":
    main()
