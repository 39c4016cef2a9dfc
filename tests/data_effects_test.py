"""Every option of `cloze data ...` and `cloze tokenize`, given a value other than its default, does what
it is there for.

Usage: data_effects_test.py PROGRAM
A command is run on a few small files without the option and with it; each entry of EFFECTS says what must
differ then. An option of the program without an entry is a failure.
"""
import json
import unittest

from option_effects import (CONTEXT, CommandRun, Effect, OptionEffects, cloze, counts, counts_fewer, counts_more,
                            prints, prints_other, question, refused, succeeds, writes_other, writes_same, writes_to)

# The private-use character is a letter by Google's rules and left out by those of Hugging Face.
SENTENCES = [f"The cat number {i} sat on the mat\ue000. The dog ran up hill {i % 7}."
             for i in range(60)]
DAMAGED = "in/damaged.tfrecord"
# Text with accents and characters that the vocabulary does not have.
ACCENTS = {"input_file": "in/accents.txt"}


def page(title, text):
    return f"<page><title>{title}</title><ns>0</ns><revision><text>{text}</text></revision></page>"


def documents(lines):
    return "\n\n".join("\n".join(lines[i:i + 6]) for i in range(0, len(lines), 6)) + "\n"


def make_text(folder):
    (folder / "text.txt").write_text(documents(SENTENCES))
    (folder / "other.txt").write_text(documents(SENTENCES[::-1] + SENTENCES[:24]))
    (folder / "text.jsonl").write_text("".join(
        json.dumps({"text": " ".join(SENTENCES[i:i + 6])}) + "\n" for i in range(0, 60, 6)))
    (folder / "content.jsonl").write_text(
        (folder / "text.jsonl").read_text().replace('"text"', '"content"'))
    (folder / "bad.jsonl").write_text((folder / "text.jsonl").read_text() + '{"text": 7}\n')
    (folder / "accents.txt").write_text(documents(SENTENCES[:20] + ["The cät sat on 北京."] * 10))
    (folder / "latin1.txt").write_text("Le café est près du théâtre.\n" * 200, "latin-1")
    for name, more in {"vocab": (), "cased": ("--cased",), "small": ("--size", 60)}.items():
        cloze(folder, "data", "vocabulary", "--input-file", "text.txt", "--output-file",
              f"{name}.txt", *more)
    (folder / "kept").mkdir()
    (folder / "kept" / "tokenizer_config.json").write_text('{"do_lower_case": false}')
    (folder / "kept" / "vocab.txt").write_text((folder / "vocab.txt").read_text())
    squad = {"version": "1.1", "data": [{"title": "t", "paragraphs": [{"context": CONTEXT, "qas": [
        question(1, "who sat on the mat ?", "cat"), question(2, "who ran ?", "dog")]}]}]}
    (folder / "squad.json").write_text(json.dumps(squad))
    (folder / "accents.json").write_text(json.dumps(squad).replace("who ran", "Who rån"))
    (folder / "unknown_squad.json").write_text(json.dumps(squad).replace("who ran", "who 北 ran"))
    (folder / "other_squad.json").write_text(json.dumps(squad).replace("who ran", "who ran up"))
    dump = ("<mediawiki>" + page("A", "'''A''' is first. [[Datei:a.jpg|thumb|A picture.]]\n"
                                 "== Trivia ==\nNobody knows.\n== Other ==\nA is short.\n") +
            page("B", "B is last.") + "</mediawiki>")
    (folder / "dump.xml").write_text(dump)
    (folder / "other.xml").write_text(dump.replace("last", "second"))
    (folder / "cut.xml").write_text(dump[:-30])


def make_records(folder):
    options = ("--vocab-file", "vocab.txt", "--do-lower-case", "--sequence-length", 32,
               "--mask-tokens", 4)
    for name in ("text", "other"):
        cloze(folder, "data", "records", "--input-file", f"{name}.txt", "--output-file",
              f"{name}.tfrecord", *options)
    damaged = bytearray((folder / "text.tfrecord").read_bytes())
    damaged[200] ^= 1  # in the first record, whose checksum reveals it
    (folder / "damaged.tfrecord").write_bytes(damaged)
    cloze(folder, "data", "tokens", "--input-file", "text.txt", "--output-dir", "store",
          "--vocab-file", "vocab.txt", "--do-lower-case")
    cloze(folder, "data", "stats", "--train-file", "text.tfrecord", "--lengths", "lengths.txt")
    (folder / "other_lengths.txt").write_text("5 10\n20 10\n32 10\n")


def make_data(folder):
    make_text(folder)
    make_records(folder)


# --- What may differ --------------------------------------------------------------------------

def records_of(length, predictions):
    """The records have that form; without the option they do not."""
    def accepts(run):
        check = CommandRun(run.folder, "check", "data verify", {
            "train_file": run.folder / "out.tfrecord", "seq_length": length,
            "max_predictions_per_seq": predictions})
        return check.status == 0
    return lambda run, base: accepts(run) and not accepts(base)


def store(run):
    return {path.name: path.read_bytes() for path in (run.folder / "store").iterdir()}


def other_store(run, base):
    return store(run) != store(base)


def share(run, part, whole):
    return run.count(part) / run.count(whole)


def alphabet(run):
    pieces = [piece.removeprefix("##") for piece in run.lines("vocab.txt")]
    return {piece for piece in pieces if len(piece) == 1}


def text_effects(check, **needs):
    """Returns the effects of the options that are common to all commands that read text."""
    return {
        "input_file": Effect("in/other.txt", check, **needs),
        "input_format": Effect("sentences", check, **needs),
        "json_key": Effect("content", succeeds, **needs, input_file="in/content.jsonl"),
        "skip_bad_lines": Effect("true", succeeds, **needs, input_file="in/bad.jsonl"),
        "max_invalid_utf8": Effect(30, succeeds, **needs, input_file="in/latin1.txt"),
    }


def tokenizer_effects(check, accents):
    """`accents` are options for an input with accents."""
    return {
        "vocab_file": Effect("in/small.txt", check),
        "do_lower_case": Effect("false", check, **accents, base=accents),
        "strip_accents": Effect("false", check, **accents, base=accents),
        "profile": Effect("google", check),
    }


def refuses_unknown(run, base):
    """Checks that text is refused where a lower limit is set."""
    return (run.status == 2 and "of the tokens are [UNK], most often for" in run.messages and
            "or allow it with --max-unknown-tokens" in run.messages and base.status == 0)


class DataEffects(OptionEffects):
    RUN = CommandRun
    make_data = staticmethod(make_data)


class VocabularyTest(DataEffects, unittest.TestCase):
    COMMAND = "data vocabulary"
    BASE = {"input_file": "in/text.txt", "output_file": "vocab.txt", "size": 80}
    EFFECTS = {
        **text_effects(prints_other),
        "input_format": Effect("sentences", lambda run, base: "set --input-format jsonl" in run.messages and
                               "{" not in base.lines("vocab.txt"), input_file="in/text.jsonl",
                               base={"input_file": "in/text.jsonl"}),
        "output_file": Effect("other.txt", writes_to("other.txt")),
        "size": Effect(60, lambda run, base: len(run.lines("vocab.txt")) == 60 !=
                       len(base.lines("vocab.txt"))),
        "cased": Effect("true", lambda run, base: "T" in run.lines("vocab.txt") and
                        "T" not in base.lines("vocab.txt")),
        "strip_accents": Effect("false", lambda run, base: "##ä" in run.lines("vocab.txt") and
                                "##ä" not in base.lines("vocab.txt"), **ACCENTS, base=ACCENTS),
        "tokenize_chinese_chars": Effect("false", lambda run, base: "##京" in run.lines("vocab.txt")
                                         and "##京" not in base.lines("vocab.txt"), **ACCENTS),
        "profile": Effect("google", lambda run, base: any("\ue000" in piece for piece in
                                                          run.lines("vocab.txt")) and not
                          any("\ue000" in piece for piece in base.lines("vocab.txt"))),
        "min_frequency": Effect(100, lambda run, base: len(run.lines("vocab.txt")) <
                                len(base.lines("vocab.txt")), size=1000),
        "character_coverage": Effect(0.5, lambda run, base: len(alphabet(run)) <= 10 <
                                     len(alphabet(base))),
        "threads": Effect(2, lambda run, base: run.file("vocab.txt") == base.file("vocab.txt")),
    }


class RecordsTest(DataEffects, unittest.TestCase):
    COMMAND = "data records"
    BASE = {"input_file": "in/text.txt", "output_file": "out.tfrecord", "vocab_file": "in/vocab.txt",
            "do_lower_case": "true", "sequence_length": 32, "mask_tokens": 4, "threads": 1}
    EFFECTS = {
        **text_effects(writes_other("out.tfrecord"), max_unknown_tokens=100),
        **tokenizer_effects(writes_other("out.tfrecord"), {**ACCENTS, "max_unknown_tokens": 100}),
        "max_unknown_tokens": Effect(0, refuses_unknown, **ACCENTS, base=ACCENTS),
        "output_file": Effect("a.tfrecord,b.tfrecord", lambda run, base: run.has("a.tfrecord") and
                              run.has("b.tfrecord")),
        "threads": Effect(2, writes_same("out.tfrecord")),
        "sequence_length": Effect(16, records_of(16, 4)),
        "mask_tokens": Effect(2, records_of(32, 2)),
        "seed": Effect(77, writes_other("out.tfrecord")),
        "duplication_factor": Effect(9, counts_more("instances", 1.5)),
        "mlm_prob": Effect(0.01, counts_fewer("predictions")),
        "short_seq_prob": Effect(1, lambda run, base: share(run, "^tokens", "instances") <
                                 share(base, "^tokens", "instances"), sequence_length=128),
        "max_samples": Effect(3, counts("instances", 3)),
        "pad_position_value": Effect(40, writes_other("out.tfrecord"), remask="true",
                                     mlm_prob=0.01),
        "remask": Effect("true", writes_other("out.tfrecord")),
        "do_whole_word_mask": Effect("true", writes_other("out.tfrecord")),
        "google_compatible": Effect("true", writes_other("out.tfrecord")),
    }

    def test_a_position_without_remask_is_noted(self):
        run = self.run_with("noted", {"pad_position_value": 40}, self.COMMAND)
        self.assertIn("note: --pad-position-value has no effect without --remask", run.messages)


class TokensTest(DataEffects, unittest.TestCase):
    COMMAND = "data tokens"
    BASE = {"input_file": "in/text.txt", "output_dir": "store", "vocab_file": "in/vocab.txt",
            "do_lower_case": "true", "threads": 1}
    EFFECTS = {
        **text_effects(other_store, max_unknown_tokens=100),
        **tokenizer_effects(other_store, {**ACCENTS, "max_unknown_tokens": 100}),
        "max_unknown_tokens": Effect(0, refuses_unknown, **ACCENTS, base=ACCENTS),
        "output_dir": Effect("elsewhere", writes_to("elsewhere")),
        "append": Effect("true", counts_more("documents", 1.9),
                         first={"input_file": "in/other.txt", "append": None}),
        "threads": Effect(2, lambda run, base: store(run) == store(base)),
    }


RECORD_FORM = {
    "seq_length": Effect(16, refused("32", status=3)),
    "max_predictions_per_seq": Effect(2, refused("4", status=3)),
    "vocab_size": Effect(10, refused("10", status=3)),
}


class ConvertTest(DataEffects, unittest.TestCase):
    COMMAND = "data convert"
    BASE = {"train_file": "in/text.tfrecord", "output_file": "out.tfrecord", "seq_length": 32,
            "max_predictions_per_seq": 4}
    EFFECTS = {
        "train_file": Effect("in/store", writes_other("out.tfrecord")),
        "output_file": Effect("a.tfrecord,b.tfrecord", lambda run, base: run.has("a.tfrecord") and
                              run.has("b.tfrecord")),
        "seq_length": Effect(16, records_of(16, 4), train_file="in/store"),
        "max_predictions_per_seq": Effect(2, records_of(32, 2), train_file="in/store"),
        "vocab_size": RECORD_FORM["vocab_size"],
        "remask": Effect("true", writes_other("out.tfrecord")),
        "binary": Effect("true", lambda run, base: len(run.file("out.tfrecord")) ==
                         4 * (3 * 32 + 3 * 4 + 1) * run.count("records written")),
        "skip_bad": Effect("true", succeeds, train_file=DAMAGED),
    }

    def test_masks_leave_room_for_a_pair(self):
        for length, masks in ((128, 126), (32, 200)):
            run = self.run_with(f"{masks}", {"train_file": "in/store", "remask": "true", "seq_length": length,
                                             "max_predictions_per_seq": masks}, self.COMMAND)
            self.assertTrue(refused(f"--max-predictions-per-seq {masks} leaves too little room")(run, run), run.messages)


class StatsTest(DataEffects, unittest.TestCase):
    COMMAND = "data stats"
    BASE = {"train_file": "in/text.tfrecord"}
    EFFECTS = {
        **RECORD_FORM,
        "train_file": Effect("in/other.tfrecord", prints_other),
        "lengths": Effect("lengths.txt", lambda run, base: sum(
            int(line.split()[1]) for line in run.lines("lengths.txt")) == run.count("records")),
        "histogram": Effect("lengths.svg", lambda run, base: b"<svg" in run.file("lengths.svg")),
    }


class VerifyTest(DataEffects, unittest.TestCase):
    COMMAND = "data verify"
    BASE = {"train_file": "in/text.tfrecord"}
    EFFECTS = {
        **{name: Effect(effect.value, refused("bad records", status=3))
           for name, effect in RECORD_FORM.items()},
        "train_file": Effect("in/other.tfrecord", prints_other),
        "skip_bad": Effect("true", succeeds, train_file=DAMAGED),
    }


class WikipediaTest(DataEffects, unittest.TestCase):
    COMMAND = "data wikipedia"
    BASE = {"input_file": "in/dump.xml", "output_file": "out.txt", "threads": 1}
    EFFECTS = {
        "input_file": Effect("in/other.xml", writes_other("out.txt")),
        "output_file": Effect("other.txt", writes_to("other.txt")),
        "threads": Effect(2, writes_same("out.txt")),
        "language": Effect("de", lambda run, base: "picture" in base.file("out.txt").decode() and
                           "picture" not in run.file("out.txt").decode()),
        "listing_sections": Effect("Trivia,History", lambda run, base:
                                   "Nobody knows." in base.lines("out.txt") and
                                   "Nobody knows." not in run.lines("out.txt")),
        "skip_bad": Effect("true", succeeds, input_file="in/cut.xml"),
    }

    def test_a_language_without_names_is_noted(self):
        run = self.run_with("noted", {"language": "germn"}, self.COMMAND)
        self.assertIn("note: the names of language germn are not known here", run.messages)


WITHOUT_FOLDER = {"lengths": None, "train_file": "in/text.tfrecord", "max_predictions_per_seq": 4}


def packs_of(run):
    return {path.name: path.read_bytes() for path in (run.folder / "packs").glob("strategy_*")}


class PackingTest(DataEffects, unittest.TestCase):
    COMMAND = "data packing"
    BASE = {"lengths": "in/other_lengths.txt"}
    EFFECTS = {
        "lengths": Effect("in/lengths.txt", prints_other),
        "train_file": Effect("in/text.tfrecord", prints_other, lengths=None, base={}),
        "seq_length": Effect(31, refused("input_ids has 32 entries, the configuration's --seq-length is 31",
                                         status=3), lengths=None, train_file="in/text.tfrecord"),
        "algorithm": Effect("nnlshp", prints("nnlshp")),
        "pack_tokens": Effect(64, prints_other),
        "sequences_per_pack": Effect(1, prints_other),
        "output_dir": Effect("packs", lambda run, base: packs_of(run) and not packs_of(base),
                             **WITHOUT_FOLDER),
        "max_predictions_per_seq": Effect(4, succeeds, lengths=None, train_file="in/text.tfrecord",
                                          output_dir="packs"),
        "random_seed": Effect(7, lambda run, base: packs_of(run) != packs_of(base), output_dir="packs",
                              **WITHOUT_FOLDER),
    }

    def test_a_seed_without_packs_is_noted(self):
        run = self.run_with("noted", {"random_seed": 7}, self.COMMAND)
        self.assertIn("note: --random-seed has no effect without --output-dir", run.messages)

    def test_a_pack_is_longer_than_its_records(self):
        cloze(self.folder, "data", "convert", "--train-file=text.tfrecord", "--output-file=records.bin", "--binary",
              "--seq-length=32", "--max-predictions-per-seq=4")
        packs = {}
        for name, records in (("plain", {"train_file": "in/text.tfrecord"}),
                              ("binary", {"train_file": "in/records.bin", "seq_length": 32})):
            run = self.run_with(name, {**WITHOUT_FOLDER, **records, "pack_tokens": 64, "sequences_per_pack": 1,
                                       "output_dir": "packs"}, self.COMMAND)
            self.assertEqual(run.status, 0, run.messages)
            packs[name] = packs_of(run)
        self.assertGreater(len(packs["plain"]), 0)
        self.assertEqual(packs["plain"], packs["binary"])


class SquadTest(DataEffects, unittest.TestCase):
    COMMAND = "data squad"
    BASE = {"input_file": "in/squad.json", "output_file": "out.tfrecord", "vocab_file": "in/vocab.txt",
            "do_lower_case": "true", "max_seq_length": 32, "doc_stride": 8, "threads": 1}
    EFFECTS = {
        **tokenizer_effects(writes_other("out.tfrecord"), {"input_file": "in/accents.json", "max_unknown_tokens": 100}),
        "max_unknown_tokens": Effect(0, refuses_unknown, input_file="in/unknown_squad.json",
                                     base={"input_file": "in/unknown_squad.json"}),
        "profile": Effect("hf", writes_same("out.tfrecord")),
        "input_file": Effect("in/other_squad.json", writes_other("out.tfrecord")),
        "output_file": Effect("other.tfrecord", writes_to("other.tfrecord")),
        "style": Effect("hf", writes_other("out.tfrecord")),
        "max_seq_length": Effect(24, counts_more("features")),
        "doc_stride": Effect(4, counts_more("features"), max_seq_length=24),
        "max_query_length": Effect(2, counts_fewer("tokens")),
        "labels": Effect("true", prints("features with the answer 2")),
        "threads": Effect(2, writes_same("out.tfrecord")),
    }


class TokenizeTest(DataEffects, unittest.TestCase):
    COMMAND = "tokenize"
    BASE = {"vocab_file": "in/vocab.txt", "stdin": "The cât sat\ue000 on 北京 .\n"}
    EFFECTS = {
        # The same tokens, beside a tokenizer_config.json with other rules.
        "vocab_file": Effect("in/kept/vocab.txt", prints_other),
        "cased": Effect("false", prints_other, vocab_file="in/kept/vocab.txt"),
        "strip_accents": Effect("false", prints_other),
        "tokenize_chinese_chars": Effect("false", lambda run, base: len(run.output.split()) ==
                                         len(base.output.split()) - 1),
        "profile": Effect("google", prints_other),
        "offsets": Effect("true", prints(":0-3 ")),
    }

    def test_unknown_tokens_are_noted(self):
        for name, offsets in (("ids", None), ("offsets", "true")):
            run = self.run_with(name, {"stdin": "the cat sat\n北 cat 京 北\n", "offsets": offsets}, self.COMMAND)
            self.assertEqual(run.messages, "note: 3 of 7 tokens are [UNK] (42.86 %), most often for 北 (2), 京 (1)\n")
        run = self.run_with("trace", {"stdin": "the cat sat\n" * 100 + "北\n"}, self.COMMAND)
        self.assertEqual(run.messages, "")


if __name__ == "__main__":
    unittest.main()
