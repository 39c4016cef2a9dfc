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
                    self.assertTrue(refused.stderr.endswith("or choose --device cpu\n"), refused.stderr)
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


if __name__ == "__main__":
    unittest.main()
