"""scripts/gpu_check keeps each result at once, keeps its limits, and goes on after a part that fails.

The programs and PyTorch are stand-ins here, so this needs neither a card nor torch. tests/peers_test.py runs the real
peers, tests/gpu_parts_test.py our real programs.
"""
import argparse
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

# Stands for a program of ours, for one of NVIDIA's, and for a Python with torch: its answers are in the file ANSWERS, by
# the part of cuda_probe, by the script that the Python should run, or by the program's name.
STAND_IN = """#!{python}
import json, os, sys, time
words = sys.argv[1:]
answers = json.load(open(os.environ["ANSWERS"]))
name = os.path.basename(sys.argv[0])
if name == "cuda_probe":
    name = words[words.index("--only") + 1]
elif name == "python":
    name = "torch" if words[0] == "-c" else os.path.basename(words[0])
answer = answers.get(name, {{}})
cases = sys.stdin.read().splitlines() if "--each" in words else []
for row in answer.get("rows", [dict(case=case, **answers["step"]) for case in cases]):
    print(row if isinstance(row, str) else json.dumps(row), flush=True)
print(answer.get("says", "").replace("WORDS", " ".join(words)), file=sys.stderr)
if answer.get("sleeps"):
    if os.fork() == 0:  # as torch's compiler has workers
        time.sleep(60)
    time.sleep(60)
sys.exit(answer.get("status", 0))
"""
TORCH = {"torch": {"rows": [{"torch": "2.11", "transformers": "5", "torch_finds_card": True}]},
         "step": {"what": "step", "name": "a step", "sequences": 64, "sequences_per_second": 2000.0, "tokens_per_second": 256000.0,
                  "tflops": 480.0, "memory_gib": 51.0}}
SQUARE = [{"what": "product", "when": when, "name": "square", "tflops": 700.0, "best_tflops": best}
          for when, best in (("cold", 800.0), ("after load", 750.0))]


def load_script():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
    gpu_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    loader.exec_module(gpu_check)
    return gpu_check


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "out"
        (self.folder / "bin").mkdir()
        self.add("bin/cuda_probe", "python")

    def add(self, *stand_ins):
        for name in stand_ins:
            (self.folder / name).write_text(STAND_IN.format(python=sys.executable))
            (self.folder / name).chmod(0o755)

    def start(self, *words, script=SCRIPT, **answers):
        (self.folder / "answers.json").write_text(json.dumps({**TORCH, **answers}))
        environment = {**os.environ, "ANSWERS": str(self.folder / "answers.json"), "PEERS_PYTHON": str(self.folder / "python"),
                       "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}
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
        done = [part for part, (word, _) in self.outcomes().items() if word == "done"]
        self.assertEqual(done, ["start", "conformance", "questions", "ceilings", "training", "operators", "latency"])
        summary = (self.out / "summary.txt").read_text()
        self.assertTrue(out.endswith(summary))
        for line in ("library: version 130100", "gelu: tanh"):
            self.assertIn(line, summary.splitlines())
        self.assertRegex(summary, r"\nsquare +700 / 800 +700 / 750\n")
        self.assertRegex(summary, r"\na step +64 +2000\.0 +256000 +480\.0 +64 % +51\.0\n")
        self.assertEqual(len(self.rows("step")), 15 + 10)  # the stand-in answers every case of training and of latency so
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
        log = (self.out / "log.txt").read_text()
        for line in ("== questions", "no row", "[1]", "a line", "cuda_probe: no CUDA device"):
            self.assertIn(line, log.splitlines())

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
        for part, name in (("start", "cuda_probe"), ("ceilings", "cuda_probe"), ("sweep", "kernel_sweep"), ("fixtures", "model_test"),
                           ("rates", "bench_step"), ("whole", "cloze"), ("memcheck", "kernel_sweep")):
            self.assertEqual(self.outcomes()[part],
                             ("skipped", f"no {name} here; scripts/gpu_check pack makes an archive with it where nvcc is"))
        for part in ("training", "operators", "answers", "latency"):
            self.assertEqual(self.outcomes()[part], ("skipped", f"{self.folder}/python has no torch with transformers"))

    def test_without_a_card_the_probe_is_left_out(self):
        self.assertEqual(self.run_check("--device", "cpu")[0], 0)
        for part in ("conformance", "questions", "ceilings", "memcheck", "racecheck", "counters"):
            self.assertEqual(self.outcomes()[part], ("skipped", "needs a card"))
        self.assertIn("bench/gpu/small.json", self.rows("step")[0]["case"])

    def test_what_cannot_be_is_refused(self):
        self.out.mkdir()
        for words, message in ((["--only", "start,speed"], "--only speed: the parts are start, conformance, questions, sweep,"),
                               (["--seconds", "0"], "--seconds 0: give the seconds that all parts may take together")):
            status, _, error = self.run_check(*words)
            self.assertEqual(status, 2)
            self.assertIn(message, error)
        (self.out / "results.jsonl").write_text("")
        status, _, error = self.run_check()
        self.assertIn(f"--out {self.out} has the results of an earlier run; give another folder", error)
        self.assertEqual(status, 2)

    PROGRAMS = ("cloze", "bench_step", "kernel_sweep", "model_test")

    def test_our_parts_run_on_a_device_that_the_program_has(self):
        self.add(*(f"bin/{name}" for name in (*self.PROGRAMS, "compute-sanitizer", "ncu")))
        status, _, _ = self.run_check(
            "--only", "start,sweep,fixtures,profile,memcheck,racecheck,counters",
            cloze={"rows": ["cuda:0  a card"]},
            kernel_sweep={"rows": ["gelu cuda cases 30 failures 0", "gelu_gradient cuda cases 12 failures 2"], "status": 1,
                          "says": "x [3]: 1 is not 2 with WORDS"},
            model_test={"rows": ["[       OK ] AllBackends/ModelFixtureTest.EveryGradient/bert_regression_cuda (12 ms)",
                                 "[  FAILED  ] AllBackends/ModelFixtureTest.EveryGradient/bert_b_cuda, where GetParam() = x (3 ms)"]},
            bench_step={"rows": ["operator and kernel                     share       ms   calls   GFLOP/s",
                                 "linear  products of cuBLASLt            71.5%    120.5     288  700000.1"]},
            **{"compute-sanitizer": {"rows": ["========= ERROR SUMMARY: 3 errors"]}})
        self.assertEqual(status, 1)
        self.assertRegex(self.outcomes()["sweep"][1], r"^x \[3\]: 1 is not 2 with --device cuda --thin --part \d+/\d+$")
        for part in ("fixtures", "profile", "memcheck", "racecheck", "counters"):
            self.assertEqual(self.outcomes()[part], ("done", ""))
        log = (self.out / "log.txt").read_text().splitlines()
        processes = len(os.sched_getaffinity(0))
        for part in range(processes):
            self.assertIn(f"x [3]: 1 is not 2 with --device cuda --thin --part {part}/{processes}", log)
        self.assertEqual([row["line"] for row in self.rows("devices")], ["cuda:0  a card"])
        self.assertEqual([(row["test"], row["passes"], row["ms"]) for row in self.rows("fixture")],
                         [("EveryGradient/bert_regression_cuda", True, 12), ("EveryGradient/bert_b_cuda", False, 3)])
        row = self.rows("operator")[0]
        self.assertEqual((row["operator"], row["kernel"], row["percent"], row["calls"]), ("linear", "products of cuBLASLt", 71.5, 288))
        summary = (self.out / "summary.txt").read_text().splitlines()
        for line in ("sweep: operator gelu_gradient, set cuda, cases 12, failures 2", f"sweep: 2 operators, {42 * processes} cases, {2 * processes} failures",
                     "fixture: 1 passed, 1 failed"):
            self.assertIn(line, summary)
        self.assertEqual(sum(line == "findings: tool ERROR, findings 3" for line in summary), 2)

    def test_a_device_that_the_program_lacks_is_told_in_its_words(self):
        self.add(*(f"bin/{name}" for name in self.PROGRAMS))
        for status, why in ((2, "not built: cloze: unknown device cuda; choose cpu"), (4, "cloze: unknown device cuda; choose cpu")):
            self.assertEqual(self.run_check(cloze={"status": status, "says": "cloze: unknown device cuda; choose cpu"})[0], 0)
            for part in ("sweep", "fixtures", "whole", "rates", "answers", "profile", "memcheck"):
                self.assertEqual(self.outcomes()[part], ("skipped", why))
            (self.out / "results.jsonl").unlink()

    def test_a_program_that_breaks_is_no_device_that_is_missing(self):
        self.add(*(f"bin/{name}" for name in self.PROGRAMS))
        self.run_check("--only", "sweep", cloze={"status": 1, "says": "cloze: internal error"})
        self.assertEqual(self.outcomes(), {"sweep": ("done", "")})
        (self.out / "results.jsonl").unlink()
        (self.folder / "bin" / "cuda_probe").write_text("no program")
        self.assertEqual(self.run_check("--only", "conformance,sweep")[0], 1)
        self.assertIn("Exec format error", self.outcomes()["conformance"][1])
        self.assertEqual(self.outcomes()["sweep"], ("done", ""))

    def test_training_may_take_what_the_other_parts_leave(self):
        gpu_check = load_script()
        training, sweep = (next(part for part in gpu_check.PARTS if part.name == name) for name in ("training", "sweep"))

        class Arguments:
            only, seconds = [part.name for part in gpu_check.PARTS], 540
        later = sum(part.limit for part in gpu_check.PARTS[gpu_check.PARTS.index(training) + 1:])
        self.assertEqual(sum(part.limit for part in gpu_check.PARTS), 540)
        self.assertEqual(gpu_check.limit_of(training, Arguments, 500), 500 - later)
        self.assertEqual(gpu_check.limit_of(training, Arguments, later), training.limit)
        self.assertEqual(gpu_check.limit_of(training, Arguments, 30), 30)
        self.assertEqual(gpu_check.limit_of(sweep, Arguments, 500), sweep.limit)

    def pack(self, *words):
        return subprocess.run([sys.executable, SCRIPT, "pack", "--no-build", "--build-dir", self.folder, "--to",
                               self.folder / "a.tar.gz", *words], capture_output=True, text=True)

    def test_the_archive_holds_all_that_a_run_needs(self):
        self.add(*(f"bin/{name}" for name in self.PROGRAMS))
        result = self.pack()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"a\.tar\.gz: [\d.]+ MiB, [\d.]+ unpacked; there: tar -xzf a\.tar\.gz; gpu_check/scripts/")
        with tarfile.open(self.folder / "a.tar.gz") as archive:
            archive.extractall(self.folder / "there")
        unpacked = self.folder / "there" / "gpu_check"
        for name in ("cuda_probe", *self.PROGRAMS):
            (self.folder / "bin" / name).unlink()
        process = self.start(script=unpacked / "scripts" / "gpu_check", ceilings={"rows": SQUARE},
                             kernel_sweep={"rows": ["gelu cuda cases 30 failures 0"]})
        _, error = process.communicate(timeout=60)
        self.assertEqual(len(self.rows("product")), 2, error)
        self.assertEqual(len(self.rows("sweep")), len(os.sched_getaffinity(0)), error)
        self.assertEqual(self.rows("machine")[0]["commit"], (unpacked / "commit").read_text().strip())
        for row in self.rows("step"):  # the files that the real peer would read
            for word in shlex.split(row["case"]):
                if "/" in word:
                    self.assertTrue((unpacked / word).exists(), word)

    def test_what_is_missing_is_named_and_not_packed(self):
        self.add("bin/cloze", "bin/bench_step")
        result = self.pack()
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, f"gpu_check: no kernel_sweep, model_test in {self.folder}; cuda_probe is built where nvcc is "
                         "found (CLOZE_CUDA)\n")
        self.assertFalse((self.folder / "a.tar.gz").exists())

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
        self.assertRegex(lines[-1], r"^done: ceilings \d+ s, operators \d+ s$")
        self.assertEqual(lines[-2], "... 17 more lines in results.jsonl")
        self.assertRegex(lines[1], r"^square +cuBLASLt has no way +-$")
        self.assertRegex(lines[2], r"^attention, TFLOP/s each way +128 +512$")
        self.assertRegex(lines[3], r"^flash +300/200 +300/200$")
        self.assertRegex(lines[4], r"^flash, dropout +- +-$")

    def test_the_cases_are_ones_that_the_peer_takes(self):
        sys.path.insert(0, str(ROOT / "bench" / "peers"))
        import latency
        import pytorch_step
        load_script()
        from gpu import parts
        parser = pytorch_step.make_parser()
        for is_tiny in (False, True):
            for case in parts.latency_cases(argparse.Namespace(tiny=is_tiny)):
                latency.parse(latency.make_parser(), shlex.split(case))
            for name, config, words in parts.TRAINING:
                case = parts.training_case(config, words, is_tiny)
                arguments = parser.parse_args(["--device", "cuda", *shlex.split(case)])
                pytorch_step.check_arguments(arguments, self.fail)
                self.assertEqual(arguments.gather_predictions, "everywhere" not in name, name)
                sizes = pytorch_step.read_config(ROOT / arguments.config)
                self.assertLessEqual(arguments.seq_length, sizes["max_position_embeddings"])
                if is_tiny and arguments.attention == "flash":  # which drops nothing on processors
                    self.assertEqual(sizes["attention_probs_dropout_prob"], 0)


if __name__ == "__main__":
    unittest.main()
