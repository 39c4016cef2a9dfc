"""Every option of the commands that infer, convert, score and plan, given a value other than its default,
does what it is there for.

Usage: inference_effects_test.py PROGRAM
The models are small and hardly trained; each entry of EFFECTS says what must differ between a run without the
option and one with it. An option of the program without an entry is a failure, and so is a command of the
program that no test of effects knows.
"""
import json
import math
import pathlib
import re
import shutil
import unittest

import data_effects_test
import finetune_effects_test
import launch_test
import pretrain_effects_test
import serve_effects_test
from option_effects import (CONTEXT, CommandRun, Effect, OptionEffects, PlanPage, cloze, commands_of, help_of, prints,
                            prints_other, prints_same, refused, succeeds, writes_to)
from small_models import make_models

SMALL = {"vocab_size": 120, "hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
         "intermediate_size": 24, "max_position_embeddings": 32, "seq_length": 32, "threads": 1,
         "max_predictions_per_seq": 3}
TEXT = "the [MASK] sat on the mat ."
QUESTION = "who sat on the mat ?"
FILE = "model.safetensors"
MODEL = "in/mlm/checkpoint-1"


DEVICE, NETWORK = (str(pathlib.Path(__file__).resolve().parent.parent / "configs" / name)
                   for name in ("devices/nvidia_h100_sxm_80gb.json", "networks/nvidia_dgx_h100.json"))
RANKS = {"device_file": DEVICE, "network_file": NETWORK, "replicas": 4, "num_hidden_layers": 2,
         "global_batch_size": 256, "tokens_per_micro_batch": 256, "vocab_size": 20000}


def measures(run, base):
    """A plan that uses the written file estimates the time of every launch."""
    words = [f"--{name.replace('_', '-')}={value}" for name, value in SMALL.items()]
    cloze(run.folder, "plan", *words, "--device-file", "device.json", "--report", "plan.html")
    page = PlanPage(run.folder / "plan.html")
    return page.estimated == page.launches and "an estimate from the rates of " in run.output


def measures_tokens(least, most=None):
    """So many tokens a sequence, rounding aside."""
    def check(run, base):
        sequences, tokens = re.search(r"([\d.]+) sequences/s  ([\d.]+) real tokens/s", run.output).groups()
        return least - 0.1 < float(tokens) / float(sequences) < (most or least) + 0.1
    return check


def make_data(folder):
    make_models(folder, "mlm", "qa", "rte", "topics", "quiz", "ner")
    cloze(folder, "compile", "--init-checkpoint", "mlm", "--output-file", "mlm.compiled")
    # A folder with weights alone: options have to name the configuration and the vocabulary.
    (folder / "weights").mkdir()
    (folder / "weights" / FILE).write_bytes((folder / "mlm" / "checkpoint-1" / FILE).read_bytes())
    for name in ("config.json", "vocab.txt"):
        (folder / f"model_{name}").write_bytes((folder / "mlm" / "checkpoint-1" / name).read_bytes())
    (folder / "context.txt").write_text("the dog ran on the hill .")
    (folder / "questions.jsonl").write_text(json.dumps({"question": QUESTION, "context": "a cat sat ."}) + "\n")
    (folder / "blanks.jsonl").write_text(json.dumps({"text": TEXT, "answer": "cat"}) + "\n")
    quiz = {"text": "the cat sat", "text_pair": "then", "choices": ["a dog ran", "who sat", "the mat"]}
    (folder / "quiz.jsonl").write_text(json.dumps(quiz) + "\n")
    (folder / "texts.tsv").write_text("the cat sat\ta cat sat\nthe dog ran\n")
    (folder / "texts.txt").write_text("the cat sat\nthe dog ran\n")
    (folder / "lengths.txt").write_text("5 3\n9 2\n")
    (folder / "pairs.tsv").write_text("the cat sat\tthe dog\nthe dog\tthe dog\n")
    make_encoder(folder / "mlm" / "checkpoint-1", folder / "encoder")
    make_predictions(folder)
    (folder / "preset.yaml").write_text(
        "parameters:\n  command: pretraining\n  model_name_or_path: large\n  data_type: bf16\n")
    (folder / "configs").mkdir()
    (folder / "configs" / "mine.json").write_text(json.dumps({**SMALL, "global_batch_size": 16}))
    (folder / "configs" / "benchmarks.yml").write_text(
        "mine:\n  - pretrain --config mine.json --train-file $DATASETS_DIR/a.tfrecord --num-train-steps 1\n")
    (folder / "pipeline.json").write_text('{"popart_dtype": "FLOAT16", "velocity_scaling": 0.1}')


def make_encoder(model, folder):
    """The model's encoder as sentence-transformers keeps it, with vectors of length 1 and a prompt."""
    shutil.copytree(model, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    modules = (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))
    (folder / "modules.json").write_text(json.dumps(
        [{"idx": i, "name": str(i), "path": path, "type": f"sentence_transformers.models.{kind}"}
         for i, (path, kind) in enumerate(modules)]))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_mean_tokens": true}')
    (folder / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "a dog: "}, "similarity_fn_name": "dot"}')


def make_predictions(folder):
    (folder / "right.json").write_text(json.dumps({"1": "cat", "2": "dog", "3": "mat"}))
    (folder / "wrong.json").write_text(json.dumps({"1": "cat", "2": "mat", "3": "mat"}))
    (folder / "odds.json").write_text(json.dumps({"1": 0.1, "2": 0.9, "3": 0.3}))
    labels = ("entailment", "not_entailment") * 4
    for name, predicted in {"right": labels, "wrong": labels[:1] * 8}.items():
        rows = "".join(f"{i}\t{label}\n" for i, label in enumerate(predicted))
        (folder / f"{name}.tsv").write_text("index\tprediction\n" + rows)
    write_own_predictions(folder)


def write_own_predictions(folder):
    """Right and wrong ones, as `cloze finetune` writes them."""
    for name, predicted in (("right", "a"), ("wrong", "b")):
        rows = {"classes": [{"label": "a", "predicted": predicted}, {"label": "b", "predicted": "b"}],
                "numbers": [{"label": 1, "predicted": 1 if predicted == "a" else 3}, {"label": 2, "predicted": 2}],
                "sets": [{"label": ["a"], "predicted": [predicted], "probabilities": {"a": 0.9, "b": 0.1}}]}
        for kind, objects in rows.items():
            (folder / f"{name}_{kind}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in objects))
        (folder / f"{name}.conll").write_text(f"Ann\tI-{predicted}\tI-a\n")
    (folder / "gold.conll").write_text("Ann\tO\n")


# --- What may differ --------------------------------------------------------------------------

def list_of(run, path="out"):
    """Maps the name of each tensor to its type and shape."""
    text = CommandRun(run.folder, "list", "inspect", {"arguments": [run.folder / path]}).output
    return dict(line.split("  ") for line in text.splitlines() if line.count("  ") == 1)


def other_tensors(run, base):
    return run.status == base.status == 0 and list_of(run) != list_of(base)


def computes_with(words):
    """The packed model prints these words when it runs."""
    def says(run):
        return words in CommandRun(run.folder, "latency", "latency", {
            "program": run.folder / "out.compiled", "seq_length": 8, "num_iter": 1}).output
    return lambda run, base: says(run) and not says(base)


def score(part):
    """This score differs from the score without the option."""
    return lambda run, base: json.loads(run.output)[part] != json.loads(base.output)[part]


def lines(count):
    return lambda run, base: len(run.output.splitlines()) == count != len(base.output.splitlines())


MACHINE = {
    "threads": Effect(2, prints_same),
    "device": Effect("none", refused('device is "none"; choose one of auto, cpu, cuda')),
    "instruction_set": Effect("none", refused("none")),
}


class InferenceEffects(OptionEffects):
    RUN = CommandRun
    make_data = staticmethod(make_data)


class FillTest(InferenceEffects, unittest.TestCase):
    COMMAND = "fill"
    BASE = {"init_checkpoint": "in/mlm", "text": TEXT, "threads": 1}
    EFFECTS = {
        **MACHINE,
        "init_checkpoint": Effect("in/other_mlm", prints_other),
        "text": Effect([TEXT, "[MASK] ran ."], prints("[MASK] ran .")),
        "top_k": Effect(2, lines(4)),
        "score": Effect("in/blanks.jsonl", prints("of 1)"), text=None, base={}),
    }


class AnswerTest(InferenceEffects, unittest.TestCase):
    COMMAND = "answer"
    BASE = {"init_checkpoint": "in/qa", "question": QUESTION, "context": CONTEXT, "threads": 1}
    EFFECTS = {
        **MACHINE,
        "init_checkpoint": Effect("in/other_qa", prints_other),
        "question": Effect("who ran ?", prints_other),
        "context": Effect("a cat sat .", prints_other),
        "context_file": Effect("in/context.txt", prints_other, context=None, base={}),
        "input_file": Effect("in/questions.jsonl", lambda run, base: json.loads(run.output),
                             question=None, context=None, base={}),
        "top_k": Effect(2, lines(2)),
        "max_answer_length": Effect(1, lambda run, base: all(
            len(line.split("%")[1].split("[")[0].split()) == 1 for line in run.output.splitlines()) and
            prints_other(run, base)),
        "version_2_with_negative": Effect("true", prints("(no answer)"), top_k=1000),
    }


class ClassifyTest(InferenceEffects, unittest.TestCase):
    COMMAND = "classify"
    BASE = {"init_checkpoint": "in/rte", "text": "the cat sat\ta cat sat", "threads": 1}
    EFFECTS = {
        **MACHINE,
        "init_checkpoint": Effect("in/other_rte", prints_other),
        "text": Effect(["the cat sat\ta cat sat", "the dog"], lines(2)),
        "input_file": Effect("in/texts.tsv", lines(2), text=None, base={}),
        "threshold": Effect(0, lambda run, base: run.output.count("\t") == 5 and base.output == "-\n",
                            init_checkpoint="in/topics", base={"init_checkpoint": "in/topics", "threshold": 1}),
        "json": Effect("true", lambda run, base: len(json.loads(run.output)["classes"]) == 2),
    }

    def test_a_threshold_is_for_several_labels(self):
        run = self.run_with("one_label", {"threshold": 0.3}, self.COMMAND)
        self.assertEqual(run.status, 2)
        self.assertIn("threshold 0.3 is for a model of which several labels may hold; leave it out", run.messages)


class ChooseTest(InferenceEffects, unittest.TestCase):
    COMMAND = "choose"
    BASE = {"init_checkpoint": "in/quiz", "text": "the cat sat", "choice": ["a dog ran", "who sat"], "threads": 1}
    EFFECTS = {
        **MACHINE,
        "init_checkpoint": Effect("in/other_quiz", prints_other),
        "text": Effect("the dog ran\tthen", prints_other),
        "choice": Effect(["a dog ran", "who sat", "the mat"], prints_other),
        "input_file": Effect("in/quiz.jsonl", prints_other, text=None, choice=None, base={}),
        "json": Effect("true", lambda run, base: len(json.loads(run.output)["probabilities"]) == 2),
    }

    def test_a_choice_takes_two(self):
        run = self.run_with("one", {"choice": ["who sat"]}, self.COMMAND)
        self.assertEqual(run.status, 2)
        self.assertIn("--choice is given 1 times; give two or more of them", run.messages)


class TagTest(InferenceEffects, unittest.TestCase):
    COMMAND = "tag"
    BASE = {"init_checkpoint": "in/ner", "text": "the cat sat on the mat", "threads": 1}
    EFFECTS = {
        **MACHINE,
        "init_checkpoint": Effect("in/other_ner", prints_other),
        "text": Effect(["the cat sat on the mat", "the dog"], prints("\n\n")),
        "input_file": Effect("in/texts.txt", prints("\n\n"), text=None, base={}),
        "aggregation": Effect("none", prints("B-")),
        "json": Effect("true", lambda run, base: {"tag", "text", "probability", "start", "end"} ==
                       json.loads(run.output)["tags"][0].keys()),
    }


def vectors(run):
    """The printed vectors."""
    return [json.loads(line) for line in run.output.splitlines()]


def length(vector):
    return math.sqrt(sum(x * x for x in vector))


# Of commands that make vectors; the model's own vectors are means, not normalised.
ENCODER = {
    **MACHINE,
    "init_checkpoint": Effect("in/other_mlm", prints_other),
    "pooling": Effect("cls", prints_other),
    "prompt": Effect("a dog: ", prints_other),
    "prompt_name": Effect("query", prints_other, init_checkpoint="in/encoder", base={"init_checkpoint": "in/encoder"}),
}


class EmbedTest(InferenceEffects, unittest.TestCase):
    COMMAND = "embed"
    BASE = {"init_checkpoint": "in/mlm", "text": "the cat sat", "threads": 1}
    EFFECTS = {
        **ENCODER,
        "text": Effect(["the cat sat", "the dog"], lines(2)),
        "input_file": Effect("in/texts.txt", lines(2), text=None, base={}),
        "text_field": Effect("context", lambda run, base: len(vectors(run)) >= 1 and base.status == 3, text=None,
                             input_file="in/questions.jsonl", base={"text": None, "input_file": "in/questions.jsonl"}),
        "output_file": Effect("out.npy", writes_to("out.npy")),
        "dimensions": Effect(4, lambda run, base: vectors(run)[0] == vectors(base)[0][:4]),
        "normalize": Effect("true", lambda run, base: abs(length(vectors(run)[0]) - 1) < 1e-6 <
                            abs(length(vectors(base)[0]) - 1)),
    }

    def test_a_file_of_vectors_has_a_known_ending(self):
        run = self.run_with("csv", {"output_file": "out.csv"}, self.COMMAND)
        self.assertEqual(run.status, 2)
        self.assertIn('out.csv ends with ".csv", which names no form of vectors', run.messages)

    def test_lines_of_text_have_no_key(self):
        run = self.run_with("lines", {"text": None, "input_file": "in/texts.txt", "text_field": "context"}, self.COMMAND)
        self.assertEqual(run.status, 2)
        self.assertIn("--text-field needs an --input-file whose name ends with .jsonl", run.messages)


class SimilarityTest(InferenceEffects, unittest.TestCase):
    COMMAND = "similarity"
    BASE = {"init_checkpoint": "in/mlm", "text": "the cat sat\tthe dog", "threads": 1}
    EFFECTS = {
        **ENCODER,
        "text": Effect(["the cat sat\tthe dog", "the dog\tthe dog"], prints("1.000000")),
        "input_file": Effect("in/pairs.tsv", lines(2), text=None, base={}),
        "dimensions": Effect(4, prints_other),
        "normalize": Effect("false", prints_other, init_checkpoint="in/encoder", base={"init_checkpoint": "in/encoder"}),
    }

    def test_a_pair_is_two_texts(self):
        run = self.run_with("one", {"text": "the cat"}, self.COMMAND)
        self.assertEqual(run.status, 2)
        self.assertIn('"the cat" is not a pair; separate two texts by one tab', run.messages)


class CompileTest(InferenceEffects, unittest.TestCase):
    COMMAND = "compile"
    BASE = {"init_checkpoint": "in/mlm", "output_file": "out.compiled"}
    EFFECTS = {
        "init_checkpoint": Effect("in/other_mlm", lambda run, base: run.file("out.compiled") !=
                                  base.file("out.compiled")),
        "output_file": Effect("other.compiled", writes_to("other.compiled")),
        "precision": Effect("bf16", computes_with("bf16 weights")),
        "device": MACHINE["device"],
        "instruction_set": MACHINE["instruction_set"],
    }


class LatencyTest(InferenceEffects, unittest.TestCase):
    COMMAND = "latency"
    BASE = {"init_checkpoint": "in/mlm", "seq_length": 8, "num_iter": 3, "clients": 1}
    EFFECTS = {
        "program": Effect("in/mlm.compiled", prints("f32 weights"), init_checkpoint=None),
        "init_checkpoint": Effect("in/mlm", prints("f32 weights"), base={"init_checkpoint": None}),
        "precision": Effect("bf16", prints("bf16 weights")),
        "seq_length": Effect(16, measures_tokens(16)),
        "lengths": Effect("in/lengths.txt", measures_tokens(5, 9), seq_length=None),
        "batch_size": Effect(2, prints("batches of 2")),
        "threads": Effect(2, prints("of 2 threads")),
        "device": MACHINE["device"],
        "instruction_set": MACHINE["instruction_set"],
        "clients": Effect(2, lambda run, base: len(run.lines("timings.txt")) == 6,
                          dump_raw_timings="true"),
        "num_iter": Effect(5, lambda run, base: len(run.lines("timings.txt")) == 5,
                           dump_raw_timings="true"),
        "dump_raw_timings": Effect("true", writes_to("timings.txt")),
    }


class ConvertTest(InferenceEffects, unittest.TestCase):
    COMMAND = "convert"
    BASE = {"arguments": ["hf2graphcore", MODEL], "output_dir": "out"}
    EFFECTS = {
        "output_dir": Effect("other", writes_to("other")),
        "config": Effect("in/model_config.json", succeeds, arguments=["hf2hf", "in/weights"],
                         vocab_file="in/model_vocab.txt"),
        "vocab_file": Effect("in/other_vocab.txt", lambda run, base:
                             run.lines("out/vocab.txt") != base.lines("out/vocab.txt")),
        "vocab_size": Effect(20, lambda run, base: "[20, 16]" in str(list_of(run)) and
                             "[20, 16]" not in str(list_of(base))),
        "precision": Effect(32, lambda run, base: "f32" in str(list_of(run)) and
                            "f32" not in str(list_of(base))),
        "max_shard_size": Effect("8KB", lambda run, base: run.has(f"out/{FILE}.index.json") and not
                                 base.has(f"out/{FILE}.index.json"), arguments=["hf2hf", MODEL]),
        "pooling": Effect("max", lambda run, base: "pooling_mode_max_tokens" in str(run.lines("out/1_Pooling/config.json"))
                          and not base.has("out/modules.json"), arguments=["hf2hf", MODEL]),
        "num_embeddings_splits": Effect(2, other_tensors),
        "use_qkv_bias": Effect("false", other_tensors),
        "use_attention_bias": Effect("false", other_tensors),
        "use_cls_layer": Effect("false", other_tensors),
        "baseline": Effect("true", prints("baseline is not needed")),
        "use_qkv_split": Effect("false", other_tensors),
    }


class ExportOnnxTest(InferenceEffects, unittest.TestCase):
    COMMAND = "export onnx"
    BASE = {"init_checkpoint": MODEL, "output_file": "out.onnx"}
    EFFECTS = {
        "init_checkpoint": Effect("in/qa/checkpoint-1", prints("-> start_logits, end_logits")),
        "output_file": Effect("onnx/other.onnx", writes_to("onnx/other.onnx")),
        "pooling": Effect("max", prints("-> last_hidden_state, sentence_embedding")),
    }


class ScoreSquadTest(InferenceEffects, unittest.TestCase):
    COMMAND = "score squad"
    BASE = {"data": "in/squad.json", "predictions": "in/right.json"}
    VERSION_2 = {"data": "in/squad2.json"}
    EFFECTS = {
        "data": Effect("in/squad2.json", prints("HasAns_exact")),
        "predictions": Effect("in/wrong.json", score("exact_match")),
        "na_prob_file": Effect("in/odds.json", prints("best_exact"), **VERSION_2),
        "na_prob_thresh": Effect(0.5, score("exact"), **VERSION_2, na_prob_file="in/odds.json"),
    }


class ScoreGlueTest(InferenceEffects, unittest.TestCase):
    COMMAND = "score glue"
    BASE = {"task": "RTE", "data": "in/glue/RTE/dev.tsv", "predictions": "in/right.tsv"}
    EFFECTS = {
        "task": Effect("CoLA", refused("RTE/dev.tsv", status=3)),
        "data": Effect("in/glue/WNLI/dev.tsv", refused("WNLI/dev.tsv", status=3)),
        "predictions": Effect("in/wrong.tsv", score("accuracy")),
    }


class ScoreClassifyTest(InferenceEffects, unittest.TestCase):
    COMMAND = "score classify"
    BASE = {"predictions": "in/right_classes.jsonl"}
    EFFECTS = {"predictions": Effect("in/wrong_classes.jsonl", score("accuracy"))}


class ScoreRegressTest(InferenceEffects, unittest.TestCase):
    COMMAND = "score regress"
    BASE = {"predictions": "in/right_numbers.jsonl"}
    EFFECTS = {"predictions": Effect("in/wrong_numbers.jsonl", score("pearson"))}

    def test_several_files_have_their_scores_by_name(self):
        files = ["in/right_numbers.jsonl", "in/wrong_numbers.jsonl"]
        run = CommandRun(self.folder, "several", self.COMMAND, {"predictions": files})
        self.assertEqual({name: round(scores["pearson"]) for name, scores in json.loads(run.output).items()},
                         dict(zip(files, (1, -1))))


class ScoreMultilabelTest(InferenceEffects, unittest.TestCase):
    COMMAND = "score multilabel"
    BASE = {"predictions": "in/right_sets.jsonl"}
    EFFECTS = {
        "predictions": Effect("in/wrong_sets.jsonl", score("subset_accuracy")),
        "threshold": Effect(0.05, score("subset_accuracy")),
    }


class ScoreTagTest(InferenceEffects, unittest.TestCase):
    COMMAND = "score tag"
    BASE = {"predictions": "in/right.conll"}
    EFFECTS = {
        "predictions": Effect("in/wrong.conll", score("accuracy")),
        "data": Effect("in/gold.conll", score("accuracy")),
        "mode": Effect("iob2", score("micro")),
    }


class PlanTest(InferenceEffects, unittest.TestCase):
    """`plan` has the options of `pretrain`, which are tested there, and some more."""
    COMMAND = "plan"
    KNOWN = pretrain_effects_test.EFFECTS.keys()
    BASE = {**SMALL, "micro_batch_size": 64}
    EFFECTS = {
        "kernels": Effect("true", prints("kernels\n")),
        "fit": Effect("1GiB", prints("fit 1GiB: --global-batch-size 64 --tokens-per-micro-batch 2048, ")),
        "report": Effect("plan.html", lambda run, base: PlanPage(run.folder / "plan.html").launches > 50),
        "measure": Effect("device.json", measures),
        "network_file": Effect(NETWORK, prints("ranks 2: 2 replicas of 1 stage"), device_file=DEVICE, replicas=2),
        "pipeline_stages": Effect(2, prints("4 replicas of 2 stages"), **RANKS),
        "pipeline_schedule": Effect("Grouped", prints("(8 x "), **RANKS, pipeline_stages=2),
        "scaling": Effect(8, prints("\n| 8 | 8 | 1 | 256 | "), **RANKS),
        "simulate": Effect(1, prints("  simulated "), **RANKS),
    }


class InspectTest(InferenceEffects, unittest.TestCase):
    COMMAND = "inspect"
    BASE = {"arguments": [MODEL]}
    EFFECTS = {}


# tests/cuda_test.py tests what it says of cards.
class DevicesTest(InferenceEffects, unittest.TestCase):
    COMMAND = "devices"
    BASE = {}
    EFFECTS = {"json": Effect("true", lambda run, base: json.loads(run.output.splitlines()[0])["name"] in base.output)}


class BenchmarkTest(InferenceEffects, unittest.TestCase):
    COMMAND = "benchmark"
    BASE = {"arguments": ["mine"], "configs_dir": "in/configs"}
    EFFECTS = {
        "list": Effect("true", prints("mine\n  pretrain --config=mine.json")),
        "scale": Effect("original", lambda run, base: "global_batch_size 16 -> 8" in base.output
                        and run.status == 0 and "scaled" not in run.output),
        "configs_dir": Effect("elsewhere", refused("elsewhere/benchmarks.yml")),
        "datasets_dir": Effect("elsewhere", refused("elsewhere/a.tfrecord")),
        "save_path": Effect("elsewhere", writes_to("elsewhere/mine/1/metrics.jsonl")),
    }


PRESET = "in/preset.yaml"
PIPELINE = "in/pipeline.json"


class ConfigImportTest(InferenceEffects, unittest.TestCase):
    COMMAND = "config import"
    BASE = {"arguments": [PRESET], "output_file": "ours.json"}
    EFFECTS = {
        "output_file": Effect("other.json", writes_to("other.json")),
        "system": Effect("mlperf", refused("unknown to Graphcore's MLPerf BERT: ")),
        "phase": Effect(2, prints("seq_length 512")),
        "without_planned": Effect("true", succeeds, arguments=[PIPELINE]),
    }


# tests/seed_options_test.py compares what it prints with docs/fidelity/options.md.
class ConfigKeysTest(InferenceEffects, unittest.TestCase):
    COMMAND = "config keys"
    BASE = {}
    EFFECTS = {"system": Effect("habana", lambda run, base: "TensorFlow" in base.output and "TensorFlow" not in run.output)}


# tests/configuration_import_test.py tests what these two commands print.
class ConfigPrintTest(InferenceEffects, unittest.TestCase):
    COMMAND = "config print"
    BASE = {"arguments": ["pretrain"]}
    EFFECTS = {}


class ConfigSchemaTest(ConfigPrintTest):
    COMMAND = "config schema"


class AllCommandsTest(unittest.TestCase):
    def test_every_command_has_a_test(self):
        known = {case.COMMAND for module in (data_effects_test, finetune_effects_test, launch_test,
                                             pretrain_effects_test, serve_effects_test) for case in vars(module).values()
                 if hasattr(case, "COMMAND")}
        known |= {case.COMMAND for case in globals().values() if hasattr(case, "COMMAND")}
        found = set()
        for command in commands_of(help_of("")):
            parts = commands_of(help_of(command))
            found |= {f"{command} {part}" for part in parts} or {command}
        self.assertGreater(len(found), 20)
        self.assertEqual(found, known)


if __name__ == "__main__":
    unittest.main()
