"""Each --help begins with an example, and each example works: they run as they are printed, with smaller sizes
appended, in a folder that has the files which they name.

Usage: help_examples_test.py PROGRAM
"""
import bz2
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from option_effects import PROGRAM, commands_of, help_of, options_in

ROOT = pathlib.Path(__file__).resolve().parent.parent
DUMP = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="en">
<siteinfo><dbname>enwiki</dbname></siteinfo>
<page><title>Orla</title><ns>0</ns><id>1</id><revision><id>2</id><format>text/x-wiki</format>
<text bytes="60" xml:space="preserve">'''Orla''' is a town on the river. It has a mill and a bridge. Merchants built both of
them in the year of the flood, and they have stood ever since.</text></revision></page></mediawiki>
"""
SMALL = ("--hidden-size 16 --num-hidden-layers 1 --num-attention-heads 2 --intermediate-size 16 --seq-length 64 "
         "--max-position-embeddings 64 --micro-batch-size 2 --global-batch-size 2 --max-predictions-per-seq 10 "
         "--num-train-steps 1 --threads 1")
TUNE = "--seq-length 64 --micro-batch-size 2 --global-batch-size 2 --num-train-steps 1 --threads 1"

# What is appended, in an order in which each command finds what those before it made.
RUNS = {
    "data vocabulary": "",
    "data": "",
    "data records": "",
    "data stats": "",
    "data verify": "",
    "data convert": "",
    "data tokens": "",
    "data squad": "",
    "data packing": "",
    "data wikipedia": "",
    "": SMALL,
    "pretrain": SMALL,
    "plan": "",
    "fill": "",
    "inspect": "",
    "devices": "",
    "compile": "",
    "latency": "--num-iter 2",
    "convert": "",
    "export": "",
    "export onnx": "",
    "tokenize": "",
    "squad": f"{TUNE} --doc-stride 16 --max-query-length 16",
    "glue": TUNE,
    "finetune": TUNE,
    "finetune classify": TUNE,
    "finetune choose": TUNE,
    "finetune multilabel": TUNE,
    "finetune regress": TUNE,
    "finetune tag": TUNE,
    "finetune embed": TUNE,
    "answer": "",
    "choose": "",
    "classify": "",
    "tag": "",
    "embed": "",
    "similarity": "",
    "score": "",
    "score squad": "",
    "score glue": "",
    "score classify": "",
    "score regress": "",
    "score multilabel": "",
    "score tag": "",
    "serve": "--port 0",
    "config": "",
    "config import": "",
    "config keys": "",
    "config print": "",
    "config print pretrain": "",
    "config print squad": "",
    "config print glue": "",
    "config print finetune": "",
    "config print finetune classify": "",
    "config print finetune choose": "",
    "config print finetune multilabel": "",
    "config print finetune regress": "",
    "config print finetune tag": "",
    "config print finetune embed": "",
    "config schema": "",
    "config schema pretrain": "",
    "config schema squad": "",
    "config schema glue": "",
    "config schema finetune": "",
    "config schema finetune classify": "",
    "config schema finetune choose": "",
    "config schema finetune multilabel": "",
    "config schema finetune regress": "",
    "config schema finetune tag": "",
    "config schema finetune embed": "",
    "benchmark": "",
    "launch": "",
}


def example_of(command):
    """Returns the command line of the second line of a command's help; None if there is none."""
    lines = help_of(command).splitlines()
    return lines[1].removeprefix("Example: ") if lines[1].startswith("Example: ") else None


def all_commands(command=""):
    yield command
    for name in commands_of(help_of(command)):
        yield from all_commands(f"{command} {name}".strip())


def write_pairs(folder):
    rows = "".join(f"{text}\t{label}\n" for label in (0, 1) for text in ("a fine film ", "the mill is old "))
    folder.mkdir(parents=True)
    for split in ("train", "dev"):
        (folder / f"{split}.tsv").write_text("sentence\tlabel\n" + rows)
    (folder.parent.parent / "SST-2.tsv").write_text("index\tprediction\n0\t0\n1\t1\n2\t1\n3\t0\n")


def write_tables(folder):
    rows = "".join(f"{text} {i},{label}\n" for i in range(10) for text, label in (("a fine film", "good"), ("a mill", "plain")))
    (folder / "data.csv").write_text("text,label\n" + rows)
    (folder / "topics.jsonl").write_text('{"text": "a mill", "topics": ["trade", "town"]}\n{"text": "a fair"}\n' * 10)
    (folder / "quiz.jsonl").write_text('{"text": "Who grinds?", "choices": ["the mill", "the fair"], "label": 0}\n' * 20)
    (folder / "pairs.tsv").write_text("sentence1\tsentence2\tscore\n" + "a mill\ta bridge\t2.5\na town\ta river\t1\n" * 10)


def write_sentences(folder):
    for split in ("train", "dev"):
        (folder / f"{split}.conll").write_text("Anna B-PER\nkeeps O\nthe O\nmill O\n\nthe O\nmill O\nis O\nold O\n\n" * 5)


def make_files(folder):
    """Writes what the examples name and none of them makes."""
    (folder / "text").mkdir()
    sample = [ROOT / "examples" / "sample_world" / "make_world", "--output-dir", "made", "--documents=30", "--train-questions=20",
              "--dev-questions=10"]
    subprocess.run(sample, cwd=folder, check=True, capture_output=True, timeout=60)
    shutil.copy(folder / "made" / "corpus.txt", folder / "text" / "towns.txt")
    for split in ("train", "dev"):
        shutil.copy(folder / "made" / f"squad-{split}.json", folder / f"{split}-v1.1.json")
    (folder / "town.txt").write_text("The town of Orla has a mill. Anna keeps the mill.\n")
    (folder / "lengths.txt").write_text("5 3\n9 2\n")
    (folder / "enwiki-pages-articles.xml.bz2").write_bytes(bz2.compress(DUMP.encode()))
    write_pairs(folder / "glue_data" / "SST-2")
    write_tables(folder)
    (folder / "tagged.conll").write_text("Anna B-PER B-PER\nkeeps O O\nOrla B-LOC O\n")
    write_sentences(folder)
    shutil.copy(ROOT / "configs" / "habana" / "bert_base_finetune_fp32_squad_eager.yaml", folder / "squad.yaml")


def make_links(folder):
    """Gives what was made the names that other examples have for it."""
    for made, name in (("records.tfrecord", "records/one.tfrecord"), ("run/checkpoint-1", "bert"), ("tags", "ner")):
        if (folder / made).exists() and not (folder / name).exists():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).symlink_to(folder / made)


def command_line(command, appended):
    line = f"{example_of(command)} {appended}"
    if command == "serve":
        line = f"timeout --preserve-status -s INT 1 {line}"
    return line.replace(" -n 2 ", " -n 2 --dry-run ") if command == "launch" else line


class HelpExamplesTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        make_files(cls.folder)

    def test_every_help_begins_with_an_example(self):
        commands = list(all_commands())
        self.assertGreater(len(commands), 30)
        self.assertEqual([command for command in commands if not example_of(command)], [])
        self.assertEqual(set(commands), set(RUNS))

    def test_help_shows_what_people_use_and_help_all_the_rest(self):
        for command in ("pretrain", "plan", "squad", "glue"):
            shown, every = options_in(help_of(command)), options_in(help_of(command, "--help-all"))
            with self.subTest(command):
                self.assertTrue({"config", "num_train_steps", "save_path", "init_checkpoint"} <= shown)
                self.assertLess(shown, every)
                self.assertLess(len(shown), 42)
                self.assertEqual(help_of(command).splitlines()[-1],
                                 f"{len(every - shown)} more options: cloze {command} --help-all")
        every = options_in(help_of("serve"))
        self.assertGreater(len(every), 20)
        self.assertEqual(every, options_in(help_of("serve", "--help-all")))

    def test_devices_of_tests_are_not_offered(self):
        for command in ("pretrain", "serve", "latency"):
            with self.subTest(command):
                text = help_of(command, "--help-all")
                self.assertRegex(text, r"--device +Device that computes; auto: ")
                self.assertIn("{auto, cpu, cuda} [auto]", " ".join(text.split()))
                self.assertNotRegex(text, r"\b(walled|reference|null)\b")
        wrong = subprocess.run([PROGRAM, "plan", "--device", "gpu"], capture_output=True, text=True, timeout=60)
        self.assertEqual(wrong.stderr, 'cloze: --device is "gpu"; choose one of auto, cpu, cuda\n')
        walled = subprocess.run([PROGRAM, "plan", "--device", "walled", "--config", "bert_tiny"], capture_output=True,
                                text=True, timeout=60)
        self.assertEqual(walled.returncode, 0, walled.stderr)

    def test_every_example_works(self):
        path = f"{PROGRAM.parent}:{os.environ['PATH']}"
        for command, appended in RUNS.items():
            if command == "launch" and not shutil.which("mpirun"):
                continue
            if command == "pretrain":
                shutil.rmtree(self.folder / "run", ignore_errors=True)  # the program's own example made it
            line = command_line(command, appended)
            with self.subTest(command):
                self.assertIn(f"cloze {command}", line)
                result = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.folder, timeout=300,
                                        capture_output=True, text=True, env=os.environ | {"PATH": path})
                self.assertEqual(result.returncode, 0, f"{line}\n{result.stderr}")
            make_links(self.folder)


if __name__ == "__main__":
    unittest.main()
