"""The documents hold together: links lead somewhere, and the scripts, configurations and commands that
they name are there."""
import functools
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None

LINK = re.compile(r"\]\(([^)\s]+)\)")
MOST_COLUMNS = 140  # except for tables, commands and comments
FENCE = re.compile(r"```.*?```", re.DOTALL)
COMMAND = re.compile(r"^\s*(?:\$ )?(?:build/release/)?cloze +([^|<>\n]*)", re.MULTILINE)


def documents():
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def anchors(text):
    """Returns the anchors that hosting sites make of the headings."""
    headings = re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands(text):
    """Yields each `cloze ...` in a fenced block as words, with its continued lines joined. A
    command that another one launches is yielded by itself."""
    for block in FENCE.findall(text):
        block = re.sub(r"\\\n\s*", " ", block)
        for line in COMMAND.findall(block):
            for part in line.split(" #")[0].split(" -- "):
                yield part.split()


@functools.cache
def printed_help(command):
    result = subprocess.run([PROGRAM, *command, "--help-all"], capture_output=True, text=True)
    return result.stdout if result.returncode == 0 else None


def help_of(words):
    """Returns the help of the command that the first words name, such as `data records` or `plan`.
    If they begin with an option, it is the help of cloze itself."""
    if words[0].startswith("-"):
        return printed_help(())
    return printed_help(tuple(words[:2])) if words[0] in ("config", "data", "export", "finetune", "score") else printed_help((words[0],))


# Openings of comments that leave out who or what does it, and how many may be left: lower it as they go.
WITHOUT_SUBJECT = re.compile(r"^ *// (?:What|Of|As|How|Whether) .*", re.MULTILINE)
MOST_WITHOUT_SUBJECT = 129


def comments():
    """Yields each comment on lines of its own in the source, tests aside."""
    for path in sorted([*ROOT.glob("src/**/*.h"), *ROOT.glob("src/**/*.cc")]):
        if not path.stem.endswith("_test"):
            yield from re.findall(r"(?:^ *//.*\n)+", path.read_text(), re.MULTILINE)


class Documents(unittest.TestCase):
    def test_comments_begin_with_a_subject(self):
        found = [comment for comment in comments() if WITHOUT_SUBJECT.match(comment)]
        self.assertLessEqual(len(found), MOST_WITHOUT_SUBJECT, "begin the new one with what it is or does: \"Says whether ...\"")

    def test_prose_keeps_to_the_columns(self):
        for document in documents():
            if document.name == "CHANGELOG.md":
                continue  # one line per change
            for line in FENCE.sub("", document.read_text()).splitlines():
                if line.startswith(("|", "<!--")):
                    continue
                with self.subTest(document=str(document.relative_to(ROOT)), line=line):
                    self.assertLessEqual(len(line), MOST_COLUMNS)

    def test_links_lead_somewhere(self):
        for document in documents():
            text = document.read_text()
            for link in LINK.findall(FENCE.sub("", text)):
                if re.match(r"https?:", link):
                    continue
                path, _, anchor = link.partition("#")
                target = document.parent / path if path else document
                with self.subTest(document=str(document.relative_to(ROOT)), link=link):
                    self.assertTrue(target.exists())
                    if anchor and target.suffix == ".md":
                        self.assertIn(anchor, anchors(target.read_text()))

    def test_every_document_is_in_the_index(self):
        index = (ROOT / "docs" / "README.md").read_text()
        for document in sorted(ROOT.glob("docs/**/*.md")):
            path = document.relative_to(ROOT / "docs").as_posix()
            with self.subTest(document=path):
                self.assertTrue(path == "README.md" or f"]({path})" in index)

    def test_files_that_documents_name_exist(self):
        # `git show` finds those behind a commit.
        names = r"(?<![0-9a-f]:)\b((?:scripts|configs|examples|src|tests|bench)/[\w./*-]*[\w*])(?!\.?[\w{])"
        for document in documents():
            for path in re.findall(names, document.read_text()):
                with self.subTest(document=str(document.relative_to(ROOT)), path=path):
                    self.assertTrue(any(ROOT.glob(path)) or (ROOT / (path + ".json")).exists())

    def test_the_newest_version_of_the_changelog_is_that_of_the_build(self):
        newest = re.search(r"^## \[(\d[\d.]*)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
        built = re.search(r"^project\(cloze VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
        self.assertEqual(newest, built)
        if PROGRAM:
            printed = subprocess.run([PROGRAM, "--version"], check=True, capture_output=True, text=True).stdout
            self.assertEqual(printed.split()[:2], ["cloze", newest])

    @unittest.skipUnless(PROGRAM, "no program given")
    def test_commands_and_their_options_exist(self):
        for document in documents():
            for words in commands(document.read_text()):
                help_text = help_of(words)
                with self.subTest(document=str(document.relative_to(ROOT)), command=" ".join(words)):
                    self.assertIsNotNone(help_text, "no such command")
                    for word in words:
                        if word.startswith("--"):
                            self.assertRegex(help_text, re.escape(word.split("=")[0]) + r"(?![\w-])")


if __name__ == "__main__":
    unittest.main()
