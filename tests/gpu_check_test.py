"""scripts/gpu_check keeps each result at once, keeps its limits, and goes on after a part that fails.

The probe and PyTorch are stand-ins here, so this needs neither a card nor torch. tests/peers_test.py runs the real peers.
"""
import importlib.util
import importlib.machinery
import json
import os
import pathlib
import shlex
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "gpu_check"

# Stands for cuda_probe, and for a Python with torch: its answers are in the file ANSWERS, by the name of the script.
STAND_IN = """#!{python}
import json, os, sys, time
words = sys.argv[1:]
answers = json.load(open(os.environ["ANSWERS"]))
if "--only" in words:
    name = words[words.index("--only") + 1]
else:
    name = "torch" if words[0] == "-c" else os.path.basename(words[0])
answer = answers.get(name, {{}})
cases = sys.stdin.read().splitlines() if "--each" in words else []
for row in answer.get("rows", [dict(case=case, **answers["step"]) for case in cases]):
    print(row if isinstance(row, str) else json.dumps(row), flush=True)
print(answer.get("says", ""), file=sys.stderr)
if answer.get("sleeps"):
    if os.fork() == 0:  # as torch's compiler has workers
        time.sleep(60)
    time.sleep(60)
sys.exit(answer.get("status", 0))
"""
TORCH = {"torch": {"rows": [{"torch": "2.11", "transformers": "5", "torch_finds_card": True}]},
         "step": {"name": "a step", "sequences": 64, "sequences_per_second": 2000.0, "tokens_per_second": 256000.0,
                  "tflops": 480.0, "memory_gib": 51.0}}
SQUARE = [{"what": "product", "when": when, "name": "square", "tflops": 700.0, "best_tflops": best}
          for when, best in (("cold", 800.0), ("after load", 750.0))]


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
        (self.folder / "bin").mkdir()
        for name in ("bin/cuda_probe", "python"):
            (self.folder / name).write_text(STAND_IN.format(python=sys.executable))
            (self.folder / name).chmod(0o755)

    def start(self, *words, script=SCRIPT, **answers):
        (self.folder / "answers.json").write_text(json.dumps({**TORCH, **answers}))
        environment = {**os.environ, "ANSWERS": str(self.folder / "answers.json"), "PEERS_PYTHON": str(self.folder / "python")}
        return subprocess.Popen([sys.executable, script, "run", "--out", self.out, "--build-dir", self.folder, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)

    def run_check(self, *words, **answers):
        process = self.start(*words, **answers)
        out, error = process.communicate(timeout=120)
        return process.returncode, out, error

    def rows(self, what=None):
        rows = [json.loads(line) for line in (self.out / "results.jsonl").read_text().splitlines()]
        return [row for row in rows if what in (None, row["what"])]

    def outcomes(self):
        return {row["part"]: (row["outcome"], row["why"]) for row in self.rows("outcome")}

    def test_every_result_is_kept_and_summed_up(self):
        status, out, error = self.run_check(
            library={"rows": [{"what": "library", "version": 130100}]}, questions={"rows": [{"what": "gelu", "form": "tanh"}]},
            ceilings={"rows": SQUARE})
        self.assertEqual(status, 0, error)
        self.assertEqual({part: word for part, (word, _) in self.outcomes().items()},
                         dict.fromkeys(("start", "questions", "ceilings", "training", "operators"), "done"))
        summary = (self.out / "summary.txt").read_text()
        self.assertTrue(out.endswith(summary))
        for line in ("library: version 130100", "gelu: form tanh"):
            self.assertIn(line, summary.splitlines())
        self.assertRegex(summary, r"\nsquare +700 / 800 +700 / 750\n")
        self.assertRegex(summary, r"\na step +64 +2000\.0 +256000 +480\.0 +64 % +51\.0\n")
        self.assertEqual(len(self.rows("step")), 13)
        self.assertEqual(self.rows("machine")[0]["torch_finds_card"], True)

    def test_a_part_that_fails_says_why_and_the_next_one_runs(self):
        status, out, _ = self.run_check(
            "--only", "questions,ceilings,operators", ceilings={"rows": SQUARE},
            questions={"rows": [{"what": "gelu"}, "no row", "[1]"], "status": 4, "says": "a line\ncuda_probe: no CUDA device"})
        self.assertEqual(status, 1)
        self.assertEqual(self.outcomes(), {"questions": ("failed", "cuda_probe: no CUDA device"), "ceilings": ("done", ""),
                                           "operators": ("done", "")})
        self.assertIn("questions: failed: cuda_probe: no CUDA device\n", out)
        self.assertEqual(len(self.rows("gelu")), 1)
        self.assertIn("== questions\na line\ncuda_probe: no CUDA device\n", (self.out / "log.txt").read_text())

    def test_a_part_is_stopped_at_the_limit_with_all_it_has_started(self):
        begin = time.monotonic()
        status, _, _ = self.run_check("--only", "questions,ceilings", "--seconds", "6",
                                      questions={"rows": [{"what": "gelu"}], "sleeps": True})
        self.assertEqual(status, 1)
        self.assertLess(time.monotonic() - begin, 40)
        (word, why), (next_word, next_why) = self.outcomes().values()
        self.assertEqual((word, next_word), ("stopped", "skipped"))
        self.assertRegex(why, r"^its limit of [456] s$")
        self.assertEqual(next_why, "6 s were over")
        self.assertEqual(len(self.rows("gelu")), 1)

    def test_rows_are_there_when_it_is_ended_and_so_is_what_it_ran(self):
        process = self.start("--only", "questions", questions={"rows": [{"what": "gelu"}], "sleeps": True})
        while not (self.out / "results.jsonl").exists() or not self.rows():
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=30)  # its children hold stdout no longer
        self.assertEqual(process.returncode, 143)
        self.assertIn("gelu", out)
        self.assertIn("gelu", (self.out / "summary.txt").read_text())

    def test_what_is_missing_is_skipped_with_a_word(self):
        (self.folder / "bin" / "cuda_probe").unlink()
        status, _, _ = self.run_check(torch={"rows": [], "status": 1})
        self.assertEqual(status, 0)
        no_probe = ("skipped", "no cuda_probe here; scripts/gpu_check pack makes an archive with it where nvcc is")
        no_torch = ("skipped", f"{self.folder}/python has no torch with transformers")
        self.assertEqual(self.outcomes(), {"start": no_probe, "questions": no_probe, "ceilings": no_probe,
                                           "training": no_torch, "operators": no_torch})

    def test_without_a_card_the_probe_is_left_out(self):
        self.assertEqual(self.run_check("--device", "cpu", "--tiny")[0], 0)
        self.assertEqual(self.outcomes()["ceilings"], ("skipped", "needs a card"))
        self.assertIn("bench/tiny_128.json", self.rows("step")[0]["case"])

    def test_what_cannot_be_is_refused(self):
        self.out.mkdir()
        for words, message in ((["--only", "start,speed"], "--only speed: the parts are start, questions, ceilings, training, operators"),
                               (["--seconds", "0"], "--seconds 0: give the seconds that all parts may take together")):
            status, _, error = self.run_check(*words)
            self.assertEqual(status, 2)
            self.assertIn(message, error)
        (self.out / "results.jsonl").write_text("")
        status, _, error = self.run_check()
        self.assertIn(f"--out {self.out} has the results of an earlier run; give another folder", error)
        self.assertEqual(status, 2)

    def test_the_archive_holds_all_that_a_run_needs(self):
        pack = [sys.executable, SCRIPT, "pack", "--no-build", "--build-dir", self.folder, "--to", self.folder / "a.tar.gz"]
        result = subprocess.run(pack, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        with tarfile.open(self.folder / "a.tar.gz") as archive:
            archive.extractall(self.folder / "there")
        unpacked = self.folder / "there" / "gpu_check"
        (self.folder / "bin" / "cuda_probe").unlink()
        process = self.start(script=unpacked / "scripts" / "gpu_check", ceilings={"rows": SQUARE})
        _, error = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, error)
        self.assertEqual(len(self.rows("product")), 2)
        self.assertEqual(self.rows("machine")[0]["commit"], (unpacked / "commit").read_text().strip())
        for row in self.rows("step"):  # the files that the real peer would read
            for word in shlex.split(row["case"]):
                if "/" in word:
                    self.assertTrue((unpacked / word).exists(), word)

    def test_the_summary_is_short_and_ends_with_the_outcomes(self):
        attention = [{"what": "attention", "kind": kind, "seq_length": length, "dropout": dropout, **rates}
                     for kind, dropout, rates in (("flash", 0.0, {"forward_tflops": 300.4, "backward_tflops": 200.0}),
                                                  ("flash", 0.1, {"error": "No available kernel."}))
                     for length in (512, 128)]
        refused = {"what": "product", "when": "cold", "name": "square", "refused": "cuBLASLt has no way"}
        answers = {"ceilings": {"rows": [refused]}, "pytorch_operators.py": {"rows": [*attention, *[{"what": "layer_norm"}] * 70]}}
        self.assertEqual(self.run_check("--only", "ceilings,operators", **answers)[0], 0)
        lines = (self.out / "summary.txt").read_text().splitlines()
        self.assertEqual(len(lines), 60)
        self.assertRegex(lines[-1], r"^operators +done after \d+ s, 74 rows$")
        self.assertEqual(lines[-3], "... 18 more lines in results.jsonl")
        self.assertRegex(lines[1], r"^square +cuBLASLt has no way +-$")
        self.assertRegex(lines[2], r"^attention, TFLOP/s each way +128 +512$")
        self.assertRegex(lines[3], r"^flash +300/200 +300/200$")
        self.assertRegex(lines[4], r"^flash, dropout +- +-$")

    def test_the_cases_are_ones_that_the_peer_takes(self):
        sys.path.insert(0, str(ROOT / "bench" / "peers"))
        import pytorch_step
        loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
        gpu_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
        loader.exec_module(gpu_check)
        parser = pytorch_step.make_parser()
        for is_tiny in (False, True):
            for name, model, words in gpu_check.TRAINING:
                case = gpu_check.training_case(model, words, is_tiny)
                arguments = parser.parse_args(["--device", "cuda", *shlex.split(case)])
                pytorch_step.check_arguments(arguments, self.fail)
                self.assertEqual(arguments.gather_predictions, "everywhere" not in name, name)
                config = pytorch_step.read_config(ROOT / arguments.config)
                self.assertLessEqual(arguments.seq_length, config["max_position_embeddings"])


if __name__ == "__main__":
    unittest.main()
