// What `cloze pretrain` says of options that a layout of processes does not read.
#include "cli/run/run_options.h"
#include "cli/run/batch_plan.h"

#include <gtest/gtest.h>

#include "cli/options/subcommand.h"
#include "cli/run/pretrain_run.h"
#include "comm/loopback.h"

namespace cloze::cli {
namespace {

// Of the first of two processes.
std::string notes_of(const std::vector<std::string>& words) {
  testing::internal::CaptureStderr();
  comm::run_loopback(2, [&](comm::Communicator& ranks) {
    PretrainOptions options;
    OptionTable table;
    add_pretrain_options(table, options);
    resolve_words(table, words);
    take_rank(ranks, options, table);
    if (ranks.rank() == 0) check_use(table);
  });
  return testing::internal::GetCapturedStderr();
}

TEST(RunOptions, OfReplicasHaveNoEffectWithOne) {
  const std::vector<std::string> words = {
      "--replicated-tensor-sharding", "--reduction-precision=bf16", "--pipeline-schedule=Grouped"};
  EXPECT_EQ(notes_of(words), "note: `pipeline_schedule` has no effect with one pipeline stage\n");
  std::vector<std::string> staged = words;
  staged.push_back("--pipeline-stages=2");
  EXPECT_EQ(notes_of(staged),
            "note: `replicated_tensor_sharding` has no effect with one replica\n"
            "note: `reduction_precision` has no effect with one replica\n");
}

TEST(RunOptions, OfRoundingHaveNoEffectOnWholeNumbers) {
  const std::vector<std::string> words = {"--steps-per-epoch=down", "--warmup-rounds-up"};
  const auto notes_with = [&](std::vector<std::string> more) {
    more.insert(more.end(), words.begin(), words.end());
    return notes_of(more);
  };
  EXPECT_EQ(notes_with({"--num-train-steps=9", "--warmup=3"}),
            "note: `steps_per_epoch` has no effect without `epochs`\n"
            "note: `warmup_rounds_up` has no effect with a warmup of 3 steps\n");
  EXPECT_EQ(notes_with({"--epochs=1", "--warmup=0.5"}), "");
}

TEST(RunOptions, OfEpsilonHaveNoEffectOnWhatIsNotCorrected) {
  const std::string note = "note: `debias_epsilon` has no effect without use_debiasing\n";
  EXPECT_EQ(notes_of({"--debias-epsilon", "--use-debiasing=false"}), note);
  EXPECT_EQ(notes_of({"--debias-epsilon", "--use-debiasing"}), "");
  EXPECT_EQ(notes_of({"--debias-epsilon", "--optimizer=adam"}), "");
  EXPECT_EQ(notes_of({"--debias-epsilon", "--optimizer=sgd"}),
            "note: `debias_epsilon` has no effect with `optimizer` sgd\n");
}

TEST(RunOptions, OfStatesHaveNoEffectWithAnOptimizerWithoutAny) {
  const std::vector<std::string> words = {"--optimizer-state-folder=states", "--optimizer=sgd"};
  EXPECT_NE(
      notes_of(words).find("note: `optimizer_state_folder` has no effect with `optimizer` sgd, "
                           "which has no state\n"),
      std::string::npos);
}

TEST(BatchPlan, ACardTakesAsManyTokensAsItHasRoomFor) {
  constexpr int64_t kGigabyte = 1'000'000'000;
  models::BertConfig model;
  model.hidden_size = 1024;
  model.num_hidden_layers = 24;
  // 32 and 64 * 1024 * 24 bytes a token.
  EXPECT_EQ(tokens_of_card(80 * kGigabyte, model, DType::kBF16), 65536);
  EXPECT_EQ(tokens_of_card(80 * kGigabyte, model, DType::kF32), 32768);
  EXPECT_EQ(tokens_of_card(24 * kGigabyte, model, DType::kBF16), 16384);
  EXPECT_EQ(tokens_of_card(1'000'000, model, DType::kF32), 0);
  EXPECT_EQ(tokens_of_card(141 * kGigabyte, model, DType::kBF16), 65536) << "more gain nothing";
}

}  // namespace
}  // namespace cloze::cli
