"""cloze pretrain in several processes, started by mpirun: the run of one process, and its ends.

Usage: mpirun_test.py PROGRAM
Skips where mpirun is not installed, or the program was built without its part for MPI.
"""
import json
import math
import os
import pathlib
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import training_runs  # noqa: E402  found by the line above

PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
MODEL = ["--vocab-size=120", "--hidden-size=16", "--num-hidden-layers=2", "--num-attention-heads=2",
         "--intermediate-size=24", "--max-position-embeddings=64", "--threads=1", "--seq-length=32",
         "--progress-bar=false", "--max-predictions-per-seq=4"]
STEPS = ["--generated-data", "--global-batch-size=12", "--tokens-per-micro-batch=64",
         "--steps-per-logs=1", "--max-to-keep=5", "--optimizer=adamw", "--base-learning-rate=0.01"]
RUN = ["pretrain", *MODEL, *STEPS]
ENVIRONMENT = {**training_runs.ENVIRONMENT, "OMPI_MCA_mpi_yield_when_idle": "1",
               "OMPI_MCA_hwloc_base_binding_policy": "none",
               # Between processes of a container the kernel may refuse to copy.
               "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}


def mpirun(size, *words):
    return ["mpirun", "-n", str(size), PROGRAM, *words]


def end(process):
    """Ends the process, however its test ended. mpirun ends its ranks when it is asked to end."""
    process.terminate()
    try:
        process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def losses(folder):
    """The losses by step. A run that goes on may have written a part of its last line."""
    text = (folder / "metrics.jsonl").read_text()
    lines = [json.loads(line) for line in text[:text.rfind("\n") + 1].splitlines()]
    return {line["step"]: line["loss"] for line in lines if "step" in line}


def tensors(path):
    """Maps the names of the f32 tensors of a safetensors file to their values."""
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    found = {}
    for name, tensor in json.loads(data[8:8 + size]).items():
        if name == "__metadata__" or tensor["dtype"] != "F32":
            continue
        begin, end = tensor["data_offsets"]
        found[name] = struct.unpack(f"<{(end - begin) // 4}f", data[8 + size + begin:8 + size + end])
    return found


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class MpirunTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_command(self, command, status=0):
        result = subprocess.run(command, cwd=self.folder, env=ENVIRONMENT, text=True,
                                capture_output=True, timeout=120)
        if "part for MPI" in result.stderr:
            self.skipTest("built without its part for MPI")
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def start(self, size, *words):
        self.run_command(mpirun(2, *RUN, "--compile-only"))
        process = subprocess.Popen(mpirun(size, *RUN, "--num-train-steps=1000000", *words),
                                   cwd=self.folder, env=ENVIRONMENT, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(end, process)
        return process

    def ranks_of(self, process, size):
        """Returns the process numbers of the ranks once all have trained for a few steps."""
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True,
                                      text=True).stdout.split()
            logs = [self.folder / "run" / f"rank-{rank}" / "metrics.jsonl" for rank in range(1, size)]
            if len(children) == size and all(log.exists() and len(losses(log.parent)) > 2 for log in logs):
                return [int(child) for child in children]
            time.sleep(0.05)
        process.terminate()
        self.fail("the ranks did not start to train: " + process.communicate(timeout=60)[1])

    def assert_same_curve(self, folder, other):
        ours, theirs = (losses(self.folder / name) for name in (folder, other))
        self.assertEqual(ours.keys(), theirs.keys())
        for step, loss in theirs.items():
            self.assertAlmostEqual(ours[step], loss, delta=1e-4, msg=step)

    def assert_same_weights(self, folder, other, step, file="model.safetensors"):
        ours, theirs = (tensors(self.folder / name / f"checkpoint-{step}" / file)
                        for name in (folder, other))
        self.assertEqual(ours.keys(), theirs.keys())
        for name, values in ours.items():
            distance, norm = math.dist(values, theirs[name]), math.hypot(*theirs[name])
            # Attention does not depend on this bias, so its gradient is nothing but rounding.
            is_noise = name.endswith("attention.self.key.bias")
            self.assertLessEqual(distance, 1e-5 if is_noise else 1e-4 * norm, name)

    def test_several_processes_are_the_run_of_one(self):
        self.run_command([PROGRAM, *RUN, "--num-train-steps=20", "--save-path=one"])
        for size in (2, 4):
            self.run_command(mpirun(size, *RUN, "--num-train-steps=20", f"--save-path=of_{size}"))
            self.assert_same_curve(f"of_{size}", "one")
            self.assert_same_weights(f"of_{size}", "one", 20)

    def test_a_run_goes_on_with_another_number_of_processes(self):
        self.run_command([PROGRAM, *RUN, "--num-train-steps=12", "--save-path=one"])
        self.run_command(mpirun(4, *RUN, "--num-train-steps=12", "--steps-per-ckpts=4", "--save-path=run"))
        for step in (8, 12):
            shutil.rmtree(self.folder / "run" / f"checkpoint-{step}")
        for size, step in ((2, 8), (1, 12)):
            words = [*RUN, "--num-train-steps=12", "--steps-per-ckpts=4", "--restore-dir=run"]
            self.run_command(mpirun(size, *words) if size > 1 else [PROGRAM, *words])
            if step == 8:
                shutil.rmtree(self.folder / "run" / "checkpoint-12")
        self.assert_same_curve("run", "one")
        self.assert_same_weights("run", "one", 12)

    def test_divided_states_are_saved_and_resumed_by_any_number_of_processes(self):
        run = [*RUN, "--num-train-steps=12", "--steps-per-ckpts=4"]
        self.run_command([PROGRAM, *run, "--save-path=one"])
        self.run_command(mpirun(3, *run, "--save-path=run", "--replicated-tensor-sharding"))
        for file in ("model.safetensors", "optimizer.safetensors"):
            self.assert_same_weights("run", "one", 12, file)
        for words in (["--replicated-tensor-sharding"], []):  # divided on 3 and on 2, then on 1
            shutil.rmtree(self.folder / "run" / "checkpoint-12")
            if words:
                shutil.rmtree(self.folder / "run" / "checkpoint-8")
            words = [*run, *words, "--restore-dir=run"]
            self.run_command(mpirun(2, *words) if len(words) > len(run) + 1 else [PROGRAM, *words])
            self.assert_same_curve("run", "one")
            self.assert_same_weights("run", "one", 12)

    def test_stages_are_the_run_of_one(self):
        run = [*RUN, "--num-train-steps=12", "--steps-per-ckpts=4"]
        self.run_command([PROGRAM, *run, "--save-path=one"])
        lists = ['--pipeline-stages=[["emb", "pos"], ["hid", "hid"], ["mlm", "nsp"]]', "--device-mapping=[0, 1, 0]"]
        for name, size, words in (("interleaved", 2, ["--pipeline-stages=2"]),
                                  ("grouped", 3, ["--pipeline-stages=3", "--pipeline-schedule=Grouped"]),
                                  ("sequential", 2, [*lists, "--pipeline-schedule=Sequential"]),
                                  ("replicas", 4, ["--pipeline-stages=2", "--replicated-tensor-sharding"])):
            with self.subTest(name):
                self.run_command(mpirun(size, *run, *words, f"--save-path={name}"))
                self.assert_same_curve(name, "one")
                for file in ("model.safetensors", "optimizer.safetensors"):
                    self.assert_same_weights(name, "one", 12, file)
                line = json.loads((self.folder / name / "metrics.jsonl").read_text().splitlines()[-1])
                self.assertGreater(line["expected_bubble_share"], 0)
                self.assertTrue(0 <= line["bubble_share"] < 1, line)

    def test_a_run_goes_on_in_other_stages(self):
        run = [*RUN, "--num-train-steps=12", "--steps-per-ckpts=4"]
        self.run_command([PROGRAM, *run, "--save-path=one"])
        self.run_command(mpirun(2, *run, "--pipeline-stages=2", "--save-path=run"))
        self.assert_same_weights("run", "one", 12)
        for size, stages, sharded in ((4, 2, "false"), (1, 1, "false"), (3, 3, "false"), (4, 2, "true"), (2, 1, "false")):
            with self.subTest(size=size, stages=stages, sharded=sharded):
                for step in (8, 12):
                    shutil.rmtree(self.folder / "run" / f"checkpoint-{step}")
                words = [*run, f"--pipeline-stages={stages}", f"--replicated-tensor-sharding={sharded}",
                         "--restore-dir=run"]
                self.run_command(mpirun(size, *words) if size > 1 else [PROGRAM, *words])
                self.assert_same_curve("run", "one")
                for file in ("model.safetensors", "optimizer.safetensors"):
                    self.assert_same_weights("run", "one", 12, file)

    def test_a_finished_run_that_is_asked_to_go_on_ends(self):
        run = [*RUN, "--num-train-steps=3", "--save-path=run"]
        for words in (["--pipeline-stages=2"], ["--replicated-tensor-sharding"], []):
            with self.subTest(words):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                self.run_command(mpirun(2, *run, *words))
                self.run_command(mpirun(2, *RUN, "--num-train-steps=3", *words, "--restore-dir=run"))
                self.run_command(mpirun(2, *RUN, "--num-train-steps=5", *words, "--restore-dir=run",
                                        "--on-non-finite=roll_back"))
                self.assertTrue((self.folder / "run" / "checkpoint-5").exists())

    def test_sums_of_replicas_do_not_wait_for_messages_of_stages(self):
        # The activations of a few micro-batches exceed what a rank keeps in flight.
        words = [word for word in RUN if not word.startswith(("--hidden", "--intermediate", "--tokens", "--global"))]
        words += ["--hidden-size=128", "--intermediate-size=16", "--tokens-per-micro-batch=4096",
                  "--global-batch-size=2048", "--pipeline-stages=2", "--pipeline-schedule=Grouped"]
        self.run_command(mpirun(4, *words, "--reproducible-sums", "--num-train-steps=1", "--save-path=run"))

    def test_replicas_of_the_configuration_are_those_of_the_start(self):
        (self.folder / "run.json").write_text(json.dumps({"replicas": 3}))
        run = [*RUN, "--config=run.json"]
        self.run_command(mpirun(3, *run, "--num-train-steps=2", "--save-path=run"))
        self.run_command(mpirun(2, *run, "--num-train-steps=3", "--restore-dir=run"))

    def test_stages_evaluate_norms_and_start_from_weights_like_one(self):
        self.run_command([PROGRAM, *RUN, "--num-train-steps=2", "--save-path=start"])
        run = [*RUN, "--num-train-steps=4", "--steps-per-norms=4", "--init-checkpoint=start/checkpoint-2"]
        alone = self.run_command([PROGRAM, *run, "--save-path=one"])
        staged = self.run_command(mpirun(2, *run, "--pipeline-stages=2", "--save-path=run"))
        self.assertIn("initial values from", staged.stderr)
        unused = "of its tensors are not used"
        self.assertEqual(alone.stderr.count(unused), staged.stderr.count(unused))
        norms = [json.loads((self.folder / name / "metrics.jsonl").read_text().splitlines()[-1])["gradient_norms"]
                 for name in ("one", "run")]
        self.assertEqual(norms[0].keys(), norms[1].keys())
        for name, norm in norms[0].items():
            self.assertAlmostEqual(norms[1][name], norm, delta=1e-4, msg=name)

    def test_stages_that_diverge_end_together(self):
        words = [word for word in RUN if not word.startswith("--base-learning-rate")]
        result = self.run_command(mpirun(2, *words, "--num-train-steps=9", "--base-learning-rate=1e38",
                                         "--pipeline-stages=2", "--save-path=run"), status=5)
        self.assertEqual(result.stderr.count("cloze: step"), 1, result.stderr)

    def test_gradients_may_travel_in_bf16(self):
        self.run_command(mpirun(2, *RUN, "--num-train-steps=5", "--save-path=exact"))
        self.run_command(mpirun(2, *RUN, "--num-train-steps=5", "--save-path=run", "--reduction-precision=bf16"))
        for step, loss in losses(self.folder / "exact").items():
            self.assertAlmostEqual(losses(self.folder / "run")[step], loss, delta=0.02)
        self.assertNotEqual(losses(self.folder / "run"), losses(self.folder / "exact"))

    def test_reproducible_sums_are_the_same_on_any_number_of_processes_and_stages(self):
        run = [*RUN, "--num-train-steps=12", "--steps-per-ckpts=6", "--reproducible-sums"]
        files = ("model.safetensors", "optimizer.safetensors")
        self.run_command([PROGRAM, *run, "--save-path=one"])
        for size, words in ((2, []), (4, ["--pipeline-stages=2"]), (3, ["--replicated-tensor-sharding"]),
                            (1, ["--optimizer-state-folder=."])):
            with self.subTest(size=size, words=words):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                command = [*run, *words, "--save-path=run"]
                self.run_command(mpirun(size, *command) if size > 1 else [PROGRAM, *command])
                self.assertEqual(losses(self.folder / "run"), losses(self.folder / "one"))
                # And a run that goes on in another layout.
                shutil.rmtree(self.folder / "run" / "checkpoint-12")
                command = [*run, "--pipeline-stages=1", "--restore-dir=run"]
                self.run_command(mpirun(5 - size, *command) if size < 4 else [PROGRAM, *command])
                for file in files:
                    ours, theirs = (self.folder / name / "checkpoint-12" / file for name in ("run", "one"))
                    self.assertEqual(tensors(ours), tensors(theirs), file)

    def test_all_go_back_together(self):
        words = [word for word in RUN if not word.startswith("--base-learning-rate")]
        words += ["--num-train-steps=9", "--base-learning-rate=1e38", "--on-non-finite=roll_back"]
        alone = self.run_command([PROGRAM, *words, "--save-path=one"], status=5)
        both = self.run_command(mpirun(2, *words, "--save-path=run"), status=5)
        went_back = alone.stderr.count("goes back") + alone.stdout.count("goes back")
        self.assertGreater(went_back, 0, alone.stderr)
        self.assertEqual(both.stderr.count("goes back") + both.stdout.count("goes back"), went_back)

    def test_text_becomes_a_store_once(self):
        (self.folder / "text.txt").write_text("The cat sat on the mat.\nIt saw a dog.\n\n" * 60)
        words = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat it saw a dog .".split()
        (self.folder / "vocab.txt").write_text("\n".join(words) + "\n")
        steps = [word for word in STEPS if word != "--generated-data"]
        # Of four ranks, several ask for the store at a time.
        for steps_of_run, more in ((3, []), (5, ["--restore-dir=run"])):
            self.run_command(mpirun(4, "pretrain", *MODEL, *steps, "--input-file=text.txt",
                                    "--do-lower-case", "--vocab-file=vocab.txt", "--save-path=run",
                                    f"--num-train-steps={steps_of_run}", *more))
            self.assertEqual(len(losses(self.folder / "run")), steps_of_run)

    def test_standard_input_is_for_one_process(self):
        steps = [word for word in STEPS if word != "--generated-data"]
        result = self.run_command(mpirun(2, "pretrain", *MODEL, *steps, "--input-file=-", "--save-path=run",
                                         "--num-train-steps=2"), status=2)
        self.assertEqual(result.stderr.count("--input-file is standard input"), 1, result.stderr)

    def test_what_does_not_fit_is_said_once(self):
        words = [*RUN, "--num-train-steps=2", "--save-path=run"]
        for more, message in ((["--replicas=4"], "--replicas is 4, but mpirun started 2 processes; give --replicas 2 "
                               "--global-batch-size"),
                              (["--pipeline-stages=3"], "makes 3 processes a replica, but mpirun started 2"),
                              (["--pipeline-stages=5"], "--pipeline-stages is 5, but 2 layers"),
                              (["--pipeline-stages=2", "--replicas=2"],
                               "--replicas is 2 with 2 stages each, but mpirun started 2 processes"),
                              (["--pipeline-schedule=Other"], "Grouped, Interleaved, Sequential"),
                              (["--eager"], "--eager runs in one process"),
                              (["--restore-dir=none"], "none"), (["--seed=1", "--seed=2"], "seed")):
            with self.subTest(message):
                result = self.run_command(mpirun(2, *words, *more), status=2)
                said = [line for line in result.stderr.splitlines() if line.startswith("cloze: ")]
                self.assertEqual(len(said), 1, result.stderr)
                self.assertIn(message, said[0])
        result = self.run_command(mpirun(2, "squad"), status=2)
        self.assertEqual(result.stderr.count("squad runs in one process"), 1, result.stderr)

    def test_ranks_with_other_options_are_named(self):
        words = [*RUN, "--num-train-steps=2", "--save-path=run"]
        result = self.run_command(["mpirun", "-n", "1", PROGRAM, *words, ":", "-n", "1", PROGRAM, *words,
                                   "--seed=7"], status=2)
        self.assertRegex(result.stderr, "cloze: the first rank has seed 1234, .*rank 1 has 7")

    def test_divergence_ends_all(self):
        words = [word for word in RUN if not word.startswith("--base-learning-rate")]
        result = self.run_command(mpirun(2, *words, "--num-train-steps=9", "--base-learning-rate=1e38",
                                         "--save-path=run"), status=5)
        self.assertEqual(result.stderr.count("cloze: step"), 1, result.stderr)

    def test_a_signal_to_any_rank_saves_once(self):
        for rank in (0, 2):
            with self.subTest(rank=rank):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                process = self.start(3, "--save-path=run", "--steps-per-ckpts=1000000")
                os.kill(self.ranks_of(process, 3)[rank], signal.SIGTERM)
                messages = process.communicate(timeout=60)[1]
                self.assertEqual(process.returncode, 75, messages)
                self.assertEqual(len(list((self.folder / "run").glob("checkpoint-*"))), 1)
                self.assertEqual(list((self.folder / "run").glob("rank-*/checkpoint-*")), [])


if __name__ == "__main__":
    unittest.main()
