"""The Python module from a wheel: arrays, errors, ten threads at once, Ctrl-C, memory over many calls.

Usage: PYTHON python_wheel_test.py, with a Python that has the wheel: scripts/check_python runs it. Without an
argument that says otherwise it takes the Python of build/python; exit status 77 where there is none.
CLOZE_LEAK_CALLS is the number of calls that the check of memory makes (100000).
"""
import concurrent.futures
import gc
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from fixture_folders import copy_encoder, copy_model, write_vocabulary

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


def resident_bytes():
    return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


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
        child = subprocess.Popen([sys.executable, "-c", program, str(self.folder / "encoder")], stdout=subprocess.PIPE,
                                 text=True)
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


if __name__ == "__main__":
    unittest.main()
