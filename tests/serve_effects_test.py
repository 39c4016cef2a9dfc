"""Every option of `cloze serve`, given a value other than its default, does what it is there for.

Usage: serve_effects_test.py PROGRAM
Servers with small models run without the option and with it, and are asked over sockets.
"""
import concurrent.futures
import http.client
import json
import os
import re
import socket
import subprocess
import time
import unittest

from option_effects import PROGRAM, Effect, OptionEffects, cloze, refused
from small_models import make_models

BLANK = {"text": "the [MASK] sat .", "top_k": 3}
QUESTION = {"question": "who sat ?", "context": "the cat sat on the mat .", "top_k": 50}


class ServerRun:
    """A server in the folder of inputs. It is stopped when the tests of its class are through."""
    started = []

    def __init__(self, folder, name, command, options):
        words = [f"--{key.replace('_', '-')}={value}" for key, value in options.items() if value is not None]
        self.log = folder / f"{name}.log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen([PROGRAM, command, *words], cwd=folder, stderr=log)
        ServerRun.started.append(self.process)
        self.address = self.wait_for_address()

    def wait_for_address(self):
        for _ in range(600):
            found = re.search(r"on http://([\d.]+):(\d+)/", self.messages)
            if found:
                return found[1], int(found[2])
            if self.process.poll() is not None:
                return None
            time.sleep(0.05)
        raise TimeoutError(self.messages)

    @property
    def messages(self):
        return self.log.read_text()

    @property
    def output(self):
        return ""

    @property
    def status(self):
        return self.process.poll()

    def connect(self):
        return socket.create_connection(self.address, timeout=30)

    def ask(self, body, path="/fill", **fields):
        """Returns status and reply. The status is 0 if the connection ends without a reply."""
        connection = http.client.HTTPConnection(*self.address, timeout=30)
        try:
            method = "GET" if body is None else "POST"
            connection.request(method, path, None if body is None else json.dumps(body),
                               {"Content-Type": "application/json", **fields})
            reply = connection.getresponse()
            return reply.status, reply.read().decode()
        except (ConnectionError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def ask_together(self, bodies):
        with concurrent.futures.ThreadPoolExecutor(len(bodies)) as pool:
            return [status for status, _ in pool.map(self.ask, bodies)]

    @classmethod
    def stop_all(cls):
        for process in cls.started:
            process.kill()
            process.wait()
        cls.started.clear()


# This socket holds the port on 127.0.0.1, so that no server there is given it. The server with
# the option takes the same port on 127.0.0.2, where no other is.
HELD = socket.create_server(("127.0.0.1", 0))
PORT = HELD.getsockname()[1]


# --- What may differ --------------------------------------------------------------------------

def status(expected, body, path="/fill", **fields):
    """The server refuses the request with this status; without the option it answers."""
    return lambda run, base: (run.ask(body, path, **fields)[0] == expected and
                              base.ask(body, path, **fields)[0] == 200)


def waits_no_longer(run, base):
    """Each of these requests is a batch by itself: the last of them wait for the others."""
    lists = [{"inputs": [BLANK] * 64}] * 16
    return 504 in run.ask_together(lists) and set(base.ask_together(lists)) == {200}


def listed(server):
    """How many candidates are listed when a request does not say how many it wants."""
    blanks = json.loads(server.ask({"text": BLANK["text"]})[1])["blanks"]
    return len(blanks[0]["candidates"])


def same_answer(run, base):
    return run.ask(BLANK) == base.ask(BLANK) and run.ask(BLANK)[0] == 200


def other_answer(run, base):
    return run.ask(BLANK)[0] == base.ask(BLANK)[0] == 200 and run.ask(BLANK) != base.ask(BLANK)


def answers_a_second_connection_with(expected):
    """A status, or 0 for a connection that is closed without a word."""
    def second(server):
        with server.connect():
            time.sleep(0.2)
            return server.ask(BLANK)[0]
    return lambda run, base: second(run) == expected and second(base) == 200


def batches(server):
    def count():
        return int(re.search(r"batch_inputs_count (\d+)", server.ask(None, "/metrics")[1])[1])
    before = count()
    assert server.ask_together([BLANK] * 6) == [200] * 6
    return count() - before


def makes_batches_of(inputs):
    """At most so many; without the option, more of six inputs are together."""
    def check(run, base):
        with_option = batches(run)
        return with_option >= 6 / inputs and batches(base) < with_option
    return check


def may_be_empty(run, base):
    def answers(server):
        return [answer["text"] for answer in json.loads(server.ask(QUESTION, "/answer")[1])["answers"]]
    return "" in answers(run) and "" not in answers(base)


def seconds(server):
    server.ask(BLANK)  # the first request prepares what this length needs
    start = time.monotonic()
    assert server.ask(BLANK)[0] == 200
    return time.monotonic() - start


def ends_a_slow_request(run, base):
    def is_ended(server):
        with server.connect() as connection:
            connection.sendall(b"POST /fill HTTP/1.1\r\n")
            connection.settimeout(2)
            try:
                return connection.recv(1000) is not None
            except TimeoutError:
                return False
    return is_ended(run) and not is_ended(base)


def labels(server):
    return len(json.loads(server.ask({"text": "the cat sat"}, path="/classify")[1])["labels"])


def says_soon(part):
    def said(server):
        server.ask(BLANK)
        for _ in range(30):
            if part in server.messages:
                return True
            time.sleep(0.1)
        return False
    return lambda run, base: said(run) and not said(base)


def found(server, query="the cat sat"):
    """Status, and the texts that are nearest."""
    reply_status, reply = server.ask({"query": query, "top_k": 3}, path="/search")
    return reply_status, [one["text"] for one in json.loads(reply).get("results", [])]


WAITS = {"batch_wait": 400}
TEXTS = ["the dog ran", "the cat sat", "on the mat"]
SEARCH = {"init_checkpoint": "encoder", "documents": "texts.txt", "vectors": "texts.npy"}


class ServeTest(OptionEffects, unittest.TestCase):
    COMMAND = "serve"
    RUN = ServerRun
    BASE = {"init_checkpoint": "mlm", "port": 0, "threads": 1}
    EFFECTS = {
        "init_checkpoint": Effect("other_mlm", other_answer),
        "host": Effect("127.0.0.3", lambda run, base: run.address[0] == "127.0.0.3" and
                       same_answer(run, base)),
        "port": Effect(PORT, lambda run, base: run.address[1] == PORT != base.address[1] and
                       same_answer(run, base), host="127.0.0.2", base={}),
        "threads": Effect(2, same_answer),
        "device": Effect("none", refused('device is "none"; choose one of auto, cpu, cuda')),
        "instruction_set": Effect("none", refused("none")),
        "model_name": Effect("towns", lambda run, base: json.loads(run.ask(BLANK)[1])["model"] == "towns" and
                             json.loads(base.ask(BLANK)[1])["model"] == "mlm/checkpoint-1"),
        "version_2_with_negative": Effect("true", may_be_empty, init_checkpoint="qa"),
        "threshold": Effect(0, lambda run, base: (labels(run), labels(base)) == (3, 0), init_checkpoint="topics",
                            base={"init_checkpoint": "topics", "threshold": 1}),
        "api_key": Effect("secret", lambda run, base: run.ask(BLANK)[0] == 401 and base.ask(BLANK)[0] == 200 and
                          run.ask(BLANK, Authorization="Bearer secret")[0] == 200 and
                          run.ask(None, "/health")[0] == 200),
        "documents": Effect("texts.txt", lambda run, base: found(run)[1][0] == "the cat sat" and found(base)[0] == 404,
                            init_checkpoint="encoder", vectors="texts.npy", base={"init_checkpoint": "encoder"}),
        "vectors": Effect("other.npy", lambda run, base: found(base)[1][0] == "the cat sat" == found(run)[1][-1],
                          init_checkpoint="encoder", documents="texts.txt", base=SEARCH),
        "text_field": Effect("title", lambda run, base: found(run)[1][0] == "the cat sat" and
                             found(base)[1][0] == "text 1", init_checkpoint="encoder", documents="texts.jsonl",
                             vectors="texts.npy", base={**SEARCH, "documents": "texts.jsonl"}),
        "auto_truncate": Effect("false", status(422, {"inputs": "the cat sat " * 500}, "/predict"),
                                init_checkpoint="topics", base={"init_checkpoint": "topics"}),
        "max_connections": Effect(1, answers_a_second_connection_with(503)),
        "max_connections_per_address": Effect(1, answers_a_second_connection_with(0)),
        "max_header_bytes": Effect(300, status(431, BLANK, **{"X-Long": "a" * 300})),
        "max_body_bytes": Effect(20, status(413, BLANK)),
        "max_text_bytes": Effect(10, status(413, BLANK)),
        "max_inputs": Effect(1, status(413, {"inputs": [BLANK, BLANK]})),
        "max_top_k": Effect(2, lambda run, base: status(400, BLANK)(run, base) and
                            (listed(run), listed(base)) == (2, 5)),
        "max_waiting": Effect(1, lambda run, base: 503 in run.ask_together([BLANK] * 4) and
                              set(base.ask_together([BLANK] * 4)) == {200}, max_inputs=1, **WAITS),
        "max_batch": Effect(1, makes_batches_of(1), **WAITS),
        "max_batch_bytes": Effect(2 * len(BLANK["text"]), makes_batches_of(2), **WAITS),
        "max_candidates": Effect(3, status(413, {**BLANK, "top_k": 4})),
        "transfer_timeout": Effect(300, ends_a_slow_request),
        "queue_timeout": Effect(1, waits_no_longer, max_waiting=10_000),
        "batch_wait": Effect(1000, lambda run, base: seconds(run) > 1 > seconds(base)),
        "log_seconds": Effect(1, says_soon(" good, "), base={"log_seconds": 1000}),
        "log_requests": Effect("true", says_soon("/fill")),
    }

    def test_a_batch_does_not_wait_until_its_requests_expire(self):
        run = self.run_with("waits", {"batch_wait": 400, "queue_timeout": 400}, "serve")
        self.assertEqual(run.status, 2)
        self.assertIn("--batch-wait 400 is not less than --queue-timeout 400", run.messages)

    def test_the_key_may_lie_in_the_environment(self):
        os.environ["CLOZE_API_KEY"] = "secret"
        try:
            run = self.run_with("key", {"log_seconds": 999}, "serve")
        finally:
            del os.environ["CLOZE_API_KEY"]
        self.assertEqual(run.ask(BLANK)[0], 401)
        self.assertEqual(run.ask(BLANK, Authorization="Bearer secret")[0], 200)

    def test_a_list_as_long_as_openais_is_answered(self):
        run = self.run_with("long", {"init_checkpoint": "topics"}, "serve")
        status_code, reply = run.ask({"inputs": [["the cat sat"]] * 2048}, "/predict")
        self.assertEqual(status_code, 200, reply[:300])
        self.assertEqual(len(json.loads(reply)), 2048)
        status_code, reply = run.ask({"inputs": [["the cat sat"]] * 2049}, "/predict")
        self.assertEqual((status_code, json.loads(reply)["error_type"]), (422, "Validation"))

    def test_texts_and_their_vectors_belong_together(self):
        for left_out, message in (("vectors", "--documents needs --vectors, a file that cloze embed makes of these"),
                                  ("documents", "--vectors needs --documents, the texts that it was made of")):
            run = self.run_with(f"no_{left_out}", {**SEARCH, left_out: None}, "serve")
            self.assertEqual(run.status, 2)
            self.assertIn(message, run.messages)
        run = self.run_with("lines", {**SEARCH, "text_field": "title"}, "serve")
        self.assertEqual(run.status, 2)
        self.assertIn("--text-field needs --documents whose name ends with .jsonl", run.messages)
        run = self.run_with("classifier", {**SEARCH, "init_checkpoint": "topics"}, "serve")
        self.assertEqual(run.status, 2, run.messages)

    @staticmethod
    def make_data(folder):
        make_models(folder, "mlm", "qa", "topics")
        cloze(folder, "convert", "hf2hf", "mlm/checkpoint-1", "--output-dir", "encoder", "--pooling", "mean")
        (folder / "texts.txt").write_text("".join(text + "\n" for text in TEXTS))
        (folder / "texts.jsonl").write_text("".join(
            json.dumps({"title": text, "text": f"text {i}"}) + "\n" for i, text in enumerate(TEXTS)))
        cloze(folder, "embed", "--init-checkpoint", "encoder", "--input-file", "texts.txt", "--output-file", "texts.npy")
        # The second text has the vector that is least like its own.
        vectors = (folder / "texts.npy").read_bytes()
        width = (len(vectors) - 128) // len(TEXTS)
        opposite = b"".join(vectors[at:at + 3] + bytes([vectors[at + 3] ^ 0x80])
                            for at in range(128 + width, 128 + 2 * width, 4))
        (folder / "other.npy").write_bytes(vectors[:128 + width] + opposite + vectors[128 + 2 * width:])

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(ServerRun.stop_all)


if __name__ == "__main__":
    unittest.main()
