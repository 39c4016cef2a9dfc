#include "cli/run/pretrain_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "cli/options/subcommand.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

using Arguments = std::vector<std::string>;

struct Parsed {
  PretrainOptions options;
  std::vector<std::string> notes;
};

Parsed parse(Arguments arguments) {
  Parsed parsed;
  OptionTable table;
  add_pretrain_options(table, parsed.options);
  resolve_words(table, std::move(arguments));
  validate(PretrainRun(parsed.options));
  parsed.notes = table.notes();
  return parsed;
}

// Options that are accepted, and whatever a test adds.
std::string refusal(const Arguments& more,
                    Arguments arguments = {"--generated-data", "--num-train-steps", "10"}) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  try {
    parse(arguments);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(PretrainOptions, RefusalsNameOptionsAndValues) {
  EXPECT_EQ(refusal({}), "accepted");
  EXPECT_EQ(refusal({"--global-batch-size", "8", "--gradient-accumulation-count", "2"}),
            "global_batch_size 8 and gradient_accumulation_count 2 both set the batch; give one");
  EXPECT_EQ(refusal({"--epochs", "2"}),
            "num_train_steps 10 and `epochs` 2 both set the length; give one");
  EXPECT_EQ(refusal({}, {"--generated-data"}),
            "the length of the run is not set; give num_train_steps or `epochs`");
  EXPECT_EQ(refusal({}, {"--train-file", "x", "--epochs", "0"}),
            "`epochs` is 0; it must be above 0");
  EXPECT_EQ(refusal({}, {"--generated-data", "--epochs", "2"}),
            "`epochs` is 2, but generated_data has no end; give num_train_steps");
  EXPECT_EQ(refusal({"--heartbeat-timeout", "0.1"}),
            "heartbeat_timeout is 0.1, but a process reports five times a second, and may be late; "
            "give 1 or more, or 0");
  EXPECT_EQ(refusal({"--heartbeat-timeout", "1"}), "accepted");
  EXPECT_EQ(refusal({"--device-file", "d.json"}), "accepted");
  EXPECT_EQ(refusal({"--compile-only", "--profile-report", "p.html"}),
            "profile_report p.html measures a run, but nothing is trained; use cloze plan "
            "--report");
  EXPECT_EQ(refusal({"--train-file", "x"}),
            "train_file x and generated_data both give the data; give one");
  EXPECT_EQ(refusal({"--synthetic-data", "--train-file", "x"}),
            "train_file x and synthetic_data both give the data; give one");
  EXPECT_EQ(refusal({}, {"--synthetic-data", "--epochs", "2"}),
            "`epochs` is 2, but synthetic_data has no end; give num_train_steps");
  EXPECT_EQ(
      refusal({"--synthetic-data", "--global-batch-size", "9", "--tokens-per-micro-batch", "256"}),
      "synthetic_data computes one micro-batch, here of 2 sequences, which do not divide a "
      "step of 9; change tokens_per_micro_batch");
  EXPECT_EQ(refusal({"--eager", "--profile-report", "p.html"}),
            "profile_report p.html measures step by step; leave out `eager`");
  EXPECT_EQ(refusal({"--eager", "--reproducible-sums"}),
            "reproducible_sums adds up gradients after a whole pass; leave out `eager`");
  EXPECT_EQ(refusal({"--reproducible-sums", "--reduction-precision", "bf16"}),
            "reproducible_sums sends gradients unrounded; leave out reduction_precision bf16");
  EXPECT_EQ(refusal({"--device-iterations", "2", "--profile-report", "p.html"}),
            "profile_report p.html measures step by step; leave out device_iterations");
  EXPECT_EQ(refusal({}, {"--num-train-steps", "10"}),
            "there is no data; give input_file, train_file or generated_data");
  EXPECT_EQ(refusal({"--seq-length", "1024"}),
            "seq_length 1024 is over max_position_embeddings 512; raise max_position_embeddings");
  EXPECT_EQ(refusal({"--max-predictions-per-seq", "129"}),
            "max_predictions_per_seq 129 is over seq_length 128; lower it");
  EXPECT_EQ(refusal({"--tokens-per-micro-batch", "100"}),
            "tokens_per_micro_batch 100 holds no sequence of seq_length 128; raise it");
  EXPECT_EQ(refusal({"--save-path", ""}), "save_path is empty; name a folder");
  EXPECT_EQ(refusal({"--init-checkpoint", "a", "--restore-dir", "b"}),
            "init_checkpoint a and restore_dir b both give the weights; give one");
  EXPECT_EQ(refusal({"--use-nvlamb", "--optimizer", "adamw"}),
            "use_nvlamb needs `optimizer` lamb, not adamw; use max_grad_norm 1");
  EXPECT_EQ(refusal({"--optimizer", "lamb", "--use-nvlamb", "--max-grad-norm", "0"}),
            "max_grad_norm is 0, but use_nvlamb clips at 1; leave one of them out");
  EXPECT_EQ(refusal({"--use-mpclip", "--max-grad-norm", "7"}),
            "max_grad_norm is 7, but use_mpclip clips at 1; leave one of them out");
  EXPECT_EQ(
      refusal({"--optimizer", "lamb", "--use-nvlamb", "--use-mpclip", "--max-grad-norm", "1"}),
      "accepted");
  EXPECT_EQ(
      refusal({"--micro-batch-size", "65536", "--replicas", "65536"}),
      "micro_batch_size 65536 * gradient_accumulation_count 1 * `replicas` 65536 are more than "
      "the 2147483647 sequences that a step can have; lower them");
}

// The number of sequences ends a run before or after the end of its schedule; a run of 0 steps
// stays one.
TEST(PretrainOptions, SequencesEndARun) {
  const auto steps = [](const char* num_train_steps) {
    const Parsed parsed =
        parse({"--generated-data", "--global-batch-size", "4", "--max-training-sequences", "13",
               "--num-train-steps", num_train_steps});
    return ResolvedRun(parsed.options).length.planned();
  };
  EXPECT_EQ(steps("1000"), 3);
  EXPECT_EQ(steps("2"), 3);
  EXPECT_EQ(steps("0"), 0);
}

TEST(PretrainOptions, RefusalsOfSingleValues) {
  EXPECT_EQ(refusal({"--task", "squad"}),
            "--task is \"squad\"; choose one of pretraining: cloze squad takes SQuAD, "
            "cloze glue GLUE, and with --compile-only they plan");
  EXPECT_EQ(refusal({"--optimizer", "custom"}),
            "--optimizer is \"custom\"; choose one of lamb, adamw, mpadamw, adam, "
            "momentum, sgd");
  EXPECT_EQ(refusal({"--lr-schedule", "exponential"}),
            "--lr-schedule is \"exponential\"; choose one of polynomial_decay, "
            "polynomial, poly_warmup, cosine_decay, natural_exponential, linear, linear_held, "
            "custom, constant");
  EXPECT_EQ(refusal({"--precision", "8"}),
            "--precision is \"8\"; choose one of f32, bf16, f16, 32, 16, fp16");
  EXPECT_EQ(refusal({"--hidden-act", "relu"}),
            "--hidden-act is \"relu\"; choose one of gelu, gelu_new, gelu_pytorch_tanh");
  EXPECT_EQ(refusal({"--micro-batch-size", "0"}),
            "--micro-batch-size is 0; it must be from 1 to 2147483647");
  EXPECT_EQ(refusal({"--hidden-dropout-prob", "1"}),
            "--hidden-dropout-prob is 1; it must be from 0 to 0.9999999");
  EXPECT_EQ(refusal({"--hidden-size", "100"}),
            "hidden_size 100 is not divisible by num_attention_heads 12; choose a multiple of it");
  EXPECT_EQ(refusal({"--warmup", "1.5"}),
            "`warmup` is 1.5; give a whole number of steps or a share of all steps in [0, 1)");
  EXPECT_EQ(refusal({"--base-learning-rate", "0"}), "base_learning_rate is 0; it must be above 0");
  EXPECT_EQ(refusal({"--lr-power", "1,2,3"}),
            "lr_power has 3 numbers; give one, or one for the warm-up and one for the decay");
}

// A step is a whole number of its micro-batches.
TEST(PretrainOptions, SyntheticDataDivideTheStep) {
  const Arguments run = {"--generated-data", "--num-train-steps", "1", "--global-batch-size", "50"};
  EXPECT_EQ(batch_plan(parse(run).options).tokens, 8 * 128);
  Arguments synthetic = run;
  synthetic.push_back("--synthetic-data");
  EXPECT_EQ(batch_plan(parse(synthetic).options).tokens, 5 * 128);
}

TEST(PretrainOptions, TheCommandLineOutranksTheFileAlsoUnderAnotherName) {
  const std::string path = testing::TempDir() + "pretrain_options_test.json";
  platform::write_file_atomically(
      path, R"({"train_file": "x", "gradient_accumulation_count": 12, "num_train_steps": 9})");
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  resolve_words(table, {"--config", path, "--global-batch-size", "256", "--generated-data"});
  settle_rivals(options, table);
  const PretrainRun run(options);
  validate(run);
  EXPECT_EQ(run.batch.sequences_per_step, 256);
  EXPECT_EQ(scheduled_steps(run, 1), 9);
  EXPECT_EQ(options.train_file, "");
}

// A file's number of sequences ends a run only where the command line gives no number of steps.
TEST(PretrainOptions, StepsOfTheCommandLineOutrankSequencesOfTheFile) {
  const std::string path = testing::TempDir() + "pretrain_options_test.json";
  platform::write_file_atomically(
      path, R"({"generated_data": true, "global_batch_size": 48, "max_training_sequences": 960})");
  for (const auto& [flags, steps] :
       {std::pair{Arguments(), 20}, std::pair{Arguments{"--num-train-steps", "4"}, 4}}) {
    PretrainOptions options;
    OptionTable table;
    add_pretrain_options(table, options);
    Arguments words{"--config", path};
    words.insert(words.end(), flags.begin(), flags.end());
    resolve_words(table, words);
    settle_rivals(options, table);
    const PretrainRun run(options);
    validate(run);
    EXPECT_EQ(run.length.planned(), steps);
    EXPECT_EQ(scheduled_steps(run, 1), steps);
    // What a longer run of the same options derives from its own number of sequences.
    EXPECT_EQ(table.values()["num_train_steps"].is_null(), flags.empty());
  }
}

TEST(PretrainOptions, WhatIsTakenAwayOutranksNothing) {
  const std::string path = testing::TempDir() + "pretrain_options_test.json";
  platform::write_file_atomically(
      path, R"({"train_file": "x", "global_batch_size": 64, "gradient_accumulation_count": 12,
                "num_train_steps": 9})");
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  resolve_words(
      table, {"--config", path, "--generated-data", "false", "--gradient-accumulation-count", ""});
  settle_rivals(options, table);
  validate(PretrainRun(options));
  EXPECT_EQ(batch_plan(options).sequences_per_step, 64);
  EXPECT_EQ(options.train_file, "x");
}

TEST(PretrainOptions, ForeignOptionsAreNeverSilent) {
  EXPECT_EQ(
      refusal({"--groupbert-conv-kernel-size", "5"}),
      "groupbert_conv_kernel_size is 5, but `groupbert` is false; set `groupbert` true or leave it "
      "out");
  const Parsed parsed = parse({"--generated-data", "--num-train-steps", "1",
                               "--steps-per-tensorboard", "5", "--use-qkv-split"});
  EXPECT_EQ(parsed.notes,
            (std::vector<std::string>{
                "--steps-per-tensorboard has no effect: scalars go to TensorBoard with every "
                "line of metrics"}));
}

// The throughput commands of Graphcore's README try long configurations for a few steps.
TEST(PretrainOptions, ALongWarmupIsShortenedAndSaysSo) {
  RunOptions options;
  const auto warmup_steps = [&](double warmup, int64_t steps) {
    options.training.schedule.warmup = warmup;
    testing::internal::CaptureStderr();
    return training_of(ResolvedRun(options), steps).schedule.warmup_steps;
  };
  const auto note = [] { return testing::internal::GetCapturedStderr(); };
  EXPECT_EQ(warmup_steps(2000, 4), 4);
  EXPECT_EQ(note(),
            "note: `warmup` is 2000 steps, the run has 4: the warm-up is shortened to 4 steps\n");
  EXPECT_EQ(warmup_steps(2000, 7032), 2000);
  EXPECT_EQ(note(), "");
  EXPECT_EQ(warmup_steps(0.5, 4), 2);
  EXPECT_EQ(note(), "");
}

TEST(PretrainOptions, FloatingPointExceptionsAreAcceptedWithAWord) {
  const Parsed parsed =
      parse({"--generated-data", "--num-train-steps", "1", "--fp-exceptions", "true"});
  EXPECT_EQ(parsed.notes, (std::vector<std::string>{
                              "--fp-exceptions has no effect: on_non_finite says what a loss or "
                              "gradient that is not finite does to the run"}));
}

TEST(PretrainOptions, TheSequencesOfAStep) {
  RunOptions options{.micro_batch_size = 8, .gradient_accumulation_count = 510, .replicas = 4};
  EXPECT_EQ(batch_plan(options).sequences_per_step, 16320);
  // 4096 tokens where the step has many times as many.
  EXPECT_EQ(batch_plan(options).tokens, 32 * 128);
  EXPECT_EQ(batch_plan(options).sequences, 8 * 32);
  options = {.micro_batch_size = 8, .global_batch_size = 100};
  EXPECT_EQ(batch_plan(options).sequences_per_step, 100);
  EXPECT_EQ(batch_plan(options).tokens, 1024);
  options = {.micro_batch_size = 8, .tokens_per_micro_batch = 300};
  EXPECT_EQ(batch_plan(options).tokens, 300);
  EXPECT_EQ(batch_plan(options).sequences, 8);
}

// A quarter more than full sequences have, but no more than the sequences that there is room for.
TEST(PretrainOptions, TheRoomForPredictions) {
  const auto room = [](int64_t global_batch_size, int64_t tokens) {
    PretrainOptions options;
    options.global_batch_size = global_batch_size;
    options.tokens_per_micro_batch = tokens;
    return PretrainRun(options).training.step.capacity.predictions;
  };
  EXPECT_EQ(room(16320, 32 * 128), 40 * 20);
  EXPECT_EQ(room(8, 300), 50);
  EXPECT_EQ(room(1, 128), 20);
}

TEST(PretrainOptions, MicroBatchesAreASmallShareOfTheStepAndWholeSequences) {
  const auto tokens = [](int64_t seq_length, int64_t sequences) {
    const RunOptions options{.seq_length = seq_length, .global_batch_size = sequences};
    return batch_plan(options).tokens;
  };
  EXPECT_EQ(tokens(512, 512), 5 * 512);
  EXPECT_EQ(tokens(384, 500), 5 * 384);
  EXPECT_EQ(tokens(384, 64), 3 * 384) << "enough for a processor";
  EXPECT_EQ(tokens(128, 1), 128) << "all there is";
  EXPECT_EQ(tokens(512, 1 << 20), 32 * 512) << "micro_batch_size";
}

TEST(PretrainOptions, StepsFromEpochs) {
  constexpr int64_t kCopies = 5;
  RunOptions options{.micro_batch_size = 32, .epochs = 1.5};
  EXPECT_EQ(scheduled_steps(ResolvedRun(options), 16000, kCopies),
            150);  // 1.5 * (16000 / 5) / 32
  EXPECT_THROW(scheduled_steps(ResolvedRun(options), 100, kCopies), UserError);
  options.num_train_steps = 7;
  EXPECT_EQ(scheduled_steps(ResolvedRun(options), 100, kCopies), 7);
}

// As an epoch of transformers' loader, without its last batch or with it. The figures of the first
// two are those of Optimum Graphcore's notebook on SQuAD: 88,524 features, 690 steps.
TEST(PretrainOptions, AnEpochMayHaveWholeSteps) {
  RunOptions options{.micro_batch_size = 256, .epochs = 2.0};
  EXPECT_EQ(scheduled_steps(ResolvedRun(options), 88524), 691);
  options.steps_per_epoch = EpochSteps::kDown;
  EXPECT_EQ(scheduled_steps(ResolvedRun(options), 88524), 690);
  options.steps_per_epoch = EpochSteps::kUp;
  EXPECT_EQ(scheduled_steps(ResolvedRun(options), 88524), 692);
  options.epochs = 0.5;
  EXPECT_EQ(scheduled_steps(ResolvedRun(options), 257), 1);
  options.steps_per_epoch = EpochSteps::kDown;
  EXPECT_THROW(scheduled_steps(ResolvedRun(options), 255), UserError);
}

// Values go directly into the structs of the rooms below.
TEST(PretrainOptions, AreBoundToTheStructsThatUseThem) {
  const Parsed parsed = parse({"--generated-data",
                               "--num-train-steps",
                               "1",
                               "--optimizer",
                               "adamw",
                               "--beta1",
                               "0.8",
                               "--max-grad-norm",
                               "0",
                               "--seed",
                               "7",
                               "--steps-per-ckpts",
                               "9",
                               "--save-path",
                               "x",
                               "--threads",
                               "2",
                               "--mlm-prob",
                               "0.2",
                               "--next-sentence",
                               "order",
                               "--input-format",
                               "jsonl",
                               "--hidden-size",
                               "24",
                               "--max-invalid-utf8",
                               "3"});
  const train::TrainingOptions& training = parsed.options.training;
  EXPECT_EQ(training.step.optimizer.name, "adamw");
  EXPECT_EQ(training.step.optimizer.beta1, 0.8);
  EXPECT_EQ(training.step.optimizer.clipping_norm(), 0.0);
  EXPECT_EQ(training.step.seed, 7u);
  EXPECT_EQ(training.steps_per_checkpoint, 9);
  EXPECT_EQ(training.save_path, "x");
  EXPECT_EQ(training.step.compile.target.threads, 2);
  EXPECT_EQ(training.step.model.hidden_size, 24);
  EXPECT_EQ(parsed.options.drawing.pairs.masking.probability, 0.2);
  EXPECT_EQ(parsed.options.drawing.pairs.next_sentence, data::NextSentence::kOrder);
  EXPECT_EQ(parsed.options.store.form.format, data::TextFormat::kJsonLines);
  EXPECT_EQ(parsed.options.store.max_invalid_percent, 3);
}

TEST(PretrainOptions, Precision) {
  const auto dtype = [](const char* precision) {
    return parse({"--generated-data", "--num-train-steps", "1", "--precision", precision})
        .options.training.step.compute_dtype;
  };
  EXPECT_EQ(PretrainOptions().training.step.compute_dtype, DType::kF32);
  for (const char* bf16 : {"16", "bf16"}) EXPECT_EQ(dtype(bf16), DType::kBF16) << bf16;
  for (const char* f32 : {"32", "f32"}) EXPECT_EQ(dtype(f32), DType::kF32) << f32;
  for (const char* f16 : {"fp16", "f16"}) EXPECT_EQ(dtype(f16), DType::kF16) << f16;
}

TEST(PretrainOptions, LossScale) {
  const auto scale = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--generated-data", "--num-train-steps", "1"});
    return parse(arguments).options.training.loss_scale;
  };
  EXPECT_EQ(scale({}).given, std::nullopt);
  EXPECT_EQ(scale({"--loss-scaling", "512"}).given, 512.0);
  EXPECT_EQ(scale({"--loss-scaling-by-step", "0:512,1000:1024"}).by_step,
            (std::map<int64_t, double>{{0, 512}, {1000, 1024}}));
  EXPECT_EQ(refusal({"--loss-scaling-by-step", "5:512"}),
            "loss_scaling_by_step begins at step 5; give the scale for step 0 too");
  EXPECT_EQ(refusal({"--loss-scaling", "-1"}),
            "--loss-scaling is -1; it must be from 0 to 16777216");
}

TEST(PretrainOptions, OurConfigurationsAreAccepted) {
  int64_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CLOZE_SOURCE_DIR "/configs")) {
    const std::string path = entry.path().string();
    if (entry.is_directory() || !platform::read_file(path).starts_with("//")) continue;
    const std::string name = entry.path().filename();
    if (!name.starts_with("pretrain_") && !name.starts_with("bert_")) continue;
    ++count;
    const Parsed parsed = parse({"--config", path, "--generated-data"});
    EXPECT_EQ(parsed.notes, std::vector<std::string>{}) << path;
    EXPECT_GT(batch_plan(parsed.options).sequences_per_step, 0) << path;
  }
  EXPECT_EQ(count, 8);
}

}  // namespace
}  // namespace cloze::cli
