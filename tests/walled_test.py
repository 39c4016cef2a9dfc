"""The whole program on the walled device (src/backend/walled): its memory is closed to the host, so a
command that follows an address of the device itself dies of a segmentation fault.

Usage: walled_test.py PROGRAM
Each command must give what it gives on the CPU, byte for byte.
"""
import json
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

DEVICES = ("cpu", "walled")
MODEL = ["--vocab-file=vocab.txt", "--vocab-size=32", "--hidden-size=16", "--num-hidden-layers=2",
         "--num-attention-heads=2", "--intermediate-size=24", "--max-position-embeddings=64",
         "--initializer-range=0.2", "--micro-batch-size=2", "--threads=2", "--progress-bar=false",
         "--seq-length=32"]
RATE = "--base-learning-rate=0.01"
PRETRAIN = ["pretrain", *MODEL, "--generated-data", "--max-predictions-per-seq=4",
            "--gradient-accumulation-count=2", "--tokens-per-micro-batch=64"]
SQUAD = ["squad", *MODEL, RATE, "--train-file=squad.json", "--predict-file=squad.json", "--do-evaluation",
         "--do-predict", "--do-training", "--num-train-steps=4"]
GLUE = ["glue", *MODEL, RATE, "--task-name=RTE", "--data-dir=glue", "--do-evaluation", "--do-predict",
        "--do-training", "--num-train-steps=4"]
TEXT = "the cat sat on the [MASK] ."


class WalledTest(unittest.TestCase):
    MODEL = []  # more options for the commands that train

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        make_data(cls.folder)
        cls.run_on("cpu", *PRETRAIN, RATE, "--num-train-steps=2", "--save-path=model")
        cls.run_on("cpu", *SQUAD, "--save-path=answers")
        cls.run_on("cpu", *GLUE, "--save-path=classes")

    @classmethod
    def run_on(cls, device, *words, status=0):
        more = cls.MODEL if words[0] in ("pretrain", "squad", "glue") else []
        result = subprocess.run([PROGRAM, *words, *more, f"--device={device}"], cwd=cls.folder, text=True,
                                capture_output=True, timeout=300)
        if result.returncode != status:
            raise AssertionError(f"{device}: {words}: status {result.returncode}\n{result.stderr}")
        return result

    def assert_same_files(self, pattern, least):
        """Compares the files of the folders cpu and walled."""
        found = sorted(path.relative_to(self.folder / "cpu") for path in
                       (self.folder / "cpu").glob(pattern))
        self.assertGreaterEqual(len(found), least)
        for name in found:
            with self.subTest(str(name)):
                self.assertEqual((self.folder / "walled" / name).read_bytes(),
                                 (self.folder / "cpu" / name).read_bytes())

    def on_each(self, *words):
        for device in DEVICES:
            self.run_on(device, *(word.replace("DEVICE", device) for word in words))

    def test_pretraining_and_resuming(self):
        for precision in ("f32", "bf16"):
            with self.subTest(precision):
                save = f"--save-path=DEVICE/pretrain-{precision}"
                words = [*PRETRAIN, RATE, f"--precision={precision}", save]
                self.on_each(*words, "--num-train-steps=3", "--steps-per-ckpts=2")
                self.on_each(*words, "--num-train-steps=5",
                             f"--restore-dir=DEVICE/pretrain-{precision}")
                for name in ("model", "optimizer"):
                    self.assert_same_files(f"pretrain-{precision}/*/{name}.safetensors", 3)

    def test_shared_trust_ratios(self):
        self.on_each(*PRETRAIN, RATE, "--adapt-vectors=true", "--join-qkv=true", "--num-train-steps=3",
                     "--save-path=DEVICE/joined")
        for name in ("model", "optimizer"):
            self.assert_same_files(f"joined/*/{name}.safetensors", 1)

    def test_divergence_is_traced(self):
        messages = [self.run_on(device, *PRETRAIN, "--num-train-steps=9", "--optimizer=adamw",
                                "--base-learning-rate=1e38", f"--save-path={device}/diverging",
                                status=5).stderr.splitlines()[-1] for device in DEVICES]
        self.assertIn("step", messages[0])
        self.assertEqual(messages[0].replace("cpu/", "walled/"), messages[1])

    def test_fine_tuning_with_evaluation(self):
        for words, name, predicted in ((SQUAD, "squad", ("predictions*", "nbest*")),
                                       (GLUE, "glue", ("*.tsv",))):
            with self.subTest(name):
                self.on_each(*words, f"--save-path=DEVICE/{name}")
                self.assert_same_files(f"{name}/checkpoint-*/model.safetensors", 1)
                for results in ("eval_results*", *predicted):
                    self.assert_same_files(f"{name}/{results}", 1)

    def test_inference(self):
        for words in (("fill", "--init-checkpoint=model", f"--text={TEXT}"),
                      ("answer", "--init-checkpoint=answers", "--question=who sat ?",
                       "--context=the cat sat on the mat ."),
                      ("classify", "--init-checkpoint=classes", "--text=the cat sat\ta cat sat")):
            with self.subTest(words[0]):
                outputs = [self.run_on(device, *words).stdout for device in DEVICES]
                self.assertTrue(outputs[0])
                self.assertEqual(*outputs)

    def test_packed_models(self):
        (self.folder / "cpu").mkdir(exist_ok=True)
        (self.folder / "walled").mkdir(exist_ok=True)
        for precision in ("f32", "bf16"):
            with self.subTest(precision):
                self.on_each("compile", "--init-checkpoint=model", f"--precision={precision}",
                             f"--output-file=DEVICE/{precision}.cloze")
                self.assert_same_files(f"{precision}.cloze", 1)
                outputs = [self.run_on(device, "fill", f"--text={TEXT}",
                                       f"--init-checkpoint={device}/{precision}.cloze").stdout
                           for device in DEVICES]
                self.assertEqual(*outputs)

    def test_serving(self):
        replies = [self.reply_of(device) for device in DEVICES]
        self.assertTrue(replies[0])
        self.assertEqual(*replies)

    def reply_of(self, device):
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


class WalledGroupBertTest(WalledTest):
    MODEL = ["--groupbert=true", "--groupbert-conv-group-size=8"]


if __name__ == "__main__":
    unittest.main()
