"""The places that a change takes are those that docs/guides/change-the-house.md lists, and no more."""
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guides" / "change-the-house.md"
MOST_FOR_A_HEAD = 12
COMMENT = re.compile(r"//[^\n]*|<!--.*?-->", re.DOTALL)


def section(heading):
    """The text under a heading of the guide, up to the next of its level."""
    match = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", GUIDE.read_text(), re.MULTILINE | re.DOTALL)
    return match.group(1)


def listed_places(text):
    """The paths in the first column of the first table."""
    table = re.search(r"(?:^\|.*\n)+", text, re.MULTILINE).group(0)
    return re.findall(r"^\| `(src/[^`]+)`", table, re.MULTILINE)


def sources(*without):
    """Yields each source file but the tests, with its path and its code."""
    for path in sorted((ROOT / "src").rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        is_test = re.search(r"_test\.(h|cc)$", name)
        if path.suffix in (".h", ".cc", ".html") and not is_test and not name.startswith(without):
            yield name, COMMENT.sub("", path.read_text())


class Head(unittest.TestCase):
    # What question answering is called by those who know of it.
    NAMES = re.compile(r"\bkQuestionAnswering\b|\"span_logits\"|\"/answer\"|\b(?:start|end)_positions?\b|"
                       r"\bSquadFinetuning\b|\bQuestionAnswerer\b|\badd_(?:squad|squad_configuration|answer)\b")

    def test_the_places_of_one_are_listed(self):
        places = listed_places(section("A head"))
        self.assertLessEqual(len(places), MOST_FOR_A_HEAD)
        found = set()
        # Its loss is an operator, with the same words for its inputs; `cloze data squad` writes labels as records.
        for name, code in sources("src/ops/", "src/backend/", "src/cli/data/"):
            if not self.NAMES.search(code):
                continue
            place = next((place for place in places if name.startswith(place)), None)
            self.assertIsNotNone(place, f"{name} names the head; the guide does not list it")
            found.add(place)
        self.assertEqual(found, set(places), "places of the guide that do not name the head")

    def test_no_code_goes_through_the_heads_case_by_case(self):
        cases = [name for name, code in sources() if re.search(r"case (?:\w+::)*HeadKind::", code)]
        self.assertEqual(cases, [], "ask the head's row (models/bert_heads.h)")

    def test_a_planned_one_takes_no_more(self):
        tables = re.findall(r"(?:^\|.*\n)+", section("A head"), re.MULTILINE)
        self.assertEqual(len(tables), 2)
        self.assertLessEqual(tables[1].count("\n") - 2, MOST_FOR_A_HEAD)


if __name__ == "__main__":
    unittest.main()
