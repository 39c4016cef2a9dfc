"""Folders that cloze opens, made of the models of tests/fixtures with a vocabulary of simple words beside them."""
import json
import pathlib
import shutil

FIXTURES = pathlib.Path(__file__).resolve().parent / "fixtures"
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "dog", "sat", "ran", "on", "a", "hill", "who",
         ".", "?", "run", "##ning"]


def write_vocabulary(folder, size):
    words = WORDS + [f"word{number}" for number in range(len(WORDS), size)]
    (folder / "vocab.txt").write_text("\n".join(words[:size]) + "\n")


def copy_model(name, folder):
    """Makes a folder of the fixture bert_NAME."""
    shutil.copytree(FIXTURES / f"bert_{name}", folder)
    write_vocabulary(folder, json.loads((folder / "config.json").read_text())["vocab_size"])
    return folder


def write_text(folder):
    """Writes text of these words into a folder, and a table of two classes beside it."""
    document = "the cat sat on the hill .\na dog ran on the hill .\nwho sat ?\nthe dog ran .\n"
    (folder / "text").mkdir()
    (folder / "text" / "hills.txt").write_text("\n".join([document * 3] * 20))
    rows = [f"the cat sat {place},cat\na dog ran {place},dog\n" for place in ("on a hill", "on the hill", ".", "?") * 8]
    (folder / "animals.csv").write_text("text,label\n" + "".join(rows))


def copy_encoder(folder):
    """Makes a folder of a bare encoder, which makes vectors."""
    copy_model("classification", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    return folder
