"""A configuration of another system on its way to a run: imported, and trained for two steps with a model
of one layer. For tests; the program is the last word of their command line.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONFIGURATIONS = ROOT / "configs"
PROGRAM = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else "cloze").resolve()
SHRUNKEN = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16,
            "vocab_size": 32, "seq_length": 32, "micro_batch_size": 2, "global_batch_size": 4,
            "num_train_steps": 2, "warmup": 1, "threads": 1, "init_checkpoint": "", "save_path": "run"}
TRAINING = {"do_training": "true", "do_evaluation": "false", "do_predict": "false",
            "vocab_file": "vocab.txt"}
SHRUNKEN_TASKS = {
    "pretraining": ("pretrain", {"generated_data": "true", "max_predictions_per_seq": 3}),
    "SQuAD": ("squad", {**TRAINING, "train_file": "squad.json", "max_query_length": 8, "doc_stride": 8}),
    "GLUE": ("glue", {**TRAINING, "data_dir": "glue"})}


def read(path):
    return json.loads(path.read_text())


def write_data(folder):
    """Writes a vocabulary of letters, and questions and pairs made of them."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *map(chr, range(97, 123))]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    questions = [{"id": str(i), "question": "a b c", "answers": [{"text": "e", "answer_start": 2}]}
                 for i in range(8)]
    paragraphs = [{"context": "d e f g", "qas": questions}]
    (folder / "squad.json").write_text(
        json.dumps({"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]}))
    for task, column, labels in (("RTE", "label", ("entailment", "not_entailment")),
                                 ("STS-B", "score", ("1.0", "4.5"))):
        (folder / "glue" / task).mkdir(parents=True)
        rows = "".join(f"{i}\ta b\tc d\t{labels[i % 2]}\n" for i in range(8))
        (folder / "glue" / task / "train.tsv").write_text(f"index\tsentence1\tsentence2\t{column}\n{rows}")


class ImportedRun(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.ours = self.folder / "ours.json"
        write_data(self.folder)

    def run_program(self, *words):
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, capture_output=True,
                              text=True, timeout=120)

    def convert(self, *paths, more=()):
        result = self.run_program("config", "import", ",".join(map(str, paths)), "--output-file",
                                  self.ours, *more)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def evaluation_set(self):
        """Makes an evaluation set that is used after the second step. Any accuracy suffices."""
        (self.folder / "text.txt").write_text("a b c d e f\ng h i j k l\n\n" * 4)
        result = self.run_program("data", "records", "--input-file", "text.txt", "--vocab-file", "vocab.txt",
                                  "--output-file", "held_out.tfrecord", "--sequence-length", 32,
                                  "--mask-tokens", 3, "--do-lower-case")
        self.assertEqual(result.returncode, 0, result.stderr)
        return {"on_the_spot_validation_files": "held_out.tfrecord", "on_the_spot_validation_triggers": 8,
                "target_mlm_accuracy": 0}

    def train_two_steps(self, config_file):
        config = read(self.ours)
        command, options = SHRUNKEN_TASKS[config["task"]]
        options = {**SHRUNKEN, **options}
        if command == "glue":
            options["task_name"] = "STS-B" if config.get("task_name") == "STS-B" else "RTE"
        if "on_the_spot_validation_files" in config:
            options |= self.evaluation_set()
        words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
        result = self.run_program(command, "--config", config_file, *words)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue((self.folder / "run" / "checkpoint-2").is_dir())
        shutil.rmtree(self.folder / "run")
