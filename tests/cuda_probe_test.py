"""cuda_probe finds out what the library does, whatever that is: here a stand-in that does what it is told to.

Usage: cuda_probe_test.py PROBE EMULATED_PROBE FAKE_LIBRARY
"""
import json
import os
import subprocess
import sys
import unittest

FAKE, EMULATED, PROBE = (sys.argv.pop() for _ in range(3))


def run(program, *words, **settings):
    environment = {**os.environ, **{f"FAKE_{name.upper()}": value for name, value in settings.items()}}
    return subprocess.run([program, *words], capture_output=True, text=True, env=environment, timeout=240)


class Probe(unittest.TestCase):
    def rows(self, *words, **settings):
        result = run(EMULATED, "--cublaslt", FAKE, "--tiny", "--load-seconds", "0", *words, **settings)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = {}
        for line in result.stdout.splitlines():
            row = json.loads(line)
            rows.setdefault(row["what"], []).append(row)
        return rows

    def questions(self, **settings):
        return self.rows("--only", "questions", **settings)

    def test_the_form_of_gelu_and_its_error(self):
        for form in ("erf", "tanh"):
            rows = self.questions(gelu=form)["gelu"]
            self.assertEqual([row["form"] for row in rows], [form] * 6)
            self.assertEqual([row["case"] for row in rows], [f"{name}, D {dtype}" for name in ("GELU", "GELU_BIAS", "GELU_AUX_BIAS")
                                                             for dtype in ("f32", "bf16")])
            for row in rows[::2]:  # D f32
                self.assertLess(row[f"error_from_{form}"], 1e-6)
                self.assertLess(row[f"tail_error_from_{form}"], 1e-8)
            self.assertAlmostEqual(rows[0]["error_from_erf"], 0 if form == "erf" else 4.73e-4, delta=2e-6)

    def test_what_becomes_of_biases(self):
        rows = self.questions(bias="exact", bgradb="overwrites")
        self.assertTrue(rows["f32_bias"][0]["is_f32"])
        self.assertAlmostEqual(rows["f32_bias"][0]["result"], 2.0 ** -12, delta=1e-9)
        self.assertEqual([row["bias_is"] for row in rows["bias_gradient"]], ["overwritten"] * 2)
        rows = self.questions(bias="rounded", bgradb="adds")
        self.assertEqual((rows["f32_bias"][0]["is_f32"], rows["f32_bias"][0]["result"]), (False, 0))
        self.assertEqual([row["bias_is"] for row in rows["bias_gradient"]], ["added to"] * 2)
        in_f32, in_bf16 = rows["bias_gradient"]
        self.assertLess(in_f32["product_error"], 1e-4)
        self.assertLess(in_f32["bias_error"], 1e-4)
        self.assertLessEqual(in_bf16["bias_error"], 4)  # half a unit of bf16 above 1024

    def test_a_card_that_is_its_emulation_agrees_with_it(self):
        rows = self.rows("--only", "conformance", "--cublaslt", "/nowhere")["primitive"]
        self.assertEqual(len(rows), 32)
        for row in rows:
            self.assertEqual((row["different"], row["passes"], row["results"]), (0, True, 128 * 128), row["name"])

    def test_a_card_that_differs_is_told_with_the_operands(self):
        result = run(EMULATED, "--only", "conformance", card="errs")
        self.assertEqual((result.returncode, result.stderr), (1, "cuda_probe: 28 primitives differ from their emulation\n"))  # not: two roots that are NaN, two logarithms
        rows = {row["name"]: row for row in map(json.loads, result.stdout.splitlines()) if row["what"] == "primitive"}
        row = rows["ballot"]
        self.assertEqual((row["different"], row["passes"]), (1, False))
        self.assertEqual(int(row["card"], 16) ^ int(row["emulated"], 16), 1)
        self.assertTrue(row["a"] and row["b"] and row["c"])

    def test_batches_by_arrays_of_pointers(self):
        rows = self.questions()["pointer_arrays"]
        self.assertEqual([row["case"] for row in rows], ["DEFAULT", "BIAS"])
        for row in rows:
            self.assertLess(row["error"], 1e-5)

    def test_a_refusal_is_an_answer_and_the_next_question_is_asked(self):
        why = "cuBLASLt has no way to compute this: CUBLAS_STATUS_NOT_SUPPORTED"
        for refused, what, count in (("gelu_aux", "gelu", 2), ("f32_bias", "f32_bias", 1), ("bgradb", "bias_gradient", 2),
                                     ("pointer_arrays", "pointer_arrays", 2)):
            rows = self.questions(refuses=refused)
            self.assertEqual([row["refused"] for row in rows[what] if "refused" in row], [why] * count)
            self.assertTrue(set(rows) >= {"gelu", "f32_bias", "bias_gradient", "pointer_arrays"})

    def test_ceilings_are_of_every_product_and_candidate(self):
        rows = self.rows("--only", "ceilings")
        self.assertEqual([(row["by"], row["ms"]) for row in rows["copy"]], [("cudaMemcpy", 1), ("kernel", 1)])
        self.assertAlmostEqual(rows["copy"][0]["tb_per_s"], 2 * 2**20 * 1e-9, delta=1e-8)
        cold, loaded = rows["product"][:15], rows["product"][15:]
        self.assertEqual([row["name"] for row in cold], [row["name"] for row in loaded])
        self.assertEqual({row["when"] for row in cold}, {"cold"})
        for row in cold:  # each takes a millisecond here
            self.assertAlmostEqual(row["tflops"], 2e-9 * row["rows"] * row["columns"] * row["depth"], delta=1e-5 * row["tflops"])
            self.assertEqual(len(row["all_tflops"].split()), 2)

    def test_without_a_card_it_says_what_is_missing(self):
        result = run(PROBE, "--only", "library", "--cublaslt", "/nowhere/lib.so")
        self.assertEqual(result.returncode, 4)
        self.assertRegex(result.stderr, "^cuda_probe: cuBLASLt was not opened: /nowhere/lib.so")
        library = run(PROBE, "--only", "library")  # it needs no card
        if library.returncode == 4:
            self.assertRegex(library.stderr, "^cuda_probe: cuBLASLt was not found: no libcublasLt.so.13 where the loader looks")
            return
        self.assertGreaterEqual(json.loads(library.stdout)["version"], 130000)
        result = run(PROBE, "--only", "questions", "--tiny")
        if result.returncode != 0:
            self.assertEqual(result.returncode, 4, result.stderr)
            self.assertRegex(result.stderr, "^cuda_probe: (no NVIDIA driver|the driver knows|no CUDA device|the card cannot)")

    def test_wrong_arguments_are_refused(self):
        for words, message in ((["--only", "speed"], '--only speed: no part is called "speed"'), (["--quick"], "unknown argument --quick"),
                               (["--only"], "--only needs a value"),
                               (["--load-seconds", "x"], "--load-seconds x: give a number from 0 to 600")):
            result = run(PROBE, *words)
            self.assertEqual((result.returncode, result.stderr.splitlines()[0]), (2, f"cuda_probe: {message}"))


if __name__ == "__main__":
    unittest.main()
