"""The data of GLUE and SQuAD 1.1 as scripts find them: DATA/glue/TASK/train.tsv and DATA/squad/."""
import argparse
import sys

from training_runs import USER_ERROR

GLUE = ("CoLA", "SST-2", "MRPC", "STS-B", "RTE", "QQP", "MNLI", "QNLI", "WNLI")
TASKS = (*GLUE, "SQuAD")


def known(task):
    if task not in TASKS:
        raise argparse.ArgumentTypeError(f"there is no task {task}; choose from {', '.join(TASKS)}")
    return task


def task_list(text):
    """Converts "RTE,SQuAD" for argparse."""
    return [known(task) for task in text.split(",")]


def task_epochs(text):
    """Converts "SST-2=2,SQuAD=1" for argparse."""
    epochs = {}
    for part in text.split(","):
        task, _, number = part.partition("=")
        if not number.isdecimal() or int(number) == 0:
            raise argparse.ArgumentTypeError(f"{part} is not TASK=EPOCHS")
        epochs[known(task)] = number
    return epochs


def squad_train_file(data):
    """The published file where it is there, else the one that tests/data_manifest.tsv describes."""
    published = data / "squad" / "train-v1.1.json"
    return published if published.exists() else published.with_name("train-v1.1.reconstructed.json")


def squad_dev_file(data):
    return data / "squad" / "dev-v1.1.json"


def require_data(data, tasks):
    """Ends the script when a file of a task is missing."""
    files = [data / "glue" / task / "train.tsv" for task in tasks if task != "SQuAD"]
    if "SQuAD" in tasks:
        files += [squad_train_file(data), squad_dev_file(data)]
    missing = [str(file) for file in files if not file.exists()]
    if missing:
        print(f"there is no {', no '.join(missing)}; put the data there, or leave tasks out with --tasks",
              file=sys.stderr)
        raise SystemExit(USER_ERROR)
