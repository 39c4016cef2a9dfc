"""What `cloze export onnx` writes computes what the model does: for the stored models of transformers, each with its head,
against transformers' own logits (tests/fixtures), by an interpreter of ONNX that shares no code with the program
(onnx_interpreter.py). Where Python has the package onnx, its checker reads the files, too.

Usage: onnx_test.py PROGRAM
"""
import json
import math
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from onnx_interpreter import Model, Tensor

try:
    import onnx
except ImportError:
    onnx = None

PROGRAM = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else "cloze").resolve()
FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
TOLERANCE = 1e-5  # absolute, of logits
INPUTS = ("input_ids", "attention_mask", "token_type_ids")
# What is written of a fixture, and what it is called there: one name, or one for each column.
OUTPUTS = {
    "bert_pretraining_a": {"prediction_logits": ["prediction_logits"], "seq_relationship_logits": ["seq_relationship_logits"]},
    "bert_pretraining_b": {"prediction_logits": ["prediction_logits"], "seq_relationship_logits": ["seq_relationship_logits"]},
    "bert_question_answering": {"span_logits": ["start_logits", "end_logits"]},
    "bert_classification": {"class_logits": ["logits"]},
    "bert_multi_label": {"class_logits": ["logits"]},
    "bert_regression": {"class_logits": ["logits"]},
    "bert_token_classification": {"tag_logits": ["logits"]},
    "bert_multiple_choice": {"choice_logits": ["logits"]},
}
CODES = {"F64": "d", "F32": "f", "I64": "q", "F16": "e"}


def stored(path):
    """The tensors of a safetensors file."""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    tensors = {}
    for name, tensor in header.items():
        begin, end = (start + offset for offset in tensor["data_offsets"])
        values = struct.unpack(f"<{math.prod(tensor['shape'])}{CODES[tensor['dtype']]}", data[begin:end])
        tensors[name] = Tensor(tensor["shape"], list(values))
    return tensors


def write_safetensors(path, tensors):
    header, data = {}, b""
    for name, tensor in tensors.items():
        packed = struct.pack(f"<{len(tensor.values)}f", *tensor.values)
        header[name] = {"dtype": "F32", "shape": tensor.shape, "data_offsets": [len(data), len(data) + len(packed)]}
        data += packed
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def batch_of(name):
    batch = stored(FIXTURES / name / "batch.safetensors")
    return {key: batch[key] for key in INPUTS}


def of_tokens(tensor, mask):
    """The rows [n] of a tensor [batch, sequence, n] that are no padding, one after the other."""
    width = math.prod(tensor.shape[2:])
    return [value for i, is_token in enumerate(mask.values) if is_token for value in tensor.values[i * width:(i + 1) * width]]


def sequences(hidden, mask):
    """The hidden states of each sequence, a list for each token."""
    width, length = hidden.shape[-1], mask.shape[1]
    for row in range(mask.shape[0]):
        tokens = range(row * length, (row + 1) * length)
        yield [hidden.values[i * width:(i + 1) * width] for i in tokens if mask.values[i]]


def weighted(states, weights, divisor):
    return [sum(w * h for w, h in zip(weights, dimension)) / divisor for dimension in zip(*states)]


POOLING = {
    "cls": lambda h: h[0],
    "lasttoken": lambda h: h[-1],
    "max": lambda h: [max(dimension) for dimension in zip(*h)],
    "mean": lambda h: weighted(h, [1] * len(h), len(h)),
    "mean_sqrt_len_tokens": lambda h: weighted(h, [1] * len(h), math.sqrt(len(h))),
    "weightedmean": lambda h: weighted(h, range(1, len(h) + 1), len(h) * (len(h) + 1) / 2),
}


def normalized(vector):
    length = math.sqrt(sum(x * x for x in vector))
    return [x / length for x in vector]


class OnnxTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def export(self, model, *options, status=0):
        run = subprocess.run([PROGRAM, "export", "onnx", "--init-checkpoint", model, *options], capture_output=True, text=True,
                             cwd=self.folder, timeout=60)
        self.assertEqual(run.returncode, status, run.stderr)
        return run

    def copy(self, fixture, **config):
        """A fixture's model in a folder of its own, with other entries in its configuration."""
        folder = self.folder / "model"
        shutil.copytree(FIXTURES / fixture, folder)
        entries = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**entries, **config}))
        return folder

    def exported(self, model, *options):
        self.export(model, "--output-file", "model.onnx", *options)
        if onnx:
            onnx.checker.check_model(str(self.folder / "model.onnx"), full_check=True)
        return Model(self.folder / "model.onnx")

    def assert_near(self, values, expected, tolerance=TOLERANCE):
        self.assertEqual(len(values), len(expected))
        self.assertLess(max(abs(a - b) for a, b in zip(values, expected)), tolerance)

    def test_every_head_has_the_logits_of_transformers(self):
        names = sorted(path.name for path in FIXTURES.glob("bert_*"))
        self.assertEqual(names, sorted(OUTPUTS))
        for name in names:
            with self.subTest(name):
                model, batch = self.exported(FIXTURES / name), batch_of(name)
                self.assertEqual((model.version, model.opset), (8, 17))
                mask = batch["attention_mask"]
                if name == "bert_multiple_choice":
                    batch = {key: Tensor([2, 3, 16], value.values) for key, value in batch.items()}
                outputs = model.run(batch)
                self.assertEqual(list(outputs), sum(OUTPUTS[name].values(), []))
                expected = stored(FIXTURES / name / "expected.safetensors")
                for logits, parts in OUTPUTS[name].items():
                    columns = [outputs[part] for part in parts]
                    if columns[0].shape[:2] == [6, 16]:
                        columns = [of_tokens(column, mask) for column in columns]
                    else:
                        columns = [column.values for column in columns]
                    values = columns[0] if len(parts) == 1 else [value for row in zip(*columns) for value in row]
                    self.assert_near(values, expected[logits].values)

    def test_axes_are_named_as_in_transformers_exports(self):
        model = self.exported(FIXTURES / "bert_question_answering")
        axes = ["batch_size", "sequence_length"]
        self.assertEqual(model.inputs, [(name, 7, axes) for name in INPUTS])
        self.assertEqual(model.outputs, [(name, 1, axes) for name in ("start_logits", "end_logits")])
        model = self.exported(FIXTURES / "bert_multiple_choice")
        self.assertEqual(model.inputs[0], ("input_ids", 7, ["batch_size", "num_choices", "sequence_length"]))
        self.assertEqual(model.outputs, [("logits", 1, ["batch_size", "num_choices"])])
        model = self.exported(FIXTURES / "bert_pretraining_a")
        self.assertEqual(model.outputs, [("prediction_logits", 1, [*axes, 101]), ("seq_relationship_logits", 1, ["batch_size", 2])])

    def test_any_length_and_number_of_texts(self):
        """Padding changes nothing; one token and as many as there are positions will do."""
        model = self.exported(FIXTURES / "bert_classification")
        for length in (1, 20):
            ids = [5 + i for i in range(length)]
            alone = {"input_ids": Tensor([1, length], ids), "attention_mask": Tensor([1, length], [1] * length),
                     "token_type_ids": Tensor([1, length], [0] * length)}
            padded = {name: Tensor([2, 20], (one.values + [0] * (20 - length)) * 2) for name, one in alone.items()}
            logits = model.run(alone)["logits"]
            self.assertEqual(logits.shape, [1, 3])
            self.assert_near(model.run(padded)["logits"].values, logits.values * 2, 1e-12)

    def test_the_pieces_that_optimisers_know(self):
        """The form of attention, of the mask and of GELU, by the names of their operators."""
        operators = self.exported(FIXTURES / "bert_question_answering").operators()
        self.assertEqual(operators[:5], ["Unsqueeze", "Unsqueeze", "Cast", "Sub", "Mul"])
        self.assertEqual(operators.count("LayerNormalization"), 1 + 2 * 2)
        words = " ".join(operators)
        self.assertEqual(words.count("MatMul Div Add Softmax MatMul Transpose Reshape MatMul Add"), 2)
        self.assertEqual(words.count("MatMul Add Div Erf Add Mul Mul MatMul"), 2)
        words = " ".join(self.exported(FIXTURES / "bert_classification").operators())
        self.assertEqual(words.count("Pow Mul Add Mul Tanh Add Mul Mul MatMul"), 3)

    def test_a_masked_language_model_has_logits(self):
        expected = stored(FIXTURES / "bert_pretraining_a" / "expected.safetensors")["prediction_logits"]
        batch = batch_of("bert_pretraining_a")
        outputs = self.exported(self.copy("bert_pretraining_a", architectures=["BertForMaskedLM"])).run(batch)
        self.assertEqual(list(outputs), ["logits"])
        self.assert_near(of_tokens(outputs["logits"], batch["attention_mask"]), expected.values)

    def test_an_encoder_has_its_states_and_its_pooler(self):
        """The classifier of the file, applied here to what the pooler gives, has transformers' logits."""
        folder = self.copy("bert_classification", architectures=["BertModel"])
        outputs = self.exported(folder).run(batch_of("bert_classification"))
        self.assertEqual(list(outputs), ["last_hidden_state", "pooler_output"])
        weights = stored(folder / "model.safetensors")
        matrix, bias = weights["classifier.weight"], weights["classifier.bias"].values
        pooled = outputs["pooler_output"].values
        logits = [sum(w * x for w, x in zip(matrix.values[c * 36:(c + 1) * 36], pooled[row * 36:(row + 1) * 36])) + bias[c]
                  for row in range(6) for c in range(3)]
        self.assert_near(logits, stored(FIXTURES / "bert_classification" / "expected.safetensors")["class_logits"].values)

    def test_every_way_of_pooling(self):
        batch = batch_of("bert_question_answering")
        for mode, pool in POOLING.items():
            with self.subTest(mode):
                outputs = self.exported(FIXTURES / "bert_question_answering", "--pooling", mode).run(batch)
                self.assertEqual(list(outputs), ["last_hidden_state", "sentence_embedding"])
                expected = [x for states in sequences(outputs["last_hidden_state"], batch["attention_mask"]) for x in pool(states)]
                self.assert_near(outputs["sentence_embedding"].values, expected)

    def test_a_folder_of_sentence_transformers_has_all_its_layers(self):
        folder = self.copy("bert_question_answering", architectures=["BertModel"])
        modules = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Dense", "Dense"), ("3_Normalize", "Normalize"))
        (folder / "modules.json").write_text(json.dumps([
            {"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
            for i, (path, kind) in enumerate(modules)]))
        for name, content in (("1_Pooling", {"pooling_mode_mean_tokens": True, "pooling_mode_max_tokens": True}),
                              ("2_Dense", {"in_features": 64, "out_features": 3, "bias": True,
                                           "activation_function": "torch.nn.modules.activation.Tanh"})):
            (folder / name).mkdir()
            (folder / name / "config.json").write_text(json.dumps(content))
        matrix = Tensor([3, 64], [math.sin(i) / 4 for i in range(192)])
        bias = [0.5, -0.25, 0.125]
        write_safetensors(folder / "2_Dense" / "model.safetensors",
                          {"linear.weight": matrix, "linear.bias": Tensor([3], bias)})
        batch = batch_of("bert_question_answering")
        run = self.export(folder)
        self.assertIn(f"wrote {folder}/onnx/model.onnx, ", run.stdout)
        self.assertIn("BertModel: input_ids, attention_mask, token_type_ids -> last_hidden_state, sentence_embedding\n", run.stdout)
        outputs = Model(folder / "onnx" / "model.onnx").run(batch)
        expected = []
        for states in sequences(outputs["last_hidden_state"], batch["attention_mask"]):
            vector = POOLING["max"](states) + POOLING["mean"](states)  # in the order of the form
            dense = [math.tanh(sum(w * x for w, x in zip(matrix.values[c * 64:(c + 1) * 64], vector)) + bias[c]) for c in range(3)]
            expected += normalized(dense)
        self.assert_near(outputs["sentence_embedding"].values, expected)

    def test_half_precision_is_written_in_f32(self):
        subprocess.run([PROGRAM, "convert", "hf2hf", FIXTURES / "bert_regression", "--precision", "16", "--output-dir", "half"],
                       cwd=self.folder, check=True, capture_output=True)
        run = self.export("half")
        self.assertIn("note: half/model.safetensors has weights in f16, which are written in f32\n", run.stderr)
        half = stored(self.folder / "half" / "model.safetensors")["bert.embeddings.LayerNorm.weight"].values
        model = Model(self.folder / "half" / "onnx" / "model.onnx")
        self.assertEqual(model.tensors["bert.embeddings.LayerNorm.weight"].values, half)

    def test_what_cannot_be_written_is_said(self):
        for name, message, *options in (
                (FIXTURES / "groupbert_question_answering", "is a GroupBERT, whose convolutions and grouped products are not "
                 "exported; ONNX export is for BERT with any of its heads\n"),
                ("nothing", "nothing does not exist"),
                (FIXTURES / "bert_regression", "cannot create folder /dev/null: Not a directory; choose another output folder\n",
                 "--output-file", "/dev/null/model.onnx"),
                (FIXTURES / "bert_regression", "onnx/ does not end with .onnx; name the file to write, such as onnx/model.onnx\n",
                 "--output-file", "onnx/")):
            with self.subTest(name):
                run = self.export(name, *options, status=2)
                self.assertIn(message, run.stderr)
                self.assertEqual(run.stdout, "")

    @unittest.skipIf(onnx, "the package onnx is here, and was asked")
    def test_asks_the_checker_of_onnx(self):
        self.skipTest("no package onnx here; apt-get install python3-onnx brings it")


if __name__ == "__main__":
    unittest.main()
