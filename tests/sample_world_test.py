"""examples/sample_world/make_world: documents that agree, blanks that no document gives away, questions with one answer."""
import collections
import importlib.machinery
import importlib.util
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "examples" / "sample_world" / "make_world"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("make_world", str(SCRIPT))
world_of = importlib.util.module_from_spec(importlib.util.spec_from_loader("make_world", loader))
loader.exec_module(world_of)
DATA = world_of.Data()
PLACES = re.compile(r"\{(?:a )?\*?([^}]*)\}")


def words_of(text):
    return re.findall(r"\w+", text.lower())


class DataTest(unittest.TestCase):
    def test_rows_share_no_word_and_lists_hold_distinct_words(self):
        for table in ("crafts", "animals", "opposites"):
            cells = [word for row in DATA.tables[table] for word in row.values()]
            self.assertEqual([word for word, count in collections.Counter(cells).items() if count > 1], [], table)
        for name, words in DATA.words.items():
            if not name.startswith("months."):
                self.assertEqual(len(words), len(set(words)), name)

    def test_every_topic_is_told_and_blanks_come_from_what_is_told_in_several_ways(self):
        told = {topic for plan in DATA.documents for part in ("opening", "body", "ending") for topic in plan[part]}
        self.assertEqual(told, set(DATA.topics))
        self.assertEqual(sum(kind["percent"] for kind in DATA.blanks), 100)
        for kind in DATA.blanks:
            for topic in kind["topics"]:
                self.assertGreaterEqual(len(DATA.topics[topic]), 4, topic)

    def test_every_template_expands_to_sentences(self):
        world, draw = world_of.World(DATA, 1), world_of.Draw(1)
        for ways in DATA.topics.values():
            for template in ways:
                for sentence in world_of.expand(template, world.scene(draw), draw):
                    self.assertRegex(sentence.text, r"^[A-Z0-9][^{}<>()|]*[.?!]$")
                    for begin, end in sentence.blanks:
                        self.assertRegex(sentence.text[begin:end], r"^\w+$", template)

    def test_statements_hold_subject_and_answer_once_and_questions_the_subject_alone(self):
        for kind in DATA.readings:
            for topic in kind["topics"]:
                self.assertGreaterEqual(min(len(topic["statements"]), len(topic["questions"])), 3, topic["name"])
                for statement in topic["statements"]:
                    self.assertEqual(sorted(PLACES.findall(statement)), ["answer", "subject"], statement)
                    self.assertIn("*answer}", statement)
                for question in topic["questions"]:
                    self.assertEqual(PLACES.findall(question), ["subject"], question)
                    self.assertTrue(question.endswith("?"))


class TemplateTest(unittest.TestCase):
    def expand(self, template, **slots):
        return world_of.expand(template, slots, world_of.Draw(3))

    def test_slots_articles_blanks_choices_and_lines(self):
        first, second = self.expand("{a beast} met <the> {*town}.\nit ran.", beast="owl", town="Orla")
        self.assertEqual((first.text, second.text), ("An owl met the Orla.", "It ran."))
        self.assertEqual([first.text[begin:end] for begin, end in first.blanks], ["the", "Orla"])
        self.assertEqual(self.expand("see {a beast}.", beast="cat")[0].text, "See a cat.")
        draw = world_of.Draw(1)
        seen = {world_of.expand("(one|{other}) way.", {"other": "another"}, draw)[0].text for _ in range(50)}
        self.assertEqual(seen, {"One way.", "Another way."})

    def test_an_unknown_slot_is_an_error(self):
        with self.assertRaises(KeyError):
            self.expand("The {rivr} flows.", river="Orla")


class DocumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.world = world_of.World(DATA, 42)
        cls.documents = [cls.world.document(i) for i in range(2500)]
        cls.sentences = {sentence for document in cls.documents for sentence in document}
        cls.blanks = cls.world.blanks(500)

    def test_they_are_a_function_of_seed_and_index(self):
        self.assertEqual(self.documents[17], world_of.World(DATA, 42).document(17))
        self.assertNotEqual(self.documents[17], world_of.World(DATA, 43).document(17))

    def test_they_have_an_agreeable_length_and_say_nothing_twice(self):
        for document in self.documents:
            self.assertTrue(5 <= len(document) <= 26, len(document))
            self.assertEqual(len(document), len(set(document)))

    def test_they_state_the_facts_of_the_world(self):
        of_town = {town["town"]: town for town in self.world.towns}
        self.assertEqual(len(of_town), world_of.TOWNS)
        found = 0
        for sentence in self.sentences:
            if match := re.fullmatch(r"(\w+) belongs to the province of (\w+), and its (\w+) are proud of it\.", sentence):
                town = of_town[match[1]]
                self.assertEqual((match[2], match[3]), (town["province"], town["makers"]))
                found += 1
        self.assertGreater(found, 5)
        for town in self.world.towns:
            self.assertEqual(of_town[town["capital"]]["province"], town["province"])
            self.assertNotEqual(town["neighbour"], town["town"])

    def test_blanks_are_never_in_the_documents(self):
        for item in self.blanks:
            sentence = item["text"].replace("[MASK]", item["answer"])
            self.assertNotIn(sentence, self.sentences)
            self.assertTrue(self.world.is_held_out(sentence))

    def test_blanks_differ_and_no_answer_is_over_a_twentieth(self):
        self.assertEqual(len({item["text"] for item in self.blanks}), 500)
        for item in self.blanks:
            self.assertEqual(item["text"].count("[MASK]"), 1)
        for count in (1, 20, 40, 500):
            uses = collections.Counter(item["answer"] for item in self.world.blanks(count))
            self.assertLessEqual(max(uses.values()), max(1, count // 20))

    def test_answers_are_frequent_words_of_a_small_vocabulary(self):
        counts = collections.Counter(word for document in self.documents for sentence in document for word in words_of(sentence))
        self.assertLess(len(counts), 2500)
        for item in self.blanks:
            self.assertGreaterEqual(counts[item["answer"].lower()], 15, item)

    def test_blanks_are_of_every_kind_and_stories_hold_their_answer(self):
        counts = collections.Counter(item["kind"] for item in self.blanks)
        self.assertEqual(set(counts), {kind["kind"] for kind in DATA.blanks})
        self.assertGreater(counts["fact"], 100)
        for item in self.blanks:
            self.assertEqual(bool(item["context"]), item["kind"] == "story")
            if item["kind"] == "story":
                self.assertIn(item["answer"], item["context"])

    def test_any_number_of_blanks_up_to_the_bound(self):
        self.assertEqual([len(world_of.World(DATA, 1).blanks(count)) for count in (0, 3, world_of.MOST_BLANKS)],
                         [0, 3, world_of.MOST_BLANKS])


class ReadingsTest(unittest.TestCase):
    def files(self, num_subjects):
        readings = world_of.Readings(world_of.World(DATA, 42), num_subjects)
        dev = readings.squad("dev", 0, 300)
        return readings, dev, readings.squad("train", world_of.paragraphs_for(300), 1200)

    def test_every_answer_stands_at_its_place_and_nowhere_else(self):
        for num_subjects in (1, 2, 3):
            _, dev, train = self.files(num_subjects)
            for paragraph in (each for file in (dev, train) for article in file["data"] for each in article["paragraphs"]):
                context = paragraph["context"]
                self.assertTrue(context.isascii())
                self.assertLess(len(context.split()), 90)
                self.assertEqual(len(paragraph["qas"]), world_of.QUESTIONS)
                for question in paragraph["qas"]:
                    (answer,) = question["answers"]
                    begin = answer["answer_start"]
                    self.assertEqual(context[begin:begin + len(answer["text"])], answer["text"])
                    found = [match.start() for match in re.finditer(rf"\b{re.escape(answer['text'])}\b", context)]
                    self.assertEqual(found, [begin], (context, answer))

    def test_a_question_is_of_the_subject_that_its_sentence_tells_of(self):
        for num_subjects in (1, 3):
            readings, _, _ = self.files(num_subjects)
            for index in range(200):
                subjects = readings.subjects[index][1]
                paragraph = readings.paragraph(index, "x")
                for question in paragraph["qas"]:
                    begin = question["answers"][0]["answer_start"]
                    start = paragraph["context"].rfind(". ", 0, begin) + 1
                    sentence = paragraph["context"][start:].split(". ")[0]
                    asked = [subject for subject in subjects if subject in question["question"]]
                    self.assertEqual(len(asked), 1)
                    self.assertIn(asked[0], sentence)

    def test_train_and_dev_share_neither_paragraph_nor_subject(self):
        readings, dev, train = self.files(1)
        contexts = [{paragraph["context"] for article in file["data"] for paragraph in article["paragraphs"]} for file in (dev, train)]
        self.assertFalse(contexts[0] & contexts[1])
        subjects = [subject for _, names in readings.subjects for subject in names]
        self.assertEqual(len(subjects), len(set(subjects)))

    def test_subjects_of_a_paragraph_share_no_first_name(self):
        readings, _, _ = self.files(3)
        for _, names in readings.subjects:
            self.assertEqual(len({name.split()[0] for name in names}), 3)


class ProgramTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def run_script(self, name, *words):
        return subprocess.run([SCRIPT, "--output-dir", self.folder / name, *words], capture_output=True, text=True)

    def read(self, name):
        return {path.name: path.read_text() for path in (self.folder / name).iterdir()}

    def test_it_writes_what_was_asked_for_the_same_every_time(self):
        words = ("--documents=50", "--held-out-sentences=7", "--train-questions=9", "--dev-questions=4")
        for name in ("one", "same"):
            self.assertEqual(self.run_script(name, *words).returncode, 0)
        one = self.read("one")
        self.assertEqual(one, self.read("same"))
        self.assertEqual(one["corpus.txt"].count("\n\n"), 50)
        self.assertEqual(len(one["cloze.jsonl"].splitlines()), 7)
        contexts = []
        for split, count in (("train", 9), ("dev", 4)):
            contexts += [paragraph["context"] for article in json.loads(one[f"squad-{split}.json"])["data"]
                         for paragraph in article["paragraphs"]]
            questions = [each["id"] for article in json.loads(one[f"squad-{split}.json"])["data"]
                         for paragraph in article["paragraphs"] for each in paragraph["qas"]]
            self.assertEqual((len(questions), len(set(questions))), (count, count))
        self.assertEqual((len(contexts), len(set(contexts))), (3, 3))
        self.run_script("more", "--documents=60", *words[1:])
        self.assertTrue(self.read("more")["corpus.txt"].startswith(one["corpus.txt"]))
        self.run_script("other", "--seed=7", *words)
        self.assertNotEqual(one["corpus.txt"], self.read("other")["corpus.txt"])
        self.run_script("three", "--subjects=3", *words)
        self.assertNotEqual(one["squad-dev.json"], self.read("three")["squad-dev.json"])

    def test_a_size_in_megabytes(self):
        result = self.run_script("x", "--megabytes=0.05")
        self.assertTrue(50_000 <= len(self.read("x")["corpus.txt"]) < 53_000)
        self.assertRegex(result.stdout, r"x/corpus\.txt: \d+ documents, \d+ sentences, 0\.1 MB")

    def test_sizes_that_make_no_sense_are_refused(self):
        for words, message in ((("--documents=0",), "0 is not from 1"), (("--megabytes=-1",), "-1 is not above 0"),
                               (("--held-out-sentences=1001",), "1001 is not from 0 to 1000"), (("--subjects=4",), "4 is not from 1 to 3"),
                               (("--megabytes=1", "--documents=1"), "exclude each other"),
                               (("--train-questions=25000",), "need 4251 paragraphs; a sample world has 4096 of 6 questions each")):
            result = self.run_script("none", *words)
            self.assertEqual(result.returncode, 2, words)
            self.assertIn(message, result.stderr)
            self.assertFalse((self.folder / "none").exists())


if __name__ == "__main__":
    unittest.main()
