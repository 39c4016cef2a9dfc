"""What happens when one process of a run is not like the others: it has other data, another build,
another checkpoint or a full disk. All processes end with one code, and one line says which rank it
is and why.

Usage: mpirun_unlike_test.py PROGRAM
"""
import json
import pathlib
import re
import resource
import shutil
import struct
import unittest

import mpirun_faults_test as faults
import mpirun_test as runs

WORDS = "[PAD] [UNK] [CLS] [SEP] [MASK] the cat sat on mat it saw a dog .".split()
TEXT = "The cat sat on the mat.\nIt saw a dog.\n\n"
ON_DATA = ["pretrain", *runs.MODEL, *(word for word in runs.STEPS if word != "--generated-data"),
           "--num-train-steps=3"]


class UnlikeCase(faults.FaultCase):
    def setUp(self):
        super().setUp()
        self.homes = [self.folder / "of_0", self.folder / "of_1"]  # where each rank starts
        for home in self.homes:
            home.mkdir()

    def on_both(self, words, programs=(runs.PROGRAM, runs.PROGRAM)):
        command = ["mpirun"]
        for home, program in zip(self.homes, programs):
            command += [":"] * (len(command) > 1) + ["-n", "1", "-wdir", home, program, *words]
        return command

    def assert_said_once(self, messages, expected):
        said = [line for line in messages.splitlines() if line.startswith("cloze: ")]
        self.assertEqual(len(said), 1, messages)
        self.assertRegex(said[0], expected)

    def assert_ends(self, command, status, expected):
        self.assert_said_once(self.run_command(command, status).stderr, expected)


class UnlikeDataTest(UnlikeCase):
    def make_data(self, home, command, output, lines=60):
        (home / "text.txt").write_text(TEXT * lines)
        (home / "vocab.txt").write_text("\n".join(WORDS) + "\n")
        shapes = ["--sequence-length=32", "--mask-tokens=4"] if command == "records" else []
        self.run_command([runs.PROGRAM, "data", command, f"--input-file={home}/text.txt",
                          f"--vocab-file={home}/vocab.txt", "--do-lower-case",
                          f"--output-{'file' if command == 'records' else 'dir'}={home}/{output}", *shapes])

    def words(self, data):
        return [*ON_DATA, f"--train-file={data}", f"--save-path={self.folder}/run"]

    def test_other_data_are_refused(self):
        for command, data in (("records", "data.tfrecord"), ("tokens", "store")):
            with self.subTest(data):
                for i, home in enumerate(self.homes):
                    self.make_data(home, command, data, lines=60 + i)
                self.assert_ends(self.on_both(self.words(data)), 2,
                                 '^cloze: the first rank has data "[^"]+", rank 1 has "[^"]+"; '
                                 'start all ranks the same way$')
                self.assertFalse((self.folder / "run" / "metrics.jsonl").exists())

    def test_other_data_to_evaluate_on_are_refused(self):
        for i, home in enumerate(self.homes):
            self.make_data(home, "records", "data.tfrecord")
            self.make_data(home, "records", "held_out.tfrecord", lines=60 + i)
        words = [*self.words("data.tfrecord"), "--on-the-spot-validation-files=held_out.tfrecord"]
        self.assert_ends(self.on_both(words), 2, "^cloze: the first rank has data to evaluate on .*, rank 1 has ")

    def test_data_that_are_damaged_on_one_rank_end_all(self):
        for command, data, file in (("records", "data.tfrecord", "data.tfrecord"), ("tokens", "store", "store/*.tokens")):
            for rank in (0, 1):
                with self.subTest(data=data, rank=rank):
                    for home in self.homes:
                        shutil.rmtree(home / "store", ignore_errors=True)
                        self.make_data(home, command, data)
                    damaged = sorted(self.homes[rank].glob(file))[0]
                    content = bytearray(damaged.read_bytes())
                    content[40] ^= 0xff
                    damaged.write_bytes(content)
                    self.assert_ends(self.on_both(self.words(data)), 3,
                                     f"^cloze: {'rank 1: ' * rank}.*{re.escape(damaged.name)}")


class UnlikeBuildTest(UnlikeCase):
    def test_another_build_is_refused(self):
        """The other build differs only in the name of the compiler."""
        compiler = re.search("^compiler (.*)$", self.run_command([runs.PROGRAM, "--version"]).stdout, re.M).group(1)
        changed = compiler[:-1] + "x"
        program = pathlib.Path(runs.PROGRAM).read_bytes()
        other = self.folder / "other"
        other.write_bytes(program.replace(compiler.encode() + b"\0", changed.encode() + b"\0"))
        other.chmod(0o755)
        self.assert_ends(self.on_both([*runs.RUN, "--num-train-steps=2", f"--save-path={self.folder}/run"],
                                      (runs.PROGRAM, other)), 2,
                         f'^cloze: the first rank has build ".*, {re.escape(compiler)}, .*", rank 1 has '
                         f'".*, {re.escape(changed)}, .*"; start all ranks the same way$')


class UnlikeCheckpointTest(UnlikeCase):
    """The checkpoint of a run lacks a part: for every rank, or for one."""

    def setUp(self):
        super().setUp()
        self.run_command([runs.PROGRAM, *runs.RUN, "--num-train-steps=8", "--steps-per-ckpts=4", "--save-path=run"])
        for home in self.homes:
            shutil.copytree(self.folder / "run", home / "run")

    def words(self, *more):
        return [*runs.RUN, "--num-train-steps=9", f"--save-path={self.folder}/next", *more]

    def test_a_part_that_all_miss(self):
        for layout in ([], ["--pipeline-stages=2"], ["--replicated-tensor-sharding"]):
            with self.subTest(layout):
                for home in self.homes:
                    shutil.rmtree(home / "run")
                    shutil.copytree(self.folder / "run", home / "run")
                    (home / "run" / "checkpoint-8" / "optimizer.safetensors").unlink()
                shutil.rmtree(self.folder / "next", ignore_errors=True)
                words = self.words("--restore-dir=run", *layout)
                messages = self.run_command(self.on_both(words)).stderr
                self.assertEqual(len(re.findall("^skipped checkpoint-8: .*optimizer.safetensors", messages, re.M)), 1,
                                 messages)
                self.assertIn("resumed from run/checkpoint-4 ", messages)
                shutil.rmtree(self.folder / "next")
                for home in self.homes:
                    (home / "run" / "checkpoint-4" / "model.safetensors").unlink()
                self.assert_ends(self.on_both(words), 3, "^cloze: .*checkpoint-8.*optimizer.safetensors")

    def test_a_part_that_one_rank_misses(self):
        for rank in (0, 1):
            with self.subTest(rank=rank):
                part = self.homes[rank] / "run" / "checkpoint-8" / "optimizer.safetensors"
                part.rename(self.folder / "part")
                older, newer = ("checkpoint-4", "checkpoint-8") if rank == 0 else ("checkpoint-8", "checkpoint-4")
                self.assert_ends(self.on_both(self.words("--restore-dir=run")), 2,
                                 f'^cloze: the first rank has the newest checkpoint "{older} .*", rank 1 has "{newer} ')
                (self.folder / "part").rename(part)

    def make_shards(self, home):
        """Splits the model into two files, with an index that says which tensor is where."""
        folder = home / "start"
        shutil.copytree(home / "run" / "checkpoint-8", folder)
        (folder / "manifest.json").unlink()
        data = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").unlink()
        (size,) = struct.unpack("<Q", data[:8])
        header = json.loads(data[8:8 + size])
        header.pop("__metadata__", None)
        places = {name: f"model-0000{1 + i % 2}-of-00002.safetensors" for i, name in enumerate(header)}
        for file in set(places.values()):
            own, values = {}, b""
            for name in (name for name, place in places.items() if place == file):
                begin, end = header[name]["data_offsets"]
                own[name] = {**header[name], "data_offsets": [len(values), len(values) + end - begin]}
                values += data[8 + size + begin:8 + size + end]
            text = json.dumps(own).encode()
            (folder / file).write_bytes(struct.pack("<Q", len(text)) + text + values)
        (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": places}))

    def test_a_shard_that_is_missing(self):
        for home in self.homes:
            self.make_shards(home)
        words = self.words("--init-checkpoint=start")
        self.run_command(self.on_both(words))
        shutil.rmtree(self.folder / "next")
        shard = pathlib.Path("start") / "model-00002-of-00002.safetensors"
        (self.homes[1] / shard).unlink()
        self.assert_ends(self.on_both(words), 2, '^cloze: the first rank has --init-checkpoint "[^"]+", rank 1 has ')
        (self.homes[0] / shard).unlink()
        self.assert_ends(self.on_both(words), 2, f"^cloze: cannot open {shard}")


class FullDiskTest(UnlikeCase):
    def test_a_rank_that_cannot_write_ends_all(self):
        for rank, file in ((0, r"run/"), (1, r"run/rank-1/")):
            with self.subTest(rank=rank):
                shutil.rmtree(self.folder / "run", ignore_errors=True)
                process = self.start(2, "--save-path=run", "--steps-per-ckpts=1000000")
                ranks = self.ranks_of(process, 2)
                resource.prlimit(ranks[rank], resource.RLIMIT_FSIZE, (2000, 2000))
                messages = self.assert_all_end(process, ranks, faults.ENDS_WITHIN)
                self.assertEqual(process.returncode, 4, messages)
                self.assert_said_once(messages, f"^cloze: {'rank 1: ' * rank}cannot write.*{file}.*too large")


if __name__ == "__main__":
    unittest.main()
