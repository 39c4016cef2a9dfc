"""What scripts/gpu_check has measured, as lines of at most MOST_COLUMNS for a person."""

MOST_LINES, MOST_COLUMNS = 60, 160


def summary(rows):
    """Lines about the rows of results.jsonl, the outcomes of the parts last; at most MOST_LINES."""
    by_what = {}
    for row in rows:
        by_what.setdefault(row["what"], []).append(row)
    outcomes = [outcome_line(row) for row in by_what.pop("outcome", [])]
    lines = [line for what, writer in WRITERS for line in writer(by_what.pop(what, []), rows)]
    lines += [plain(row) for rest in by_what.values() for row in rest]
    if len(lines) + len(outcomes) > MOST_LINES:
        kept = MOST_LINES - len(outcomes) - 1
        lines = [*lines[:kept], f"... {len(lines) - kept} more lines in results.jsonl"]
    return [line[:MOST_COLUMNS] for line in lines] + outcomes


def outcome_line(row):
    why = f": {row['why']}" if row["why"] else ""
    return f"{row['part']:12} {row['outcome']} after {row['seconds']:.0f} s, {row['rows']} rows{why}"


def written(value):
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def plain(row):
    return row["what"] + ": " + ", ".join(f"{name} {written(value)}" for name, value in row.items()
                                         if name not in ("what", "part", "at_second"))


def plain_lines(own, _):
    return [plain(row) for row in own]


def product_lines(own, _):
    """A line per product: the library's first choice and its best one, cold and after load, in TFLOP/s."""
    if not own:
        return []
    by_name = {}
    for row in own:
        rates = row.get("refused") or f"{row['tflops']:.0f} / {row['best_tflops']:.0f}"
        by_name.setdefault(row["name"], {})[row["when"]] = rates
    return [f"{'product, TFLOP/s of first / best':36}{'cold':>14}{'after load':>14}"] + [
        f"{name:36}{rates.get('cold', '-'):>14}{rates.get('after load', '-'):>14}" for name, rates in by_name.items()]


def square_rate(rows):
    """TFLOP/s of the square product after load, which the steps are compared with; None where it is missing."""
    return next((row["best_tflops"] for row in rows if row["what"] == "product" and row.get("name") == "square"
                 and row.get("when") == "after load" and "best_tflops" in row), None)


def step_lines(own, rows):
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


WRITERS = (("machine", plain_lines), ("card", plain_lines), ("gelu", plain_lines), ("f32_bias", plain_lines),
           ("bias_gradient", plain_lines), ("pointer_arrays", plain_lines), ("copy", plain_lines),
           ("product", product_lines), ("step", step_lines), ("attention", attention_lines),
           ("layer_norm", plain_lines))
