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


def copy_encoder(folder):
    """Makes a folder of a bare encoder, which makes vectors."""
    copy_model("classification", folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "architectures": ["BertModel"]}))
    return folder
