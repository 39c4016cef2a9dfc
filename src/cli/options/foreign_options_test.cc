#include "cli/options/foreign_options.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/options/subcommand.h"
#include "cli/run/finetune_options.h"
#include "cli/run/pretrain_options.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// What Graphcore's pretrain_tiny_128_lamb.json says, but for its file names.
constexpr const char* kPretrainTiny = R"({
  "task": "pretraining", "attention_probs_dropout_prob": 0, "hidden_act": "gelu",
  "hidden_dropout_prob": 0.1, "hidden_size": 128, "initializer_range": 0.02,
  "intermediate_size": 512, "max_position_embeddings": 512, "num_attention_heads": 2,
  "num_hidden_layers": 2, "type_vocab_size": 2, "vocab_size": 30400,
  "use_attention_projection_bias": false, "use_cls_layer": false, "use_qkv_split": true,
  "use_prediction_bias": false, "seq_length": 128, "max_predictions_per_seq": 20,
  "pipeline_stages": [["emb", "pos"], ["hid", "hid"], ["mlm", "nsp"]],
  "device_mapping": [0, 0, 0], "micro_batch_size": 1, "gradient_accumulation_count": 12,
  "replicas": 1, "num_train_steps": 1000, "base_learning_rate": 0.001, "warmup": 10,
  "epsilon": 1e-06, "lr_schedule": "polynomial_decay", "optimizer": "lamb",
  "weight_decay_rate": 0.01, "precision": 16, "loss_scaling": 1, "steps_per_ckpts": 100,
  "duplicate_factor": 5, "static_mask": true, "fp_exceptions": false, "seed": 1234})";

// What Graphcore's squad_base.json says of the model and its training.
constexpr const char* kSquadBase = R"({
  "task": "SQuAD", "hidden_act": "gelu", "hidden_size": 768, "intermediate_size": 3072,
  "num_attention_heads": 12, "num_hidden_layers": 12, "vocab_size": 30400, "seq_length": 384,
  "use_attention_projection_bias": false, "use_cls_layer": false, "num_train_steps": 2100,
  "partials_type": "half", "precision": 16, "weight_decay_rate": 0.01, "epsilon": 0.0001,
  "lr_schedule": "polynomial_decay", "base_learning_rate": 3e-05, "warmup": 276,
  "optimizer": "adamw", "fp_exceptions": true, "duplicate_factor": 5})";

using Words = std::vector<std::string>;

class GraphcoreForm : public testing::Test {
 protected:
  void TearDown() override { fs::remove(path_); }

  // Takes the file and the flags into the options that the table is bound to.
  void read(OptionTable& table, const std::string& config, Words flags = {}) const {
    platform::write_file_atomically(path_, config);
    flags.insert(flags.begin(), {"--config", path_});
    resolve_words(table, std::move(flags));
  }
  std::string first_note(const OptionTable& table) const {
    return table.notes().empty() ? "" : table.notes().front().substr(path_.size());
  }

  const std::string path_ = testing::TempDir() + "foreign_options_test.json";
};

// The same run on any layout is the same model.
TEST_F(GraphcoreForm, AListOfStagesDoesNotMakeAFileTheirs) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, R"({"pipeline_stages": [["emb", "hid"], ["hid", "mlm", "nsp"]],
                  "device_mapping": [0, 1]})");
  EXPECT_EQ(options.pipeline_stages, R"([["emb","hid"],["hid","mlm","nsp"]])");
  EXPECT_EQ(options.device_mapping, "[0,1]");
  EXPECT_EQ(table.origin("pipeline_stages"), path_);
  EXPECT_TRUE(options.model().use_qkv_bias);
  EXPECT_EQ(table.origin("precision"), kDefaultOrigin);
  EXPECT_TRUE(table.notes().empty()) << table.notes().front();
}

TEST_F(GraphcoreForm, AFileOfAnOlderReleaseIsTaken) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, R"({"partials_type": "half", "batch_size": 3, "batches_per_step": 2,
                  "num_train_steps": 7})");
  EXPECT_EQ(options.micro_batch_size, 3);
  EXPECT_EQ(options.training.device_iterations, 2);
  EXPECT_EQ(options.num_train_steps, 6) << "a multiple of batches_per_step, as there";
}

TEST_F(GraphcoreForm, APretrainingFileGetsWhatItLeavesOutFromThatSystem) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, kPretrainTiny);
  EXPECT_FALSE(options.model().use_qkv_bias);
  EXPECT_EQ(options.model().layer_norm_eps, 1e-3);
  EXPECT_EQ(options.model().hidden_act, models::Activation::kGeluTanh)
      << "gelu there is the tanh form";
  EXPECT_EQ(options.training.step.optimizer.epsilon, 1e-6) << "the file says so";
  EXPECT_EQ(options.training.step.optimizer.weight_decay_rate, 0.01);
  EXPECT_EQ(table.origin("use_qkv_bias"), configuration::tensorflow1().name);
  EXPECT_EQ(table.origin("epsilon"), path_);
  EXPECT_EQ(
      first_note(table),
      ": fp_exceptions makes this a file of Graphcore's TensorFlow 1 programs; what it leaves "
      "out is beta2 0.999, decay_layer_norm_scale true, use_debiasing false, max_to_keep 5, "
      "steps_per_logs 1, hidden_act \"gelu_new\", layer_norm_eps 0.001, use_qkv_bias false");
}

TEST_F(GraphcoreForm, EveryDefaultOfThatSystemCounts) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, R"({"fp_exceptions": false})");
  EXPECT_EQ(options.training.step.optimizer.epsilon, 1e-4);
  EXPECT_EQ(options.training.duplicate_factor, 5);
  EXPECT_EQ(options.training.step.compute_dtype, DType::kBF16);
  EXPECT_EQ(options.model().hidden_act, models::Activation::kGeluTanh);
}

TEST_F(GraphcoreForm, AFineTuningFileLeavesMomentsBiased) {
  FinetuneOptions options;
  OptionTable table;
  add_finetune_options(table, options, "SQuAD");
  read(table, kSquadBase);
  EXPECT_FALSE(options.training.step.optimizer.use_debiasing);
  EXPECT_FALSE(options.model().use_qkv_bias);
  EXPECT_EQ(options.training.max_to_keep, 5);
  EXPECT_EQ(options.training.schedule.base_learning_rate, 3e-5) << "the file says so";
}

TEST_F(GraphcoreForm, FlagsGoBeforeThatSystem) {
  FinetuneOptions options;
  OptionTable table;
  add_finetune_options(table, options, "SQuAD");
  read(table, kSquadBase, {"--use-debiasing", "--use-qkv-bias", "--hidden-act", "gelu"});
  EXPECT_TRUE(options.training.step.optimizer.use_debiasing);
  EXPECT_TRUE(options.model().use_qkv_bias);
  EXPECT_EQ(options.model().hidden_act, models::Activation::kGeluErf);
  EXPECT_EQ(first_note(table).find("use_debiasing"), std::string::npos);
}

TEST_F(GraphcoreForm, OurOwnFilesKeepOurDefaults) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, R"({"hidden_act": "gelu", "loss_scaling": 1})");
  EXPECT_EQ(options.model().hidden_act, models::Activation::kGeluErf);
  EXPECT_TRUE(options.model().use_qkv_bias);
  EXPECT_EQ(options.training.step.optimizer.epsilon, 1e-6);
  EXPECT_TRUE(table.notes().empty());
}

TEST_F(GraphcoreForm, NoneOfOurConfigurationsIsOfThatForm) {
  int64_t ours = 0;
  for (const fs::directory_entry& file :
       fs::directory_iterator(std::string(CLOZE_SOURCE_DIR) + "/configs")) {
    if (file.is_directory()) continue;
    const std::string text = platform::read_file(file.path());
    if (!text.starts_with("//")) continue;  // Graphcore's, unchanged
    ++ours;
    const auto config = formats::parse_json(text);
    ASSERT_TRUE(config) << file.path();
    for (const std::string& mark : configuration::tensorflow1().marks) {
      EXPECT_FALSE(config->contains(mark)) << file.path() << ": " << mark;
    }
  }
  EXPECT_GT(ours, 0);
}

// As `cloze config import` does: 65 passes of 8 sequences become the next multiple of twice the
// stages.
TEST_F(GraphcoreForm, WhatSeveralKeysSayTogetherIsWhatTheySayThere) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, R"({"pipeline_stages": [["emb"], ["hid"], ["mlm"]], "global_batch_size": 520,
                  "micro_batch_size": 8, "generated_data": true, "train_file": "a.tfrecord",
                  "partials_type": "half"})");
  EXPECT_EQ(options.global_batch_size, 66 * 8);
  EXPECT_EQ(table.origin("global_batch_size"), configuration::tensorflow1().name);
  EXPECT_EQ(options.train_file, "") << "generated_data switches it off there";
}

// There, the norm of the sum over replicas is clipped at 1.
TEST_F(GraphcoreForm, WhatAFileImpliesIsTaken) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(table, R"({"partials_type": "half", "optimizer": "lamb", "use_mpclip": true,
                  "reduction_type": "sum", "gradient_accumulation_count": 16, "replicas": 2})");
  const optim::OptimizerOptions& optimizer = options.training.step.optimizer;
  EXPECT_EQ(optimizer.max_gradient_norm, 1.0 / 16);
  EXPECT_FALSE(optimizer.use_mpclip);
  EXPECT_EQ(optimizer.epsilon, 1e-4 / 32);
  EXPECT_EQ(table.origin("max_grad_norm"), configuration::tensorflow1().name);
  for (const std::string& note : table.notes()) {
    EXPECT_EQ(note.find("reduction_type"), std::string::npos) << note;
  }
}

TEST_F(GraphcoreForm, AFileThatContradictsItselfIsNamed) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  try {
    read(table, R"({"partials_type": "half", "global_batch_size": 4, "micro_batch_size": 8})");
    FAIL() << "it was taken";
  } catch (const UserError& error) {
    EXPECT_EQ(std::string(error.what()),
              path_ +
                  ": global_batch_size: 4 is less than the 8 sequences of a pass, "
                  "micro_batch_size * replicas; raise it");
  }
}

TEST_F(GraphcoreForm, SeveralFilesOfOursStayOurs) {
  const std::string over = testing::TempDir() + "foreign_options_over.json";
  platform::write_file_atomically(over, R"({"num_train_steps": 5})");
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  platform::write_file_atomically(path_, R"({"hidden_act": "gelu", "num_train_steps": 9})");
  resolve_words(table, {"--config", path_ + "," + over});
  fs::remove(over);
  EXPECT_EQ(options.num_train_steps, 5);
  EXPECT_EQ(options.model().hidden_act, models::Activation::kGeluErf);
  EXPECT_TRUE(options.model().use_qkv_bias);
  EXPECT_TRUE(table.notes().empty());
}

TEST_F(GraphcoreForm, ASwitchOfHuggingFaceNamesAPrecision) {
  for (const auto& [flag, dtype] : {std::pair{"--bf16", DType::kBF16},
                                    {"--bf16=True", DType::kBF16},
                                    {"--bf16=false", DType::kF32}}) {
    PretrainOptions options;
    OptionTable table;
    add_pretrain_options(table, options);
    read(table, R"({"precision": "fp16"})", {flag});
    EXPECT_EQ(options.training.step.compute_dtype, dtype) << flag;
  }
}

// What Hugging Face's arguments are called, in a file and on the command line.
TEST_F(GraphcoreForm, NamesOfHuggingFaceAreOtherNames) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  read(
      table,
      R"({"learning_rate": 0.002, "max_steps": 40, "lr_scheduler_type": "linear", "bf16": true})",
      {"--per-device-train-batch-size", "4", "--gradient-checkpointing", "--warmup-ratio", "0.25"});
  EXPECT_EQ(options.training.schedule.base_learning_rate, 0.002);
  EXPECT_EQ(options.num_train_steps, 40);
  EXPECT_EQ(options.training.schedule.name, "linear");
  EXPECT_EQ(options.training.step.compute_dtype, DType::kBF16);
  EXPECT_EQ(options.micro_batch_size, 4);
  EXPECT_TRUE(options.training.step.recompute);
  EXPECT_EQ(options.training.schedule.warmup, 0.25);
  EXPECT_EQ(table.origin("base_learning_rate"), path_);
  EXPECT_EQ(table.origin("micro_batch_size"), kCommandLineOrigin);
}

TEST_F(GraphcoreForm, AnOptionAndItsOtherNameCannotBothBeGiven) {
  for (const auto& [name, option] :
       {std::pair{"learning_rate", "base_learning_rate"}, std::pair{"adam_beta1", "beta1"}}) {
    PretrainOptions options;
    OptionTable table;
    add_pretrain_options(table, options);
    try {
      read(table, fmt::format(R"({{"{}": 0.25, "{}": 0.5}})", name, option));
      FAIL() << "both were taken";
    } catch (const UserError& error) {
      EXPECT_EQ(
          std::string(error.what()).substr(path_.size()),
          fmt::format(": {} is 0.25, but {} is given as well; give one of them", name, option));
    }
  }
}

// output_dir is an option of fine-tuning itself, and another name of save_path where it is not.
TEST_F(GraphcoreForm, ANameThatIsAnOptionHereStaysThat) {
  FinetuneOptions options;
  OptionTable table;
  add_finetune_options(table, options, "SQuAD");
  read(table, R"({"output_dir": "answers", "save_path": "run"})");
  EXPECT_EQ(options.output_dir, "answers");
  EXPECT_EQ(options.training.save_path, "run");
}

}  // namespace
}  // namespace cloze::cli
