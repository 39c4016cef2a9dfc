"""Cases of a peer that one process answers one after the other, so that torch is loaded once."""
import json
import shlex
import sys


class RefusedCase(Exception):
    pass


def answer_case(parse, run, words):
    try:
        return run(parse(words))
    except Exception as error:  # the next case runs all the same
        return {"error": f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]}


def answer_cases(what, parser, parse, run, forget):
    """Answers every line of stdin, the arguments of a case beside those of this process, with one line of what run(parse(
    words)) returns, or of its error. forget() frees what a case has left behind. `what` says what the lines are about."""
    common = [word for word in sys.argv[1:] if word != "--each"]

    def refuse(message):
        raise RefusedCase(message)
    parser.error = refuse
    for line in filter(None, map(str.strip, sys.stdin)):
        print(json.dumps({"what": what, "case": line, **answer_case(parse, run, [*common, *shlex.split(line)])}), flush=True)
        forget()
