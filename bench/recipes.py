"""Recipes of other systems for scripts/reproduce: configurations of pre-training's phases, of SQuAD and of
GLUE, each as `cloze config import` makes it, with the paths of this run."""
import json
import subprocess
import sys

from task_data import squad_dev_file, squad_train_file, task_list
from training_runs import USER_ERROR

TWO_PHASES = "there this runs two phases"
# What the script decides, and not the recipe.
PLACES = ("init_checkpoint", "restore_dir", "save_path", "output_dir", "train_file", "predict_file", "data_dir",
          "vocab_file", "task_name", "compile_only", "generated_data", "synthetic_data", "num_seeds")
# What the checkpoint decides that fine-tuning starts from.
SIZES = ("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
         "max_position_embeddings", "type_vocab_size", "use_qkv_bias", "use_attention_projection_bias")
OWN_FORM = "is already in cloze's form"


def imported(cloze, path, output, phase=None, left_out=()):
    """Writes the configuration in cloze's form. Returns its path, and whether the recipe has a second phase."""
    command = [cloze, "config", "import", path, "--output-file", output]
    result = subprocess.run(list(map(str, command + (["--phase", phase] if phase else []))),
                            capture_output=True, text=True)
    if result.returncode == USER_ERROR and OWN_FORM in result.stderr:
        return path, False
    if result.returncode:
        sys.exit(result.stderr.rstrip())
    options = json.loads(output.read_text())
    kept = {key: value for key, value in options.items() if key not in (*PLACES, *left_out)}
    output.write_text(json.dumps(kept, indent=2) + "\n")
    return output, TWO_PHASES in result.stdout


def imported_phases(cloze, paths, folder):
    """Returns the configurations of pre-training in order; one file may have two phases."""
    folder.mkdir(parents=True, exist_ok=True)
    configs = []
    for path in paths:
        config, has_second = imported(cloze, path, folder / f"phase{len(configs) + 1}.json")
        configs.append(config)
        if has_second:
            configs.append(imported(cloze, path, folder / f"phase{len(configs) + 1}.json", 2)[0])
    return configs


def finetunings(arguments, data, folder):
    """Yields the name of each fine-tuning, its configuration and the words that tell its data."""
    cloze = arguments.build_dir / "cloze"
    if arguments.squad:
        yield ("SQuAD", imported(cloze, arguments.squad, folder / "squad.json", left_out=SIZES)[0],
               ["squad", "--train-file", squad_train_file(data), "--predict-file", squad_dev_file(data)])
    for task in task_list(arguments.tasks) if arguments.glue else ():
        if task == "SQuAD":
            continue
        path = arguments.glue_regression if task == "STS-B" and arguments.glue_regression else arguments.glue
        yield task, imported(cloze, path, folder / f"{task}.json", left_out=SIZES)[0], \
            ["glue", "--task-name", task, "--data-dir", data / "glue"]


def finetune(stages, arguments, data, vocabulary, start):
    """Fine-tunes with several seeds. Returns what each command prints at its end: means and deviations."""
    scores = []
    for task, config, (command, *words) in finetunings(arguments, data, arguments.output / "configs"):
        folder = arguments.output / task
        folder.mkdir(exist_ok=True)
        begun = any(any(folder.glob(name)) for name in ("checkpoint-*", "seed-*/checkpoint-*"))
        printed = folder / "scores.txt"
        stages.run(task, [arguments.build_dir / "cloze", command, "--config", config, *words, "--vocab-file", vocabulary,
                          "--do-training", "--do-evaluation", "--num-seeds", arguments.num_seeds,
                          "--save-path", folder, "--output-dir", folder, "--progress-bar", "false",
                          *arguments.finetuning_options],
                   ["--restore-dir", folder] if begun else ["--init-checkpoint", start], printed, config)
        scores += [line for line in printed.read_text().splitlines() if "{" not in line]
    return scores
