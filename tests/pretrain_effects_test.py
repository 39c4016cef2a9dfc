"""Every option of `cloze pretrain`, given a value other than its default, does what it is there for.

Usage: pretrain_effects_test.py PROGRAM
A small model is trained for a few steps without the option and with it; each entry of EFFECTS says
what must differ then. An option of the program without an entry is a failure.
"""
import json
import math
import pathlib
import re
import struct
import unittest

from option_effects import (WORD_TABLE, Effect, OptionEffects, PlanPage, cloze, configured, other_weights, planned,
                            rates, refused, same_weights, samples, shape, smaller, steps, succeeds, without)

# The private-use character is a letter by Google's rules and left out by those of Hugging Face.
TEXT = "\n".join(f"The cat number {i} sat on the mat\ue000. The dog ran up hill {i % 7}."
                 for i in range(60))
BASE = {
    "generated_data": "true", "num_train_steps": 3, "vocab_size": 120, "hidden_size": 16,
    "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24,
    "max_position_embeddings": 32, "seq_length": 16, "max_predictions_per_seq": 3,
    "micro_batch_size": 4, "threads": 1, "progress_bar": "false", "warmup": 0,
    "base_learning_rate": 0.01, "optimizer": "lamb", "beta2": 0.999, "weight_decay_rate": 0, "use_debiasing": "false",
    "steps_per_logs": 1, "max_to_keep": 5}
RECORDS = {"generated_data": None, "train_file": "records.tfrecord"}
CHECKPOINTS = pathlib.Path(__file__).resolve().parent / "fixtures" / "tf_checkpoint"
GOOGLES = {"init_checkpoint": str(CHECKPOINTS / "google" / "bert_model.ckpt"), "vocab_size": 22,
           "hidden_size": 4, "intermediate_size": 8, "max_position_embeddings": 16}
DRAWN = {"generated_data": None, "input_file": "text.txt", "vocab_file": "vocab.txt"}


def spread_of_start(run, base):
    """Checks the weights before training. A normal distribution of deviation 0.2 that is cut off at
    two deviations has a deviation of 0.176."""
    values = run.tensors[WORD_TABLE][1]
    deviation = (sum(value ** 2 for value in values) / len(values)) ** 0.5
    return abs(deviation - 0.176) < 0.01


def vocabulary_is_saved(run, base):
    return run.file("vocab.txt") == (run.folder.parent / "vocab.txt").read_bytes()


def wandb_runs(run):
    return list(run.folder.glob("wandb/offline-run-*/run-*.wandb"))


def activations(run):
    """Returns the MiB of activations that the plan states."""
    return float(re.search(r"activations +([\d.]+) MiB", run.output)[1])


def scales(*values):
    """The steps scale their losses by these values, and nothing else differs."""
    return lambda run, base: run.values("loss_scale") == list(values) and same_weights(run, base)


def moment_bytes(run):
    """Returns the number of bytes of the word table's first moment."""
    file = run.file("optimizer.safetensors")
    begin, end = json.loads(file[8:8 + int.from_bytes(file[:8], "little")])[
        "optimizer.m." + WORD_TABLE]["data_offsets"]
    return end - begin


def is_bf16(run):
    """In every weight of the word table, the last 16 of the 32 bits are 0."""
    values = run.tensors[WORD_TABLE][1]
    return all(struct.pack("<f", value)[:2] == b"\0\0" for value in values)


HELD_OUT = "records.tfrecord"


def evaluated(run):
    lines = map(json.loads, (run.folder / "metrics.jsonl").read_text().splitlines())
    return [line["evaluated_step"] for line in lines if "mlm_accuracy" in line and
            "evaluated_step" in line]


def logged(key, value):
    return lambda run, base: f'"key":"{key}","value":"{value}"' in (run.folder / "mllog.txt").read_text()


OVERFLOWING = 2 ** 24  # a loss scale
BREAKS = {"lr_schedule": "custom", "lr_schedule_by_step": "0:0.01,1:3e38"}
LEAPS = {"num_train_steps": 75, "lr_schedule": "custom", "lr_schedule_by_step": "0:1e-7,70:3,71:1e-7"}

SOARS = {"num_train_steps": 20, "lr_schedule": "custom", "lr_schedule_by_step": "0:1e-7,1:3,2:1e-7"}


def synthetic(run, base):
    """The run counts the same samples and tokens, but computes one micro-batch again and again, so
    its weights differ and it never waits for data."""
    return (other_weights(run, base) and run.values("samples") == base.values("samples") == [6, 12, 18]
            and run.values("tokens") == base.values("tokens") and
            run.values("data_wait_share") == [0, 0, 0])


def together(run, base):
    """Steps that run together report the same time each; nothing else differs."""
    seconds = run.values("seconds")
    return (seconds[0] == seconds[1] != seconds[2] and same_weights(run, base) and
            all(run.values(name) == base.values(name) for name in
                ("step", "mlm_loss", "nsp_loss", "mlm_accuracy", "gradient_norm", "samples")))


LAYER = "bert.encoder.layer.0."

DEVICE = {"schema": "cloze.device", "version": 1, "device": "a device", "source": "a test",
          "gflops": {"f32": 100}, "gigabytes_per_second": 10,
          "operators": [{"operator": "linear", "dtype": "f32", "work": 1e6, "seconds": 1e-4}]}


def profiled(run, base):
    """The page times every launch, the trace has an event for each, the weights are the same."""
    page = PlanPage(run.folder.parent / "profile.html")
    trace = json.loads((run.folder.parent / "profile.trace.json").read_text())
    events = [event for event in trace["traceEvents"] if event["ph"] == "X"]
    return (page.launches == len(events) > 50 and page.measured == page.launches and
            page.estimated == 0 and same_weights(run, base))

EFFECTS = {
    # Data
    "config": Effect("seed.json", lambda run, base: run.json("training_config.json")["seed"] == 77
                     and other_weights(run, base)),
    "task": Effect("SQuAD", refused("choose one of pretraining")),
    "train_file": Effect("records.tfrecord", other_weights, generated_data=None, base={}),
    "input_file": Effect("text.txt", lambda run, base: (run.folder / "tokens").is_dir(), **DRAWN),
    "input_format": Effect("sentences", other_weights, **DRAWN),
    "json_key": Effect("content", succeeds, **{**DRAWN, "input_file": "content.jsonl"}),
    "skip_bad_lines": Effect("true", succeeds, **{**DRAWN, "input_file": "bad.jsonl"}),
    "token_store": Effect("elsewhere", lambda run, base: (run.folder.parent / "elsewhere").is_dir()
                          and not (run.folder / "tokens").exists(), **DRAWN),
    "vocab_file": Effect("vocab.txt", vocabulary_is_saved, **RECORDS),
    "profile": Effect("google", other_weights, **DRAWN),
    "do_lower_case": Effect("false", lambda run, base: [r.json("tokenizer_config.json")["do_lower_case"]
                                                       for r in (run, base)] == [False, True],
                            vocab_file="vocab.txt", base={"vocab_file": "vocab.txt", **RECORDS},
                            **RECORDS),
    "strip_accents": Effect("false", lambda run, base: run.json("tokenizer_config.json")
                            ["strip_accents"] is False, vocab_file="vocab.txt", **RECORDS),
    "generated_data": Effect(None, refused("there is no data")),
    "synthetic_data": Effect("true", synthetic, global_batch_size=6),
    "max_invalid_utf8": Effect(30, lambda run, base: run.status == 0 and base.status == 2,
                               **{**DRAWN, "input_file": "latin1.txt", "max_unknown_tokens": 100},
                               base={**DRAWN, "input_file": "latin1.txt"}),
    "max_unknown_tokens": Effect(0, refused("% of the tokens are [UNK], most often for"),
                                 **{**DRAWN, "input_file": "unknown.txt"}),
    "static_mask": Effect("true", same_weights, generated_data=None, train_file="remasked.tfrecord",
                          base={**RECORDS, "train_file": "plain.tfrecord"}),
    "skip_bad": Effect("true", lambda run, base: run.status == 0 and base.status == 3,
                       generated_data=None, train_file="bad.tfrecord",
                       base={"generated_data": None, "train_file": "bad.tfrecord"}),
    "loss_averaging_basis": Effect("persequence", lambda run, base:
                                   run.values("mlm_loss")[0] != base.values("mlm_loss")[0] and
                                   run.values("nsp_loss")[0] == base.values("nsp_loss")[0],
                                   **DRAWN, short_seq_prob=1, seq_length=32),
    "max_predictions_per_seq": Effect(2, planned(" and 8 predictions"), command="plan"),
    "duplicate_factor": Effect(2, lambda run, base: run.metrics[-1]["step"] * 2 ==
                               base.metrics[-1]["step"], **RECORDS, num_train_steps=None, epochs=1),
    "seq_length": Effect(8, smaller("tokens")),
    "loader_threads": Effect(2, same_weights),
    "loader_memory": Effect(1, same_weights),
    # mpirun_faults_test.py tests what they are for.
    "heartbeat_timeout": Effect(5, lambda run, base: same_weights(run, base) and "--heartbeat-timeout has no effect in one process" in run.messages),
    "stall_timeout": Effect(5, lambda run, base: same_weights(run, base) and "--stall-timeout has no effect in one process" in run.messages),
    # Samples drawn from text
    "mlm_prob": Effect(0.5, other_weights, **DRAWN),
    "short_seq_prob": Effect(1, smaller("tokens"), **{**DRAWN, "input_file": "lines.txt"},
                             seq_length=32),
    "do_whole_word_mask": Effect("true", other_weights, **DRAWN),
    "next_sentence": Effect("none", lambda run, base: all(base.values("nsp_loss")) and
                            not any(run.values("nsp_loss")), **DRAWN),
    # Evaluation during training
    "on_the_spot_validation_files": Effect(HELD_OUT, lambda run, base: evaluated(run) == [3] and
                                           not evaluated(base) and same_weights(run, base)),
    "on_the_spot_validation_triggers": Effect("3,5", lambda run, base: evaluated(run) == [1, 2, 3]
                                              and same_weights(run, base),
                                              on_the_spot_validation_files=HELD_OUT),
    "eval_iter_samples": Effect(5, lambda run, base: evaluated(run) == [2, 3] and
                                evaluated(base) == [3] and same_weights(run, base),
                                on_the_spot_validation_files=HELD_OUT),
    "eval_iter_start_samples": Effect(4, lambda run, base: evaluated(run) == [1, 3] and
                                      evaluated(base) == [2, 3], eval_iter_samples=8,
                                      on_the_spot_validation_files=HELD_OUT),
    "target_mlm_accuracy": Effect(0, lambda run, base: evaluated(run) == run.values("step") == [1] and
                                  run.status == 0 and "is reached after step 1: " in run.messages,
                                  on_the_spot_validation_files=HELD_OUT, eval_iter_samples=4),
    "max_training_sequences": Effect(9, lambda run, base: run.values("step") == [1, 2] and
                                     run.values("learning_rate") == base.values("learning_rate")[:2]),
    "submission_org": Effect("us", logged("submission_org", "us"), mllog_file="mllog.txt"),
    "submission_division": Effect("open", logged("submission_division", "open"),
                                  mllog_file="mllog.txt"),
    "submission_platform": Effect("two cores", logged("submission_platform", "two cores"),
                                  mllog_file="mllog.txt"),
    # Batches and steps
    "micro_batch_size": Effect(8, samples(8)),
    "gradient_accumulation_count": Effect(3, samples(12)),
    # mpirun_test.py shows what they do in several processes.
    "replicated_tensor_sharding": Effect(
        "true", lambda run, base: "--replicated-tensor-sharding has no effect in one process" in run.messages),
    "reduction_precision": Effect(
        "bf16", lambda run, base: "--reduction-precision has no effect in one process" in run.messages),
    "reproducible_sums": Effect("true", lambda run, base: not same_weights(run, base) and
                                "has no effect with --reproducible-sums" in run.messages,
                                device_iterations=2, gradient_accumulation_count=8, tokens_per_micro_batch=64),
    "pipeline_stages": Effect(2, lambda run, base: "--pipeline-stages has no effect in one process" in run.messages),
    "device_mapping": Effect("[0]", lambda run, base: "--device-mapping has no effect in one process" in run.messages),
    "pipeline_schedule": Effect(
        "Grouped", lambda run, base: "--pipeline-schedule has no effect in one process" in run.messages),
    "replicas": Effect(2, samples(8)),
    "global_batch_size": Effect(5, samples(5)),
    "tokens_per_micro_batch": Effect(32, planned("room for 32 tokens"), command="plan"),
    "num_train_steps": Effect(5, steps(5)),
    "epochs": Effect(2, lambda run, base: run.metrics[-1]["step"] == 2 * base.metrics[-1]["step"],
                     **RECORDS, num_train_steps=None, base={**RECORDS, "num_train_steps": None,
                                                            "epochs": 1}),
    # Steps of 7 do not divide the records.
    "steps_per_epoch": Effect("up", lambda run, base: run.metrics[-1]["step"] ==
                              base.metrics[-1]["step"] + 1, **RECORDS, num_train_steps=None, epochs=1,
                              micro_batch_size=7),
    "device_iterations": Effect(2, together),
    "compile_only": Effect("true", lambda run, base: "parameters" in run.output and
                           not run.folder.exists()),
    # Learning rate
    "base_learning_rate": Effect(0.003, rates(0.002, 0.001, 1e-7)),
    "warmup": Effect(2, rates(1e-7, 0.005, 0.01)),
    # Of 3 steps a half is 1 or 2.
    "warmup_rounds_up": Effect("true", lambda run, base: rates(1e-7, 0.005, 0.01)(run, base) and
                               base.values("learning_rate")[1] == 0.01, warmup=0.5),
    "lr_schedule": Effect("constant", rates(0.01, 0.01, 0.01)),
    "lr_power": Effect(2, rates(0.01, (0.01 - 1e-7) * 4 / 9 + 1e-7, (0.01 - 1e-7) / 9 + 1e-7)),
    "lr_schedule_by_step": Effect("0:0.01,1:0.002,2:5e-4", rates(0.01, 0.002, 5e-4),
                                  lr_schedule="custom", base={}),
    "decay_rate": Effect(0.5, rates(0.01, 0.01 * math.exp(-0.5), 0.01 * math.exp(-1)),
                         lr_schedule="natural_exponential", base={}),
    "decay_steps": Effect(2, rates(0.01, 0.01, 0.01 * math.exp(-0.5)),
                          lr_schedule="natural_exponential", decay_rate=0.5),
    # Optimiser
    "optimizer": Effect("adamw", other_weights),
    "momentum": Effect(0.5, other_weights, optimizer="momentum"),
    "weight_norm_clip": Effect(0.1, other_weights),
    "beta1": Effect(0.5, other_weights),
    "beta2": Effect(0.9, other_weights),
    "epsilon": Effect(0.1, other_weights),
    "weight_decay_rate": Effect(0.1, other_weights),
    "decay_layer_norm_scale": Effect("true", other_weights, weight_decay_rate=0.1),
    "adapt_vectors": Effect("true", other_weights),
    "join_qkv": Effect("true", other_weights),
    "use_debiasing": Effect("true", other_weights),
    "debias_epsilon": Effect("true", other_weights, use_debiasing="true", epsilon=0.1),
    "first_moment_precision": Effect("bf16", lambda run, base: moment_bytes(run) * 2 ==
                                     moment_bytes(base) and other_weights(run, base)),
    "bf16_weights": Effect("true", lambda run, base: is_bf16(run) and not is_bf16(base)),
    "use_nvlamb": Effect("true", other_weights),
    "use_mpclip": Effect("true", other_weights),
    "max_grad_norm": Effect(0.01, other_weights),
    # Loss scale. Powers of two change no byte.
    "loss_scaling": Effect(512, scales(512, 512, 512)),
    "loss_scaling_by_step": Effect("0:2,2:8", scales(2, 2, 8)),
    "init_loss_scale": Effect(8, scales(8, 8, 8), loss_scaling=0),
    "loss_scale_window": Effect(1, scales(65536, 131072, 262144), loss_scaling=0),
    "min_loss_scale": Effect(OVERFLOWING, lambda run, base: run.status == 5 and base.status == 0 and
                             base.metrics[-1]["skipped_steps"] > 0, precision="fp16",
                             init_loss_scale=OVERFLOWING,
                             base={"precision": "fp16", "init_loss_scale": OVERFLOWING}),
    # Divergence
    "on_non_finite": Effect("roll_back", lambda run, base: run.status == base.status == 5 and
                            run.messages.count("The run goes back to ") == 3 and
                            "goes back" not in base.messages, **BREAKS, base=BREAKS),
    "on_loss_spike": Effect("stop", lambda run, base: run.status == 5 and base.status == 0 and
                            " deviations above " in base.messages, **LEAPS, base=LEAPS),
    "on_high_loss": Effect("stop", lambda run, base: run.status == 5 and base.status == 0 and
                           "worse than an untrained model's" in base.messages and
                           "the run has diverged" in base.messages, **SOARS, base=SOARS),
    "steps_per_norms": Effect(2, lambda run, base: [len(line.get("weight_norms", {})) > 0 for line in
                                                    run.metrics] == [False, True, False]),
    "init_optimizer": Effect("moments", other_weights, **GOOGLES, base=GOOGLES),
    # Run
    "optimizer_state_folder": Effect(
        "states", lambda run, base: run.status == 2 and "in states: No such file" in run.messages),
    "precision": Effect("bf16", other_weights),
    "recompute": Effect("true", lambda run, base: activations(run) < 0.5 * activations(base),
                        compile_only="true", num_hidden_layers=8),
    "eager": Effect("true", lambda run, base: same_weights(run, base) and
                    "has no effect with eager" in run.messages, device_iterations=2),
    "device": Effect("reference", other_weights),
    "instruction_set": Effect("avx2", planned("instruction set avx2"), command="plan"),
    "threads": Effect(2, same_weights),
    "seed": Effect(77, other_weights),
    "profile_report": Effect("profile.html", profiled),
    "device_file": Effect("device.json", lambda run, base: min(run.values("ceiling_share")) > 0 and
                          "ceiling_share" not in base.metrics[0] and same_weights(run, base)),
    "save_path": Effect("another", lambda run, base: (run.folder.parent / "another" /
                                                      "checkpoint-3").is_dir()),
    "init_checkpoint": Effect("base/checkpoint-3", lambda run, base: run.values("mlm_loss")[0] <
                              base.values("mlm_loss")[0] and run.metrics[0]["step"] == 1),
    "restore_dir": Effect("base", lambda run, base: "checkpoint-3" in run.messages and
                          run.values("step") == [4, 5], num_train_steps=5),
    "steps_per_ckpts": Effect(1, lambda run, base: run.checkpoints == [1, 2, 3]),
    "max_to_keep": Effect(2, lambda run, base: run.checkpoints == [2, 3], steps_per_ckpts=1),
    "steps_per_logs": Effect(2, lambda run, base: run.values("step") == [2, 3]),
    "progress_bar": Effect("true", lambda run, base: "\r" in run.messages and
                           "\r" not in base.messages and same_weights(run, base)),
    "wandb": Effect("true", lambda run, base: wandb_runs(run) and not wandb_runs(base)),
    "wandb_name": Effect("my-own-name", lambda run, base: b"my-own-name" in
                         next(run.folder.glob("wandb/*/*.wandb")).read_bytes(), wandb="true"),
    "dllogger_file": Effect("log.json", lambda run, base: (run.folder / "log.json").read_text().count("step_loss") == 3),
    "mllog_file": Effect("mllog.txt", lambda run, base: (run.folder / "mllog.txt").read_text()
                         .count('"key":"tracked_stats"') == 3),
    "prometheus_file": Effect("cloze.prom", lambda run, base:
                              "\ncloze_step 3\n" in (run.folder / "cloze.prom").read_text()),
    # Model
    "vocab_size": Effect(130, shape(WORD_TABLE, [130, 16])),
    "hidden_size": Effect(32, shape(WORD_TABLE, [120, 32])),
    "num_hidden_layers": Effect(1, without("bert.encoder.layer.1.")),
    "num_attention_heads": Effect(4, configured("num_attention_heads", 4)),
    "intermediate_size": Effect(40, shape(LAYER + "intermediate.dense.weight", [40, 16])),
    "max_position_embeddings": Effect(48, shape("bert.embeddings.position_embeddings.weight",
                                                [48, 16])),
    "type_vocab_size": Effect(3, shape("bert.embeddings.token_type_embeddings.weight", [3, 16])),
    "hidden_act": Effect("gelu_new", configured("hidden_act", "gelu_new")),
    "hidden_dropout_prob": Effect(0.5, configured("hidden_dropout_prob", 0.5)),
    "attention_probs_dropout_prob": Effect(0.5, configured("attention_probs_dropout_prob", 0.5)),
    "initializer_range": Effect(0.2, spread_of_start, num_train_steps=0),
    "layer_norm_eps": Effect(0.1, configured("layer_norm_eps", 0.1)),
    "use_qkv_bias": Effect("false", without("self.query.bias")),
    "use_attention_projection_bias": Effect("false", without("attention.output.dense.bias")),
    "use_cls_layer": Effect("false", without("cls.predictions.transform")),
    "use_prediction_bias": Effect("false", without("cls.predictions.bias")),
    "groupbert": Effect("true", shape(LAYER + "convolution.glu.weight", [32, 16])),
    "groupbert_ffn_output_groups": Effect(
        2, shape(LAYER + "output_first.grouped_matmul.weight", [16, 12, 1]), groupbert="true"),
    "groupbert_conv_kernel_size": Effect(
        3, shape(LAYER + "convolution.groupconv.weight", [16, 16, 3]), groupbert="true"),
    "groupbert_conv_group_size": Effect(
        4, shape(LAYER + "convolution.groupconv.weight", [16, 4, 7]), groupbert="true"),
    "groupbert_conv_bias": Effect("true", configured("conv_bias", True), groupbert="true"),
}


def make_data(folder):
    (folder / "text.txt").write_text(TEXT + "\n")
    lines = [json.dumps({"content": line}) + "\n" for line in TEXT.split("\n")]
    (folder / "content.jsonl").write_text("".join(lines))
    (folder / "bad.jsonl").write_text("".join(lines).replace("content", "text") + '{"text": 7}\n')
    (folder / "lines.txt").write_text("The cat sat.\n" * 200)
    (folder / "unknown.txt").write_text(TEXT + " 北\n")
    (folder / "latin1.txt").write_text("Le café est près du théâtre.\n" * 200, "latin-1")
    (folder / "device.json").write_text(json.dumps(DEVICE))
    (folder / "seed.json").write_text('{"seed": 77} // a comment')
    cloze(folder, "data", "vocabulary", "--input-file", "text.txt", "--output-file", "vocab.txt",
          "--size", 120)
    (folder / "cased.txt").write_text((folder / "vocab.txt").read_text() + "Cat\n")
    for name, more in {"records": (), "remasked": ("--remask",)}.items():
        # A multiple of the batch: several options are compared by their numbers of steps.
        cloze(folder, "data", "records", "--input-file", "text.txt", "--vocab-file", "vocab.txt",
              "--input-format", "sentences", "--output-file", f"{name}.tfrecord", "--sequence-length", 16, "--mask-tokens", 3,
              "--do-lower-case", "--pad-position-value", 32, *more)
    # The same samples in the plain layout.
    cloze(folder, "data", "convert", "--train-file", "remasked.tfrecord", "--output-file",
          "plain.tfrecord", "--seq-length", 16, "--max-predictions-per-seq", 3)
    bad = bytearray((folder / "records.tfrecord").read_bytes())
    bad[200] ^= 1  # in the first record, whose checksum reveals it
    (folder / "bad.tfrecord").write_bytes(bad)


class PretrainEffectsTest(OptionEffects, unittest.TestCase):
    COMMAND = "pretrain"
    BASE = BASE
    EFFECTS = EFFECTS
    make_data = staticmethod(make_data)


if __name__ == "__main__":
    unittest.main()
