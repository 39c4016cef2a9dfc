"""The peers of speed compute the model that they are there for, in every form and mode, on a processor.

They need torch and transformers (scripts/setup --peers, or PEERS_PYTHON); without them the test is skipped.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from peer_packages import peers_python  # noqa: E402  found by the line above

STEP = ROOT / "bench" / "peers" / "pytorch_step.py"
LATENCY = ROOT / "bench" / "peers" / "latency.py"
LENGTHS = ROOT / "tests" / "fixtures" / "lengths" / "wikipedia_512.tsv"
SMALL = {"vocab_size": 200, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
         "intermediate_size": 64, "max_position_embeddings": 64, "seq_length": 32,
         "max_predictions_per_seq": 5, "micro_batch_size": 3,
         "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}

# Three steps of LAMB, and the same by its formula, a parameter at a time. The last one is 0, and so is its gradient.
LAMB = """
import sys, torch
sys.path.insert(0, sys.argv[1])
from pytorch_lamb import Lamb
generator = torch.Generator().manual_seed(1)
draw = lambda *shape: torch.randn(*shape, generator=generator, dtype=torch.float64)
weights = [torch.nn.Parameter(w) for w in (draw(3, 4), draw(5), torch.zeros(2, dtype=torch.float64))]
expected, moments = [w.detach().clone() for w in weights], [(0.0, 0.0)] * 3
optimizer = Lamb(weights, lr=0.1, betas=(0.8, 0.9), eps=1e-3, weight_decay=0.2)
for t in range(1, 4):
    gradients = [draw(3, 4), draw(5), torch.zeros(2, dtype=torch.float64)]
    for i, g in enumerate(gradients):
        weights[i].grad = g
        m, v = moments[i]
        m, v = 0.8 * m + 0.2 * g, 0.9 * v + 0.1 * g * g
        moments[i] = m, v
        u = m / (1 - 0.8**t) / ((v / (1 - 0.9**t))**0.5 + 1e-3) + 0.2 * expected[i]
        ratio = expected[i].norm() / u.norm() if expected[i].norm() > 0 and u.norm() > 0 else 1
        expected[i] = expected[i] - 0.1 * ratio * u
    optimizer.step()
print(max(float((w - e).abs().max()) for w, e in zip(weights, expected)), float(weights[0].norm()))
"""

# One model, one set of samples, four forms: the losses and the gradients' norms of each.
FORMS = """
import json, sys, torch
sys.path.insert(0, sys.argv[1])
from pytorch_bert import Gathered, Library, Nested, Ragged, make_model, make_samples, useful_flops
config, lengths = json.loads(sys.argv[2]), json.loads(sys.argv[3])
torch.manual_seed(1)
model, samples = make_model(config).double(), make_samples(lengths, 5, config["vocab_size"])
rows = {}
for form in (Library, Gathered, Ragged, Nested):
    model.zero_grad()
    loss = form(model)(**form.batch(samples, max(32, *lengths)))
    loss.backward()
    rows[form.__name__] = [loss.item()] + [float(p.grad.norm()) for p in model.parameters()]
print(json.dumps([rows, useful_flops(config, samples)]))
"""


def has_peers():
    return subprocess.run([peers_python(), "-c", "import torch, transformers"], capture_output=True).returncode == 0


class Peers(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.config = pathlib.Path(folder.name) / "small.json"
        self.config.write_text("// A comment.\n" + json.dumps(SMALL))

    def run_step(self, *words, cases=()):
        return subprocess.run([peers_python(), STEP, "--config", self.config, "--threads", "1", *words],
                              input="\n".join(cases), capture_output=True, text=True, timeout=300)

    def rows(self, *words, cases=()):
        result = self.run_step(*words, cases=cases)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def forms(self, lengths):
        out = subprocess.run([peers_python(), "-c", FORMS, STEP.parent, json.dumps(SMALL), json.dumps(lengths)],
                             capture_output=True, text=True, check=True).stdout
        return json.loads(out)

    def test_all_forms_have_the_same_loss_and_gradients(self):
        for lengths in ([32, 32, 32], [7, 32, 5, 19]):
            rows, _ = self.forms(lengths)
            self.assertGreater(rows["Library"][0], 4)  # random weights: about ln 200
            for form in ("Gathered", "Ragged", "Nested"):
                for library, other in zip(rows["Library"], rows[form], strict=True):
                    self.assertAlmostEqual(library, other, delta=1e-9 * max(1, abs(library)), msg=(form, lengths))

    def test_useful_work_is_that_of_real_tokens_and_predictions(self):
        _, full = self.forms([32, 32])
        layer = 32 * (8 * 32 * 32 + 4 * 32 * 64) + 4 * 32 * 32 * 32
        sequence = 2 * layer + 5 * (2 * 32 * 200 + 2 * 32 * 32) + 2 * 32 * 32
        self.assertEqual(full, 3 * 2 * sequence)

    def test_every_mode_runs_a_step(self):
        cases = ["--mode eager", "--mode compiled --gather-predictions",
                 "--dtype bf16 --mode autocast --gather-predictions --attention flash",
                 "--dtype bf16 --mode bf16-weights --gather-predictions",
                 f"--lengths {LENGTHS} --seq-length 512 --gather-predictions",
                 f"--dtype bf16 --lengths {LENGTHS} --seq-length 512 --gather-predictions --layout ragged",
                 "--dtype bf16 --mode compiled-layers --gather-predictions --layout ragged",
                 f"--dtype bf16 --lengths {LENGTHS} --seq-length 512 --gather-predictions --layout nested",
                 "--gather-predictions --optimizer lamb"]
        self.config.write_text(json.dumps({**SMALL, "max_position_embeddings": 512}))
        rows = self.rows("--each", "--steps", "2", cases=cases)
        self.assertEqual([row["case"] for row in rows], cases)
        for row in rows:
            self.assertNotIn("error", row)
            self.assertGreater(row["sequences_per_second"], 0)
            self.assertEqual((row["sequences"], row["steps"], row["device"]), (3, 2, "cpu"))
        self.assertEqual([row["layout"] for row in rows], ["padded"] * 5 + ["ragged"] * 2 + ["nested", "padded"])
        self.assertEqual(rows[8]["optimizer"], "lamb")
        self.assertLess(rows[5]["tokens"], 3 * 512)
        self.assertEqual(rows[4]["tokens"], rows[5]["tokens"])

    def test_lamb_is_its_formula(self):
        out = subprocess.run([peers_python(), "-c", LAMB, STEP.parent], capture_output=True, text=True, check=True).stdout
        difference, size = map(float, out.split())
        self.assertLess(difference, 1e-13)
        self.assertGreater(size, 0)

    def test_calls_of_each_kind_are_timed(self):
        sizes = "--seq-length 16 --batch-size 3 --num-iter 4"
        cases = [f"--mode eager {sizes}", f"--mode reduce-overhead --dtype bf16 {sizes}", "--mode quick", f"--mode compiled {sizes}"]
        result = subprocess.run([peers_python(), LATENCY, "--config", self.config, "--threads", "1", "--each"],
                                input="\n".join(cases), capture_output=True, text=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([row["case"] for row in rows], cases)
        self.assertIn("invalid choice: 'quick'", rows.pop(2)["error"])
        self.assertEqual([row["who"] for row in rows], ["PyTorch eager", "PyTorch reduce-overhead", "PyTorch compiled"])
        for row in rows:
            self.assertEqual((row["what"], row["model"], row["seq_length"], row["batch_size"]), ("latency", "small", 16, 3))
            self.assertLessEqual(row["p50_ms"], row["p99_ms"])
            self.assertGreater(row["sequences_per_second"], 0)

    def test_a_case_that_fails_says_so_and_the_next_one_runs(self):
        cases = ["--layout ragged", "--seq-length 128 --gather-predictions", "--modes eager", "--config none.json", ""]
        rows = self.rows("--each", cases=[*cases, "--mode eager"])
        self.assertEqual([row.get("error", "") for row in rows[:1]],
                         ["RefusedCase: --layout ragged needs --gather-predictions"])
        for row in rows[1:-1]:
            self.assertTrue(row["error"], row)
        self.assertEqual(rows[-1]["mode"], "eager")
        self.assertEqual(len(rows), 5)

    def test_the_batch_is_halved_until_it_fits(self):
        out = subprocess.run([peers_python(), "-c", f"""
import sys, torch
sys.path.insert(0, {str(STEP.parent)!r})
from pytorch_step import largest_that_fits
tried = []
def make(sequences):
    tried.append(sequences)
    def step():
        if sequences > 12: raise torch.OutOfMemoryError("no")
    step.sequences = sequences
    return step
print(largest_that_fits(make, 64).sequences, tried)
"""], capture_output=True, text=True, check=True).stdout
        self.assertEqual(out, "8 [64, 32, 16, 8]\n")
        rows = self.rows("--each", cases=["--batch fit --most-tokens 128"])
        self.assertEqual(rows[0]["sequences"], 4)

    def test_one_line_per_repetition_and_the_protocol_of_turns(self):
        rows = self.rows("--steps", "2")
        self.assertEqual(sorted(rows[1]), ["dtype", "mode", "seconds", "sequences", "sequences_per_second",
                                           "tokens_per_second"])
        self.assertEqual(len(rows), 2)
        served = self.run_step("--serve", cases=["run", "run"]).stdout.splitlines()
        self.assertEqual((served[0], len(served)), ("ready", 3))

    def test_what_cannot_be_is_refused(self):
        for words, message in (
                (["--dtype", "f32", "--mode", "autocast"], "--dtype f32 has the modes eager, compiled, compiled-layers"),
                (["--batch", "0"], "--batch 0: give a number of sequences, or fit"),
                (["--layout", "ragged"], "--layout ragged needs --gather-predictions"),
                (["--layout", "nested"], "--layout nested needs --gather-predictions"),
                (["--layout", "ragged", "--gather-predictions", "--attention", "math"],
                 "--attention chooses among sdpa's kinds, which --layout ragged does not use"),
                (["--layout", "ragged", "--gather-predictions", "--device", "cuda"],
                 "varlen_attn takes no f32: --layout ragged --device cuda needs --dtype bf16")):
            result = self.run_step(*words)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(message, result.stderr)

    def test_a_card_that_is_not_there_is_told(self):
        probe = subprocess.run([peers_python(), "-c", "import torch; print(torch.cuda.is_available())"],
                               capture_output=True, text=True)
        if probe.stdout.strip() == "True":
            self.skipTest("there is a card")
        for script in (STEP, LATENCY):
            result = subprocess.run([peers_python(), script, "--config", self.config, "--device", "cuda"], capture_output=True, text=True)
            self.assertEqual(result.returncode, 4)
            self.assertRegex(result.stderr, rf"{script.stem}: torch \S+ finds no CUDA device that it can use")


if __name__ == "__main__":
    if not has_peers():
        print("skipped: no torch and transformers; scripts/setup --peers installs them")
        sys.exit(77)
    unittest.main()
