"""Configurations of the older systems, in their original form (configs/), become ours: every key is
accounted for, --config takes the file itself and plans it, a step has as many sequences as in the older
system, and two steps of a smaller version train.

Usage: configuration_import_test.py PROGRAM
"""
import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from imported_run import CONFIGURATIONS, PROGRAM, ROOT, ImportedRun, read

MODEL = ROOT / "tests" / "fixtures" / "bert_question_answering"
IPU_CONFIG = CONFIGURATIONS / "optimum" / "bert_large_ipu.json"
TENSORFLOW1 = ("*.json", "groupbert/*.json", "groupbert/squad/*.json", "tests/*.json",
               "tests_serial/*.json")
# Each of these sets the batch by two options that contradict each other. The original program
# refuses them, too.
CONTRADICTORY = {CONFIGURATIONS / folder / "pretrain_tiny_groupbert_128.json"
                 for folder in ("groupbert", "tests")}


def is_ours(path):
    return path.read_text().startswith("//")


def ours():
    paths = sorted(filter(is_ours, CONFIGURATIONS.glob("*.json")))
    assert paths, "no configuration of ours"
    return paths


def tensorflow1_batch(config):
    per_pass = config["micro_batch_size"] * config["replicas"]
    if "global_batch_size" not in config:
        return per_pass * config["gradient_accumulation_count"]
    multiple = 2 * len(config["pipeline_stages"])
    return per_pass * multiple * (1 + config["global_batch_size"] // per_pass // multiple)


def tensorflow2_batch(config):
    batch = config.get("global_batch", config)
    return batch["micro_batch_size"] * batch["replicas"] * batch["grad_acc_steps_per_replica"]


def mlperf_batch(config):
    return (config["batch_size"] * config["avg_seq_per_pack"] * config["gradient_accumulation_factor"]
            * config["replication_factor"])


# The sequences per step in phases 1 and 2, for each preset and command line, by the rules of the
# launcher.
HABANA_BATCHES = {
    "bert_base_default": 12, "bert_base_finetune_fp32_mrpc_eager": 32,
    "bert_base_finetune_fp32_squad_eager": 12, "bert_large_default": 24,
    "bert_large_finetune_bf16_squad_graph": 24, "bert_large_finetune_fp32_mrpc_eager": 32,
    "bert_large_finetune_fp32_mrpc_graph": 32, "bert_large_finetune_fp32_squad_eager": 10,
    "bert_large_finetune_fp32_squad_graph": 10, "bert_large_pretrain_bf16_wiki_graph": (8192, 4096),
    "bert_large_pretrain_fp32_wiki_graph": (8192, 4096),
    "dist_bert_large_finetune_bf16_squad_graph": 8 * 24,
    "dist_bert_large_finetune_fp32_squad_graph": 8 * 10,
    "dist_bert_large_pretrain_bf16_wiki_graph": (8 * 8192, 8 * 4096),
    "dist_bert_large_pretrain_fp32_wiki_graph": (8 * 8192, 8 * 4096),
    "finetune_mrpc": 32, "finetune_squad_8": 8 * 24, "pretrain_8": (8 * 8192, 8 * 4096),
    "run_pretraining": 8192}
OPTIMUM_BATCHES = {
    "pretrain_bert_base_128": 4 * 32 * 512, "pretrain_bert_base_512": 4 * 8 * 512,
    "pretrain_bert_large_128": 4 * 8 * 2048, "pretrain_bert_large_512": 4 * 2 * 2048,
    "pretrain_groupbert_base_128": 4 * 10 * 1640, "pretrain_groupbert_base_512": 4 * 2 * 2048,
    "squad_arguments": 256}


def keys(value, prefix=""):
    """Returns all keys. The key of a nested object has dots between its parts."""
    if not isinstance(value, dict) or prefix == "lr_bert_schedule.":
        return {prefix[:-1]}
    return {key for name, member in value.items() for key in keys(member, f"{prefix}{name}.")}


class ImportTest(ImportedRun):
    def plan(self, config_file):
        """Returns the sequences per step that the command plans. The weights are the fixture's
        where the file leaves the size of the model to a checkpoint, and random elsewhere."""
        config = read(self.ours)
        if config["task"] == "pretraining":
            result = self.run_program("plan", "--config", config_file, "--init-checkpoint=")
        else:
            command = {"SQuAD": ["squad"], "GLUE": ["glue", "--task-name", "mrpc", "--data-dir", "."]}
            start = "" if "hidden_size" in config else MODEL
            length = 384 if "hidden_size" in config else 20
            result = self.run_program(*command[config["task"]], "--compile-only", "--config",
                                      config_file, f"--init-checkpoint={start}", "--seq-length", length,
                                      "--vocab-file", self.folder / "vocab.txt")
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(re.search(r"^a step trains on (\d+) sequences", result.stdout, re.MULTILINE)[1])

    def values(self, config_file):
        """Returns the values that `cloze pretrain` would take, without their origins."""
        text = self.run_program("config", "print", "pretrain", "--config", config_file).stdout
        return [line.split("  (")[0] for line in text.splitlines()]

    def check(self, path, batch, *, more=(), files=None):
        files = files or [path]
        report = self.convert(*files, more=["--without-planned", *more])
        self.assertIn(f"a step has {batch} sequences\n", report)
        self.assertNotIn(": unknown", report)
        # --config refuses what is planned, and takes the first phase of a file that has two.
        takes_itself = ": not here: " not in report and "2" not in map(str, more)
        config_file = ",".join(map(str, files)) if takes_itself else self.ours
        if takes_itself and read(self.ours)["task"] == "pretraining":
            self.assertEqual(self.values(config_file), self.values(self.ours))
        self.assertEqual(self.plan(config_file), batch)
        self.train_two_steps(config_file)
        return report

    def check_json(self, patterns, batch_of, skip=frozenset()):
        found = {path for pattern in patterns for path in CONFIGURATIONS.glob(pattern)}
        paths = sorted(path for path in found - skip if not is_ours(path))
        for path in paths:
            with self.subTest(str(path.relative_to(CONFIGURATIONS))):
                report = self.check(path, batch_of(read(path)))
                told = set(re.findall(r"^  (\S+) .*: ", report, re.MULTILINE))
                self.assertEqual(keys(read(path)) - told, set())
        return len(paths)

    def test_tensorflow1(self):
        self.assertEqual(self.check_json(TENSORFLOW1, tensorflow1_batch, CONTRADICTORY), 50)

    def test_tensorflow2(self):
        self.assertEqual(self.check_json(("tensorflow2*/**/*.json",), tensorflow2_batch), 26)

    def test_mlperf(self):
        self.assertEqual(self.check_json(("mlperf/*.json",), mlperf_batch), 4)

    def test_habana(self):
        paths = sorted((CONFIGURATIONS / "habana").iterdir())
        self.assertEqual({path.stem for path in paths}, HABANA_BATCHES.keys())
        for path in paths:
            batches = HABANA_BATCHES[path.stem]
            for phase, batch in enumerate(batches, 1) if isinstance(batches, tuple) else [(1, batches)]:
                with self.subTest(path.stem, phase=phase):
                    self.check(path, batch, more=["--phase", phase])

    def test_optimum(self):
        paths = [path for path in sorted((CONFIGURATIONS / "optimum").iterdir()) if path != IPU_CONFIG]
        self.assertEqual({path.stem for path in paths}, OPTIMUM_BATCHES.keys())
        for path in paths:
            with self.subTest(path.stem):
                self.check(path, OPTIMUM_BATCHES[path.stem], files=[IPU_CONFIG, path])

    def refusal(self, path, *more):
        result = self.run_program("config", "import", path, "--output-file", self.ours, *more)
        self.assertEqual(result.returncode, 2)
        self.assertFalse(self.ours.exists())
        return result

    def test_what_the_program_there_refuses_is_refused(self):
        for path in CONTRADICTORY:
            result = self.refusal(path, "--without-planned")
            self.assertIn("global_batch_size: refused, as there: it makes gradient_accumulation_count "
                          "516, which is 65600", result.stderr)
            direct = self.run_program("plan", "--config", path)
            self.assertEqual((direct.returncode, direct.stderr), (2, result.stderr))

    def test_a_file_of_ours_needs_no_import(self):
        for path in ours():
            self.assertIn(f"{path} is already in cloze's form; give it to --config", self.refusal(path).stderr)

    def test_a_file_without_a_mark_is_taken_by_its_keys(self):
        self.convert(CONFIGURATIONS / "optimum" / "squad_arguments.json")
        (self.folder / "none.json").write_text('{"foo": 1}')
        self.ours.unlink()
        self.assertIn("none of its keys is known to any of", self.refusal(self.folder / "none.json").stderr)

    def test_what_is_planned_is_left_out_only_when_asked_for(self):
        path = self.folder / "theirs.json"
        path.write_text(json.dumps({**read(CONFIGURATIONS / "mlperf" / "pod16-closed.json"), "velocity_scaling": 0.1}))
        self.assertIn("not here yet: velocity_scaling", self.refusal(path).stderr)
        self.convert(path, more=["--without-planned"])

    def test_an_unknown_key_is_named(self):
        path = self.folder / "theirs.json"
        path.write_text('{"partials_type": "half", "micro_batchsize": 8}')
        self.assertIn("micro_batchsize", self.refusal(path).stderr)

    def test_a_configuration_of_another_command_is_refused(self):
        result = self.run_program("plan", "--config", CONFIGURATIONS / "tensorflow2" / "glue_base.json")
        self.assertEqual(result.returncode, 2)
        self.assertIn('task is "GLUE"', result.stderr)

    def test_what_a_system_leaves_out_is_said(self):
        path = CONFIGURATIONS / "mlperf" / "pod16-closed.json"
        result = self.run_program("plan", "--config", path, "--init-checkpoint=")
        self.assertIn(f"note: {path}: a configuration of Graphcore's MLPerf BERT; this run takes that "
                      "system's ", result.stderr)
        self.assertIn("layer_norm_eps 0.001", result.stderr)


class ConfigurationCommandsTest(unittest.TestCase):
    def run_config(self, *words):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "a.json").write_text('{"learning_rate": 0.5, "use_qkv_bias": false}')
            return subprocess.run([PROGRAM, "config", *words], cwd=folder, check=True, timeout=60,
                                  capture_output=True, text=True).stdout

    def test_print_says_every_value_and_its_origin(self):
        lines = self.run_config("print", "squad", "--config", "a.json", "--seed", "7").splitlines()
        self.assertIn("base_learning_rate 0.5  (a.json)", lines)
        self.assertIn("use_qkv_bias false  (a.json)", lines)
        self.assertIn("seed 7  (command line)", lines)
        self.assertIn("doc_stride 128  (default)", lines)

    def schema(self, command):
        return json.loads(self.run_config("schema", command))

    def test_the_schema_has_type_range_choices_and_default(self):
        properties = self.schema("pretrain")["properties"]
        self.assertEqual(properties["beta1"]["type"], ["number", "null"])
        self.assertEqual(properties["beta1"]["default"], 0.9)
        self.assertEqual(properties["beta1"]["minimum"], 0)
        self.assertIn(16, properties["precision"]["enum"])
        self.assertIn("learning_rate", properties)
        self.assertTrue(properties["variable_offloading"]["deprecated"])
        self.assertIn("doc_stride", self.schema("squad")["properties"])
        self.assertIn("task_name", self.schema("glue")["properties"])

    def test_every_name_that_a_key_has_here_is_an_option(self):
        options = {"config", "help"}
        for command in ("pretrain", "squad", "glue"):
            options |= self.schema(command)["properties"].keys()
        rows = re.findall(r"^\| (`.*?) \| (?:supported|mapped) \|(.*) \|$", self.run_config("keys"), re.MULTILINE)
        self.assertGreater(len(rows), 50)
        for keys, note in rows:
            renamed = re.match(r" `(\w+)`(?:;|$)", note)
            names = [renamed[1]] if renamed else re.findall(r"`(.*?)`", keys)
            if note and note != " the name after the dot" and not renamed:
                continue
            for name in names:
                with self.subTest(keys):
                    self.assertIn(name.rpartition(".")[2], options)

    def test_every_shipped_configuration_fits_its_schema(self):
        of = {"boolean": bool, "integer": int, "number": (int, float), "string": str, "array": list,
              "object": dict, "null": type(None)}
        commands = {"SQuAD": "squad", "GLUE": "glue"}
        schemas = {command: self.schema(command) for command in ("pretrain", "squad", "glue")}
        for path in ours():
            config = json.loads(re.sub(r"^\s*//.*$", "", path.read_text(), flags=re.MULTILINE))
            command = commands.get(config.get("task"), "pretrain")
            if path.stem.startswith(("finetune_squad", "squad")):
                command = "squad"
            if path.stem.startswith(("finetune_glue", "glue")):
                command = "glue"
            for key, value in config.items():
                with self.subTest(path.stem, key=key):
                    self.assertIn(key, schemas[command]["properties"])
                    rule = schemas[command]["properties"][key]
                    self.assertTrue(any(isinstance(value, of[one]) for one in rule.get("type", of)))
                    self.assertIn(value, rule.get("enum", [value]))


if __name__ == "__main__":
    unittest.main()
