"""Reads files of ONNX byte by byte and computes what they describe, in plain Python and double precision: an opinion on
`cloze export onnx` that needs no package. It knows the operators of a BERT, as opset 17 has them, and refuses others.

Sources: github.com/onnx/onnx onnx.proto (field numbers), docs/Operators.md.
"""
import dataclasses
import itertools
import math
import operator
import struct

FLOAT, INTEGER = 1, 7  # types of TensorProto


@dataclasses.dataclass
class Tensor:
    shape: list
    values: list  # row-major

    def item(self):
        assert len(self.values) == 1
        return self.values[0]


# --- The file ---------------------------------------------------------------------------------

def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Maps the number of each field of a message to its values: numbers, or bytes."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = varint(data, at)
            value -= (value >> 63) << 64
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            assert len(value) == size, "a message is cut off"
        elif kind == 5:
            value, at = struct.unpack("<f", data[at:at + 4])[0], at + 4
        else:
            raise ValueError(f"a field of kind {kind}")
        found.setdefault(key >> 3, []).append(value)
    return found


def text(message, number):
    return bytes(message[number][0]).decode()


def tensor_of(message):
    shape = message.get(1, [])
    form = {FLOAT: "f", INTEGER: "q"}[message[2][0]]
    raw = bytes(message[9][0])
    return Tensor(shape, list(struct.unpack(f"<{math.prod(shape)}{form}", raw)))


def attribute_of(message):
    return {1: lambda: message[2][0], 2: lambda: message[3][0], 7: lambda: message[8]}[message[20][0]]()


def value_of(message):
    """Name, type and axes of an input or output."""
    tensor = fields(fields(message[2][0])[1][0])
    axes = [fields(axis) for axis in fields(tensor[2][0]).get(1, [])]
    return text(message, 1), tensor[1][0], [text(axis, 2) if 2 in axis else axis[1][0] for axis in axes]


class Model:
    def __init__(self, path):
        model = fields(memoryview(path.read_bytes()))
        graph = fields(model[7][0])
        self.version, self.opset = model[1][0], fields(model[8][0])[2][0]
        self.tensors = {text(tensor, 8): tensor_of(tensor) for tensor in map(fields, graph[5])}
        self.nodes = [fields(node) for node in graph[1]]
        self.inputs, self.outputs = ([value_of(fields(value)) for value in graph[number]] for number in (11, 12))
        names = [text(node, 3) for node in self.nodes]
        assert len(set(names)) == len(names), "names of nodes repeat"

    def operators(self):
        return [text(node, 4) for node in self.nodes]

    def run(self, inputs):
        """Computes the outputs, by their names, of inputs by theirs."""
        assert sorted(inputs) == sorted(name for name, _, _ in self.inputs)
        values = {**self.tensors, **inputs}
        for node in self.nodes:
            arguments = [values[bytes(name).decode()] for name in node[1]]
            attributes = {text(one, 1): attribute_of(one) for one in map(fields, node.get(5, []))}
            values[text(node, 2)] = OPERATORS[text(node, 4)](*arguments, **attributes)
        return {name: values[name] for name, _, _ in self.outputs}


# --- Operators --------------------------------------------------------------------------------

def strides(shape):
    return [math.prod(shape[i + 1:]) for i in range(len(shape))]


def offsets(shape, steps):
    """The place of each element, in row-major order, of axes with these lengths and steps."""
    places = [0]
    for length, step in zip(shape, steps):
        places = [place + i * step for place in places for i in range(length)]
    return places


def broadcast(shape, wanted):
    """Where each element of the wanted shape is found in one of this shape."""
    padded = [1] * (len(wanted) - len(shape)) + shape
    assert all(a in (1, b) for a, b in zip(padded, wanted)), f"{shape} does not become {wanted}"
    steps = [0 if length == 1 else step for length, step in zip(padded, strides(padded))]
    return offsets(wanted, steps)


def common_shape(a, b):
    pairs = itertools.zip_longest(reversed(a), reversed(b), fillvalue=1)
    return [max(pair) if 0 not in pair else 0 for pair in pairs][::-1]


def elementwise(function):
    def apply(a, b):
        shape = common_shape(a.shape, b.shape)
        places = zip(broadcast(a.shape, shape), broadcast(b.shape, shape))
        return Tensor(shape, [function(a.values[i], b.values[j]) for i, j in places])
    return apply


def each(function):
    return lambda x: Tensor(x.shape, [function(value) for value in x.values])


def rows(x):
    width = x.shape[-1]
    return [x.values[at:at + width] for at in range(0, len(x.values), width)]


def by_rows(function, x, *arguments):
    return Tensor(x.shape, [value for row in rows(x) for value in function(row, *arguments)])


def transpose(x, perm):
    steps = strides(x.shape)
    shape = [x.shape[axis] for axis in perm]
    return Tensor(shape, [x.values[at] for at in offsets(shape, [steps[axis] for axis in perm])])


def matmul(a, b):
    batch = common_shape(a.shape[:-2], b.shape[:-2])
    (height, depth), (same, width) = a.shape[-2:], b.shape[-2:]
    assert depth == same, f"{a.shape} by {b.shape}"
    turned = transpose(b, [*range(len(b.shape) - 2), len(b.shape) - 1, len(b.shape) - 2])
    rows_a, rows_b = rows(a), rows(turned)
    values = []
    for first, second in zip(broadcast(a.shape[:-2], batch), broadcast(b.shape[:-2], batch)):
        columns = rows_b[second * width:(second + 1) * width]
        for row in rows_a[first * height:(first + 1) * height]:
            values += [sum(map(operator.mul, row, column)) for column in columns]
    return Tensor([*batch, height, width], values)


def softmax(x, axis):
    assert axis == -1

    def of_row(row):
        largest = max(row)
        powers = [math.exp(value - largest) for value in row]
        total = sum(powers)
        return [power / total for power in powers]
    return by_rows(of_row, x)


def layer_normalization(x, scale, bias, axis, epsilon):
    assert axis == -1

    def of_row(row):
        mean = sum(row) / len(row)
        centred = [value - mean for value in row]
        deviation = math.sqrt(sum(value * value for value in centred) / len(row) + epsilon)
        return [value / deviation * s + b for value, s, b in zip(centred, scale.values, bias.values)]
    return by_rows(of_row, x)


def reshape(x, shape):
    wanted = [x.shape[i] if length == 0 else length for i, length in enumerate(shape.values)]
    if -1 in wanted:
        wanted[wanted.index(-1)] = len(x.values) // -math.prod(wanted)
    assert math.prod(wanted) == len(x.values), f"{x.shape} does not become {wanted}"
    return Tensor(wanted, x.values)


def unsqueeze(x, axes):
    shape = list(x.shape)
    for axis in sorted(axes.values):
        shape.insert(axis, 1)
    return Tensor(shape, x.values)


def gather(x, indices, axis=0):
    block = math.prod(x.shape[axis + 1:])
    chosen = [index + x.shape[axis] if index < 0 else index for index in indices.values]
    assert all(0 <= index < x.shape[axis] for index in chosen)
    values = []
    for outer in range(math.prod(x.shape[:axis])):
        for index in chosen:
            at = (outer * x.shape[axis] + index) * block
            values += x.values[at:at + block]
    return Tensor([*x.shape[:axis], *indices.shape, *x.shape[axis + 1:]], values)


def slice_axis(x, starts, ends, axes):
    axis, length = axes.item(), x.shape[axes.item()]
    chosen = list(range(length))[starts.item():ends.item()]
    return gather(x, Tensor([len(chosen)], chosen), axis)


def concat(*tensors, axis):
    axis %= len(tensors[0].shape)
    blocks = [math.prod(tensor.shape[axis:]) for tensor in tensors]
    values = []
    for outer in range(math.prod(tensors[0].shape[:axis])):
        for tensor, block in zip(tensors, blocks):
            values += tensor.values[outer * block:(outer + 1) * block]
    shape = list(tensors[0].shape)
    shape[axis] = sum(tensor.shape[axis] for tensor in tensors)
    return Tensor(shape, values)


def lanes(x, axis):
    """The elements along an axis, for each place in the others; where they are; the axes before it and after it."""
    axis %= len(x.shape)
    step = math.prod(x.shape[axis + 1:])
    starts = [outer * x.shape[axis] * step + inner for outer in range(math.prod(x.shape[:axis])) for inner in range(step)]
    return [[start + i * step for i in range(x.shape[axis])] for start in starts], x.shape[:axis], x.shape[axis + 1:]


def reduced(function, x, axes, keepdims):
    (axis,) = axes
    places, before, behind = lanes(x, axis)
    values = [function([x.values[place] for place in lane]) for lane in places]
    return Tensor([*before, *([1] if keepdims else []), *behind], values)


def cumulative_sum(x, axis):
    values = list(x.values)
    for lane in lanes(x, axis.item())[0]:
        for before, place in itertools.pairwise(lane):
            values[place] += values[before]
    return Tensor(x.shape, values)


def cast(x, to):
    assert to == FLOAT
    return Tensor(x.shape, [float(value) for value in x.values])


OPERATORS = {
    "Add": elementwise(operator.add),
    "Sub": elementwise(operator.sub),
    "Mul": elementwise(operator.mul),
    "Div": elementwise(operator.truediv),
    "Pow": elementwise(operator.pow),
    "Max": elementwise(max),
    "Equal": elementwise(operator.eq),
    "Erf": each(math.erf),
    "Tanh": each(math.tanh),
    "Sqrt": each(math.sqrt),
    "Cast": cast,
    "Shape": lambda x: Tensor([len(x.shape)], x.shape),
    "MatMul": matmul,
    "Softmax": softmax,
    "LayerNormalization": layer_normalization,
    "Transpose": transpose,
    "Reshape": reshape,
    "Unsqueeze": unsqueeze,
    "Gather": gather,
    "Slice": slice_axis,
    "Concat": concat,
    "CumSum": cumulative_sum,
    "ReduceSum": lambda x, axes, keepdims=1: reduced(sum, x, axes.values, keepdims),
    "ReduceMax": lambda x, axes, keepdims=1: reduced(max, x, axes, keepdims),
    "ReduceL2": lambda x, axes, keepdims=1: reduced(lambda lane: math.sqrt(sum(v * v for v in lane)), x, axes, keepdims),
}
