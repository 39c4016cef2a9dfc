"""Training and planning: commands of the program as functions. Options have the program's names with underscores:
pretrain(config="bert_tiny", num_train_steps=100) is `cloze pretrain --config bert_tiny --num-train-steps 100`."""
import dataclasses
import pathlib
import re
from collections.abc import Callable

from ._errors import UsageError
from ._metrics import Metrics, MetricsFile
from ._program import Option, run_program, words_of

OnMetrics = Callable[[Metrics], None]


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that has ended."""
    save_path: pathlib.Path   # its folder: checkpoints, metrics, scores
    metrics: list[Metrics]    # the lines of its metrics.jsonl
    output: str               # what it printed, such as scores
    messages: str             # what it said beside that, such as notes


def command(*words: str, show: bool = False, **options: Option) -> str:
    """Runs a command of the program, such as command("data", "tokens", input_file="text/*.txt"), and returns
    what it prints. show: also print it as it comes."""
    return run_program([*words, *words_of(options)], show=show).output


def plan(**options: Option) -> str:
    """Says what a run of pretrain would take: memory and time, in the words of `cloze plan`."""
    return run_program(["plan", *words_of(options)]).output


def pretrain(*, on_metrics: OnMetrics | None = None, show: bool = False, **options: Option) -> Run:
    """Pre-trains a model, by the options of `cloze pretrain`. on_metrics(line) is called with each new line of
    metrics. An exception in it, and Ctrl-C, end the run, which saves; pretrain(restore_dir=...) resumes."""
    return _train(["pretrain"], on_metrics, show, options)


def finetune(task: str, *, on_metrics: OnMetrics | None = None, show: bool = False, **options: Option) -> Run:
    """Fine-tunes a model, by the options of `cloze finetune TASK` (classify, regress, multilabel, choose, tag,
    embed), or of `cloze squad` and `cloze glue`. As pretrain."""
    return _train([task] if task in ("squad", "glue") else ["finetune", task], on_metrics, show, options)


def _save_path(words: list[str]) -> pathlib.Path:
    """Asks the program, since a configuration may say it. What is wrong with the options, the run itself says."""
    try:
        printed = run_program(["config", "print", *words]).output
    except UsageError:
        printed = ""
    found = re.search(r'^save_path "(.*)"  \(', printed, re.MULTILINE)
    return pathlib.Path(found[1] if found else "checkpoints")


def _train(words: list[str], on_metrics: OnMetrics | None, show: bool, options: dict[str, Option]) -> Run:
    words = [*words, *words_of(options)]
    given = options.get("save_path")
    save_path = pathlib.Path(str(given)) if given else _save_path(words)
    file = MetricsFile(save_path / "metrics.jsonl")

    def look() -> None:
        for line in file.new():
            if on_metrics is not None:
                on_metrics(line)

    printed = run_program(words, look, show=show)
    return Run(save_path, file.all(), *printed)
