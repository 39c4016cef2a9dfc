"""`cloze benchmark`: every name of configs/benchmarks.yml runs at the smallest scale and prints the fields
that it has in the originals.

Usage: benchmark_test.py PROGRAM
"""
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CONFIGS = pathlib.Path(__file__).resolve().parent.parent / "configs"
PROGRAM = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else "cloze").resolve()
FIELDS = {"pretrain": ["throughput", "mlm_loss", "mlm_accuracy", "nsp_loss", "nsp_accuracy"],
          "squad": ["throughput"], "glue": ["throughput"],
          "latency": ["latency", "latency_99", "latency_99_9", "throughput"]}


class BenchmarkTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.benchmarks, name = {}, None
        for line in cls.run_program("--list").stdout.splitlines():
            if line.startswith("  "):
                cls.benchmarks[name].append(line.split()[0])
            else:
                name = line
                cls.benchmarks[name] = []

    @classmethod
    def run_program(cls, *words):
        return subprocess.run([PROGRAM, "benchmark", *words, "--configs-dir", CONFIGS], cwd=cls.folder,
                              capture_output=True, text=True, timeout=120)

    def test_every_name_prints_its_fields(self):
        self.assertEqual(len(self.benchmarks), 25)
        for name, commands in self.benchmarks.items():
            with self.subTest(name):
                result = self.run_program(name)
                self.assertEqual(result.returncode, 0, result.stderr)
                printed = re.findall(r"^(\w+): \d+[\d.e-]*( samples/sec| ms)?$", result.stdout, re.MULTILINE)
                self.assertEqual([field for field, unit in printed],
                                 [field for command in commands for field in FIELDS[command]])

    def test_a_name_runs_again(self):
        for _ in range(2):
            result = self.run_program("tf1_bert_base_pretrain_real_pod16", "--save-path", "again")
            self.assertEqual(result.returncode, 0, result.stderr)
            metrics = self.folder / "again" / "tf1_bert_base_pretrain_real_pod16" / "1" / "metrics.jsonl"
            steps = re.findall(r'"step": ?(\d+)', metrics.read_text())
            self.assertEqual(len(steps), len(set(steps)))

    def test_what_is_scaled_is_said(self):
        result = self.run_program("tf1_bert_base_pretrain_real_pod16", "--save-path", "scaled")
        self.assertIn("hidden_size 768 -> 128", result.stdout)
        self.assertIn("global_batch_size 65280 -> 8", result.stdout)
        self.assertIn("data: generated", result.stdout)

    def test_a_missing_folder_brings_the_option_that_names_it(self):
        result = subprocess.run([PROGRAM, "benchmark", "--list", "--configs-dir", "none"], cwd=self.folder,
                                capture_output=True, text=True, timeout=120)
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no none/benchmarks.yml; name cloze's folder configs with --configs-dir", result.stderr)

    def test_an_unknown_name_brings_the_near_ones(self):
        result = self.run_program("tf1_bert_base_pretrain_real_pod61")
        self.assertEqual(result.returncode, 2)
        self.assertIn("near it are tf1_bert_base_pretrain_real_pod16, ", result.stderr)

    def test_a_bad_line_is_named(self):
        folder = self.folder / "bad"
        folder.mkdir()
        config = f"--config={CONFIGS}/pretrain_base_128_phase1.json"
        for line, message in ((f"pretrain {config} --num-train-steps=abc", "num_train_steps is abc; it must be a whole number"),
                              ("pretrain --num-train-steps=3", "pretrain --num-train-steps=3 has no --config")):
            (folder / "benchmarks.yml").write_text(f"x: [{line}]\n")
            result = subprocess.run([PROGRAM, "benchmark", "x", "--configs-dir", folder], cwd=self.folder,
                                    capture_output=True, text=True, timeout=120)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(message, result.stderr)

    def test_real_data_are_looked_for_where_they_are_said_to_be(self):
        result = self.run_program("tf1_glue_base_train_real_pod16", "--datasets-dir", "real",
                                  "--save-path", "real-runs")
        self.assertEqual(result.returncode, 2)
        self.assertIn("real/", result.stderr)


if __name__ == "__main__":
    unittest.main()
