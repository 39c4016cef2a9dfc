"""The memory that each command forecasts is what the system counts (VmHWM), for small models.

Usage: memory_program_test.py PROGRAM
Inputs fill the largest micro-batch, because the forecast is made for that.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import mpirun_test as runs
from training_runs import words_of  # mpirun_test has put its folder on the path

PROGRAM = runs.PROGRAM
WORDS = "the cat sat on mat . dog ran hill and then it went home who where ?".split()
CONTEXT = " ".join(["the cat sat on the mat . the dog ran on the hill . then it went home ."] * 15)
MODEL = {"vocab_size": 8000, "hidden_size": 256, "num_hidden_layers": 4, "num_attention_heads": 4,
         "intermediate_size": 1024, "max_position_embeddings": 384}
RUN = {**MODEL, "threads": 2, "progress_bar": "false", "num_train_steps": 2}
MEBIBYTE = 1 << 20
TEXTS = 14  # of 280 tokens: together nearly the 4096 of the largest micro-batch
# Not in the plan: code that runs for the first time, stacks of threads, what the allocator keeps.
MOST_OVER, MOST_UNDER = 1.04, 0.94


def planned_in(messages):
    return float(re.search(r"memory: about ([\d.]+) MiB", messages).group(1)) * MEBIBYTE


def peak_of(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status).group(1)) * 1024


class MemoryCase(unittest.TestCase):
    def expect_planned(self, peak, planned):
        print(f"{self.id().split('.')[-1]}: {peak / MEBIBYTE:.1f} MiB at the peak, "
              f"{planned / MEBIBYTE:.1f} planned", file=sys.stderr)
        self.assertLess(peak, planned * MOST_OVER)
        self.assertGreater(peak, planned * MOST_UNDER)

    def expect_outcome(self, messages):
        """Returns by how many bytes the peak was over the plan."""
        peak, planned = (float(value) * MEBIBYTE for value in re.search(
            r"memory: ([\d.]+) MiB at the peak, ([\d.]+) MiB planned", messages).groups())
        self.expect_planned(peak, planned)
        return peak - planned


class MemoryOfCommands(MemoryCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        rest = [f"word{i}" for i in range(MODEL["vocab_size"] - len(special) - len(WORDS))]
        (cls.folder / "vocab.txt").write_text("\n".join(special + WORDS + rest) + "\n")
        cls.write_squad()
        cls.write_glue()
        cls.models = {name: cls.trained(name) for name in ("pretrain", "squad", "glue")}

    @classmethod
    def write_squad(cls):
        answer = [{"text": "cat", "answer_start": CONTEXT.index("cat")}]
        questions = [{"id": str(i), "question": f"who sat {i} ?", "answers": answer}
                     for i in range(24)]
        (cls.folder / "squad.json").write_text(json.dumps({"version": "1.1", "data": [
            {"title": "t", "paragraphs": [{"context": CONTEXT, "qas": questions}]}]}))

    @classmethod
    def write_glue(cls):
        (cls.folder / "glue" / "RTE").mkdir(parents=True)
        rows = "".join(f"{i}\t{CONTEXT}\tthe dog ran\t{('entailment', 'not_entailment')[i % 2]}\n"
                       for i in range(24))
        for split in ("train", "dev"):
            (cls.folder / "glue" / "RTE" / f"{split}.tsv").write_text(
                "index\tsentence1\tsentence2\tlabel\n" + rows)

    @classmethod
    def trained(cls, command):
        """Trains a model. Returns its folder of checkpoints and what the program printed."""
        options = {
            "pretrain": {"generated_data": "true", "seq_length": 128, "vocab_file": "vocab.txt"},
            "squad": {"train_file": "squad.json", "predict_file": "squad.json",
                      "vocab_file": "vocab.txt"},
            "glue": {"task_name": "RTE", "data_dir": "glue", "seq_length": 384,
                     "vocab_file": "vocab.txt"}}[command]
        messages = cls.run_program(command, {**RUN, **options, "save_path": command})
        return cls.folder / command, messages

    @classmethod
    def run_program(cls, command, options, extra=(), text=""):
        result = subprocess.run([PROGRAM, command, *words_of(options), *extra], cwd=cls.folder,
                                input=text, capture_output=True, text=True, timeout=300)
        if result.returncode:
            raise AssertionError(f"{command}: {result.stderr}")
        return result.stderr + result.stdout

    def peak_while_running(self, command, options, text=""):
        """Returns the peak that the system counted by the end of the command, and its messages."""
        with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile("w+") as said:
            given.write(text)
            given.seek(0)
            process = subprocess.Popen([PROGRAM, command, *words_of(options)], cwd=self.folder,
                                       stdin=given, stdout=subprocess.DEVNULL, stderr=said)
            status, usage = os.wait4(process.pid, 0)[1:]
            process.returncode = os.waitstatus_to_exitcode(status)
            said.seek(0)
            messages = said.read()
        self.assertEqual(process.returncode, 0, messages)
        return usage.ru_maxrss * 1024, messages

    def expect_command(self, command, options, text=""):
        peak, messages = self.peak_while_running(command, options, text)
        self.expect_planned(peak, planned_in(messages))

    def test_pretrain(self):
        self.expect_outcome(self.models["pretrain"][1])

    def test_pretrain_in_bf16(self):
        """Where oneDNN serves linear layers, the plan includes the memory that oneDNN keeps."""
        over = [self.expect_outcome(self.run_program("pretrain", {
            **RUN, "generated_data": "true", "seq_length": 128, "precision": "bf16",
            "instruction_set": instruction_set, "save_path": f"bf16-{instruction_set}"}))
            for instruction_set in ("auto", "avx2")]
        self.assertLess(abs(over[0] - over[1]), 2 * MEBIBYTE)

    def test_pretrain_that_saves_beside_its_steps(self):
        messages = self.run_program("pretrain", {
            **RUN, "generated_data": "true", "seq_length": 128, "steps_per_ckpts": 1,
            "save_path": "saving"})
        self.expect_outcome(messages)
        copy = re.search(r"([\d.]+) for a copy to save", messages).group(1)
        saved = sum((self.folder / "saving" / "checkpoint-2" / f"{part}.safetensors").stat().st_size
                    for part in ("model", "optimizer"))
        self.assertAlmostEqual(float(copy) * MEBIBYTE / saved, 1.0, delta=0.01)
        self.assertNotIn("a copy to save", self.models["pretrain"][1])

    def test_plan(self):
        text = self.run_program("plan", {**RUN, "seq_length": 128})
        self.expect_planned(planned_in(self.models["pretrain"][1]), planned_in(text))
        for precision in ("bf16", "fp16"):
            narrow = self.run_program("plan", {**RUN, "seq_length": 128, "precision": precision})
            self.assertLess(planned_in(narrow), planned_in(text))

    def test_squad_with_evaluation(self):
        self.expect_outcome(self.models["squad"][1])

    def test_glue_with_evaluation(self):
        self.expect_outcome(self.models["glue"][1])

    def test_squad_predicts(self):
        self.expect_command("squad", {"predict_file": "squad.json", "do_predict": "true",
                                      "init_checkpoint": "squad", "output_dir": "predicted",
                                      "threads": 2, "progress_bar": "false"})

    def test_compile(self):
        for precision in ("f32", "bf16"):
            self.expect_command("compile", {
                "init_checkpoint": "squad", "output_file": f"{precision}.cloze",
                "precision": precision})

    def test_answer(self):
        lines = json.dumps({"question": "who sat ?", "context": CONTEXT}) + "\n"
        (self.folder / "questions.jsonl").write_text(lines * TEXTS)
        self.expect_command("answer", {"init_checkpoint": "squad", "threads": 2,
                                       "input_file": "questions.jsonl"})

    def test_classify(self):
        self.expect_command("classify", {"init_checkpoint": "glue", "threads": 2},
                            (CONTEXT + "\n") * TEXTS)

    def test_fill(self):
        self.expect_command("fill", {"init_checkpoint": "pretrain", "threads": 2},
                            (CONTEXT + " [MASK] " * 4 + "\n") * TEXTS)

    def test_serve(self):
        self.run_program("compile", {"init_checkpoint": "squad", "output_file": "served.cloze"})
        for checkpoint in ("squad", "served.cloze"):  # compiled in memory, and beforehand
            said = self.folder / "serve.log"
            with said.open("w") as log:
                server = subprocess.Popen(
                    [PROGRAM, "serve", *words_of({"init_checkpoint": checkpoint, "threads": 2, "port": 0})],
                    cwd=self.folder, stderr=log)
            try:
                self.ask(self.address_in(said))
                peak = peak_of(server.pid)
            finally:
                server.terminate()
                server.wait(60)
            self.expect_planned(peak, planned_in(said.read_text()))

    def address_in(self, said):
        deadline = time.monotonic() + 60
        while not (address := re.search(r"http://\S+?(?=/:)", said.read_text())):
            self.assertLess(time.monotonic(), deadline, said.read_text())
            time.sleep(0.05)
        return address[0]

    def ask(self, address):
        inputs = [{"question": "who sat ?", "context": CONTEXT}] * TEXTS
        for asked in (inputs[:1], inputs[:5], inputs):
            request = urllib.request.Request(
                f"{address}/answer", json.dumps({"inputs": asked}).encode(),
                {"Content-Type": "application/json"})
            urllib.request.urlopen(request, timeout=60).read()


@unittest.skipUnless(shutil.which("mpirun"), "mpirun is not installed")
class MemoryOfRanks(MemoryCase):
    """Most of the model is its word embeddings, which both ends of a pipeline have."""

    def expect_ranks(self, *more):
        options = {**RUN, "vocab_size": 60000, "hidden_size": 384, "num_hidden_layers": 2, "threads": 1, "seq_length": 64,
                   "tokens_per_micro_batch": 256, "global_batch_size": 8, "max_predictions_per_seq": 4,
                   "generated_data": "true", "save_path": "run"}
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(["mpirun", "-n", "2", PROGRAM, "pretrain", *words_of(options), *more],
                                    cwd=folder, env=runs.ENVIRONMENT, capture_output=True, text=True, timeout=300)
            if "part for MPI" in result.stderr:
                self.skipTest("built without its part for MPI")
            self.assertEqual(result.returncode, 0, result.stderr)
            for messages in (result.stderr, (pathlib.Path(folder) / "run" / "rank-1" / "log.txt").read_text()):
                self.expect_outcome(messages)

    def test_of_a_pipeline(self):
        self.expect_ranks("--pipeline-stages=2")

    def test_of_a_pipeline_that_saves_between_steps(self):
        self.expect_ranks("--pipeline-stages=2", "--steps-per-ckpts=1")

    def test_of_replicas(self):
        self.expect_ranks()


class MemoryGroup:
    """A control group (version 1 or 2) with this much memory and no swap. Raises OSError where no
    group can be made."""

    def __init__(self, limit):
        version_1 = pathlib.Path("/sys/fs/cgroup/memory")
        if version_1.is_dir():
            own = re.search(r":memory:(/.*)", pathlib.Path("/proc/self/cgroup").read_text())[1]
            parent, limits = version_1 / own.strip("/"), {"memory.limit_in_bytes": limit, "memory.swappiness": 0}
        else:
            parent, limits = version_1.parent, {"memory.max": limit, "memory.swap.max": 0}
        self.folder = parent / f"cloze-test-{os.getpid()}"
        self.folder.mkdir()
        try:
            for name, value in limits.items():
                with (self.folder / name).open("r+") as file:  # an ordinary folder has no such file
                    file.write(str(value))
        except OSError:
            self.remove()
            raise

    def join(self):
        (self.folder / "cgroup.procs").write_text(str(os.getpid()))

    def remove(self):
        self.folder.rmdir()


class StatesInAFileTest(unittest.TestCase):
    """The limit leaves room for the weights and a step, but not for the states beside them."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "states").mkdir()

    def run_limited(self, limit, *more):
        return subprocess.run(
            [PROGRAM, "pretrain", *words_of({**RUN, "threads": 1, "num_train_steps": 3, "seq_length": 32,
                                             "global_batch_size": 8, "tokens_per_micro_batch": 64,
                                             "max_predictions_per_seq": 4, "optimizer": "adamw",
                                             "save_path": "run"}), "--generated-data", *more],
            cwd=self.folder, capture_output=True, text=True, preexec_fn=limit)

    def expect_trained_with_a_file(self, limit):
        with_file = self.run_limited(limit, "--optimizer-state-folder=states", "--steps-per-ckpts=2")
        self.assertEqual(with_file.returncode, 0, with_file.stderr)
        self.assertEqual(list((self.folder / "states").iterdir()), [])
        self.assertTrue((self.folder / "run" / "checkpoint-2" / "optimizer.safetensors").exists())

    def test_train_and_save_in_less_memory(self):
        bytes_of_data = 80 * MEBIBYTE  # not mapped from files; the run has 102, 61 without states

        def limit():
            resource.setrlimit(resource.RLIMIT_DATA, (bytes_of_data, bytes_of_data))
        without = self.run_limited(limit)
        self.assertEqual(without.returncode, 4, without.stderr)
        self.assertIn("cannot allocate", without.stderr)
        self.expect_trained_with_a_file(limit)

    def test_train_and_save_in_a_control_group(self):
        system = subprocess.run(["stat", "--file-system", "--format=%T", self.folder], capture_output=True,
                                text=True).stdout.strip()
        if system == "tmpfs":
            self.skipTest(f"{self.folder} is in memory itself; name a folder on a disk by TMPDIR")
        try:
            group = MemoryGroup(80 * MEBIBYTE)  # the run has 107 without pages of files, 64 of them without states
        except OSError as error:
            self.skipTest(f"no control group can be made here: {error}")
        self.addCleanup(group.remove)
        without = self.run_limited(group.join)
        self.assertEqual(without.returncode, -signal.SIGKILL, without.stderr)
        self.expect_trained_with_a_file(group.join)


if __name__ == "__main__":
    unittest.main()
