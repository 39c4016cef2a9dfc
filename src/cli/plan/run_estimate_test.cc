#include "cli/plan/run_estimate.h"

#include <gtest/gtest.h>

#include "models/bert_flops.h"

namespace cloze::cli {
namespace {

PretrainOptions tiny() {
  PretrainOptions options;
  options.model().hidden_size = 128;
  options.model().num_hidden_layers = 2;
  options.model().num_attention_heads = 2;
  options.model().intermediate_size = 512;
  options.global_batch_size = 128;
  options.num_train_steps = 25000;
  options.training.step.compile.target.threads = 1;
  return options;
}

TEST(RunEstimate, DurationsAreInTheUnitOfAPerson) {
  EXPECT_EQ(rough_duration(0.3), "0.3 seconds");
  EXPECT_EQ(rough_duration(40), "40 seconds");
  EXPECT_EQ(rough_duration(600), "10 minutes");
  EXPECT_EQ(rough_duration(8.2 * 3600), "8.2 hours");
  EXPECT_EQ(rough_duration(3 * 86400), "3.0 days");
  EXPECT_EQ(rough_duration(7.4 * 365.25 * 86400), "7.4 years");
}

// 24 H^2 L a token and 4 H L S^2 a sequence, 2 H V + 2 H^2 a prediction, three times.
TEST(RunEstimate, CountsFullSequences) {
  const PretrainOptions options = tiny();
  const double H = 128, L = 2, S = 128, V = 30522, P = 20;
  const double expected =
      3 * (S * 24 * H * H * L + 4 * H * L * S * S + P * (2 * H * V + 2 * H * H));
  EXPECT_DOUBLE_EQ(training_flops(PretrainRun(options), 1), expected);
  EXPECT_DOUBLE_EQ(training_flops(PretrainRun(options), 7), 7 * expected);
}

TEST(RunEstimate, SaysWhatTheRunSeesAndHowLongThatTakes) {
  const PretrainOptions options = tiny();
  const std::string text =
      describe_run(PretrainRun(options), {1.28, "an estimate"});  // a step of 128 sequences
  EXPECT_EQ(text.find("run 25,000 steps, which see 3,200,000 sequences of up to 128 tokens\n"
                      "time about 8.9 hours, 100 sequences/s: an estimate\n"),
            0u)
      << text;
}

TEST(RunEstimate, WithoutStepsItGivesTheTimeOfAMillionSequences) {
  PretrainOptions options = tiny();
  options.num_train_steps.reset();
  options.epochs = 3;
  const std::string text = describe_run(PretrainRun(options), {1.28, "an estimate"});
  EXPECT_EQ(text.find("run 3 epochs; the time is for a million sequences\ntime about 2.8 hours"),
            0u)
      << text;
}

TEST(RunEstimate, MeasuresThisMachine) {
  const PretrainOptions options = tiny();
  const double rate = product_rate(PretrainRun(options));
  EXPECT_GT(rate, 1e8);
  EXPECT_LT(rate, 1e15);
}

}  // namespace
}  // namespace cloze::cli
