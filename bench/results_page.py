"""docs/results.md and the tables of README.md, as text: a function of docs/results.json alone.

The file has a record for each measurement of measurements.py: the commands, the machine, the commit, and the figures.
Machines are lettered in the order in which the page meets them.
"""
import re

HEAD = """# Results

`scripts/measure` measures what this page shows at one commit and writes it, with [results.json](results.json), the figures as data. After
each section stand its commands, with machine and commit; `DATA` is the folder that `tests/data_manifest.tsv` describes. Machines are
shared, so speeds vary by a few per cent within an hour; in every comparison cloze and its peer take turns.
{mixed}
Longer studies have pages of their own: [pre-training](studies/pre-training.md), [GroupBERT](studies/groupbert.md),
[fine-tuning](studies/fine-tuning.md), [speed of training](studies/training-speed.md), [of answering](studies/answering.md), [plans and
memory](studies/plans.md), [data](studies/data.md), [exactness](studies/exactness.md).
"""

MIXED = """
Not all were measured at the same commit: each section names its own.
"""

DEMO = """# What a model learns

## The demo

`scripts/demo` trains a model of two layers on a made-up world, and asks it what it was never shown. [The sample
world](design/sample-world.md) says what the blanks and questions ask. The same processor gives the same figures every time; instruction
sets round differently, so another processor gives others.
"""

TRAINING = """# How fast it is

## Training against PyTorch

Steps on both cores. *The same work* is a peer that projects only the masked positions on the vocabulary, as cloze does; *all positions* is a
peer that projects every one, as transformers does. The better of PyTorch's eager and compiled modes counts. In bf16 PyTorch keeps no f32
master weights; cloze does. The ceiling is our own product of 4096 x 3072 x 768, measured beside each step: above 100 % the machine was
faster during the step. With SQuAD's lengths the peer pads, and real tokens count.
"""

ANSWERING = """## Answering

BERT-base's shape with a question-answering head in f32, one sequence a call, medians in milliseconds; and batches of 8 with SQuAD's lengths,
in real tokens/s, which the peers pad. The floor is what the multiply-adds alone take in registers.
"""

TOKENIZER = """## Tokenizer

One thread each, uncased, all of `wikipedia/AB` (102.6 MB); each round a process of its own with cold caches.
"""

STORE = """## From text to batches

`wikipedia/AB` (102.6 MB) into a token store, and batches of 256 sequences from it on one thread.
"""

MEMORY = """# What it needs

## Memory

What pre-training on 16 sequences of 128 tokens forecasts at its start, and the peak that the system counts (`VmHWM`), in MiB; a vocabulary of
30,522.
"""

EXACT = """# How exact it is

The checks that compare with other programs and those of stopped runs, as `scripts/check_all` prints them. [checks.md](checks.md) has all checks
on record, and [exactness](studies/exactness.md) the longer sweeps.
"""

LENGTHS = {"128": "128 tokens", "384": "384 tokens"}


def row(*cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def table(head, rows):
    """The first column holds names, the others hold numbers."""
    return "\n".join([row(*head), row("---", *["--:"] * (len(head) - 1)), *rows]) + "\n"


def number(value):
    """With as many digits as a speed deserves; "" for what was not measured."""
    if value is None or isinstance(value, str):
        return value or ""
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return f"{value:,.{digits}f}"


class Page:
    def __init__(self, records):
        self.records = records
        self.machines = []
        for record in records.values():
            if record["machine"] not in self.machines:
                self.machines.append(record["machine"])

    def of_part(self, part):
        """Names after the slash, and figures."""
        return [(name.split("/", 1)[1], record["figures"]) for name, record in self.records.items()
                if name.startswith(part + "/")]

    def letter(self, record):
        return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[self.machines.index(record["machine"])]

    def commands(self, part):
        """The commands of the part, below the machine and the commit at which they ran."""
        lines, before = [], None
        for name, record in self.records.items():
            if name.startswith(part + "/"):
                place = f"# machine {self.letter(record)}, {record['commit']}"
                lines += [place] * (place != before) + record["commands"]
                before = place
        return "```\n" + "\n".join(lines) + "\n```\n"

    def section(self, text, part, *tables):
        """The paragraphs, wrapped, then the tables and the commands."""
        paragraphs = [wrapped(paragraph) for paragraph in text.strip().split("\n\n")]
        return "\n".join(["\n\n".join(paragraphs) + "\n", *tables, self.commands(part)])

    def text(self):
        machines = "\n".join(row(self.letter({"machine": machine}), machine) for machine in self.machines)
        is_mixed = len({(record["machine"], record["commit"]) for record in self.records.values()}) > 1
        return "\n".join([HEAD.format(mixed=MIXED if is_mixed else ""), f"| machine | what it is |\n| --- | --- |\n{machines}\n", self.section(DEMO, "demo", self.demo()),
                          self.section(TRAINING, "training", self.training()),
                          self.section(ANSWERING, "answering", *self.answering()),
                          self.section(TOKENIZER, "tokenizer", self.tokenizer()), self.section(STORE, "store", self.store()),
                          self.section(MEMORY, "memory", *self.memory()), self.section(EXACT, "exactness", self.exactness())])

    def demo(self):
        rows = []
        for _, figures in self.of_part("demo"):
            rows += [row("held-out blanks, untrained", f"top-1 {figures['before']}"),
                     row("held-out blanks, trained", f"top-1 {figures['after']}"),
                     row("questions on unseen paragraphs", f"exact {figures['exact']:.2f}, F1 {figures['f1']:.2f}")]
            if "seconds" in figures:
                rows.append(row("all of it, built before", f"{figures['seconds']} s"))
        return table(["", "score"], rows)

    def training(self):
        head = ["", "cloze", "the same work", "ratio", "all positions", "ratio", "of the ceiling"]
        rows = [row(name, f"{number(figures['ours'])} {figures['unit']}", number(figures.get("same")),
                    f"**{figures['same_ratio']:.2f}**" if "same_ratio" in figures else "", number(figures.get("all")),
                    number(figures.get("all_ratio")), f"{figures['ceiling']:.0f} %" if "ceiling" in figures else "")
                for name, figures in self.of_part("training")]
        return table(head, rows)

    def answering(self):
        for _, figures in self.of_part("answering"):
            peers = sorted({name for values in figures.values() for name in values} - {"ours", "floor"})
            rows = []
            for length, values in figures.items():
                best = (max if length == "ragged" else min)(values[peer] for peer in peers if peer in values)
                ratio = values["ours"] / best if length == "ragged" else best / values["ours"]
                rows.append(row(LENGTHS.get(length, f"{length} tokens") if length != "ragged" else "batches of 8, tokens/s",
                                number(values["ours"]), *[number(values.get(peer)) for peer in peers], f"**{ratio:.2f}**",
                                number(values.get("floor"))))
            yield table(["", "cloze", *peers, "times as fast as the best", "floor"], rows)

    def tokenizer(self):
        rows = [row(f"{figures['ours']:.1f} MB/s", f"{figures['peer']:.2f} MB/s", f"**{figures['ratio']:.1f}**",
                    figures["differences"]) for _, figures in self.of_part("tokenizer")]
        return table(["cloze", "`tokenizers`", "ratio", "differences in tokens and offsets"], rows)

    def store(self):
        rows = []
        for _, figures in self.of_part("store"):
            rows += [row("text into a store, both cores", f"{number(figures['megabytes_per_second'])} MB/s"),
                     row("of the text's size", f"{figures['share']:.2f}"),
                     row("the same command again", f"{number(figures['again'])} MB/s"),
                     row("open the store", f"{number(figures['open_ms'])} ms"),
                     row("from nothing to the batch of step 1,000,000", f"{number(figures['far_ms'])} ms"),
                     row("sequences of 128", f"{figures['million_tokens_128']:.1f} million tokens/s"),
                     row("sequences of 512", f"{figures['million_tokens_512']:.1f} million tokens/s")]
        return table(["", ""], rows)

    def memory(self):
        sizes = {}
        for name, figures in self.of_part("memory"):
            if "taken" in figures:
                size, precision = name.split()
                off = 100 * (figures["taken"] / figures["planned"] - 1)
                sizes.setdefault(size, {})[precision] = f"{figures['planned']:.1f}, {figures['taken']:.1f} ({off:+.1f} %)"
        yield table(["", "f32", "bf16"],
                    [row(size, cells.get("f32", ""), cells.get("bf16", "")) for size, cells in sizes.items()])
        for name, figures in self.of_part("memory"):
            if "most_time" in figures:
                yield wrapped(f"Of {figures['runs']} runs with and without recomputation, `cloze plan --measure` is at most "
                              f"{figures['most_memory']:.1f} % off in memory and {figures['most_time']:.1f} % in the time of a step.") + "\n"

    def exactness(self):
        rows = [row(name, result) for _, figures in self.of_part("exactness") for name, result in figures.items()]
        return table(["check", "result"], rows).replace("--:", "---")

    def measured(self, names):
        """Where and when these were measured, in a sentence."""
        places = {}
        for name in names:
            record = self.records[name]
            commits = places.setdefault(record["machine"], {})
            commits.setdefault(record["commit"], []).append(name.split("/", 1)[1])
        if len(places) == 1 and len(*places.values()) == 1:
            (machine, commits), = places.items()
            return f"Measured at `{''.join(commits)}` on {machine}."
        return "Measured " + "; ".join(f"on {machine}: " + ", ".join(f"{' and '.join(named)} at `{commit}`"
                                                                    for commit, named in commits.items())
                                       for machine, commits in places.items()) + "."

    def readme_speed(self):
        head = ["speed, two processor cores", "cloze", "the same work in a peer", "ratio", "PyTorch, all positions", "ratio"]
        rows, shown = [], []
        for name, figures in self.of_part("training"):
            if name.startswith(("tiny ", "base ")) and "same_ratio" in figures:
                shown.append(f"training/{name}")
                rows.append(row(f"pre-training BERT-{name}", f"{number(figures['ours'])} sequences/s", number(figures.get("same")),
                                f"**{figures['same_ratio']:.2f}**", number(figures.get("all")), number(figures.get("all_ratio"))))
        for name, figures in self.of_part("answering"):
            shown.append(f"answering/{name}")
            for length in (each for each in figures if each != "ragged"):
                values = figures[length]
                best, peer = min((value, peer) for peer, value in values.items() if peer not in ("ours", "floor"))
                rows.append(row(f"BERT-{name} answers {length} tokens", f"{number(values['ours'])} ms",
                                f"{number(best)} ({PEER_NAMES.get(peer, peer)})", f"**{best / values['ours']:.2f}**", "", ""))
        return table(head, rows) + "\n" + wrapped(self.measured(shown)) + "\n"

    def readme_demo(self):
        text = []
        for name, record in self.records.items():
            if name.startswith("demo/"):
                figures = record["figures"]
                text.append(wrapped(f"At `{record['commit']}`, on {record['machine']}, it ended with:") + "\n\n```\n"
                            f"Held-out blanks before training: top-1 {figures['before']}\n"
                            f"Held-out blanks after training:  top-1 {figures['after']}\n"
                            f"Questions on unseen paragraphs:  exact {figures['exact']:.2f} f1 {figures['f1']:.2f}\n```\n")
        return "".join(text)


PEER_NAMES = {"compiled": "PyTorch", "eager": "PyTorch", "onnxruntime": "ONNX Runtime", "onnxruntime-fused": "ONNX Runtime"}


def wrapped(text, columns=139):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def with_block(document, name, text):
    """Puts the text between the marks of that name."""
    pattern = re.compile(rf"(<!-- {name}: begin -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"the document has no <!-- {name}: begin --> and <!-- {name}: end -->")
    return pattern.sub(lambda match: match[1] + text + match[2], document)


def readme_with(document, records):
    page = Page(records)
    return with_block(with_block(document, "speed", page.readme_speed()), "demo", page.readme_demo())
