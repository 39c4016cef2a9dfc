"""Every option of `cloze squad`, `cloze glue` and `cloze finetune` that `cloze pretrain` does not have does what it is
there for.

Usage: finetune_effects_test.py PROGRAM
The options that all these commands have come from one table of the program;
pretrain_effects_test.py tests them.
"""
import json
import re
import shutil
import unittest

from option_effects import (CONTEXT, Effect, OptionEffects, Page, other_weights, question, refused,
                            tensors_in)
from pretrain_effects_test import EFFECTS as OF_EVERY_RUN

VOCABULARY = ("[PAD] [UNK] [CLS] [SEP] [MASK] a the cat dog sat ran who where on mat hill . ? and "
              "then it went home").split()
MODEL = {
    "vocab_file": "vocab.txt", "vocab_size": 32, "hidden_size": 16, "num_hidden_layers": 1,
    "num_attention_heads": 2, "intermediate_size": 16, "max_position_embeddings": 64,
    "initializer_range": 0.2, "micro_batch_size": 2, "threads": 1, "progress_bar": "false",
    "base_learning_rate": 0.01, "num_train_steps": 4}
VERSION_2 = {"version_2_with_negative": "true", "train_file": "squad2.json",
             "predict_file": "squad2.json"}
SCORE_ONLY = {"init_checkpoint": "base", "num_train_steps": None, "train_file": None}


def squad(questions, **more):
    paragraphs = [{"context": CONTEXT, "qas": [{**question(*one), **more} for one in questions]}]
    return json.dumps({"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]})


def make_data(folder):
    (folder / "vocab.txt").write_text("\n".join(VOCABULARY) + "\n")
    (folder / "other_vocab.txt").write_text("\n".join(VOCABULARY[:5] + VOCABULARY[:4:-1]) + "\n")
    asked = [(1, "who sat on the mat ?", "cat"), (2, "who ran ?", "dog"),
             (3, "where sat the cat and then the dog ?", "mat")]
    (folder / "squad.json").write_text(squad(asked))
    (folder / "other.json").write_text(squad(asked[:1]))
    (folder / "unknown.json").write_text(squad([(1, "who sat on the mat , zebra ?", "cat")]))
    (folder / "squad2.json").write_text(squad(asked, is_impossible=False).replace(
        '{"id": "2", "question": "who ran ?", "answers": [{"text": "dog", "answer_start": 29}], '
        '"is_impossible": false}',
        '{"id": "2", "question": "who ran ?", "answers": [], "is_impossible": true}'))
    for place, second in (("glue", "a cat sat"), ("elsewhere", "the dog ran"), ("unknown", "a zebra")):
        for task, labels in (("RTE", ("entailment", "not_entailment")), ("WNLI", ("1", "0"))):
            rows = "".join(f"{i}\tthe cat sat\t{second}\t{labels[i % 2]}\n" for i in range(8))
            (folder / place / task).mkdir(parents=True)
            for split in ("train", "dev"):
                (folder / place / task / f"{split}.tsv").write_text(
                    "index\tsentence1\tsentence2\tlabel\n" + rows)
            (folder / place / task / "test.tsv").write_text(
                "index\tsentence1\tsentence2\n0\tthe cat sat\ta cat sat\n")


    make_tables(folder)
    make_sentences(folder)


def table(rows, header="text,extra,label,other,number"):
    return header + "\n" + "".join(f"{row}\n" for row in rows)


def make_tables(folder):
    """Tables of the words of the vocabulary. Their labels can be told by `cat` and `dog`; those of the column
    `other` say the opposite, and `number` counts."""
    rows = [f"{text} {place},who ran,{label},{other},{i % 5}"
            for i, (text, label, other, place) in enumerate(
                (*which, place) for place in ("on the mat", "on a hill", "and went home", "then it ran")
                for which in (("the cat sat", "cat", "dog"), ("a dog ran", "dog", "cat")))]
    (folder / "labels.csv").write_text(table(rows))
    (folder / "fewer.csv").write_text(table(rows[:6]))
    sets = [row.replace(",cat,dog,", ",cat|animal,dog,") for row in rows]
    (folder / "sets.csv").write_text(table(sets))
    (folder / "fewer_sets.csv").write_text(table(sets[:6]))
    (folder / "unknown_sets.csv").write_text(table([row.replace("sat", "zebra") for row in sets]))
    (folder / "quoted_sets.csv").write_text(table([row.replace("the cat", '"the cat') for row in sets]))
    quiz = [f"{row},the dog ran,the cat sat,{i % 2},{1 - i % 2}" for i, row in enumerate(rows)]
    header = "text,extra,label,other,number,choice0,choice1,wrong,right"
    for name, made in (("quiz", quiz), ("fewer_quiz", quiz[:6]),
                       ("unknown_quiz", [row.replace("sat", "zebra") for row in quiz]),
                       ("quoted_quiz", [row.replace("the cat", '"the cat', 1) for row in quiz])):
        (folder / f"{name}.csv").write_text(table(made, header))
    make_pairs(folder, rows)
    (folder / "pairs.csv").write_text(table(rows, "text,text_pair,label,other,number"))
    (folder / "quoted.csv").write_text(table([row.replace("the cat", '"the cat') for row in rows]))
    (folder / "unknown.csv").write_text(table([row.replace("sat", "zebra") for row in rows]))


def make_pairs(folder, rows):
    """An anchor, its positive and a negative in each row, and a number; all texts differ."""
    texts = [row.split(",")[0] for row in rows]
    alike = [f"{text},and then {text},who {texts[i - 1]} ?,{i % 5}" for i, text in enumerate(texts)]
    for name, made in (("alike", alike), ("fewer_alike", alike[:6]),
                       ("unknown_alike", [row.replace("sat", "zebra") for row in alike]),
                       ("quoted_alike", [row.replace("the cat", '"the cat', 1) for row in alike])):
        (folder / f"{name}.csv").write_text(table(made, "anchor,positive,negative,number"))
    (folder / "scored.csv").write_text(table([f"the {a},{b},{i}" for i, (a, b) in enumerate(
        (("cat", "a cat"), ("dog", "a mat"), ("hill", "it ran")))], "sentence1,sentence2,score"))
    (folder / "same.csv").write_text(table(["the cat,a dog"] * 4, "anchor,positive"))
    (folder / "hundreds.csv").write_text(table(["the cat,a dog,100", "a cat,a dog,101"], "anchor,positive,hundreds"))


def make_sentences(folder):
    """Words of the vocabulary, each with another word and its tag."""
    def sentences(count, unknown=""):
        words = [("the", "O"), ("cat", "B-ANIMAL"), ("sat", "O"), ("on", "O"), ("the", "B-PLACE"), ("mat", "I-PLACE"),
                 (".", "O"), (unknown or ".", "O")]
        return [[(word, "who", tag) for word, tag in words[n % 3:]] for n in range(count)]

    def columns(count, unknown=""):
        return "\n".join("".join(" ".join(row) + "\n" for row in rows) for rows in sentences(count, unknown))
    (folder / "tagged.conll").write_text(columns(8))
    (folder / "fewer.conll").write_text(columns(3))
    (folder / "unknown.conll").write_text(columns(8, unknown="zebra"))
    tags = ["O", "B-ANIMAL", "B-PLACE", "I-PLACE"]
    (folder / "numbers.jsonl").write_text("".join(
        json.dumps({"tokens": [row[0] for row in rows], "ner_tags": [tags.index(row[2]) for row in rows]}) + "\n"
        for rows in sentences(8)))


# --- What may differ --------------------------------------------------------------------------

def written(run, name):
    return json.loads((run.folder / name).read_text())


def writes(*names):
    """The run writes exactly these files of scores and predictions."""
    def check(run, base):
        found = {path.name for path in run.folder.iterdir()
                 if re.match(r"predictions\.(json|conll)|eval_results|RTE\.tsv", path.name)}
        return found == set(names) and run.status == 0
    return check


def windows(run):
    return [int(count) for count in re.findall(r"(\d+) features", run.messages)]


def evaluations(run):
    return len(re.findall(r"^step \d+: ", run.messages, re.MULTILINE))


def most_answers(run):
    return max(len(answers) for answers in written(run, "nbest_predictions.json").values())


def no_answers(run, base):
    return (set(written(run, "predictions.json").values()) == {""} and
            set(written(base, "predictions.json").values()) != {""})


def shared_effects(task, results, predictions, unknown):
    """Options of both commands; `results` and `predictions` are the files that they write, `unknown` names
    data with a word that the vocabulary lacks."""
    return {
        "task": Effect("pretraining", refused(f"choose one of {task}")),
        "do_training": Effect("true", writes()),
        "do_evaluation": Effect("true", writes(results), **SCORE_ONLY, base={}),
        "do_predict": Effect("true", writes(predictions), **SCORE_ONLY, base={}),
        "output_dir": Effect("output", lambda run, base: (run.folder.parent / "output" /
                                                          results).exists() and
                             not (run.folder / results).exists()),
        "vocab_file": Effect("other_vocab.txt", lambda run, base: run.file("vocab.txt") ==
                             (run.folder.parent / "other_vocab.txt").read_bytes()),
        "do_lower_case": Effect("false", lambda run, base: run.json("tokenizer_config.json")
                                ["do_lower_case"] is False),
        "strip_accents": Effect("false", lambda run, base: run.json("tokenizer_config.json")
                                ["strip_accents"] is False),
        "max_unknown_tokens": Effect(0, lambda run, base: refused("of the tokens are [UNK], most often for")
                                     (run, base) and not run.folder.exists() and base.status == 0,
                                     **unknown, base=unknown),
        "num_seeds": Effect(2, lambda run, base: sorted(path.name for path in run.folder.iterdir()
                                                        if path.is_dir()) ==
                            ["seed-1234", "seed-1235"]),
        "min_train_steps": Effect(20, lambda run, base: counted_steps(run) == 20 > counted_steps(base),
                                  num_train_steps=None, base={"num_train_steps": None, "epochs": 1}),
        "evaluations_per_epoch": Effect(0, lambda run, base: evaluations(run) == 0 and
                                        evaluations(base) > 0),
        "freeze_embeddings": Effect("true", lambda run, base: kept(run) == {"embeddings"}, **FROM_BASE),
        "freeze_layers": Effect(1, lambda run, base: kept(run) == {"embeddings", "encoder"}, **FROM_BASE),
        "layer_learning_rate_decay": Effect(0.001, lambda run, base: moved_less(run, base), **FROM_BASE),
        "early_stopping_patience": Effect(2, lambda run, base: stopped_early(run) == 3 and
                                          counted_steps(base) == 4, **NO_GAIN, base=NO_GAIN),
        "early_stopping_min_gain": Effect(1000, lambda run, base: stopped_early(run) == 3 and
                                          " by more than 1000" in run.messages,
                                          early_stopping_patience=2, evaluations_per_epoch=4),
    }


FROM_BASE = {"init_checkpoint": "base"}


def start_of(run):
    file = re.search(r"^initial values from (.*)$", run.messages, re.MULTILINE)[1]
    return tensors_in((run.folder.parent / file).read_bytes())


def kept(run):
    """Returns the parts of the encoder that are as they were where the run started."""
    start = start_of(run)
    parts = {}
    for name, tensor in run.tensors.items():
        if name.startswith("bert."):
            parts.setdefault(name.split(".")[1], []).append(tensor == start[name])
    return {part for part, same in parts.items() if all(same)}


def moved_less(run, base):
    """Where every rate is a thousandth of the one above, the lower parts hardly move."""
    start = start_of(run)

    def way(which, part):
        return max(abs(a - b) for name, (_, values) in which.tensors.items() if name.startswith(part)
                   for a, b in zip(values, start[name][1], strict=True))
    return (0 < way(run, "bert.embeddings.") < way(run, "bert.encoder.") / 100 and
            way(run, "bert.encoder.") < way(base, "bert.encoder.") / 100)


NO_GAIN = {"evaluations_per_epoch": 4, "early_stopping_min_gain": 1000}  # which no score exceeds


def stopped_early(run):
    found = re.search(r"^stopped early after step (\d+) of 4: ", run.messages, re.MULTILINE)
    return int(found[1]) if found else 0


def counted_steps(run):
    return run.metrics[-1]["step"]


def held_out(run):
    found = re.search(r"held out (\d+) of", run.messages)
    return int(found[1]) if found else 0


CLASS_LOSS = {"class_weights": Effect("3,1", other_weights, micro_batch_size=8),  # a step needs both classes
              "label_smoothing": Effect(0.1, other_weights)}


def finetune_effects(task, kind=""):
    """Options of the tasks of `cloze finetune` on tables of texts; `kind` is the end of their files' names."""
    shared = shared_effects(task, "eval_results.json", "predictions.jsonl", {"train_file": f"unknown{kind}.csv"})
    return {
        **shared,
        "do_evaluation": Effect("true", writes("eval_results.json", "predictions.jsonl"), **SCORE_ONLY, base={}),
        "do_predict": Effect("true", refused("there is no data to predict")),
        "train_file": Effect(f"fewer{kind}.csv", other_weights),
        "dev_file": Effect(None, lambda run, base: held_out(run) > 0 == held_out(base)),
        "dev_share": Effect(0.5, lambda run, base: held_out(run) > held_out(base), dev_file=None,
                            base={"dev_file": None}),
        "text_column": Effect("extra", other_weights),
        "pair_column": Effect("extra", other_weights),
        "quotes": Effect("false", lambda run, base: run.status == 0 and base.status == 3 and
                         "text follows the quote that ends a field" in base.messages,
                         train_file=f"quoted{kind}.csv", base={"train_file": f"quoted{kind}.csv"}),
        "classifier_dropout": Effect(0.5, other_weights),
        **(CLASS_LOSS if task in ("classify", "tag") else
           {name: Effect(effect.value, refused(f"is for classify and tag, not for {task}; leave it out"))
            for name, effect in CLASS_LOSS.items()}),
    }


class SquadEffectsTest(OptionEffects, unittest.TestCase):
    COMMAND = "squad"
    KNOWN = OF_EVERY_RUN.keys() - {"train_file"}
    BASE = {**MODEL, "train_file": "squad.json", "predict_file": "squad.json", "seq_length": 32}
    EFFECTS = {
        **shared_effects("SQuAD", "eval_results.json", "predictions.json",
                         {"train_file": "unknown.json"}),
        "train_file": Effect("other.json", other_weights),
        "predict_file": Effect("squad.json", writes("predictions.json", "eval_results.json"),
                               base={"predict_file": None}),
        "version_2_with_negative": Effect(
            "true", lambda run, base: (run.folder / "null_odds.json").exists() and
            base.status == 2 and "add --version-2-with-negative" in base.messages,
            train_file="squad2.json", predict_file="squad2.json"),
        "doc_stride": Effect(2, lambda run, base: windows(run) > windows(base),
                             seq_length=24),
        "max_query_length": Effect(2, other_weights),
        "feature_style": Effect("hf", other_weights, seq_length=24, doc_stride=4),
        "n_best_size": Effect(2, lambda run, base: most_answers(run) == 2 < most_answers(base)),
        "max_answer_length": Effect(1, lambda run, base: all(
            len(answer["text"].split()) == 1
            for answers in written(run, "nbest_predictions.json").values() for answer in answers)),
        "null_score_diff_threshold": Effect(-1000, no_answers, **VERSION_2),
    }
    make_data = staticmethod(make_data)

    def test_evaluations_that_cannot_be_are_noted(self):
        self.run_with("base", {}, self.COMMAND)
        for name, changes, why in (("unscored", {"do_training": "true"}, "scores no dev data"),
                                   ("untrained", {"do_evaluation": "true", **SCORE_ONLY}, "trains nothing")):
            given = {"evaluations_per_epoch": 2, "early_stopping_patience": 1}
            run = self.run_with(name, {**changes, **given}, self.COMMAND)
            for option in ("--evaluations-per-epoch", "--early-stopping-patience"):
                self.assertIn(f"note: {option} has no effect: this run {why}\n", run.messages)

    def test_layers_that_are_frozen_must_be_there(self):
        run = self.run_with("too_many", {"freeze_layers": 2}, self.COMMAND)
        self.assertEqual(run.status, 2)
        self.assertIn("--freeze-layers is 2, but the model has 1 layers; freeze at most these", run.messages)

    def test_options_that_are_idle_are_noted(self):
        for name, given, note in (
                ("unevaluated", {"evaluations_per_epoch": 0, "early_stopping_patience": 1},
                 "--early-stopping-patience has no effect with --evaluations-per-epoch 0"),
                ("impatient", {"early_stopping_min_gain": 1},
                 "--early-stopping-min-gain has no effect without --early-stopping-patience"),
                ("frozen", {"freeze_layers": 1, "freeze_embeddings": "true"},
                 "--freeze-embeddings has no effect with --freeze-layers, which freezes them, too")):
            self.assertIn(f"note: {note}\n", self.run_with(name, given, self.COMMAND).messages)


class GlueEffectsTest(OptionEffects, unittest.TestCase):
    COMMAND = "glue"
    KNOWN = OF_EVERY_RUN.keys()
    BASE = {**MODEL, "task_name": "RTE", "data_dir": "glue", "seq_length": 32}
    EFFECTS = {
        **shared_effects("GLUE", "eval_results_RTE.json", "RTE.tsv", {"data_dir": "unknown"}),
        "task_name": Effect("WNLI", lambda run, base: run.output.startswith("WNLI ") and
                            base.output.startswith("RTE ")),
        "data_dir": Effect("elsewhere", other_weights),
        "glue_dropout_prob": Effect(0.5, other_weights),
        **CLASS_LOSS,
    }
    make_data = staticmethod(make_data)

    def test_a_regression_has_no_classes(self):
        for option, value in (("class_weights", "balanced"), ("label_smoothing", 0.1)):
            run = self.run_with(f"regression-{option}", {"task_name": "STS-B", option: value}, self.COMMAND)
            self.assertEqual(run.status, 2)
            self.assertIn(f"--{option.replace('_', '-')} is for classes, but STS-B predicts a number; leave it out",
                          run.messages)


OF_TABLES = {**MODEL, "train_file": "labels.csv", "dev_file": "fewer.csv", "seq_length": 32}


class TableEffects(OptionEffects):
    """A task on texts of one's own. PICTURES are those of its report beside those of its training."""
    KNOWN = OF_EVERY_RUN.keys() - {"train_file"}
    PICTURES = []
    make_data = staticmethod(make_data)

    def test_report(self):
        trained = self.run_with("reported", {}, self.COMMAND)
        self.assertIn(f"wrote {trained.folder.name}/report.html\n", trained.messages)
        page = Page(trained.folder / "report.html")
        self.assertEqual(page.pictures, self.PICTURES + ["training loss over the steps",
                                                         "score that chooses the weights over the steps"])
        self.assertEqual((page.headings[0], page.headings[-1]), ("Scores", "Training"))
        scored = self.run_with("scored", {"do_evaluation": "true", **SCORE_ONLY}, self.COMMAND)
        self.assertEqual(Page(scored.folder / "report.html").pictures, self.PICTURES)


class FinetuneClassifyEffectsTest(TableEffects, unittest.TestCase):
    COMMAND = "finetune classify"
    PICTURES = ["Confusion matrix", "Calibration"]
    BASE = OF_TABLES
    EFFECTS = {**finetune_effects("classify"),
               "label_column": Effect("other", other_weights)}

    def test_no_option_is_needed_to_train_well(self):
        options = self.run_with("base", {}, self.COMMAND).json("training_config.json")
        expected = {"optimizer": "adamw", "use_debiasing": True, "lr_schedule": "linear", "warmup": 0.06,
                    "min_train_steps": 100, "weight_decay_rate": 0.01, "evaluations_per_epoch": 1.0}
        self.assertEqual({name: options[name] for name in expected}, expected)


def labels_of(run):
    return sorted(run.json("config.json")["label2id"])


class FinetuneMultilabelEffectsTest(TableEffects, unittest.TestCase):
    COMMAND = "finetune multilabel"
    BASE = {**OF_TABLES, "train_file": "sets.csv", "dev_file": "fewer_sets.csv"}
    EFFECTS = {
        **finetune_effects("multilabel", "_sets"),
        "label_column": Effect("other", lambda run, base: (labels_of(run), labels_of(base)) ==
                               (["cat", "dog"], ["animal", "cat", "dog"])),
        "label_separator": Effect("+", lambda run, base: labels_of(run) == ["cat|animal", "dog"]),
    }


class FinetuneChooseEffectsTest(TableEffects, unittest.TestCase):
    COMMAND = "finetune choose"
    BASE = {**OF_TABLES, "train_file": "quiz.csv", "dev_file": "fewer_quiz.csv", "label_column": "right"}
    EFFECTS = {
        **finetune_effects("choose", "_quiz"),
        "label_column": Effect("wrong", other_weights),
        "choice_column": Effect("text,extra", other_weights),
    }


class FinetuneRegressEffectsTest(TableEffects, unittest.TestCase):
    COMMAND = "finetune regress"
    PICTURES = ["Predictions over labels"]
    BASE = {**OF_TABLES, "label_column": "number"}
    EFFECTS = {**finetune_effects("regress"),
               "label_column": Effect("other", refused("it must be a number", status=3))}


NUMBERED = {"train_file": "numbers.jsonl", "dev_file": "numbers.jsonl"}


class FinetuneTagEffectsTest(TableEffects, unittest.TestCase):
    COMMAND = "finetune tag"
    BASE = {**MODEL, "train_file": "tagged.conll", "dev_file": "fewer.conll", "seq_length": 32}
    EFFECTS = {
        **{name: effect for name, effect in finetune_effects("tag").items()
           if name not in ("text_column", "pair_column", "quotes")},
        "do_evaluation": Effect("true", writes("eval_results.json"), **SCORE_ONLY, base={}),
        "do_predict": Effect("true", writes("predictions.jsonl", "predictions.conll"), **SCORE_ONLY, base={}),
        "max_unknown_tokens": Effect(0, lambda run, base: refused("of the tokens are [UNK], most often for")
                                     (run, base) and not run.folder.exists() and base.status == 0,
                                     train_file="unknown.conll", base={"train_file": "unknown.conll"}),
        "class_weights": Effect("3,1,1,1", other_weights),
        "train_file": Effect("fewer.conll", other_weights),
        "word_column": Effect(2, other_weights),
        "tag_column": Effect(2, refused("all words have the tag who; there must be two tags or more")),
        "tag_names": Effect("O,B-ANIMAL,B-PLACE,I-PLACE", lambda run, base:
                            run.json("config.json")["id2label"]["3"] == "I-PLACE" and
                            base.json("config.json")["id2label"]["3"] == "3", **NUMBERED, base=NUMBERED),
    }


WITH_SCORES = {"score_column": "number"}
TRIPLETS = {"loss": "triplet"}
SHORTER = {"matryoshka_dims": "16,8"}


class FinetuneEmbedEffectsTest(OptionEffects, unittest.TestCase):
    COMMAND = "finetune embed"
    KNOWN = OF_EVERY_RUN.keys() - {"train_file"}
    BASE = {**MODEL, "train_file": "alike.csv", "dev_file": "fewer_alike.csv", "seq_length": 32}
    EFFECTS = {
        **{name: effect for name, effect in finetune_effects("embed", "_alike").items()
           if name not in ("text_column", "pair_column", "classifier_dropout", *CLASS_LOSS)},
        "freeze_layers": Effect(1, refused("--freeze-layers is 1, all layers of the model, which has no others to train; "
                                           "freeze fewer")),
        "text_columns": Effect("anchor,negative", other_weights),
        "score_column": Effect("number", lambda run, base: "the loss is cosent: " in run.messages and
                               "spearman" in run.output and "ndcg@10" in base.output),
        "loss": Effect("triplet", other_weights),
        "scale": Effect(1, other_weights),
        "margin": Effect(0, other_weights, **TRIPLETS, base=TRIPLETS),
        "triplet_distance": Effect("cosine", other_weights, **TRIPLETS, base=TRIPLETS),
        "matryoshka_dims": Effect("16,8", other_weights),
        "matryoshka_weights": Effect("1,0.1", other_weights, **SHORTER, base=SHORTER),
        "pooling": Effect("cls", lambda run, base: run.weights != base.weights and all(
            one.json("1_Pooling/config.json")[f"pooling_mode_{mode}"] for one, mode in ((run, "cls_token"), (base, "mean_tokens")))),
    }
    make_data = staticmethod(make_data)

    def test_micro_batches_change_no_loss(self):
        """All rows of a step are compared with each other, with dropout, whatever its micro-batches."""
        short = {"seq_length": 8, "global_batch_size": 8}
        for loss in ({}, WITH_SCORES):
            runs = [self.run_with(f"tokens-{tokens}", {**loss, **short, "tokens_per_micro_batch": tokens}, self.COMMAND)
                    for tokens in (24, 48, 192)]  # of a row, of two, of all
            losses = [run.values("loss") for run in runs]
            self.assertEqual(len({run.weights for run in runs}), 3)  # sums have other orders
            self.assertEqual(len(set(losses[0])), len(losses[0]))
            for other in losses[1:]:
                for ours, theirs in zip(losses[0], other, strict=True):
                    self.assertLess(abs(ours - theirs), 1e-5 * abs(theirs))

    def test_a_run_goes_on_with_the_layers_of_its_folder(self):
        """Pooling, length and prompts are those of the start model, in what is saved and in what resumes."""
        self.run_with("base", {}, self.COMMAND)
        start = self.run_with("cls-start", {"pooling": "cls"}, self.COMMAND)
        given = {"init_checkpoint": start.folder.name, "vocab_file": None}
        whole = self.run_with("from-cls", given, self.COMMAND)
        self.assertNotIn("modules.json", whole.messages)
        self.assertTrue(whole.json("1_Pooling/config.json")["pooling_mode_cls_token"])
        half = self.run_with("half", {**given, "steps_per_ckpts": 2, "max_to_keep": 0}, self.COMMAND)
        self.assertEqual(half.status, 0, half.messages)
        shutil.rmtree(half.folder / "checkpoint-4")
        resumed = self.run_with("resumed", {"restore_dir": half.folder.name, "vocab_file": None, "save_path": half.folder.name},
                                self.COMMAND)
        self.assertEqual(resumed.status, 0, resumed.messages)
        self.assertEqual((half.folder / "checkpoint-4" / "model.safetensors").read_bytes(), whole.weights)

    def test_a_dev_file_may_be_of_another_kind(self):
        """Pairs are learned here, and pairs with scores scored."""
        run = self.run_with("scored", {"dev_file": "scored.csv", "text_columns": "anchor,positive"}, self.COMMAND)
        self.assertEqual(run.status, 0, run.messages)
        self.assertIn("the loss is multiple_negatives: the table has no scores", run.messages)
        self.assertIn("spearman", run.output)

    def test_what_does_not_fit_is_said(self):
        for name, changes, message in (
                ("no-scores", {"loss": "cosine"}, "has no scores, which the loss cosine learns"),
                ("no-negatives", {**TRIPLETS, "text_columns": "anchor,positive"},
                 "has no negatives, which the loss triplet needs"),
                ("too-high", {"loss": "cosine", "score_column": "hundreds", "train_file": "hundreds.csv"},
                 "has scores from 100 to 101, which no cosine reaches"),
                ("too-short", {"matryoshka_dims": 32}, "--matryoshka-dims has 32; the model's vectors have 1 to 16"),
                ("no-room", {"train_file": "same.csv"}, "have texts that all differ, as those of a step must")):
            with self.subTest(name):
                run = self.run_with(name, changes, self.COMMAND)
                self.assertEqual(run.status, 2, run.messages)
                self.assertIn(message, run.messages)

    def test_options_that_are_idle_are_noted(self):
        for name, given, note in (
                ("idle-margin", {"margin": 1, "loss": "cosent", **WITH_SCORES}, "--margin has no effect with --loss cosent"),
                ("idle-scale", {"scale": 1, **TRIPLETS}, "--scale has no effect with --loss triplet"),
                ("idle-weights", {"matryoshka_weights": 2}, "--matryoshka-weights has no effect without --matryoshka-dims")):
            self.assertIn(f"note: {note}\n", self.run_with(name, given, self.COMMAND).messages)


if __name__ == "__main__":
    unittest.main()
