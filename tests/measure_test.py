"""scripts/measure: documents that are a function of docs/results.json, outputs understood, runs that go on.

Usage: measure_test.py [PROGRAM]
"""
import copy
import contextlib
import importlib.machinery
import importlib.util
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = sys.argv.pop() if len(sys.argv) > 1 else None
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("measure", str(ROOT / "scripts" / "measure"))
measure = importlib.util.module_from_spec(importlib.util.spec_from_loader("measure", loader))
loader.exec_module(measure)
table, results_page = measure.table, measure.results_page

DEMO = """Held-out blanks before training: top-1 0.2 % (1 of 500)
Held-out blanks after training:  top-1 73.8 % (369 of 500)
Questions on unseen paragraphs:  exact 89.80 f1 91.15
The models are build/demo/phase2/checkpoint-1 and build/demo/squad/checkpoint-2;
all of it took 135 s.
"""
STEP = """ours                             best     295.12 sequences/s
ratio 6.29 ours 295.12 peer 46.90 sequences/s ceiling 70.1 %
ratio 1.84 ours 295.12 peer 160.40 sequences/s ceiling 70.1 %, peer gathers
"""
LATENCY = """S=128 threads=2 f32, ms of 27 calls
  ours               best     82.0  mean    100.0  p50     99.0  p99    120.0  p99.9    121.0   10.00 sequences/s
  compiled           best    112.0  mean    150.0  p50    144.0  p99    190.0  p99.9    191.0    6.67 sequences/s
  floor              best     60.0  mean     70.0  p50     68.0  p99     90.0  p99.9     91.0   14.29 sequences/s
ratio 0.69 ours 99.0 peer 144.0 floor 68.0 ms p50 S=128 threads=2 f32
  ours                 1275.0 real tokens/s, batches of 8
  compiled              454.0 real tokens/s, batches of 8
"""
TOKENIZER = """total: 3 differences (Unicode 14.0.0, tokenizers 0.22.2)
ratio 36.0 ours 80.3 peer 2.23 MB/s
"""
STORE = """10.0 MB of text in 4.5 MB (0.45 of it), 825 ms, 12.1 MB/s
10.0 MB of text in 4.5 MB (0.45 of it), 820 ms, 12.2 MB/s
10.0 MB of text in 4.5 MB (0.45 of it), 4 ms, 2,832.1 MB/s
open/real_time                  7313825 ns      7314984 ns            1
reach_step/1000000/real_time    6686462 ns      6654583 ns            1
load_step/128/real_time         1448063 ns      1446991 ns            1 items_per_second=18.1491M/s
load_step/512/real_time         4320795 ns      4321514 ns            1 items_per_second=23.3739M/s
"""
PLANS = """| size | precision | recompute | tokens | MiB planned | MiB taken | off | ms taken | ms, planned | off |
| --- | --- | --- | --- | --: | --: | --: | --: | --: | --: |
| tiny | f32 | false | 1024 | 136.9 | 137.7 | -0.6 % | 232.5 | 223.8 | -3.7 % |
| tiny | bf16 | true | 4096 | 148.2 | 153.3 | -3.4 % | 168.4 | 169.3 | +0.6 % |

at most 3.4 % off in memory (aim 5 %), 3.7 % in time (aim 20 %)
"""
CHECKS = """| check | instruction set | result | seconds | last line |
| --- | --- | --- | --- | --- |
| squad 2.0 (Google's windows) | all | passed | 12 | 500 questions, 520 features: 0 differences |
| wandb | all | skipped | 0 | no Python package wandb |
"""


def records():
    return copy.deepcopy(measure.read_records())


class Documents(unittest.TestCase):
    def test_results_and_readme_say_what_the_file_of_figures_says(self):
        advice = "run scripts/measure --render"
        self.assertEqual(measure.PAGE.read_text(), results_page.Page(records()).text(), advice)
        readme = measure.README.read_text()
        self.assertEqual(readme, results_page.readme_with(readme, records()), advice)

    def test_every_record_is_of_a_measurement_and_says_where_it_comes_from(self):
        names = [each.name for each in table.all_measurements()]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(list(records()), names)
        for name, record in records().items():
            with self.subTest(name):
                self.assertRegex(record["commit"], r"^[0-9a-f]{7,}")
                self.assertTrue(record["machine"] and record["commands"] and record["figures"])

    def test_a_figure_in_the_file_is_the_figure_in_the_documents(self):
        changed = records()
        changed["training/base f32"]["figures"] |= {"ours": 987.6, "same_ratio": 4.56}
        changed["demo/two commands"]["figures"]["after"] = "12.3 % (61 of 500)"
        changed["memory/base f32"]["figures"] = {"planned": 100.0, "taken": 103.0}
        page = results_page.Page(changed).text()
        self.assertIn("| base f32 | 988 sequences/s |", page)
        self.assertIn("**4.56**", page)
        self.assertIn("100.0, 103.0 (+3.0 %)", page)
        readme = results_page.readme_with(measure.README.read_text(), changed)
        self.assertRegex(readme, r"\| pre-training BERT-base f32 \| 988 sequences/s \|.*\*\*4\.56\*\*")
        self.assertIn("Held-out blanks after training:  top-1 12.3 % (61 of 500)", readme)

    def test_the_bold_ratio_is_that_to_the_peer_of_the_same_work(self):
        for line in measure.README.read_text().splitlines():
            if line.startswith("| pre-training BERT-"):
                name = line.split("|")[1].strip().removeprefix("pre-training BERT-")
                figures = records()[f"training/{name}"]["figures"]
                self.assertEqual(re.findall(r"\*\*(.*?)\*\*", line), [f"{figures['same_ratio']:.2f}"])

    def test_one_machine_and_commit_are_said_once(self):
        changed = records()
        for record in changed.values():
            record |= {"commit": "abcdef01", "machine": "2 cores of something"}
        self.assertIn("Measured at `abcdef01` on 2 cores of something.", results_page.Page(changed).readme_speed())
        page = results_page.Page(changed).text()
        self.assertEqual(page.count("# machine A, abcdef01"), 7)  # one for each section
        self.assertLessEqual(len(page.splitlines()), 165)
        self.assertNotIn("Not all were measured", page)
        self.assertIn("Not all were measured at the same commit", results_page.Page(
            changed | {"store/wikipedia": {**changed["store/wikipedia"], "commit": "0000000"}}).text())

    def test_a_document_without_the_marks_is_refused(self):
        with self.assertRaisesRegex(ValueError, "has no <!-- speed: begin -->"):
            results_page.readme_with("# cloze\n", records())


class Outputs(unittest.TestCase):
    def test_figures_are_found_in_what_the_commands_print(self):
        self.assertEqual(table.demo_figures(DEMO), {"before": "0.2 % (1 of 500)", "after": "73.8 % (369 of 500)",
                                                    "exact": 89.8, "f1": 91.15, "seconds": 135})
        self.assertEqual(table.step_figures(STEP), {"ours": 295.12, "unit": "sequences/s", "all": 46.9, "all_ratio": 6.29,
                                                    "same": 160.4, "same_ratio": 1.84, "ceiling": 70.1})
        self.assertEqual(table.latency_figures(LATENCY), {"128": {"ours": 99.0, "compiled": 144.0, "floor": 68.0},
                                                          "ragged": {"ours": 1275.0, "compiled": 454.0}})
        self.assertEqual(table.tokenizer_figures(TOKENIZER), {"ratio": 36.0, "ours": 80.3, "peer": 2.23, "differences": 3})
        self.assertEqual(table.store_figures(STORE),
                         {"megabytes_per_second": 12.2, "again": 2832.1, "share": 0.45, "open_ms": 7.313825,
                          "far_ms": 6.686462, "million_tokens_128": 18.1491, "million_tokens_512": 23.3739})
        self.assertEqual(table.memory_figures("memory: 139.8 MiB at the peak, 141.2 MiB planned"),
                         {"taken": 139.8, "planned": 141.2})
        self.assertEqual(table.plan_figures(PLANS), {"most_memory": 3.4, "most_time": 3.7, "runs": 2})
        self.assertEqual(table.check_figures(CHECKS), {
            "squad 2.0 (Google's windows)": "passed: 500 questions, 520 features: 0 differences",
            "wandb": "skipped: no Python package wandb"})

    def test_an_output_without_them_is_refused(self):
        for each in table.all_measurements():
            with self.subTest(each.name), self.assertRaises(table.NotUnderstood):
                each.figures("Segmentation fault\n")

    def test_a_peer_that_did_not_start_is_not_taken_for_the_other_kind(self):
        with self.assertRaises(table.NotUnderstood):
            table.step_figures("\n".join(STEP.splitlines()[:2]))


class Commands(unittest.TestCase):
    def test_each_runs_a_program_that_has_its_options(self):
        for each in table.all_measurements():
            for command in each.commands + each.quick:
                words = [str(word) for word in command]
                with self.subTest(words=words):
                    if words[0] == table.CLOZE:
                        text = self.help_of_cloze(words)
                    elif words[0].startswith("scripts/"):
                        text = (ROOT / words[0]).read_text()
                    else:
                        self.assertTrue((ROOT / "bench" / f"{pathlib.Path(words[0]).name}.cc").exists())
                        continue
                    for word in words[1:]:
                        if word.startswith("--") and text:
                            self.assertIn(word.split("=")[0], text)

    def help_of_cloze(self, words):
        if not PROGRAM:
            return ""
        command = words[1:3] if words[1] == "data" else words[1:2]
        return subprocess.run([PROGRAM, *command, "--help-all"], capture_output=True, text=True, check=True).stdout

    def test_what_is_missing_is_named(self):
        by_name = {each.name: each for each in table.all_measurements()}
        base, store = by_name["training/base bf16"], by_name["store/wikipedia"]
        self.assertIn("no Python package torch; scripts/setup --peers installs it",
                      table.what_is_missing(base, lambda name: name != "torch", "avx512_bf16"))
        self.assertIn("none of avx512_bf16, amx_bf16", table.what_is_missing(base, lambda _: True, "flags : avx2 fma"))
        self.assertEqual(table.what_is_missing(base, lambda _: True, "flags : avx2 amx_bf16"), "")
        with mock.patch.dict(table.os.environ):
            table.os.environ.pop("CLOZE_DATA", None)
            self.assertEqual(table.what_is_missing(store, lambda _: True), "CLOZE_DATA is not set")
            table.os.environ["CLOZE_DATA"] = "/no/such"
            self.assertEqual(table.what_is_missing(store, lambda _: True), "there is no wikipedia/AB in CLOZE_DATA")

    def test_the_parts_are_those_that_the_help_names(self):
        parts = ", ".join(dict.fromkeys(each.part for each in table.all_measurements()))
        self.assertIn(f"Parts: {parts};", measure.__doc__)


def fake(name, script, **rest):
    return table.Measurement(name, [["sh", "-c", script]], [["sh", "-c", "echo quick 7"]],
                             lambda text: {"value": int(table.found(r"(\d+)$", text)[1])}, 10, **rest)


class Runs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.kept = {}
        patch = mock.patch.object(measure, "LOGS", pathlib.Path(folder.name))
        patch.start()
        self.addCleanup(patch.stop)

    def keep(self, measurement, figures):
        self.kept[measurement.name] = figures

    def run_all(self, measurements, **options):
        said = io.StringIO()
        with contextlib.redirect_stdout(said):
            failed = measure.measure_all(measurements, lambda each: each.name in self.kept, self.keep, **options)
        return failed, said.getvalue()

    def test_what_is_done_is_not_run_again_and_a_failure_costs_itself_alone(self):
        broken = [fake("a/one", "echo 1"), fake("a/two", "echo oh no; exit 3"), fake("b/three", "echo 3")]
        failed, said = self.run_all(broken)
        self.assertEqual((failed, self.kept), (["a/two"], {"a/one": {"value": 1}, "b/three": {"value": 3}}))
        self.assertIn("2/3 a/two, about 10 s; all of it about", said)
        self.assertIn("exit status 3", said)
        self.assertIn("oh no", (measure.LOGS / "a_two.log").read_text())
        mended = [fake("a/one", "echo 10"), fake("a/two", "echo 2"), fake("b/three", "echo 30")]
        failed, said = self.run_all(mended)
        self.assertEqual(failed, [])
        self.assertEqual(self.kept, {"a/one": {"value": 1}, "a/two": {"value": 2}, "b/three": {"value": 3}})
        self.assertIn("2 of 3 are measured at this commit already", said)

    def test_what_cannot_run_is_left_out_with_a_word(self):
        failed, said = self.run_all([fake("a/one", "echo 1", processor=("no_such_unit",)), fake("a/two", "echo 2")])
        self.assertEqual((failed, self.kept), ([], {"a/two": {"value": 2}}))
        self.assertIn("a/one is left out: this processor has none of no_such_unit", said)

    def test_output_that_is_not_understood_is_a_failure(self):
        failed, said = self.run_all([fake("a/one", "echo none")])
        self.assertEqual((failed, self.kept), (["a/one"], {}))
        self.assertIn("FAILED: no line like", said)

    def test_a_difference_that_a_script_finds_is_a_figure(self):
        failed, _ = self.run_all([fake("a/one", "echo 5; exit 1"), fake("a/two", "echo 6; exit 2")])
        self.assertEqual((failed, self.kept), (["a/two"], {"a/one": {"value": 5}}))

    def test_quick_runs_the_small_commands(self):
        self.run_all([fake("a/one", "exit 1")], quick=True)
        self.assertEqual(self.kept, {"a/one": {"value": 7}})

    def test_the_time_left_follows_what_the_finished_ones_took(self):
        progress = measure.Progress([fake("a/one", ""), fake("a/two", ""), fake("a/three", "")])
        self.assertEqual(progress.eta(), 30)
        progress.end(progress.left[0], 30)
        self.assertEqual(progress.eta(), 60)

    def test_data_and_work_stand_for_folders(self):
        with mock.patch.dict(table.os.environ, CLOZE_DATA="/data"):
            self.assertEqual(measure.filled("DATA/vocab/x.txt", "/tmp/w"), "/data/vocab/x.txt")
            self.assertEqual(measure.filled("WORK/run", "/tmp/w"), "/tmp/w/run")

    def test_an_unknown_part_is_refused(self):
        result = subprocess.run([sys.executable, ROOT / "scripts" / "measure", "--only", "speed"], capture_output=True, text=True)
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no part speed; choose from demo, training,", result.stderr)


if __name__ == "__main__":
    unittest.main()
