"""The Python module from a wheel: arrays, errors, ten threads at once, Ctrl-C, memory over many calls.

Usage: PYTHON python_wheel_test.py, with a Python that has the wheel: scripts/check_python runs it. Without an
argument that says otherwise it takes the Python of build/python; exit status 77 where there is none.
CLOZE_LEAK_CALLS is the number of calls that the check of memory makes (100000).
"""
import concurrent.futures
import contextlib
import gc
import importlib.util
import itertools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

from fixture_folders import copy_encoder, copy_model, write_text, write_vocabulary

INSTALLED = pathlib.Path(__file__).resolve().parent.parent / "build" / "python" / "bin" / "python"
CALLS = int(os.environ.get("CLOZE_LEAK_CALLS", "100000"))
MOST_GROWTH = 2 << 20  # bytes of 100,000 calls: a leak of 20 bytes for each
TEXTS = ("the cat sat on the hill .", "a dog ran", "who sat ? the zebra")

if importlib.util.find_spec("cloze") is None:
    if not INSTALLED.exists():
        print(f"SKIPPED: no wheel is installed in {INSTALLED.parent.parent}; scripts/check_python builds it")
        sys.exit(77)
    os.execv(INSTALLED, [str(INSTALLED), "-B", *sys.argv])

import cloze  # noqa: E402  found out above
import numpy  # noqa: E402


SMALL_RUN = dict(generated_data=True, vocab_size=64, hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                 intermediate_size=16, seq_length=32, max_position_embeddings=32, micro_batch_size=2,
                 global_batch_size=4, max_predictions_per_seq=4, threads=1, steps_per_logs=1)


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# A program in the background of a shell ignores Ctrl-C, as do its children unless they ask for it.
TAKES_CTRL_C = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"


@contextlib.contextmanager
def started(program, *arguments):
    """A Python that runs a program, and is gone afterwards."""
    words = [sys.executable, "-c", TAKES_CTRL_C + program, *map(str, arguments)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as child:
        try:
            yield child
        finally:
            child.kill()


class WheelTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_vocabulary(cls.folder, 32)
        for name in ("classification", "token_classification", "question_answering", "pretraining_a"):
            copy_model(name, cls.folder / name)
        copy_encoder(cls.folder / "encoder")
        cls.tokenizer = cloze.Tokenizer(str(cls.folder / "vocab.txt"))

    def open(self, task, name, **options):
        return task(str(self.folder / name), **options)

    def said(self, call, *arguments, **options):
        with self.assertRaises(cloze.Error) as caught:
            call(*arguments, **options)
        return str(caught.exception)

    def test_offsets_count_characters(self):
        text = "\u00e9 The \U0001f600 cat running"
        encoding = self.tokenizer.encode(text, "a \u00e9 dog")
        places = [tuple(place) for place in encoding.offsets.tolist()]
        self.assertEqual(encoding.tokens, ["[CLS]", "[UNK]", "the", "[UNK]", "cat", "run", "##ning", "[SEP]", "a",
                                           "[UNK]", "dog", "[SEP]"])
        self.assertEqual(places, [(0, 0), (0, 1), (2, 5), (6, 7), (8, 11), (12, 15), (15, 19), (0, 0), (0, 1), (2, 3),
                                  (4, 7), (0, 0)])
        self.assertEqual(encoding.types.tolist(), [0] * 8 + [1] * 4)
        self.assertEqual(encoding.special.nonzero()[0].tolist(), [0, 7, 11])

    def test_a_batch_is_its_sequences(self):
        batch = self.tokenizer.encode_batch(TEXTS, max_tokens=5, threads=2)
        self.assertEqual((len(batch), batch.lengths.tolist(), batch.cut.tolist()), (3, [5, 5, 5], [4, 0, 2]))
        for number, text in enumerate(TEXTS):
            alone = self.tokenizer.encode(text, max_tokens=5)
            for name in ("ids", "types", "special", "offsets"):
                numpy.testing.assert_array_equal(getattr(batch[number], name), getattr(alone, name))
            self.assertEqual((len(alone), batch[number].cut), (5, alone.cut))
        self.assertEqual(batch[-1].tokens, batch[2].tokens)
        with self.assertRaises(IndexError):
            batch[3]
        self.assertEqual((batch.ids.dtype, batch.special.dtype), (numpy.int32, numpy.bool_))
        bare = self.tokenizer.encode("a dog", special_tokens=False)
        self.assertEqual(bare.tokens, ["a", "dog"])
        nothing = self.tokenizer.encode_batch([])
        self.assertEqual((len(nothing), nothing.ids.shape, nothing.offsets.shape), (0, (0,), (0, 2)))

    def test_arrays_outlive_what_gave_them(self):
        ids = self.tokenizer.encode_batch(TEXTS)[1].ids
        gc.collect()
        self.tokenizer.encode_batch(TEXTS * 100)
        self.assertEqual(ids.tolist(), self.tokenizer.encode(TEXTS[1]).ids.tolist())

    def test_rows_of_equal_length(self):
        rows = self.tokenizer.encode_batch(["a dog", "a"]).padded(6, fill=9)
        self.assertEqual(rows["input_ids"].tolist(), [[2, 11, 7, 3, 9, 9], [2, 11, 3, 9, 9, 9]])
        self.assertEqual(rows["attention_mask"].tolist(), [[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0]])
        self.assertEqual(rows["token_type_ids"].shape, (2, 6))
        self.assertEqual(self.tokenizer.encode_batch(["a dog", "a"]).padded()["input_ids"].shape, (2, 4))
        with self.assertRaisesRegex(ValueError, "4 tokens and `length` is 3; encode with max_tokens=3"):
            self.tokenizer.encode_batch(["a dog"]).padded(3)

    def test_ids_come_as_arrays_or_lists(self):
        ids = self.tokenizer.encode("the dog ran").ids
        for form in (ids, ids.tolist(), tuple(ids.tolist()), ids.astype(numpy.int64)):
            self.assertEqual(self.tokenizer.decode(form), "the dog ran")
        self.assertEqual(self.tokenizer.decode(ids, special_tokens=True), "[CLS] the dog ran [SEP]")

    def test_texts_are_strings_in_a_sequence(self):
        for texts in (list(TEXTS), TEXTS, numpy.array(TEXTS)):
            self.assertEqual(len(self.tokenizer.encode_batch(texts)), 3)
        with self.assertRaisesRegex(TypeError, "one text where a list of them is needed"):
            self.tokenizer.encode_batch("a dog")
        with self.assertRaisesRegex(TypeError, "text 1 is a int; give a str"):
            self.tokenizer.encode_batch(["a", 2])
        with self.assertRaises(UnicodeEncodeError):
            self.tokenizer.encode("\ud800")

    def test_what_fails_has_the_sentence_and_the_status(self):
        self.assertIn("no/model does not exist; give a packed model", self.said(cloze.Classifier, "no/model"))
        self.assertIn("token id 99; the tokenizer has 0 to 31", self.said(self.tokenizer.decode, [99]))
        self.assertIn("3 texts have 1 second texts", self.said(self.tokenizer.encode_batch, TEXTS, ["a"]))
        classifier = self.open(cloze.Classifier, "classification")
        self.assertIn("3 texts have 2 second texts", self.said(classifier.classify, TEXTS, ["a", "b"]))
        answerer = self.open(cloze.Answerer, "question_answering")
        self.assertIn("1 questions have 2 contexts", self.said(answerer.answer, ["who"], ["a", "b"]))
        with self.assertRaises(ValueError) as caught:
            self.tokenizer.id("zebra")
        self.assertEqual((type(caught.exception), caught.exception.status), (cloze.UsageError, 2))
        packed = self.folder / "broken.cloze"
        subprocess.run([sys.executable, "-m", "cloze", "compile", "--init-checkpoint", self.folder / "classification",
                        "--output-file", packed], check=True, capture_output=True)
        content = packed.read_bytes()
        packed.write_bytes(content[:100] + bytes([content[100] ^ 1]) + content[101:])
        with self.assertRaisesRegex(cloze.Error, "the file is damaged") as caught:
            cloze.Classifier(packed)
        self.assertEqual((type(caught.exception), caught.exception.status), (cloze.Error, 3))

    def test_vectors_are_an_array(self):
        embedder = self.open(cloze.Embedder, "encoder")
        vectors = embedder.embed(TEXTS)
        self.assertEqual((vectors.shape, vectors.dtype), ((3, embedder.dimensions), numpy.float32))
        many = embedder.embed(TEXTS * 100)
        numpy.testing.assert_array_equal(many, numpy.tile(vectors, (100, 1)))
        numpy.testing.assert_array_equal(embedder.embed(TEXTS, dimensions=4), vectors[:, :4])
        self.assertFalse(numpy.array_equal(embedder.embed(TEXTS, prompt="cat "), vectors))
        self.assertEqual(embedder.embed([]).shape, (0, embedder.dimensions))

    def test_a_part_counts_from_the_whole(self):
        """More texts than one part has: places and numbers are still those of the text."""
        texts = ["the cat sat on \u00e9 hill ."] * 70
        for tags in self.open(cloze.Tagger, "token_classification").tag(texts, aggregation="simple"):
            self.assertTrue(tags.tags)
            for tag in tags.tags:
                self.assertEqual(texts[0][tag.begin:tag.end], tag.text)
        blanks = self.open(cloze.Filler, "pretraining_a").fill(["\u00e9 [MASK] ran"] * 70, top_k=2)
        self.assertEqual([[(blank.begin, blank.end, len(blank.words)) for blank in of] for of in blanks],
                         [[(2, 8, 2)]] * 70)
        answers = self.open(cloze.Answerer, "question_answering").answer(["who ?"] * 70, texts, top_k=1)
        for answer in answers:
            item = answer.answers[0]
            self.assertEqual(texts[0][item.begin:item.end], item.text)

    def test_ten_threads_at_once(self):
        classifier = self.open(cloze.Classifier, "classification", threads=1)
        expected = [repr(one) for one in classifier.classify(TEXTS)]
        tokens = self.tokenizer.encode_batch(TEXTS).ids.tolist()
        barrier = threading.Barrier(10)

        def work(_):
            barrier.wait()
            for _ in range(200):
                self.assertEqual([repr(one) for one in classifier.classify(TEXTS)], expected)
                self.assertEqual(self.tokenizer.encode_batch(TEXTS).ids.tolist(), tokens)
            return True

        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            self.assertEqual(list(pool.map(work, range(10))), [True] * 10)

    def test_others_run_meanwhile(self):
        """A thread counts while another one computes."""
        embedder = self.open(cloze.Embedder, "encoder", threads=1)
        done = threading.Event()
        thread = threading.Thread(target=lambda: (embedder.embed(list(TEXTS) * 3000), done.set()))
        thread.start()
        counted = 0
        while not done.is_set():
            counted += 1
            time.sleep(0.0001)
        thread.join()
        self.assertGreater(counted, 100)

    def test_ctrl_c_stops_a_call(self):
        program = ("import cloze, sys\nembedder = cloze.Embedder(sys.argv[1])\nprint('ready', flush=True)\n"
                   "try:\n  embedder.embed(['the cat sat on a hill . ' * 8] * 3000000)\n"
                   "except KeyboardInterrupt:\n  print('interrupted')\n")
        with started(program, self.folder / "encoder") as child:
            self.assertEqual(child.stdout.readline(), "ready\n")
            time.sleep(1)
            child.send_signal(signal.SIGINT)
            start = time.monotonic()
            self.assertEqual(child.communicate(timeout=60)[0], "interrupted\n")
            self.assertLess(time.monotonic() - start, 10)

    def test_calls_leave_no_memory_behind(self):
        classifier = self.open(cloze.Classifier, "classification", threads=1)
        embedder = self.open(cloze.Embedder, "encoder", threads=1)

        def refused():
            try:
                self.tokenizer.id("zebra")
            except cloze.UsageError:
                pass

        calls = (lambda: self.tokenizer.encode("\u00e9 cat").tokens, lambda: self.tokenizer.encode_batch(TEXTS).padded(),
                 lambda: self.tokenizer.encode_batch(TEXTS)[1].offsets, lambda: self.tokenizer.decode([5, 6]),
                 lambda: repr(classifier.classify(TEXTS[:1])), lambda: embedder.embed(TEXTS[:1]), refused)

        def call(count):
            for number in range(count):
                calls[number % len(calls)]()
            gc.collect()
            return resident_bytes()

        before = call(CALLS // 5)
        growth = call(CALLS) - before
        print(f"{CALLS} calls: {growth / 1024:.0f} KiB more", file=sys.stderr)
        self.assertLess(growth, MOST_GROWTH)

    def test_the_program_is_there(self):
        printed = subprocess.run([sys.executable, "-m", "cloze", "--version"], capture_output=True, text=True, timeout=60)
        self.assertEqual(printed.stdout.split()[:2], ["cloze", cloze.__version__], printed.stderr)
        on_path = pathlib.Path(sys.executable).parent / "cloze"
        listed = subprocess.run([on_path, "benchmark", "--list"], capture_output=True, text=True, timeout=60)
        self.assertIn("bert_tiny_pretrain\n", listed.stdout, listed.stderr)

    def test_what_is_public_is_there_and_says_what_it_is(self):
        for name in cloze.__all__:
            self.assertTrue(getattr(cloze, name).__doc__, name)
        self.assertIn("Filler", repr(cloze.Filler))
        self.assertEqual(repr(self.tokenizer.encode("a dog")), "<cloze.Encoding of 4 tokens>")
        self.assertIn("WordItem(token='[SEP]'", repr(self.open(cloze.Filler, "pretraining_a").fill(["[MASK]"], top_k=32)))


class DatasetTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        write_vocabulary(cls.folder, 32)
        write_text(cls.folder)
        cls.dataset(input_file=cls.folder / "text", vocab_file=cls.folder / "vocab.txt")

    @classmethod
    def dataset(cls, **options):
        return cloze.Dataset(cls.folder / "store", **{"batch_size": 8, "seq_length": 32, **options})

    def batches(self, count, **options):
        return list(itertools.islice(self.dataset(**options), count))

    def test_batches_follow_from_their_number(self):
        dataset = self.dataset()
        self.assertEqual(len(dataset), dataset.samples // 8)
        batches = self.batches(2 * len(dataset))
        for first in (0, 1, len(dataset)):
            for name, values in self.batches(1, first_batch=first, threads=2)[0].items():
                numpy.testing.assert_array_equal(values, batches[first][name])
        self.assertFalse(numpy.array_equal(batches[0]["input_ids"], batches[len(dataset)]["input_ids"]))
        self.assertFalse(numpy.array_equal(batches[0]["input_ids"], self.batches(1, seed=1)[0]["input_ids"]))

    def test_rows_hold_what_is_packed(self):
        for packed, padded in zip(self.batches(5), self.batches(5, packed=False)):
            is_token = padded["attention_mask"] == 1
            self.assertEqual(padded["input_ids"].shape, (8, 32))
            for name in ("input_ids", "token_type_ids"):
                numpy.testing.assert_array_equal(padded[name][is_token], packed[name])
            numpy.testing.assert_array_equal(padded["attention_mask"].sum(axis=1), numpy.diff(packed["sequence_starts"]))
            labels = padded["labels"][is_token]
            numpy.testing.assert_array_equal((labels != -100).nonzero()[0], packed["masked_positions"])
            numpy.testing.assert_array_equal(labels[labels != -100], packed["masked_labels"])
            numpy.testing.assert_array_equal(padded["next_sentence_label"], packed["next_sentence_labels"])
            self.assertTrue((packed["input_ids"][packed["sequence_starts"][:-1]] == 2).all())
            self.assertTrue((padded["labels"][~is_token] == -100).all())

    def test_without_pairs_there_are_no_labels_of_them(self):
        (batch,) = self.batches(1, next_sentence="none")
        self.assertNotIn("next_sentence_labels", batch)
        self.assertEqual(batch["token_type_ids"].max(), 0)

    def test_what_cannot_be_is_refused(self):
        with self.assertRaisesRegex(cloze.UsageError, 'next_sentence is "never"; choose random, order or none'):
            self.dataset(next_sentence="never")
        with self.assertRaisesRegex(cloze.UsageError, "batch_size is 0; choose 1 to"):
            next(iter(self.dataset(batch_size=0)))
        with self.assertRaisesRegex(cloze.UsageError, "is not a token store"):
            cloze.Dataset(self.folder / "text")
        with self.assertRaisesRegex(cloze.UsageError, "--vocab-file"):
            cloze.Dataset(self.folder / "none", input_file=self.folder / "text")


class RunsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name) / "run"

    def pretrain(self, **options):
        return cloze.pretrain(save_path=self.folder, **SMALL_RUN, **options)

    def test_a_run_reports_each_step_once(self):
        steps = []
        run = self.pretrain(num_train_steps=5, on_metrics=lambda line: steps.append(line["step"]))
        self.assertEqual(steps, [1, 2, 3, 4, 5])
        self.assertEqual([line["step"] for line in run.metrics], steps)
        self.assertEqual(run.save_path, self.folder)
        self.assertTrue((run.save_path / "checkpoint-5").is_dir())
        self.assertIn("step 5/5", run.messages)

    def test_an_exception_saves_and_a_resumed_run_reports_what_is_new(self):
        class Enough(Exception):
            pass

        def stop_after(count, seen):
            def stop(line):
                seen.append(line["step"])
                if len(seen) == count:
                    raise Enough
            return stop

        with self.assertRaises(Enough):
            self.pretrain(num_train_steps=100000, on_metrics=stop_after(3, []))
        (saved,) = self.folder.glob("checkpoint-*")
        first = int(saved.name.partition("-")[2])
        self.assertGreaterEqual(first, 3)
        steps = []
        with self.assertRaises(Enough):
            cloze.pretrain(restore_dir=self.folder, on_metrics=stop_after(4, steps))
        self.assertEqual(steps, [first + 1, first + 2, first + 3, first + 4])

    def test_ctrl_c_saves(self):
        program = textwrap.dedent("""
            import cloze, sys
            try:
                cloze.pretrain(save_path=sys.argv[1], num_train_steps=100000,
                               on_metrics=lambda line: print("step", flush=True), **eval(sys.argv[2]))
            except KeyboardInterrupt:
                print("interrupted")
            """)
        with started(program, self.folder, repr(SMALL_RUN)) as child:
            self.assertEqual(child.stdout.readline(), "step\n")
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.communicate(timeout=60)[0].splitlines()[-1], "interrupted")
        self.assertEqual(len(list(self.folder.glob("checkpoint-*"))), 1)

    def test_what_the_program_refuses_has_its_sentence(self):
        with self.assertRaises(cloze.UsageError) as caught:
            self.pretrain(num_train_stepz=5)
        self.assertEqual(str(caught.exception), "unknown option --num-train-stepz; did you mean --num-train-steps?")
        with self.assertRaisesRegex(cloze.UsageError, "; cloze pretrain --help-all lists all$"):
            cloze.pretrain(qqq=1)
        with self.assertRaisesRegex(ValueError, "over max_position_embeddings"):
            cloze.plan(config="bert_tiny", seq_length=9999)
        file = self.folder.with_name("bad.tfrecord")
        file.write_bytes(b"\x10" + bytes(40))
        with self.assertRaises(cloze.Error) as caught:
            cloze.pretrain(config="bert_tiny", train_file=file, save_path=self.folder, num_train_steps=1)
        self.assertIn("bad.tfrecord", str(caught.exception))

    def test_options_are_written_as_the_program_reads_them(self):
        printed = cloze.command("config", "print", "pretrain", config="bert_tiny", base_learning_rate=None,
                                progress_bar=False, wandb=True)
        self.assertIn("progress_bar \"false\"", printed)
        self.assertIn("wandb true", printed)


if __name__ == "__main__":
    unittest.main()
