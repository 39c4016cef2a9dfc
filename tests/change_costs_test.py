"""What docs/guides/change-the-house.md says a change costs is so: the places that it lists are those that name the
example, and no others do; and each walk's stops exist, and return to no room that it left but in the loop."""
import importlib.machinery
import importlib.util
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
GUIDE = ROOT / "docs" / "guides" / "change-the-house.md"
# Places that a change takes at most. Lists of sources in CMakeLists.txt, documents and tests are not counted.
MOST_PLACES = {"a plain option": 3, "a field of the model's shape": 2, "an optimiser": 9, "a head": 13, "a head of tokens": 11, "a device": 2}
WALKS = {"an option", "a batch", "a gradient", "a checkpoint"}

# Before a table: <!-- places: CHANGE = REGULAR EXPRESSION [except FOLDER ...] --> or <!-- walk: NAME -->
MARK = re.compile(r"<!-- (places|walk): (.*?) -->\n((?:\|.*\n)+)")
COMMENT = re.compile(r"//[^\n]*|<!--.*?-->", re.DOTALL)


def marked(kind):
    """{what follows the kind: the rows of the table below, as lists of cells} of the guide."""
    tables = {}
    for found, title, table in MARK.findall(GUIDE.read_text()):
        if found == kind:
            tables[title] = [[cell.strip(" `") for cell in row.strip("|\n").split("|")] for row in table.splitlines()[2:]]
    return tables


def sources(without=()):
    """Yields each source file but the tests, with its path and its code."""
    for path in sorted((ROOT / "src").rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        is_test = re.search(r"_test\.(h|cc)$", name)
        if path.suffix in (".h", ".cc", ".html") and not is_test and not name.startswith(tuple(without)):
            yield name, COMMENT.sub("", path.read_text())


def room_finder():
    """scripts/check_layers' answer to which room a file of src/ lies in."""
    loader = importlib.machinery.SourceFileLoader("check_layers", str(ROOT / "scripts" / "check_layers"))
    layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
    loader.exec_module(layers)
    rooms, _ = layers.read_tables(ROOT)
    return lambda name: layers.room_of(name.removeprefix("src/"), rooms)


class Places(unittest.TestCase):
    def test_the_listed_ones_name_the_example_and_no_others_do(self):
        self.assertEqual({title.split(" = ")[0] for title in marked("places")}, set(MOST_PLACES))
        for title, rows in marked("places").items():
            change, names = title.split(" = ")
            names, _, without = names.partition(" except ")
            listed = [row[0] for row in rows]
            with self.subTest(change=change):
                found = set()
                for name, code in sources(without.split()):
                    if re.search(names, code):
                        found.add(next((place for place in listed if name.startswith(place)), name))
                self.assertEqual(found, set(listed))

    def test_there_are_no_more_than_there_may_be(self):
        said = dict(re.findall(r"^\| ([^|`]+?) \| (\d+) \|", GUIDE.read_text(), re.MULTILINE))
        for title, rows in marked("places").items():
            change = title.split(" = ")[0]
            # What computes with a value comes on top of the places that make it known.
            counted = [row for row in rows if row[-1] != "computes with it"]
            with self.subTest(change=change):
                self.assertLessEqual(len(counted), MOST_PLACES[change])
                self.assertEqual(said.get(change), str(len(counted)))

    def test_no_code_goes_through_the_heads_case_by_case(self):
        cases = [name for name, code in sources() if re.search(r"case (?:\w+::)*HeadKind::", code)]
        self.assertEqual(cases, [], "ask the head's row (models/bert_heads.h)")


class Walks(unittest.TestCase):
    def test_every_stop_is_there(self):
        self.assertEqual(set(marked("walk")), WALKS)
        for title, rows in marked("walk").items():
            for file, function, _ in rows:
                with self.subTest(walk=title, file=file):
                    self.assertRegex((ROOT / file).read_text(), rf"\b{re.escape(function)}\b")

    def test_none_returns_to_a_room_but_in_the_loop(self):
        room_of = room_finder()
        for title, rows in marked("walk").items():
            left, room = set(), None
            for file, _, words in rows:
                now = room_of(file)
                with self.subTest(walk=title, file=file):
                    self.assertTrue(now == room or now not in left or "in the loop" in words, f"{now} was left before")
                left.add(now)
                room = now


if __name__ == "__main__":
    unittest.main()
