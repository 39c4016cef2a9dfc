"""The scripts that watch over the repository notice what they are there for."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent

TABLES = """
<!-- layers: begin -->
| room | may include | holds |
| --- | --- | --- |
| base | | nothing |
| graph | base | nothing |
| backend | base | nothing |
| backend/cpu | base, backend | nothing |
<!-- layers: end -->
<!-- vendors: begin -->
| header | only in |
| --- | --- |
| dnnl.hpp | backend/cpu |
| sys/ | base |
<!-- vendors: end -->
"""

JUNIT = """<?xml version="1.0"?>
<testsuite name="x">
  <testcase name="good" status="run"/>
  <testcase name="good too" status="run"/>
  {more}
</testsuite>
"""
SKIPPED = ('<testcase name="no data" status="notrun">'
           '<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/></testcase>')
FAILED = ('<testcase name="bad" status="fail"><failure message=""/><system-out>'
          'begin\nFAIL: test_a\nAssertionError: 1 != 2\n1\n2\n\n3\n4\n5\nend</system-out></testcase>')
NOT_BUILT = ('<testcase name="absent" status="notrun">'
             '<skipped message="Unable to find executable"/></testcase>')

# Speaks the protocol of bench_step: each step is faster than the one before.
SERVER = """#!{python}
import json, sys
if {broken} or ("compiled" in sys.argv):
    sys.exit(1)
print("ready", flush=True)
speed = {speed}
for line in sys.stdin:
    speed += 1
    print(json.dumps(dict(sequences_per_second=speed, ceiling_percent=50)), flush=True)
"""


def finished(script, *arguments, **environment):
    return subprocess.run([sys.executable, ROOT / "scripts" / script, *map(str, arguments)],
                          capture_output=True, text=True, timeout=60,
                          env=os.environ | {name: str(v) for name, v in environment.items()})


def run(script, *arguments, **environment):
    """Returns exit status and output of one of our scripts."""
    result = finished(script, *arguments, **environment)
    return result.returncode, result.stdout


class TreeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text)


class CheckLayersTest(TreeTest):
    def check(self, path, text):
        self.write("ARCHITECTURE.md", TABLES)
        self.write(path, text)
        return run("check_layers", self.root)

    def test_allows_what_the_table_allows(self):
        status, _ = self.check("src/backend/cpu/a.cc", '#include <dnnl.hpp>\n#include "base/b.h"\n')
        self.assertEqual(status, 0)

    def test_refuses_an_upward_include_with_file_and_line(self):
        status, output = self.check("src/base/a.h", '#pragma once\n#include "graph/graph.h"\n')
        self.assertEqual((status, output),
                         (1, 'src/base/a.h:2: "graph/graph.h": base may not include graph\n'))

    def test_a_unit_test_may_look_up(self):
        status, output = self.check("src/base/a_test.cc", '#include "graph/graph.h"\n')
        self.assertEqual(status, 0, output)

    def test_refuses_a_room_above_its_own_parent(self):
        status, output = self.check("src/backend/kernel.cc", '#include "backend/cpu/linear.h"\n')
        self.assertEqual(status, 1, output)

    def test_refuses_a_vendor_header_elsewhere(self):
        status, output = self.check("src/graph/a.cc", "#include <dnnl.hpp>\n")
        self.assertEqual((status, output),
                         (1, "src/graph/a.cc:1: <dnnl.hpp> belongs in backend/cpu only\n"))

    def test_a_vendor_header_may_lie_in_a_folder_of_its_room(self):
        status, output = self.check("src/backend/cpu/native/a.cc", "#include <dnnl.hpp>\n")
        self.assertEqual(status, 0, output)

    def test_refuses_a_circle_in_the_table(self):
        self.write("ARCHITECTURE.md", TABLES.replace("| graph | base |", "| graph | base, backend/cpu |")
                   .replace("| backend/cpu | base,", "| backend/cpu | base, graph,"))
        self.assertEqual(run("check_layers", self.root),
                         (1, "ARCHITECTURE.md: rooms in a circle: backend/cpu, graph\n"))

    def test_kernels_of_cards_are_read_too(self):
        status, output = self.check("src/backend/a.cu", '#include "graph/graph.h"\n')
        self.assertEqual((status, output),
                         (1, 'src/backend/a.cu:1: "graph/graph.h": backend may not include graph\n'))

    def test_refuses_a_folder_without_a_row(self):
        status, output = self.check("src/utils/a.cc", "")
        self.assertEqual((status, output),
                         (1, "src/utils/a.cc:1: lies in no room of ARCHITECTURE.md\n"))


class CheckSizesTest(TreeTest):
    def check(self, text, path="src/base/a.cc"):
        self.write(path, text)
        return run("check_sizes", self.root)

    def test_refuses_a_long_function_and_names_its_first_line(self):
        body = "  call();  // }\n" * 79
        status, output = self.check(f"namespace a {{\nvoid f(int b) {{\n{body}}}\n}}\n")
        self.assertEqual((status, output),
                         (1, "src/base/a.cc:2: function has 81, the limit is 80\n"))

    def test_kernels_of_cards_are_measured_too(self):
        status, output = self.check("\n" * 701, "bench/a.cu")
        self.assertEqual((status, output), (1, "bench/a.cu:1: source has 701, the limit is 700\n"))
        self.write("bench/a.cu", "")
        status, output = self.check("__global__ void f(int b) {\n" + "  call();\n" * 79 + "}\n", "bench/b.cu")
        self.assertEqual((status, output), (1, "bench/b.cu:1: function has 81, the limit is 80\n"))

    def test_allows_eighty_lines(self):
        body = '  call("}");\n' * 78
        status, output = self.check(f"A::A(int b) : a_(b), c_{{b}} {{\n{body}}}\n")
        self.assertEqual(status, 0, output)

    def test_a_long_table_is_no_function(self):
        status, output = self.check("const int a[] = {\n" + "  1,\n" * 100 + "};\n")
        self.assertEqual(status, 0, output)

    def test_refuses_a_long_header_unless_waived(self):
        text = "\n" * 401
        status, output = self.check(text, "src/base/a.h")
        self.assertEqual((status, output),
                         (1, "src/base/a.h:1: header has 401, the limit is 400\n"))
        self.write("scripts/size_waivers.txt", "src/base/*.h  it is a test\n")
        self.assertEqual(self.check(text, "src/base/a.h")[0], 0)


    def test_refuses_a_class_of_many_private_functions_where_everything_meets(self):
        functions = "".join(f"  std::map<int, F(int)> f{i}(int a) const {{ if (a) {{ b(); }} }}\n" for i in range(13))
        text = f"class A : public B {{\n public:\n  A(int a);\n private:\n{functions}  int b_ = f(2);\n}};\n"
        status, output = self.check(text, "src/cli/a.h")
        self.assertEqual((status, output), (1, "src/cli/a.h:1: class's private functions has 13, the limit is 12\n"))
        (self.root / "src/cli/a.h").unlink()
        self.assertEqual(self.check(text)[0], 0)

    def test_a_class_has_the_lines_of_its_functions_elsewhere(self):
        body = "  call();\n" * 70
        self.write("src/cli/a.cc", "".join(f"void A::f{i}(int b) {{\n{body}}}\n" for i in range(4)))
        declared = "".join(f"  void f{i}(int b);\n" for i in range(4))
        status, output = self.check(f"class A {{\n public:\n{declared}" + "\n" * 7 + "};\n", "src/cli/a.h")
        self.assertEqual((status, output), (1, "src/cli/a.h:1: class has 302, the limit is 300\n"))


class CountTestsTest(TreeTest):
    def count(self, more=""):
        self.write("a.xml", JUNIT.format(more=more))
        return run("count_tests", self.root / "a.xml")

    def test_counts(self):
        self.assertEqual(self.count(), (0, "2 passed, 0 failed\n"))
        self.assertEqual(self.count(SKIPPED), (0, "2 passed, 0 failed, 1 skipped\n"))

    def test_a_failure_and_a_missing_program_are_failures(self):
        status, output = self.count(FAILED + NOT_BUILT)
        self.assertEqual((status, output.splitlines()[-1]), (1, "2 passed, 2 failed"))

    def test_what_a_failed_test_printed_follows_its_name(self):
        path = self.root / "a.xml"
        self.assertEqual(self.count(FAILED)[1].splitlines()[:9],
                         [f"FAILED {path}: bad", "  FAIL: test_a", "  AssertionError: 1 != 2",
                          *(f"  {word}" for word in "12345"), "  end"])

    def test_the_cases_of_a_googletest_program_are_counted(self):
        self.write("gtest/good.xml", GTEST.format(more=""))
        self.assertEqual(self.count(), (0, "3 passed, 0 failed, 1 skipped\n"))
        self.write("gtest/bad.xml", GTEST.format(more=GTEST_FAILED))
        status, output = self.count(FAILED)
        self.assertEqual((status, output.splitlines()[-1]), (1, "5 passed, 1 failed, 2 skipped"))

    def test_a_googletest_program_that_ended_early_is_a_failure(self):
        self.write("gtest/bad.xml", GTEST.format(more=""))
        self.assertEqual(self.count(FAILED)[1].splitlines()[-1], "4 passed, 1 failed, 1 skipped")
        self.write("gtest/bad.xml", "<testsuites")
        self.assertEqual(self.count(FAILED)[1].splitlines()[-1], "2 passed, 1 failed")

    def test_a_missing_report_is_a_failure(self):
        status, output = run("count_tests", self.root / "none.xml")
        self.assertEqual((status, output), (1, "0 passed, 1 failed\n"))


GTEST = """<testsuites><testsuite name="A">
<testcase name="one" status="run" result="completed"/><testcase name="two" status="run" result="completed"/>
<testcase name="three" status="run" result="skipped"><skipped message="no data"/></testcase>
<testcase name="DISABLED_four" status="notrun" result="suppressed"/>{more}</testsuite></testsuites>
"""
GTEST_FAILED = """<testcase name="five" status="run" result="completed"><failure message="1"/></testcase>"""

NINJA_LOG = """# ninja log v5
0\t9000\t0\tsrc/a/CMakeFiles/cloze_a.dir/old.cc.o\tff
0\t4000\t0\tsrc/a/CMakeFiles/cloze_a.dir/old.cc.o\t11
1000\t3000\t0\tsrc/a/CMakeFiles/cloze_a.dir/b.cc.o\t22
0\t1000\t0\tgenerated.h\t33
0\t1000\t0\t/build/generated.h\t33
3000\t3500\t0\tbin/cloze\t44
"""
NINJA_DEPS = """#!/bin/sh
cat <<END
src/a/CMakeFiles/cloze_a.dir/old.cc.o: #deps 2, deps mtime 1 (VALID)
    ../src/old.cc
    /usr/include/zlib.h

src/a/CMakeFiles/cloze_a.dir/b.cc.o: #deps 1, deps mtime 1 (VALID)
    ../src/b.cc
END
"""


class BuildTimesTest(TreeTest):
    def test_sums_the_newest_build_by_target_source_and_header(self):
        self.write("build/.ninja_log", NINJA_LOG)
        self.write("build/CMakeCache.txt", f"CMAKE_HOME_DIRECTORY:INTERNAL={self.root}\n")
        self.write("src/old.cc", "#include <zlib.h>\n#include <string>\n#include <absent.h>\n")
        self.write("bin/ninja", NINJA_DEPS)
        (self.root / "bin/ninja").chmod(0o755)
        status, output = run("build_times", self.root / "build", PATH=f"{self.root / 'bin'}:{os.environ['PATH']}")
        self.assertEqual((status, [line.split() for line in output.splitlines() if line]), (0, [
            "4 outputs, 8 s of commands".split(),
            ["what", "seconds", "share", "outputs"],
            ["compiled", "6.0", "80.0", "%", "2"], ["linked", "and", "generated", "1.5", "20.0", "%", "2"],
            ["target", "seconds", "share", "outputs"],
            ["cloze_a", "6.0", "80.0", "%", "2"], ["generated.h", "1.0", "13.3", "%", "1"], ["cloze", "0.5", "6.7", "%", "1"],
            ["source", "seconds"],
            ["src/a/old.cc", "4.0"], ["src/a/b.cc", "2.0"], ["generated.h", "1.0"], ["bin/cloze", "0.5"],
            ["header", "sources", "their", "seconds", "share", "alone", "alone", "x", "sources"],
            ["zlib.h", "1", "4.0", "53.3", "%", "-", "-"]]))

    def test_a_folder_without_a_build_is_told(self):
        result = finished("build_times", self.root)
        self.assertEqual((result.returncode, result.stderr),
                         (1, f"build_times: no {self.root}/.ninja_log; build with ninja first: cmake --build {self.root}\n"))


class BenchStepTest(TreeTest):
    def bench(self, *options, broken=False):
        for path, speed, fails in (("bin/bench_step", 10, broken), ("python", 3, False)):
            self.write(path, SERVER.format(python=sys.executable, speed=speed, broken=fails))
            (self.root / path).chmod(0o755)
        return run("bench_step", "a.json", "--no-build", "--build-dir", self.root, "--rounds", 2, *options,
                   PEERS_PYTHON=self.root / "python")

    def test_compares_the_best_of_each_and_leaves_out_what_cannot_run(self):
        status, output = self.bench()
        self.assertEqual(status, 0)
        self.assertEqual(output.splitlines()[-1],
                         "ratio 2.40 ours 12.00 peer 5.00 sequences/s ceiling 50.0 %")

    def test_compares_with_both_kinds_of_peers_in_the_same_turns(self):
        status, output = self.bench("--gather-predictions", "both")
        self.assertEqual(status, 0)
        # The best of ours, whichever kind it is compared with.
        ratio = "ratio 2.40 ours 12.00 peer 5.00 sequences/s ceiling 50.0 %"
        self.assertEqual(output.splitlines()[-2:], [ratio, ratio + ", peer gathers"])

    def test_fails_when_our_side_does_not_start(self):
        status, output = self.bench(broken=True)
        self.assertEqual((status, output), (4, ""))


# A step takes 2 s divided by the number of ranks. The second rank takes the most memory.
PRETRAIN = """#!{python}
import json, os, pathlib, sys
ranks = int(os.environ.get("RANKS", "1"))
assert f"--threads={{2 // ranks}}" in sys.argv, sys.argv
folder = pathlib.Path("run")
(folder / "rank-1").mkdir(parents=True)
step = dict(seconds=2.5 / ranks, data_wait_share=0.2, communication_hidden_share=0.8)
steps = [dict(step, step=1, seconds=99), dict(step, step=2, seconds=99), dict(step, step=3)]
(folder / "metrics.jsonl").write_text("\\n".join(map(json.dumps, steps)))
print("memory: 10.0 MiB at the peak, 9.0 MiB planned", file=sys.stderr)
if ranks > 1:
    (folder / "rank-1" / "log.txt").write_text("memory: 12.0 MiB at the peak, 11.0 MiB planned")
"""
MPIRUN = """#!/bin/sh
RANKS=$2; export RANKS; shift 2; exec "$@"
"""


class BenchRanksTest(TreeTest):
    def test_compares_one_process_with_several(self):
        for name, text in (("cloze", PRETRAIN.format(python=sys.executable)), ("mpirun", MPIRUN)):
            self.write(name, text)
            (self.root / name).chmod(0o755)
        status, output = run("bench_ranks", "--cloze", self.root / "cloze", "--precisions", "f32",
                             PATH=f"{self.root}:{os.environ['PATH']}")
        self.assertEqual(status, 0)
        self.assertEqual(output.splitlines()[2:], [
            f"| f32 | {states} | 2.00 s, 2.00 s | 1.00 s, 1.00 s | 2.00, 2.00 | 80%, 80% | 11 | 12 |"
            for states in ("whole", "divided")])


CLOZE = """#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls.txt"
echo "RTE accuracy 50.0"
"""


class ScoreTasksTest(TreeTest):
    def score(self, *more, keep_program=False):
        if not keep_program:
            self.write("cloze", CLOZE)
        (self.root / "cloze").chmod(0o755)
        self.write("model/config.json", "{}")
        self.write("data/glue/RTE/train.tsv", "")
        self.write("data/glue/RTE/dev.tsv", "index\tsentence1\tsentence2\tlabel\n0\ta\tb\tentailment\n")
        status, _ = run("score_tasks", self.root / "model", self.root / "data", self.root / "out",
                        "--tasks", "RTE", "--build-dir", self.root, *more)
        return status

    def test_seeds_that_were_stopped_go_on(self):
        (self.root / "out" / "RTE-pretrained" / "seed-42" / "checkpoint-3").mkdir(parents=True)
        self.assertEqual(self.score("--num-seeds", 2), 0)
        first, second = (self.root / "calls.txt").read_text().splitlines()
        self.assertIn(f"--restore-dir {self.root}/out/RTE-pretrained ", first)
        self.assertNotIn("--restore-dir", second)

    def test_a_refused_command_may_be_corrected(self):
        for text, expected in (("#!/bin/sh\nexit 2\n", 2), (CLOZE, 0)):
            self.write("cloze", text)
            self.assertEqual(self.score("--epochs", f"RTE={expected + 1}", keep_program=True), expected)

    def test_data_are_looked_for_before_anything_is_trained(self):
        for tasks in ("RTE,CoLA", "RTE,SQuAD"):
            self.assertEqual(self.score("--tasks", tasks), 2)
        self.assertFalse((self.root / "calls.txt").exists())

    def test_the_published_squad_is_taken_where_it_is(self):
        for name in ("train-v1.1.reconstructed", "train-v1.1", "dev-v1.1"):
            self.write(f"data/squad/{name}.json", "")
        self.score("--tasks", "SQuAD")
        self.assertIn(f"--train-file {self.root}/data/squad/train-v1.1.json ", (self.root / "calls.txt").read_text())

    def test_what_is_finished_is_not_taken_for_another_command(self):
        self.assertEqual(self.score(), 0)
        self.assertEqual(self.score(), 0)
        self.assertEqual(len((self.root / "calls.txt").read_text().splitlines()), 2)
        self.assertEqual(self.score("--epochs", "RTE=1"), 1)
        for file in self.root.glob("out/*/command.json"):  # as left by a version without it
            file.unlink()
        self.assertEqual(self.score("--epochs", "RTE=1"), 0)


# Saves when it is told to stop. This takes longer than Python waits after a Ctrl-C before it kills.
# Programs that say which they are, and do otherwise what a test needs.
SAVING_CLOZE = """#!{python}
import pathlib, signal, sys, time
if sys.argv[1:] == ["--version"]:
    sys.exit(print("cloze"))
folder = pathlib.Path(__file__).parent
def save(*_):
    time.sleep(1)
    (folder / "saved").touch()
    sys.exit(75)
signal.signal(signal.SIGTERM, save)
(folder / "began").touch()
time.sleep(60)
"""
KILLING_CLOZE = """#!/bin/sh
[ "$1" = --version ] && exit
kill -9 $PPID
"""
REFUSING_CLOZE = """#!/bin/sh
[ "$1" = --version ] || exit 2
"""


class StoppedScriptTest(TreeTest):
    def setUp(self):
        super().setUp()
        self.write("model/config.json", "{}")
        self.write("glue/RTE/train.tsv", "")
        self.write_cloze("build", SAVING_CLOZE.format(python=sys.executable))
        self.build, self.output = self.root / "build", self.root / "out"

    def write_cloze(self, folder, text):
        self.write(f"{folder}/cloze", text)
        (self.root / folder / "cloze").chmod(0o755)

    def start(self, script, *arguments):
        def take_all_signals():
            for number in (signal.SIGINT, signal.SIGHUP):  # whatever these tests inherited
                signal.signal(number, signal.SIG_DFL)

        process = subprocess.Popen([sys.executable, ROOT / "scripts" / script, *map(str, arguments)],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   preexec_fn=take_all_signals)
        self.addCleanup(process.kill)
        return process

    def assert_waits_for_the_save(self, number, script, *arguments):
        shutil.rmtree(self.output, ignore_errors=True)
        began, saved = self.build / "began", self.build / "saved"
        for file in (began, saved):
            file.unlink(missing_ok=True)
        process = self.start(script, *arguments)
        while process.poll() is None and not began.exists():
            time.sleep(0.01)
        process.send_signal(number)
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, saved.exists()), (75, True), said)

    def test_a_signal_stops_what_the_script_runs_and_waits_for_it(self):
        score = ("score_tasks", self.root / "model", self.root, self.output, "--tasks", "RTE", "--build-dir",
                 self.build)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number):
                self.assert_waits_for_the_save(number, *score)
        for script in (("mlperf_runs", "--output-dir", self.output, "--cloze", self.build / "cloze"),
                       ("reproduce", "bert-tiny", "--output", self.output, "--build-dir", self.build)):
            with self.subTest(script[0]):
                self.assert_waits_for_the_save(signal.SIGHUP, *script)

    def test_a_killed_stage_keeps_its_options(self):
        self.write_cloze("build", KILLING_CLOZE)
        self.write_cloze("other", CLOZE)
        reproduce = ("reproduce", "bert-tiny", "--output", self.output, "--build-dir")
        killed = self.start(*reproduce, self.build)
        killed.communicate(timeout=60)
        self.assertEqual(killed.returncode, -signal.SIGKILL)
        result = finished(*reproduce, self.root / "other")
        self.assertEqual(result.returncode, 1)
        self.assertIn("vocabulary was begun with other options", result.stderr)

    def test_a_refused_stage_may_be_corrected(self):
        self.write_cloze("other", REFUSING_CLOZE)
        reproduce = ("reproduce", "bert-tiny", "--output", self.output, "--build-dir")
        self.assertIn("vocabulary ended with 2; correct the command", finished(*reproduce, self.root / "other").stderr)
        self.write_cloze("third", "#!/bin/sh\nexit 3\n")
        self.assertIn("vocabulary ended with 3; give the same command", finished(*reproduce, self.root / "third").stderr)

    def test_tasks_without_data_are_refused_before_anything_is_trained(self):
        result = finished("reproduce", "bert-tiny", "--output", self.output, "--tasks", "RTE,CoLA")
        self.assertEqual(result.returncode, 2)
        self.assertIn("the sample world has RTE,SQuAD", result.stderr)
        self.assertFalse(self.output.exists())

    def test_a_stage_of_another_configuration_is_refused(self):
        config = ROOT / "configs" / "bert_tiny.json"
        self.output.mkdir()
        shape = ["--seq-length", "128", "--max-predictions-per-seq", "20"]
        self.write_cloze("build", CLOZE)
        self.write("out/world/corpus.txt", "a\n" * 600)
        for name in ("train", "dev"):
            self.write(f"out/world/squad-{name}.json", "{}")
        command = [self.build / "cloze", "pretrain", "--config", config, "--train-file", self.output / "tokens",
                   "--vocab-size", 2048, *shape, "--num-train-steps", 2, "--save-path", self.output / "phase1",
                   "--progress-bar", "false"]
        self.write("out/stages.json", json.dumps({"phase1": {
            "command": list(map(str, command)), "config": "another", "seconds": 1, "done": True}}))
        result = finished("reproduce", "bert-tiny", "--output", self.output, "--build-dir", self.build,
                          "--steps", "2,1")
        self.assertIn(f"phase1 was begun with another {config}", result.stderr)


# wrk's own output, with a share of requests (the last column) that ends like a percentile.
WRK = """#!/bin/sh
cat <<END
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.23ms    2.50ms  50.00ms   99.50%
    Req/Sec     0.98k     1.02k    4.00k    88.99%
  Latency Distribution
     50%    1.00ms
     75%    1.50ms
     90%    2.00ms
     99%    3.00ms
Requests/sec:   1000.00
END
"""
SERVING_CLOZE = """#!{python}
import http.server, json, sys
class Model(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(dict(endpoints=["/fill"], model=dict(
            head="h", layers=1, hidden_size=2, vocabulary=3))).encode())
server = http.server.HTTPServer(("127.0.0.1", 0), Model)
print(f"serving on http://127.0.0.1:{{server.server_port}}/: all", file=sys.stderr, flush=True)
server.serve_forever()
"""


class BenchServerTest(TreeTest):
    def test_percentiles_are_those_of_their_own_lines(self):
        for name, text in (("wrk", WRK), ("cloze", SERVING_CLOZE.format(python=sys.executable))):
            self.write(name, text)
            (self.root / name).chmod(0o755)
        status, output = run("bench_server", "--init-checkpoint", "m", "--connections", "1", "--cloze",
                             self.root / "cloze", PATH=f"{self.root}:{os.environ['PATH']}")
        self.assertEqual(status, 0)
        self.assertEqual(output.count("1000.0 requests/s, half within 1.00 ms, 99 % within 3.00 ms"), 2, output)


class RefusalTest(TreeTest):
    def assert_refused(self, status, said, script, *arguments):
        result = finished(script, *arguments)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertIn(said, result.stderr.splitlines()[-1])

    def test_what_would_measure_or_compare_nothing(self):
        self.assert_refused(2, "2 is too few: the first 2 do not count", "bench_ranks", "--steps", 2)
        self.assert_refused(2, "kills 0 checks nothing", "check_checkpoints", "kills")
        self.assert_refused(2, "need a multiple of 2", "check_plan", "--ranks", 3)

    def test_a_folder_that_another_has_filled(self):
        self.write("data/thesis.txt", "mine")
        self.assert_refused(1, "--sample did not make it", "mlperf_runs", "--output-dir", self.root, "--sample")
        self.assertTrue((self.root / "data" / "thesis.txt").exists())

    def test_a_program_that_is_not_built(self):
        self.assert_refused(1, "/cloze; build it: cmake --preset release", "reproduce", "bert-tiny",
                            "--build-dir", self.root, "--output", self.root / "out")

    def test_a_package_that_is_not_installed(self):
        self.write("check_it", f"import sys\nsys.path.insert(0, {str(ROOT / 'bench')!r})\n"
                   "from peer_packages import packages\nwith packages():\n    import no_such.package\n")
        self.assert_refused(1, "check_it: no package no_such; scripts/setup --peers installs it, then "
                            "build/peers/bin/python scripts/check_it", self.root / "check_it")


class ReleaseTest(unittest.TestCase):
    """Of a repository with nothing but what scripts/release reads."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "scripts").mkdir()
        shutil.copy(ROOT / "scripts" / "release", self.folder / "scripts")
        (self.folder / "CMakeLists.txt").write_text("project(cloze VERSION 1.2.3 LANGUAGES CXX)\n")
        (self.folder / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n\n- new\n\n## [1.2.3] - 2026-01-02\n\n- old\n")
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@x", *words], cwd=self.folder, check=True)

    def commit(self):
        self.git("add", ".")
        self.git("commit", "--quiet", "-m", "x")

    def release(self, *words):
        result = subprocess.run([self.folder / "scripts" / "release", *words], capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr

    def test_a_commit_that_is_no_release_is_refused(self):
        self.assertEqual(self.release("1.2"), (1, "release: 1.2 is no version such as 1.2.3\n"))
        self.assertIn("CMakeLists.txt says 1.2.3, not 1.3.0", self.release("1.3.0")[1])
        self.assertIn("CHANGELOG.md has changes under [Unreleased]", self.release("1.2.3")[1])
        (self.folder / "new").touch()
        self.assertIn("there are changes that no commit has", self.release("1.2.3")[1])

    def test_a_version_is_prepared_once(self):
        self.assertEqual(self.release("1.3.0", "--prepare")[0], 0)
        self.assertEqual((self.folder / "CMakeLists.txt").read_text(), "project(cloze VERSION 1.3.0 LANGUAGES CXX)\n")
        changes = (self.folder / "CHANGELOG.md").read_text()
        self.assertRegex(changes, r"## \[Unreleased\]\n\n## \[1.3.0\] - \d{4}-\d\d-\d\d\n\n- new\n\n## \[1.2.3\]")
        self.assertIn("CHANGELOG.md has a part [1.3.0] already", self.release("1.3.0", "--prepare")[1])
        self.assertIn("CHANGELOG.md has nothing under [Unreleased]", self.release("1.4.0", "--prepare")[1])


if __name__ == "__main__":
    unittest.main()
