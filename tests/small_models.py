"""Small models of each head for tests of the commands that infer, trained for one step."""
import finetune_effects_test
from option_effects import cloze

SIZES = ("--vocab-size", 32, "--hidden-size", 16, "--num-hidden-layers", 1, "--num-attention-heads", 2,
         "--intermediate-size", 16, "--max-position-embeddings", 64, "--initializer-range", 0.5,
         "--num-train-steps", 1, "--threads", 1, "--progress-bar", "false", "--micro-batch-size", 2,
         "--vocab-file", "vocab.txt", "--seq-length", 32)
COMMANDS = {
    "mlm": ("pretrain", "--generated-data", "true", "--max-predictions-per-seq", 3),
    "qa": ("squad", "--train-file", "squad.json"),
    "topics": ("finetune", "multilabel", "--train-file", "sets.csv", "--do-training", "true"),
    "quiz": ("finetune", "choose", "--train-file", "quiz.csv", "--label-column", "right", "--do-training", "true"),
    "ner": ("finetune", "tag", "--train-file", "tagged.conll", "--do-training", "true"),
    "rte": ("glue", "--task-name", "RTE", "--data-dir", "glue", "--do-training", "true"),
}


def make_models(folder, *names):
    """Trains two models for each name, NAME and other_NAME, beside the data of
    finetune_effects_test."""
    finetune_effects_test.make_data(folder)
    for name in names:
        cloze(folder, *COMMANDS[name], "--save-path", name, "--seed", 1, *SIZES)
        cloze(folder, *COMMANDS[name], "--save-path", f"other_{name}", "--seed", 2, *SIZES)
