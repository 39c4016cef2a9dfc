"""What the program says of CUDA cards where it has none: in a build without CUDA, and in one with it whose cards are
hidden or not there. It must start there, say why no card can be used and what to do, and compute on the CPU.

Usage: cuda_test.py built|absent PROGRAM
"""
import json
import os
import re
import subprocess
import sys
import unittest

IS_BUILT = sys.argv[1] == "built"
PROGRAM = sys.argv[2]
del sys.argv[1:]
TINY = ["--config", "bert_tiny"]
ABSENT = ("this program was built without CUDA; build it where nvcc of CUDA 13 is found (-DCLOZE_NVCC=FILE names one)")
NO_DRIVER = ("no CUDA device: no NVIDIA driver is loaded (CUDA says: CUDA driver version is insufficient for CUDA runtime "
             "version); install a driver for CUDA 13")
# With a driver whose cards are hidden.
NO_CARD = "no CUDA device: the driver shows no card (CUDA says: no CUDA-capable device is detected); see nvidia-smi"
OLD_DRIVER = "the NVIDIA driver is too old: it serves CUDA "


def run(*words):
    return subprocess.run([PROGRAM, *words], capture_output=True, text=True, timeout=120,
                          env=os.environ | {"CUDA_VISIBLE_DEVICES": "-1"})


class CudaTest(unittest.TestCase):
    def assert_says_why(self, text):
        if IS_BUILT:
            self.assertRegex(text, "|".join(map(re.escape, (NO_DRIVER, NO_CARD, OLD_DRIVER))))
        else:
            self.assertIn(ABSENT, text)

    def test_a_card_that_is_asked_for_is_refused(self):
        for device in ("cuda", "cuda:1"):
            for command in (["plan", *TINY], ["pretrain", *TINY, "--generated-data", "--num-train-steps=1"]):
                with self.subTest(device=device, command=command[0]):
                    refused = run(*command, "--device", device)
                    self.assertEqual(refused.returncode, 4 if IS_BUILT else 2, refused.stderr)
                    self.assert_says_why(refused.stderr)
                    self.assertIn(", or choose --device cpu", refused.stderr)
                    self.assertEqual(refused.stderr.count("\n"), 1)

    def test_auto_is_the_cpu_and_says_nothing(self):
        plans = [run("plan", *TINY, *words) for words in ([], ["--device=auto"], ["--device=cpu"])]
        for plan in plans:
            self.assertEqual(plan.returncode, 0, plan.stderr)
            self.assertEqual(plan.stderr, "")
        sizes = [[line for line in plan.stdout.splitlines() if "MiB" in line and "memory" not in line] for plan in plans]
        self.assertEqual(sizes[0], sizes[2])
        self.assertEqual(sizes[1], sizes[2])

    def test_devices_lists_the_processor_and_says_why_there_is_no_card(self):
        listed = run("devices")
        self.assertEqual((listed.returncode, listed.stderr), (0, ""))
        processor, cards, auto = listed.stdout.splitlines()
        self.assertRegex(processor, r"^cpu     .+, \d+ threads?, (avx2|avx512|avx512_bf16|amx), \d+\.\d GiB of memory$")
        self.assertTrue(cards.startswith("cuda    "), cards)
        self.assert_says_why(cards)
        self.assertEqual(auto, "auto    takes cpu")

    def test_devices_as_json(self):
        processor, cards = map(json.loads, run("devices", "--json").stdout.splitlines())
        self.assertEqual(processor["device"], "cpu")
        self.assertGreater(processor["threads"], 0)
        self.assertGreater(processor["memory_bytes"], 1 << 28)
        self.assertEqual(cards["device"], "cuda")
        self.assert_says_why(f"{cards['refusal']}; {cards['advice']}")

    @unittest.skipUnless(IS_BUILT, "a build without CUDA has no kernels for a card")
    def test_a_card_is_planned_for_without_one(self):
        for kind, precision, tokens, memory in (("a100", "f32", 32768, 76293.9), ("h100", "bf16", 65536, 76293.9),
                                                ("h200", "bf16", 65536, 134468.1)):
            with self.subTest(kind):
                plan = run("plan", "--config", "bert_large", "--device", f"cuda:{kind}", "--precision", precision,
                           "--global-batch-size=4096")
                self.assertEqual((plan.returncode, plan.stderr), (0, ""))
                self.assertIn(f"micro-batches with room for {tokens} tokens", plan.stdout)
                step = re.search(r"^a step +(\d+\.\d) +(\d+\.\d)$", plan.stdout, re.MULTILINE)
                self.assertGreater(float(step[1]), 10000)
                self.assertLess(float(step[2]), 100)
                self.assertIn(f"the card has {memory} MiB", plan.stdout)
                self.assertLess(float(step[1]), memory)
                self.assertIn(f"an estimate from the peak rates of an NVIDIA {kind.upper()} SXM", plan.stdout)
        smaller = run("plan", "--config", "bert_large", "--device=cuda:h100", "--global-batch-size=4096", "--fit=16GiB")
        self.assertRegex(smaller.stdout, r"(?m)^all, about +1[56]\d{3}\.\d ")

    @unittest.skipUnless(IS_BUILT, "a build without CUDA has no kernels for a card")
    def test_nothing_runs_on_a_card_to_plan_for(self):
        refused = run("pretrain", *TINY, "--generated-data", "--num-train-steps=1", "--device=cuda:h100")
        self.assertEqual((refused.returncode, refused.stderr.splitlines()[-1]),
                         (2, "cloze: cuda:h100 is a card to plan for, and nothing runs on it; to run, choose --device cuda or cpu"))


if __name__ == "__main__":
    unittest.main()
