"""The parts of scripts/gpu_check that run our programs, on the emulated device at small sizes; and the bundle of these
programs, away from the folder where they were built.

Usage: gpu_parts_test.py BUILD_FOLDER. A part that needs torch is left out where there is none (scripts/setup --peers).
"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "gpu_check"
BUILD = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else ROOT / "build" / "release").resolve()


class GpuParts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_parts(self, device, only, script=SCRIPT, build=BUILD):
        out = self.folder / "out"
        words = [sys.executable, script, "run", "--out", out, "--device", device, "--only", only, "--build-dir", build,
                 "--seconds", "5400"]  # ten times the limits, for a busy machine
        result = subprocess.run(words, capture_output=True, text=True, timeout=300, env=os.environ | {"OMP_NUM_THREADS": "1"})
        rows = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
        self.assertEqual(result.returncode, 0, result.stdout + (out / "log.txt").read_text())
        outcomes = {row["part"]: (row["outcome"], row["why"]) for row in rows if row["what"] == "outcome"}
        return rows, outcomes

    def test_every_part_runs_on_the_emulated_device(self):
        rows, outcomes = self.run_parts("emulated", "sweep,fixtures,whole,rates,answers,profile")
        has_torch = outcomes["answers"][0] == "done"
        if not has_torch:
            self.assertRegex(outcomes.pop("answers")[1], "has no torch with transformers")
        self.assertEqual(set(outcomes.values()), {("done", "")})
        of = {name: [row for row in rows if row["what"] == name] for name in
              ("sweep", "fixture", "curve", "same_bytes", "learning", "step", "ratio", "latency", "operator")}
        self.assertTrue(all(row["failures"] == 0 and row["set"] == "seed0" for row in of["sweep"]))
        self.assertGreater(len(of["sweep"]), 10)
        self.assertEqual([row["passes"] for row in of["fixture"]], [True] * 3)
        self.assertEqual([(row["precision"], row["steps"]) for row in of["curve"]], [("f32", 20), ("bf16", 20)])
        for row in of["curve"]:
            self.assertGreater(row["largest_gap"], 0)  # other roundings than the CPU's
        self.assertEqual(len(of["same_bytes"]), 4)
        self.assertEqual([(row["steps"], len(row["device"])) for row in of["learning"]], [(20, 10)])
        self.assertGreater(of["learning"][0]["largest_gap"], 0)
        self.assertEqual(len(of["step"]), 5 if has_torch else 3)
        self.assertEqual(len(of["ratio"]), 2 if has_torch else 0)
        self.assertEqual(len(of["latency"]), has_torch)
        self.assertIn("attention", {row["operator"] for row in of["operator"]})

    def test_another_dropout_is_no_rounding(self):
        """A device that drops a little more is found, in f32 and in bf16."""
        planted = self.folder / "cloze"
        planted.write_text(f"""#!/bin/sh
case "$*" in *--device=planted*) exec "$0.sh" "$@" ;; esac
exec {BUILD / 'cloze'} "$@"
""")
        (self.folder / "cloze.sh").write_text(f"""#!{sys.executable}
import os, sys
words = [word.replace("=planted", "=cpu").replace("hidden-dropout-prob=0.1", "hidden-dropout-prob=0.11")
         for word in sys.argv[1:]]
os.execv("{BUILD / 'cloze'}", ["cloze", *words])
""")
        for script in self.folder.iterdir():
            script.chmod(0o755)
        result = subprocess.run([sys.executable, "-B", ROOT / "bench" / "gpu" / "whole_model.py", "--program", planted, "--device",
                                 "planted", "--tiny"], capture_output=True, text=True, timeout=300)
        self.assertEqual((result.returncode, result.stderr), (1, "whole_model: failed: curve f32, curve bf16\n"))

    def test_the_bundle_runs_elsewhere(self):
        made = subprocess.run([sys.executable, SCRIPT, "pack", "--no-build", "--build-dir", BUILD, "--to", self.folder / "a.tar.gz"],
                              capture_output=True, text=True)
        if "no cuda_probe in" in made.stderr:
            self.skipTest("no cuda_probe: it is built where nvcc is found")
        self.assertEqual(made.returncode, 0, made.stderr)
        self.assertLess((self.folder / "a.tar.gz").stat().st_size, 56 << 20)
        with tarfile.open(self.folder / "a.tar.gz") as archive:
            archive.extractall(self.folder)
        bundle = self.folder / "gpu_check"
        for program in (bundle / "bin").iterdir():
            loaded = subprocess.run(["ldd", program], capture_output=True, text=True).stdout
            others = [line.split()[0] for line in loaded.splitlines() if "=>" in line and str(bundle) not in line]
            self.assertTrue(all(name.startswith(("libc.", "libm.", "libresolv.")) for name in others), f"{program}: {others}")
        _, outcomes = self.run_parts("cpu", "fixtures,sweep", bundle / "scripts" / "gpu_check", build=self.folder)
        self.assertEqual(set(outcomes.values()), {("done", "")})


if __name__ == "__main__":
    unittest.main()
