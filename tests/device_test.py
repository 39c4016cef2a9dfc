"""The whole program on the devices that prove it ready for one with memory and time of its own: walled
(src/backend/walled), whose memory the host cannot touch, and late (src/backend/late), whose streams run
late and in random order. Each command must give what it gives on the CPU, byte for byte. And on the
emulated one (src/backend/emulated), whose threads run in random order: each command must give what it
gives in another order.

Usage: device_test.py walled PROGRAM, or device_test.py late|emulated SEED ... PROGRAM
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest
import urllib.request

from finetune_effects_test import make_data
from option_effects import PROGRAM

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
sys.dont_write_bytecode = True
from served import start_server  # noqa: E402  found by the line above

DEVICE, *SEEDS = sys.argv[1:]
del sys.argv[1:]
# By name, which is also that of its folder: the device, and what the environment says to it. The others
# are compared with FIRST.
RUNS = {f"{DEVICE}{seed}": (DEVICE, {f"CLOZE_{DEVICE.upper()}_SEED": seed}) for seed in SEEDS or [""]}
if DEVICE != "emulated":
    RUNS["cpu"] = ("cpu", {})
FIRST = list(RUNS)[-1]
MODEL = ["--vocab-file=vocab.txt", "--vocab-size=32", "--hidden-size=16", "--num-hidden-layers=2",
         "--num-attention-heads=2", "--intermediate-size=24", "--max-position-embeddings=64",
         "--initializer-range=0.2", "--micro-batch-size=2", "--threads=2", "--progress-bar=false",
         "--seq-length=32"]
RATE = "--base-learning-rate=0.01"
PRETRAIN = ["pretrain", *MODEL, "--generated-data", "--max-predictions-per-seq=4",
            "--gradient-accumulation-count=2", "--tokens-per-micro-batch=64", "--max-to-keep=0"]
SQUAD = ["squad", *MODEL, RATE, "--train-file=squad.json", "--predict-file=squad.json", "--do-evaluation",
         "--do-predict", "--do-training", "--num-train-steps=4"]
GLUE = ["glue", *MODEL, RATE, "--task-name=RTE", "--data-dir=glue", "--do-evaluation", "--do-predict",
        "--do-training", "--num-train-steps=4"]
TEXT = "the cat sat on the [MASK] ."


class DeviceTest(unittest.TestCase):
    MODEL = []  # more options for the commands that train

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        make_data(cls.folder)
        cls.run_on(FIRST, *PRETRAIN, RATE, "--num-train-steps=2", "--save-path=model")
        cls.run_on(FIRST, *SQUAD, "--save-path=answers")
        cls.run_on(FIRST, *GLUE, "--save-path=classes")

    @classmethod
    def run_on(cls, run, *words, status=0):
        device, environment = RUNS[run]
        more = cls.MODEL if words[0] in ("pretrain", "squad", "glue") else []
        result = subprocess.run([PROGRAM, *words, *more, f"--device={device}"], cwd=cls.folder, text=True,
                                capture_output=True, timeout=300, env=os.environ | environment)
        if result.returncode != status:
            raise AssertionError(f"{run}: {words}: status {result.returncode}\n{result.stderr}")
        return result

    def assert_same_files(self, pattern, least):
        """Compares the files of each run's folder with those of the first one's."""
        found = sorted(path.relative_to(self.folder / FIRST) for path in
                       (self.folder / FIRST).glob(pattern))
        self.assertGreaterEqual(len(found), least)
        for run in RUNS:
            for name in found:
                with self.subTest(f"{run}/{name}"):
                    self.assertEqual((self.folder / run / name).read_bytes(),
                                     (self.folder / FIRST / name).read_bytes())

    def on_each(self, *words):
        for run in RUNS:
            self.run_on(run, *(word.replace("RUN", run) for word in words))

    def assert_all_equal(self, outputs):
        self.assertTrue(outputs[FIRST])
        for run, output in outputs.items():
            with self.subTest(run):
                self.assertEqual(output, outputs[FIRST])

    def test_pretraining_and_resuming(self):
        for precision in ("f32", "bf16"):
            with self.subTest(precision):
                save = f"--save-path=RUN/pretrain-{precision}"
                words = [*PRETRAIN, RATE, f"--precision={precision}", save]
                self.on_each(*words, "--num-train-steps=3", "--steps-per-ckpts=2")
                self.on_each(*words, "--num-train-steps=5",
                             f"--restore-dir=RUN/pretrain-{precision}")
                for name in ("model", "optimizer"):
                    self.assert_same_files(f"pretrain-{precision}/*/{name}.safetensors", 3)

    def test_shared_trust_ratios(self):
        self.on_each(*PRETRAIN, RATE, "--adapt-vectors=true", "--join-qkv=true", "--num-train-steps=3",
                     "--save-path=RUN/joined")
        for name in ("model", "optimizer"):
            self.assert_same_files(f"joined/*/{name}.safetensors", 1)

    def test_divergence_is_traced(self):
        messages = {run: self.run_on(run, *PRETRAIN, "--num-train-steps=9", "--optimizer=adamw",
                                     "--base-learning-rate=1e38", f"--save-path={run}/diverging",
                                     status=5).stderr.splitlines()[-1].replace(f"{run}/", "RUN/")
                    for run in RUNS}
        self.assertIn("step", messages[FIRST])
        self.assert_all_equal(messages)

    def test_fine_tuning_with_evaluation(self):
        for words, name, predicted in ((SQUAD, "squad", ("predictions*", "nbest*")),
                                       (GLUE, "glue", ("*.tsv",))):
            with self.subTest(name):
                self.on_each(*words, f"--save-path=RUN/{name}")
                self.assert_same_files(f"{name}/checkpoint-*/model.safetensors", 1)
                for results in ("eval_results*", *predicted):
                    self.assert_same_files(f"{name}/{results}", 1)

    def test_inference(self):
        for words in (("fill", "--init-checkpoint=model", f"--text={TEXT}"),
                      ("answer", "--init-checkpoint=answers", "--question=who sat ?",
                       "--context=the cat sat on the mat ."),
                      ("classify", "--init-checkpoint=classes", "--text=the cat sat\ta cat sat")):
            with self.subTest(words[0]):
                self.assert_all_equal({run: self.run_on(run, *words).stdout for run in RUNS})

    def test_packed_models(self):
        for run in RUNS:
            (self.folder / run).mkdir(exist_ok=True)
        for precision in ("f32", "bf16"):
            with self.subTest(precision):
                self.on_each("compile", "--init-checkpoint=model", f"--precision={precision}",
                             f"--output-file=RUN/{precision}.cloze")
                self.assert_same_files(f"{precision}.cloze", 1)
                self.assert_all_equal({run: self.run_on(run, "fill", f"--text={TEXT}",
                                                        f"--init-checkpoint={run}/{precision}.cloze").stdout
                                       for run in RUNS})

    def test_reports(self):
        self.on_each("latency", "--init-checkpoint=model", "--seq-length=16", "--clients=1",
                     "--num-iter=2")
        for run, (device, _) in RUNS.items():
            plan = self.run_on(run, "plan", *PRETRAIN[1:], "--num-train-steps=2", "--kernels").stdout
            self.assertIn(f" {'emulated' if device == 'emulated' else 'cpu'}/attention", plan)

    def test_serving(self):
        self.assert_all_equal({run: self.reply_of(*RUNS[run]) for run in RUNS})

    def reply_of(self, device, environment):
        os.environ.update(environment)
        server, address = start_server(PROGRAM, self.folder / "model", "--threads=2",
                                       f"--device={device}")
        try:
            request = urllib.request.Request(
                f"{address}/fill", json.dumps({"text": TEXT}).encode(),
                {"Content-Type": "application/json"})
            with urllib.request.urlopen(request, timeout=60) as response:
                return json.loads(response.read())
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=60)


class DeviceGroupBertTest(DeviceTest):
    MODEL = ["--groupbert=true", "--groupbert-conv-group-size=8"]


if __name__ == "__main__":
    unittest.main()
