"""The parts that the tests of option effects share: runs of the program, the ways in which two runs
may differ, and the test that every option of a command has an entry and does what the entry says.
"""
import functools
import json
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

PROGRAM = pathlib.Path(sys.argv.pop() if len(sys.argv) > 1 else "cloze").resolve()
WORD_TABLE = "bert.embeddings.word_embeddings.weight"
CONTEXT = "the cat sat on the mat . the dog ran on the hill . and then it went home ."


def question(number, text, answer):
    """Returns a SQuAD question about CONTEXT. Without an answer it is an impossible one."""
    answers = [{"text": answer, "answer_start": CONTEXT.index(answer)}] if answer else []
    return {"id": str(number), "question": text, "answers": answers}


def tensors_in(safetensors):
    """Maps the name of each tensor to its shape and values; all tensors are f32."""
    size = struct.unpack("<Q", safetensors[:8])[0]
    header = json.loads(safetensors[8:8 + size])
    header.pop("__metadata__", None)
    tensors = {}
    for name, tensor in header.items():
        begin, end = (8 + size + offset for offset in tensor["data_offsets"])
        values = struct.unpack(f"<{(end - begin) // 4}f", safetensors[begin:end])
        tensors[name] = (tensor["shape"], values)
    return tensors


class Run:
    """One run of a command in the folder; an option that is None is left out."""

    def __init__(self, folder, name, command, options):
        self.folder = folder / name
        options = {"save_path": name, **options}
        words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items()
                 if value is not None]
        result = subprocess.run([PROGRAM, *command.split(), *words], cwd=folder, capture_output=True,
                                timeout=300)
        self.status = result.returncode
        self.output, self.messages = result.stdout.decode(), result.stderr.decode()

    @functools.cached_property
    def metrics(self):
        lines = (self.folder / "metrics.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines if '"step"' in line]

    def values(self, name):
        return [line[name] for line in self.metrics]

    @property
    def checkpoints(self):
        return sorted(int(path.name.split("-")[1]) for path in self.folder.glob("checkpoint-*"))

    def file(self, name):
        return (self.folder / f"checkpoint-{self.checkpoints[-1]}" / name).read_bytes()

    def json(self, name):
        return json.loads(self.file(name))

    @functools.cached_property
    def weights(self):
        return self.file("model.safetensors")

    @functools.cached_property
    def tensors(self):
        return tensors_in(self.weights)


class CommandRun:
    """One run of a command that does not train, in a folder of its own; "in" in that folder leads
    to the folder of inputs. An option that is None is left out. An option that is a list is given
    once for each value. Three options are special: "arguments" holds words without a name, "stdin"
    the text of standard input, and "first" the options of a run that goes before this one."""

    def __init__(self, folder, name, command, options):
        options = dict(options)
        self.folder = folder / "runs" / command.replace(" ", "-") / name
        if not self.folder.exists():
            self.folder.mkdir(parents=True)
            (self.folder / "in").symlink_to(folder)
        if "first" in options:
            first = options.pop("first")
            CommandRun(folder, name, command, {**options, **first})
        text = options.pop("stdin", "")
        words = list(options.pop("arguments", ()))
        for key, value in options.items():
            for one in value if isinstance(value, list) else [value]:
                if one is not None:
                    words.append(f"--{key.replace('_', '-')}={one}")
        result = subprocess.run([PROGRAM, *command.split(), *words], cwd=self.folder, timeout=300,
                                capture_output=True, input=text.encode())
        self.status = result.returncode
        self.output, self.messages = result.stdout.decode(), result.stderr.decode()

    def file(self, name):
        return (self.folder / name).read_bytes()

    def lines(self, name):
        return self.file(name).decode().splitlines()

    def has(self, name):
        return (self.folder / name).exists()

    def count(self, name):
        """Returns the number after a name, or before it, in what the command prints."""
        found = re.search(rf"(?:^|\b){name} (\d+)|(\d+) {name}", self.output, re.MULTILINE)
        return int(found[1] or found[2])


class Page:
    """An HTML page, which must be well formed and load nothing from elsewhere."""

    def __init__(self, path):
        self.root = xml.etree.ElementTree.fromstring(path.read_text())
        if any(part.tag in ("script", "link", "img") or "src" in part.attrib for part in self.root.iter()):
            raise AssertionError("the page needs something from elsewhere")
        self.pictures = [picture.get("aria-label") for picture in self.root.iter("svg")]
        self.headings = [heading.text for heading in self.root.iter("h2")]


class PlanPage(Page):
    """A report of a plan or of a profile: two pictures, and a row for each launch."""

    def __init__(self, path):
        super().__init__(path)
        if self.pictures != ["Memory over the program", "Time of each operator"]:
            raise AssertionError(f"pictures are {self.pictures}")
        rows = [[cell.text or "" for cell in row] for row in self.root.find(".//details").iter("tr")][1:]
        if [row[0] for row in rows] != [str(i) for i in range(len(rows))]:
            raise AssertionError("launches are missing")
        self.launches = len(rows)
        self.estimated = sum(float(row[-2] or 0) > 0 for row in rows)
        self.measured = sum(float(row[-1] or 0) > 0 for row in rows)


class Effect:
    """An option's value, the other options that it needs, and what must hold: check(run, base)."""

    def __init__(self, value, check, **needs):
        self.value, self.check, self.needs = value, check, needs


# --- What may differ --------------------------------------------------------------------------

def writes_other(name):
    return lambda run, base: run.file(name) != base.file(name)


def writes_same(name):
    return lambda run, base: run.file(name) == base.file(name)


def writes_to(name):
    return lambda run, base: run.has(name) and not base.has(name)


def prints_other(run, base):
    return run.status == base.status == 0 and run.output != base.output


def prints_same(run, base):
    return run.status == base.status == 0 and run.output == base.output != ""


def prints(part):
    return lambda run, base: part in run.output and part not in base.output


def counts(name, expected):
    return lambda run, base: run.count(name) == expected != base.count(name)


def counts_more(name, times=1.0):
    return lambda run, base: run.count(name) > times * base.count(name)


def counts_fewer(name):
    return lambda run, base: run.count(name) < base.count(name)


def succeeds(run, base):
    """The command is refused without the option, and succeeds with it."""
    return run.status == 0 != base.status


def other_weights(run, base):
    return run.weights != base.weights


def same_weights(run, base):
    """An option of speed, memory or display leaves every bit of the result as it is."""
    return run.weights == base.weights


def samples(per_step):
    return lambda run, base: run.values("samples") == [per_step * n for n in (1, 2, 3)]


def rates(*expected):
    return lambda run, base: all(abs(rate - wanted) < 1e-15 for rate, wanted in
                                 zip(run.values("learning_rate"), expected, strict=True))


def shape(tensor, expected):
    return lambda run, base: run.tensors[tensor][0] == expected


def without(part):
    """Tensors of that name are trained by default; with the option they are gone or stay zero."""
    def trained(run):
        return any(any(values) for name, (_, values) in run.tensors.items() if part in name)
    return lambda run, base: trained(base) and not trained(run)


def configured(key, value):
    """config.json says so, and the model computes otherwise."""
    return lambda run, base: run.json("config.json")[key] == value and run.weights != base.weights


def refused(part, status=2):
    return lambda run, base: run.status == status and part in run.messages


def planned(pattern):
    """`cloze plan` with the same options prints the pattern."""
    return lambda run, base: re.search(pattern, run.output, re.MULTILINE) is not None


def steps(count):
    return lambda run, base: run.metrics[-1]["step"] == count


def smaller(name):
    return lambda run, base: sum(run.values(name)) < sum(base.values(name))


def cloze(folder, *words):
    result = subprocess.run([PROGRAM, *map(str, words)], cwd=folder, capture_output=True, text=True,
                            timeout=300)
    if result.returncode != 0:
        raise RuntimeError(f"cloze {words}: {result.stderr}")


def help_of(command, flag="--help"):
    return subprocess.run([PROGRAM, *command.split(), flag], check=True, capture_output=True,
                          text=True, timeout=60).stdout


def options_in(help_text):
    names = re.findall(r"^ +(?:-h,)?--([a-z0-9-]+)", help_text, re.MULTILINE)
    return {name.replace("-", "_") for name in names} - {"help", "help_all"}


def commands_of(help_text):
    part = help_text.split("Subcommands:", 1)[1:]
    return re.findall(r"^  ([a-z]+) ", part[0], re.MULTILINE) if part else []


class OptionEffects:
    """A mixin for unittest.TestCase. It runs COMMAND with the options BASE, without and with each
    of EFFECTS.

    KNOWN holds the options that another test covers. RUN is the class that runs the command."""
    KNOWN = frozenset()
    RUN = Run

    @staticmethod
    def make_data(folder):
        """Writes the files that BASE and EFFECTS name."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.make_data(cls.folder)
        cls.runs = {}

    def run_with(self, name, changes, command):
        """Runs the command, once for each set of options, and returns that run."""
        key = json.dumps([changes, command], sort_keys=True)
        if key not in self.runs:
            self.runs[key] = self.RUN(self.folder, name if changes else "base", command,
                                      {**self.BASE, **changes})
        return self.runs[key]

    def test_every_option_has_an_entry(self):
        options = options_in(help_of(self.COMMAND, "--help-all"))
        self.assertEqual(options - self.EFFECTS.keys() - self.KNOWN, set())
        self.assertEqual(self.EFFECTS.keys() - options, set())

    def test_every_option_has_its_effect(self):
        self.run_with("base", {}, self.COMMAND)
        for name, effect in self.EFFECTS.items():
            needs = dict(effect.needs)
            command = needs.pop("command", self.COMMAND)
            base = self.run_with(f"{name}-base", needs.pop("base", needs), self.COMMAND)
            run = self.run_with(name, {**needs, name: effect.value}, command)
            with self.subTest(name):
                try:
                    self.assertTrue(effect.check(run, base))
                except Exception as error:
                    self.fail(f"{error}\nwithout: {base.messages[-400:]}\nwith: "
                              f"{run.messages[-400:]}\n{run.output[-300:]}")
