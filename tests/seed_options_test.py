"""docs/fidelity/options.md tells the truth about the options of the older systems: its tables are printed.

Options of the TensorFlow 1 pre-training program that are mapped or without effect are given to the
program, which must do what the word of their row says. The options that the tables of TensorFlow 1
call supported must be in the help of the command.

Usage: seed_options_test.py PROGRAM
"""
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("write_options", str(ROOT / "scripts" / "write_options"))
write_options = importlib.util.module_from_spec(importlib.util.spec_from_loader("write_options", loader))
loader.exec_module(write_options)

DOCUMENT = write_options.DOCUMENT
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else "cloze"

PRETRAINING = "Graphcore TensorFlow 1: the pre-training program"
# Values that ask for something other than what is done here anyway; `true` serves for the rest.
VALUES = {"reduction_type": "sum", "use_qkv_split": False, "loss_scaling": 512, "precision": 16,
          "restore_optimiser_from_checkpoint": False, "save_optimiser_to_checkpoint": False,
          "replicas": 2, "task": "pretraining", "pipeline_schedule": "Grouped",
          "pipeline_stages": [["emb", "hid", "mlm", "nsp"]]}
TINY_MODEL = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
              "intermediate_size": 16, "vocab_size": 64}


def rows(heading):
    """Yields (option, word, note) for every row of the tables under the heading."""
    section = DOCUMENT.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    words = "supported|mapped|no effect|planned"
    for names, word, note in re.findall(rf"^\| (`[^|]*) \| ({words}) \|(.*)\|$", section,
                                        re.MULTILINE):
        for name in re.findall(r"`(\w+)`", names):
            yield name, word, note


def known_options(*subcommand):
    text = subprocess.run([PROGRAM, *subcommand, "--help-all"], check=True, capture_output=True,
                          text=True, timeout=60).stdout
    return set(re.findall(r"--[a-z0-9-]+", text))


def plan(options):
    """Returns exit status and messages of `cloze plan` with a configuration of these options."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(options, file)
        file.flush()
        result = subprocess.run([PROGRAM, "plan", "--config", file.name], capture_output=True,
                                text=True, timeout=120)
    return result.returncode, result.stderr


class TablesTest(unittest.TestCase):
    def test_they_are_what_the_program_prints(self):
        document = DOCUMENT.read_text()
        tables = write_options.printed(PROGRAM)
        self.assertEqual(document, write_options.with_tables(document, tables), "run scripts/write_options")

    def test_what_is_said_by_hand_is_of_keys_that_the_tables_have(self):
        for heading, table in write_options.printed(PROGRAM).items():
            section = DOCUMENT.read_text().split(f"\n## {heading}\n")[1].split("\n## ")[0]
            by_hand = section.split(write_options.MARKS[1])[1]
            for keys in re.findall(r"^\| (`[^|]*) \|[^|]*\|$", by_hand, re.MULTILINE):
                for key in re.findall("`([^`]+)`", keys):
                    with self.subTest(heading=heading, key=key):
                        self.assertIn(f"`{key}`", table)

    def test_a_table_without_a_place_is_refused(self):
        with self.assertRaisesRegex(ValueError, r"printed are \['Another'\]"):
            write_options.with_tables("# Options\n\n## Another\n", {"Another": "| option |\n"})


class SupportedTest(unittest.TestCase):
    def check(self, heading, *subcommand):
        promised = ["--" + name.replace("_", "-") for name, word, _ in rows(heading)
                    if word == "supported"]
        self.assertTrue(promised, f"no row is marked supported under '{heading}'")
        known = known_options(*subcommand)
        self.assertEqual([option for option in promised if option not in known], [])

    def test_pretrain(self):
        self.check(PRETRAINING, "pretrain")

    def test_squad(self):
        self.check("Graphcore TensorFlow 1: run_squad.py", "squad")

    def test_glue(self):
        self.check("Graphcore TensorFlow 1: run_classifier.py", "glue")

    def test_latency(self):
        self.check("Graphcore TensorFlow 1: the embedded runtime", "latency")

    def test_data_records(self):
        self.check("Graphcore TensorFlow 1: data programs", "data", "records")


class WordsTest(unittest.TestCase):
    """tests/pretrain_effects_test.py tests the effects of the options that are supported."""

    def rows(self, wanted):
        found = [(name, note) for name, word, note in rows(PRETRAINING) if word == wanted]
        self.assertGreater(len(found), 2, f"hardly a row is marked {wanted}")
        return found

    def plan_with(self, name):
        return plan({**TINY_MODEL, name: VALUES.get(name, True)})

    def test_without_effect_is_accepted_and_says_so(self):
        for name, _ in self.rows("no effect"):
            with self.subTest(name):
                status, messages = self.plan_with(name)
                self.assertEqual(status, 0, messages)
                self.assertRegex(messages, rf"\b{name}\b.* no effect: ")

    def test_mapped_is_known_and_says_where_it_went_or_does_it(self):
        """Either the option is here too, or the message names what the row names."""
        ours = known_options("plan")
        for name, note in self.rows("mapped"):
            with self.subTest(name):
                status, messages = self.plan_with(name)
                self.assertNotIn("unknown", messages)
                if "--" + name.replace("_", "-") in ours:
                    self.assertEqual(status, 0, messages)
                    continue
                named = re.findall(r"`(?:cloze )?(\w+)", note) or [note.strip()]
                self.assertTrue(any(word in messages for word in named), f"{named}: {messages}")

    def test_an_unknown_option_is_an_error(self):
        status, messages = self.plan_with("micro_batchsize")
        self.assertEqual(status, 2)
        self.assertIn("did you mean micro_batch_size?", messages)


if __name__ == "__main__":
    unittest.main()
