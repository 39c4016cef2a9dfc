"""scripts/plot_curve: draws what the metrics say, and refuses what it cannot read."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "plot_curve"
SVG = "{http://www.w3.org/2000/svg}"


class PlotCurve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.figure = self.folder / "figure.svg"

    def write(self, name, lines):
        path = self.folder / name
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        return path

    def records(self, count=100):
        return [json.dumps({"step": i, "mlm_loss": 8 - 0.05 * i, "nsp_loss": 0.69,
                            "mlm_accuracy": i / 200, "nsp_accuracy": 0.5}) for i in range(count)]

    def run_script(self, *arguments):
        return subprocess.run([sys.executable, "-B", SCRIPT, "--output", self.figure, *arguments],
                              capture_output=True, text=True, check=False)

    def draw(self, *arguments):
        done = self.run_script(*arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return xml.parse(self.figure).getroot()

    def texts(self, root):
        return [element.text for element in root.iter(SVG + "text")]

    def curves(self, root):
        return [[tuple(map(float, point.split(","))) for point in element.get("points").split()]
                for element in root.iter(SVG + "polyline")]

    def test_draws_one_panel_per_group_of_keys(self):
        root = self.draw("--series", self.write("a.jsonl", self.records()), "--title", "a < b")
        self.assertEqual(len(self.curves(root)), 4)
        self.assertIn("a < b", self.texts(root))
        self.assertIn("MLM accuracy, NSP accuracy", self.texts(root))

    def test_work_and_time_add_up(self):
        lines = [json.dumps({"step": step, "mlm_loss": 8 - step, "flops": 2e15, "seconds": 1800.0})
                 for step in (1, 2, 4)]
        file = self.write("a.jsonl", lines)
        root = self.draw("--series", file, "--panel", "mlm_loss", "--x", "flops", "--x", "seconds")
        self.assertIn("hours of training", self.texts(root))
        for curve in self.curves(root):  # after 1, 2 and 4 steps
            first, second, third = (x for x, _ in curve)
            self.assertAlmostEqual(third - second, 2 * (second - first), delta=0.2)
        refused = self.run_script("--series", self.write("b.jsonl", self.records()), "--x", "flops")
        self.assertEqual(refused.returncode, 2)
        self.assertIn("a line has no flops", refused.stderr)

    def test_a_falling_loss_falls(self):
        root = self.draw("--series", self.write("a.jsonl", self.records()), "--panel", "mlm_loss")
        (curve,) = self.curves(root)
        self.assertEqual(len(curve), 100)
        self.assertEqual(curve, sorted(curve))
        self.assertLess(curve[0][1], curve[-1][1])  # y grows downwards

    def test_ticks_are_round(self):
        root = self.draw("--series", self.write("a.jsonl", self.records()), "--panel", "mlm_loss")
        numbers = [word for word in self.texts(root) if re.fullmatch(r"[\d,.]+", word)]
        self.assertEqual(numbers, ["3", "4", "5", "6", "7", "8", "0", "20", "40", "60", "80", "100"])

    def test_reference_line_is_named_and_inside(self):
        root = self.draw("--series", self.write("a.jsonl", self.records()), "--panel", "mlm_loss",
                         "--reference", "unigram entropy=9.5")
        self.assertIn("unigram entropy 9.5", self.texts(root))
        (line,) = [e for e in root.iter(SVG + "line") if e.get("class") == "reference"]
        self.assertGreater(float(line.get("y1")), 72)

    def test_of_a_repeated_step_the_last_counts(self):
        lines = ['{"step": 1, "loss": 9}', '{"step": 2, "loss": 5}', '{"step": 2, "loss": 1}']
        root = self.draw("--series", self.write("a.jsonl", lines), "--panel", "loss")
        (curve,) = self.curves(root)
        heights = [y for _, y in curve]  # the axis spans 0 to 10
        self.assertEqual(len(heights), 2)
        self.assertAlmostEqual(heights[1] - heights[0], 0.8 * 240)

    def test_refuses_what_it_cannot_draw(self):
        good = self.write("good.jsonl", self.records(3))
        cases = [
            (("--series", self.folder / "none.jsonl"), "cannot read"),
            (("--series", self.write("bad.jsonl", ["{"])), "line 1"),
            (("--series", self.write("empty.jsonl", [])), "no line has a step"),
            (("--series", good, "--panel", "los"), "no file has los"),
            (("--series", good, "--reference", "entropy"), "NAME=VALUE"),
            (("--series", good, "--panel", "loss", "--reference", "nsp_loss:chance=0.69"),
             '"chance" is for nsp_loss, which no panel draws; the panels draw loss'),
            (("--series", good, "--smoothing", "1"), "[0, 1)"),
        ]
        for arguments, message in cases:
            done = self.run_script(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(message, done.stderr)
        self.assertFalse(self.figure.exists())


if __name__ == "__main__":
    unittest.main()
