"""scripts/reproduce goes from text to scores, goes on where it was stopped, and does nothing twice.

Usage: reproduce_test.py PROGRAM
"""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "reproduce"
PROGRAM = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else "build/release/cloze").resolve()
STEPS = 600  # of phase 1: two seconds, so that the signal arrives before its end
SMALL = ("--steps", f"{STEPS},2", "--tasks", "RTE,SQuAD", "--epochs", "RTE=1,SQuAD=1")
PRETRAINING = ("--", "--global-batch-size", "8", "--hidden-size", "32", "--intermediate-size", "64",
               "--steps-per-logs", "1")


class ReproduceTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.output = pathlib.Path(scratch.name) / "run"

    def start(self, *words, model="bert-tiny"):
        return subprocess.Popen([SCRIPT, model, "--build-dir", PROGRAM.parent, "--output", self.output, *words],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finish(self, *words, **more):
        process = self.start(*words, **more)
        out, error = process.communicate(timeout=300)
        return process.returncode, out, error

    def steps(self):
        lines = (self.output / "phase1" / "metrics.jsonl").read_text().splitlines()
        return [json.loads(line)["step"] for line in lines if '"step"' in line]

    def test_a_stopped_run_goes_on_and_a_finished_one_stays(self):
        process = self.start(*SMALL, *PRETRAINING)
        metrics = self.output / "phase1" / "metrics.jsonl"
        while process.poll() is None and not (metrics.exists() and '"step"' in metrics.read_text()):
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
        out, error = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 75, error)
        self.assertLess(self.steps()[-1], STEPS)

        status, out, error = self.finish(*SMALL, *PRETRAINING)
        self.assertEqual(status, 0, error)
        self.assertIn("== world: done before", out)
        self.assertEqual(self.steps(), list(range(1, STEPS + 1)))
        report = (self.output / "report.md").read_text()
        for part in ("| phase2 | 2 |", "| RTE | accuracy |", "| SQuAD | f1 |", "| tasks | ", "threads of"):
            self.assertIn(part, report)
        self.assertTrue((self.output / "curves.svg").exists())

        before = (self.output / "phase1" / "metrics.jsonl").stat().st_mtime
        status, out, error = self.finish(*SMALL, *PRETRAINING)
        self.assertEqual((status, out.count("done before")), (0, 6), error)
        self.assertEqual((self.output / "phase1" / "metrics.jsonl").stat().st_mtime, before)

        status, _, error = self.finish(*SMALL, *PRETRAINING, "--seed", "9")
        self.assertEqual(status, 1)
        self.assertIn("phase1 was begun with other options", error)

    def test_random_weights_of_a_groupbert_are_a_groupbert(self):
        status, _, error = self.finish("--steps", "2,2", "--tasks", "RTE", "--epochs", "RTE=1", *PRETRAINING,
                                       "--groupbert-conv-group-size", "8", model="groupbert-tiny")
        self.assertEqual(status, 0, error)
        shapes = []
        for start in ("pretrained", "random"):
            (config,) = self.output.glob(f"tasks/RTE-{start}/**/config.json")
            shapes.append({key: value for key, value in json.loads(config.read_text()).items()
                           if key in ("model_type", "hidden_size") or key.startswith(("conv", "ffn"))})
        self.assertEqual(shapes[0], shapes[1])
        self.assertEqual((shapes[1]["model_type"], shapes[1]["conv_group_size"]), ("groupbert", 8))

    def test_recipes_of_another_system_end_in_means_of_seeds(self):
        configs = SCRIPT.parent.parent / "configs"
        phases = [configs / name for name in ("pretrain_base_128_phase1.json", "pretrain_base_384_phase2.json")]
        shape = ("--hidden-size", "32", "--intermediate-size", "64", "--num-hidden-layers", "2",
                 "--num-attention-heads", "2", "--precision", "32", "--micro-batch-size", "8", "--threads", "1")
        words = (phases[1], "--squad", configs / "squad_base.json", "--glue", configs / "glue_base.json",
                 "--tasks", "RTE", "--num-seeds", "2", "--steps", "3,2",
                 "--", *shape, "--replicas", "1", "--gradient-accumulation-count", "1", "--warmup", "1",
                 "--", "--global-batch-size", "8", "--replicas", "1", "--num-train-steps", "3", "--warmup", "1",
                 "--seq-length", "128", "--threads", "1")
        status, out, error = self.finish(*words, model=phases[0])
        self.assertEqual(status, 0, error)
        report = (self.output / "report.md").read_text()
        for part in ("| phase1 | 3 |", "| phase2 | 2 |", "Means of 2 seeds", "- RTE accuracy", "(2 runs: ", "- f1 "):
            self.assertIn(part, report)
        status, out, error = self.finish(*words, model=phases[0])
        self.assertEqual((status, out.count("done before")), (0, 7), error)

    def test_a_file_of_both_phases_is_two_runs(self):
        path = SCRIPT.parent.parent / "configs" / "habana" / "pretrain_8.sh"
        status, _, error = self.finish(
            "--steps", "2,1", "--", "--hidden-size", "32", "--intermediate-size", "64", "--num-hidden-layers", "1",
            "--num-attention-heads", "2", "--global-batch-size", "4", "--precision", "f32", model=path)
        self.assertEqual(status, 0, error)
        report = (self.output / "report.md").read_text()
        for part in ("| phase1 | 2 |", "| phase2 | 1 |"):
            self.assertIn(part, report)

    def test_steps_are_those_of_both_phases(self):
        status, _, error = self.finish("--steps", "45000")
        self.assertEqual(status, 2)
        self.assertIn("--steps is 45000; give the steps of both phases", error)

    def test_an_unknown_model_brings_the_known_ones(self):
        status, _, error = self.finish(model="bert-huge")
        self.assertEqual(status, 2)
        self.assertIn("'bert-tiny'", error)


if __name__ == "__main__":
    unittest.main()
