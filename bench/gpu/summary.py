"""What scripts/gpu_check has measured, as lines of at most MOST_COLUMNS for a person."""

MOST_LINES, MOST_COLUMNS = 60, 160
ANSWERS = ("refused", "form", "is_f32", "bias_is", "error")  # what a question of the probe is answered by


def summary(rows):
    """Lines about the rows of results.jsonl, the outcomes of the parts last; at most MOST_LINES."""
    by_what = {}
    for row in rows:
        by_what.setdefault(row["what"], []).append(row)
    outcomes = outcome_lines(by_what.pop("outcome", []))
    lines = [line for what, writer in WRITERS for line in writer(by_what.pop(what, []), rows)]
    lines += [plain(row) for rest in by_what.values() for row in rest]
    if len(lines) + len(outcomes) > MOST_LINES:
        kept = MOST_LINES - len(outcomes) - 1
        lines = [*lines[:kept], f"... {len(lines) - kept} more lines in results.jsonl"]
    return [line[:MOST_COLUMNS] for line in lines] + outcomes


def outcome_lines(own):
    """A line for all parts that are done, and one for each of the others."""
    done = [f"{row['part']} {row['seconds']:.0f} s" for row in own if row["outcome"] == "done"]
    return [f"done: {', '.join(done) or 'nothing'}"] + [
        f"{row['part']:12} {row['outcome']} after {row['seconds']:.0f} s, {row['rows']} rows{': ' * bool(row['why'])}{row['why']}"
        for row in own if row["outcome"] != "done"]


def written(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def plain(row):
    return row["what"] + ": " + ", ".join(f"{name} {written(value)}" for name, value in row.items()
                                         if name not in ("what", "part", "at_second"))


def plain_lines(own, _):
    return [plain(row) for row in own]


def answer_lines(own, _):
    """What the probe has found out, in a line: cases, each with the answer or why the library refused it."""
    if not own:
        return []
    answers = (f"{row.get('case', '')} {next((written(row[name]) for name in ANSWERS if name in row), '')}".strip() for row in own)
    return [f"{own[0]['what']}: {'; '.join(answers)}"]


def product_lines(own, _):
    """The square product, and those for which the library's best candidate is faster than its first by more than 3 %:
    both in TFLOP/s, cold and after load."""
    by_name = {}
    for row in own:
        by_name.setdefault(row["name"], {})[row["when"]] = row
    shown = {name: rows for name, rows in by_name.items()
             if name == "square" or any("refused" in row or row["best_tflops"] > 1.03 * row["tflops"] for row in rows.values())}
    if not own:
        return []
    header = f"{'product, TFLOP/s of first / best':36}{'cold':>14}{'after load':>14}"
    others = len(by_name) - len(shown)
    return [header, *(f"{name:36}" + "".join(f"{product_rates(rows.get(when)):>14}" for when in ("cold", "after load"))
                      for name, rows in shown.items())] + [f"{others} other products: the first is the best"] * (others > 0)


def product_rates(row):
    if row is None:
        return "-"
    return row.get("refused") or f"{row['tflops']:.0f} / {row['best_tflops']:.0f}"


def square_rate(rows):
    """TFLOP/s of the square product after load, which the steps are compared with; None where it is missing."""
    return next((row["best_tflops"] for row in rows if row["what"] == "product" and row.get("name") == "square"
                 and row.get("when") == "after load" and "best_tflops" in row), None)


def step_lines(own, rows):
    """Ours and PyTorch's, in the order in which they were measured."""
    if not own:
        return []
    square = square_rate(rows)
    header = f"{'training step':34}{'batch':>6}{'sequences/s':>13}{'tokens/s':>11}{'TFLOP/s':>9}{'of square':>10}{'GiB':>6}"
    return [header] + [step_line(row, square) for row in own]


def step_line(row, square):
    if "error" in row:
        return f"{row['case']}: {row['error']}"
    tflops = row.get("tflops")
    share = f"{100 * tflops / square:.0f} %" if tflops and square else "-"
    return (f"{row['name']:34}{row['sequences']:>6}{row['sequences_per_second']:>13.1f}{row['tokens_per_second']:>11.0f}"
            f"{tflops or 0:>9.1f}{share:>10}{row.get('memory_gib', 0):>6.1f}")


def attention_lines(own, _):
    """A line per kind and dropout: forward and backward TFLOP/s at each length."""
    if not own:
        return []
    lengths = sorted({row["seq_length"] for row in own})
    kinds = {}
    for row in own:
        rates = "-" if "error" in row else f"{row['forward_tflops']:.0f}/{row['backward_tflops'] or 0:.0f}"
        kinds.setdefault((row["kind"], row["dropout"]), {})[row["seq_length"]] = rates
    return [f"{'attention, TFLOP/s each way':30}" + "".join(f"{length:>10}" for length in lengths)] + [
        f"{kind + (', dropout' if dropout else ''):30}" + "".join(f"{rates.get(length, '-'):>10}" for length in lengths)
        for (kind, dropout), rates in kinds.items()]


def check_lines(own, _):
    """A line for what failed of checks that pass or not, and one that counts them."""
    if not own:
        return []
    failed = [plain(row) for row in own if not row["passes"]]
    return [*failed, f"{own[0]['what']}: {len(own) - len(failed)} passed, {len(failed)} failed"]


def sweep_lines(own, _):
    if not own:
        return []
    failed = [plain(row) for row in own if row["failures"]]
    cases, failures = (sum(row[name] for row in own) for name in ("cases", "failures"))
    return [*failed, f"sweep: {len({row['operator'] for row in own})} operators, {cases} cases, {failures} failures"]


def latency_lines(own, _):
    """A line per call: median milliseconds of each side."""
    if not own:
        return []
    timed = [row for row in own if "error" not in row]
    sides = dict.fromkeys(row["who"] for row in timed)
    calls = {}
    for row in timed:
        call = f"{row['model']}, {row['seq_length']} tokens, batch {row['batch_size']}"
        calls.setdefault(call, {})[row["who"]] = f"{row['p50_ms']:.2f}"
    errors = [f"{row.get('case') or row['who'] + ' ' + row['model']}: {row['error']}" for row in own if "error" in row]
    return [f"{'inference, median ms':34}" + "".join(f"{who:>26}" for who in sides)] + [
        f"{call:34}" + "".join(f"{times.get(who, '-'):>26}" for who in sides) for call, times in calls.items()] + errors


def operator_lines(own, _):
    """The operators that take the most time; results.jsonl has all."""
    return [f"{row['operator'] + ', ' + row['kernel']:60}{row['percent']:>6.1f} %{row['ms']:>10.2f} ms" for row in own[:8]]


# In the order of their value: what does not fit on a screen is in results.jsonl.
WRITERS = (("machine", plain_lines), ("devices", plain_lines), ("card", plain_lines), ("primitive", check_lines), ("sweep", sweep_lines),
           ("fixture", check_lines), ("curve", plain_lines), ("same_bytes", check_lines), ("findings", plain_lines),
           ("gelu", answer_lines), ("f32_bias", answer_lines), ("bias_gradient", answer_lines),
           ("pointer_arrays", answer_lines), ("copy", plain_lines), ("product", product_lines), ("ratio", plain_lines),
           ("step", step_lines), ("latency", latency_lines), ("attention", attention_lines),
           ("layer_norm", plain_lines), ("operator", operator_lines))
