#include "configuration/import.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "configuration/command_line.h"

namespace cloze::configuration {
namespace {

using formats::Json;

// The conversion of a document whose system is told by its keys.
struct Imported {
  explicit Imported(const Json& document)
      : file(flat_values(document)), conversion(converted(recognised_system(file), file)) {}

  Json option(const std::string& name) const { return conversion.options().value(name, Json()); }
  std::string sentence(const std::string& key) const { return conversion.sentences().at(key); }

  ForeignFile file;
  Conversion conversion;
};

TEST(Import, AKeyWithACounterpartIsTaken) {
  const Imported result({{"micro_batch_size", 8}, {"partials_type", "half"}, {"seed", nullptr}});
  EXPECT_EQ(result.option("micro_batch_size"), 8);
  EXPECT_EQ(result.sentence("micro_batch_size"), "micro_batch_size 8");
  EXPECT_EQ(result.sentence("partials_type"),
            "no effect: products accumulate in f32 and weights keep an f32 master");
  EXPECT_EQ(result.sentence("seed"), "says nothing");
  EXPECT_FALSE(result.conversion.options().contains("seed"));
}

TEST(Import, WhatAFileLeavesOutIsThatSystems) {
  const Imported result({{"pipeline_schedule", "Grouped"}, {"hidden_act", "gelu"}});
  EXPECT_EQ(result.option("hidden_act"), "gelu_new");
  EXPECT_EQ(result.option("use_qkv_bias"), false);
  EXPECT_EQ(result.option("layer_norm_eps"), 1e-3);
  const std::vector<std::string>& defaults = result.conversion.defaults();
  EXPECT_NE(std::find(defaults.begin(), defaults.end(), "use_qkv_bias"), defaults.end());
  EXPECT_EQ(std::find(defaults.begin(), defaults.end(), "hidden_act"), defaults.end());
}

TEST(Import, FineTuningComputesAsTheModelItStartsFrom) {
  const Imported result({{"task", "SQuAD"}, {"partials_type", "half"}, {"hidden_act", "gelu"}});
  EXPECT_EQ(result.sentence("hidden_act"), "the model that it starts from decides this");
  EXPECT_FALSE(result.conversion.options().contains("hidden_act"));
  EXPECT_FALSE(result.conversion.options().contains("layer_norm_eps"));
}

TEST(Import, PlannedAndUnknownKeysAreNamed) {
  const Imported result(
      {{"pipeline_schedule", "Grouped"}, {"log_all_workers", false}, {"micro_batchsize", 8}});
  EXPECT_TRUE(result.conversion.planned().empty());
  EXPECT_EQ(result.conversion.unknown(), std::vector<std::string>{"micro_batchsize"});
  EXPECT_EQ(result.sentence("log_all_workers"), "as here");
}

TEST(Import, AGlobalBatchOfTensorFlow1BecomesAMultipleOfItsPipeline) {
  Json document = {{"pipeline_stages", {{"emb"}, {"hid"}, {"hid"}, {"mlm"}}},
                   {"global_batch_size", 512},
                   {"micro_batch_size", 1}};
  EXPECT_EQ(Imported(document).option("global_batch_size"), 520);
  document["replicas"] = 2;
  EXPECT_EQ(Imported(document).option("global_batch_size"), 528);
  document["gradient_accumulation_count"] = 65600;
  EXPECT_EQ(Imported(document).conversion.refused(), std::vector<std::string>{"global_batch_size"});
}

TEST(Import, StepsOfTensorFlow2AreWholeExecutionsOfItsData) {
  const Json document = {
      {"micro_batch_size", 1},           {"replicas", 2},
      {"grad_acc_steps_per_replica", 6}, {"global_batches_per_log", 2},
      {"total_num_train_samples", 550},  {"bert_config", {{"max_seq_length", 128}}}};
  EXPECT_EQ(Imported(document).option("num_train_steps"), 44);
}

TEST(Import, StepsWithoutAVisitOfTheHost) {
  const auto of = [](const Json& document) {
    return Imported(document).option("device_iterations");
  };
  EXPECT_EQ(of({{"pipeline_schedule", "Grouped"}, {"device_iterations", 4}}), 4);
  EXPECT_EQ(of({{"vocab_length", 30912}, {"batch_size", 2}, {"batches_per_step", 8}}), 8);
  EXPECT_EQ(of({{"ipu_config", {{"device_iterations", 3}, {"ipus_per_replica", 4}}}}), 3);
  const Imported executions({{"micro_batch_size", 1},
                             {"global_batches_per_log", 5},
                             {"bert_config", {{"max_seq_length", 128}}}});
  EXPECT_EQ(executions.option("device_iterations"), 5);
  EXPECT_EQ(executions.option("steps_per_logs"), 5);
}

TEST(Import, SyntheticDataSwitchTheFilesOff) {
  const Json document = {{"pipeline_schedule", "Grouped"},
                         {"train_file", "a.tfrecord"},
                         {"duplicate_factor", 5},
                         {"synthetic_data", true}};
  const Imported result(document);
  EXPECT_EQ(result.option("synthetic_data"), true);
  EXPECT_FALSE(result.conversion.options().contains("train_file"));
  EXPECT_EQ(result.sentence("train_file"), "synthetic_data switches it off, as there");
  Json squad = document;
  squad["task"] = "SQuAD";
  EXPECT_EQ(Imported(squad).conversion.planned(), std::vector<std::string>{"synthetic_data"});
}

TEST(Import, OptionsOfAnotherTaskAreLeftOut) {
  const Imported result({{"task", "SQuAD"},
                         {"max_predictions_per_seq", 20},
                         {"static_mask", true},
                         {"partials_type", "half"},
                         {"doc_stride", 64}});
  EXPECT_FALSE(result.conversion.options().contains("max_predictions_per_seq"));
  EXPECT_FALSE(result.conversion.options().contains("duplicate_factor"));
  EXPECT_EQ(result.option("doc_stride"), 64);
}

Json preset(const char* command, const char* task) {
  return {{"model", "bert"},
          {"parameters",
           {{"model_name_or_path", "large"},
            {"command", command},
            {"task_name", task},
            {"data_type", "bf16"},
            {"store_true", {"dist", "accumulate_gradients"}},
            {"dataset_parameters",
             {{"squad",
               {{"data_type_parameters",
                 {{"bf16", {{"batch_size", 24}}}, {"fp32", {{"batch_size", 10}}}}},
                {"max_seq_length", 384},
                {"learning_rate", 3e-5},
                {"data_dir", "/squad"}}},
              {"bookswiki",
               {{"data_type_parameters", {{"bf16", {{"batch_size", {64, 8}}}}}},
                {"data_dir", "/one,/two"}}}}}}}};
}

TEST(Import, APresetOfHabanaTakesTheBlockOfItsTask) {
  const Imported result(preset("finetuning", "squad"));
  EXPECT_EQ(result.option("global_batch_size"), 24 * 8);
  EXPECT_EQ(result.option("seq_length"), 384);
  EXPECT_EQ(result.option("train_file"), "/squad/train-v1.1.json");
  EXPECT_EQ(result.option("precision"), "bf16");
  EXPECT_EQ(result.sentence("dataset_parameters.squad.data_type_parameters.fp32.batch_size"),
            "of another task or data type");
  EXPECT_TRUE(result.conversion.unknown().empty());
}

TEST(Import, EachPhaseOfHabanaIsARunOfItsOwn) {
  Json document = preset("pretraining", "bookswiki");
  const Imported first(document);
  EXPECT_EQ(first.option("global_batch_size"), 8192 * 8);
  EXPECT_EQ(first.option("num_train_steps"), 7038);
  EXPECT_EQ(first.option("train_file"), "/one");
  EXPECT_EQ(first.option("max_predictions_per_seq"), 20);
  document["phase"] = 2;
  const Imported second(document);
  EXPECT_EQ(second.option("global_batch_size"), 4096 * 8);
  EXPECT_EQ(second.option("seq_length"), 512);
  EXPECT_EQ(second.option("warmup"), 0.128);
  EXPECT_EQ(second.option("train_file"), "/two");
}

TEST(Import, LossScalesOfFp16AreTaken) {
  Json habana = {{"command", "pretraining"}, {"fp16", true}, {"loss_scale", 0.0}};
  EXPECT_EQ(Imported(habana).option("precision"), "fp16");
  EXPECT_EQ(Imported(habana).option("loss_scaling"), 0);
  EXPECT_EQ(Imported(habana).option("init_loss_scale"), 1048576);
  habana["init_loss_scale"] = 4096;
  EXPECT_EQ(Imported(habana).option("init_loss_scale"), 4096);
  habana["loss_scale"] = 128.0;
  EXPECT_EQ(Imported(habana).option("loss_scaling"), 128.0);
  EXPECT_EQ(Imported(habana).option("init_loss_scale"), Json());
  habana["fp16"] = false;
  EXPECT_EQ(Imported(habana).option("loss_scaling"), Json());
}

TEST(Import, LossScalesOfIpusAreTaken) {
  EXPECT_EQ(Imported({{"bert_config", {{"vocab_size", 64}}}, {"loss_scaling", 16384}})
                .option("loss_scaling"),
            16384);
  EXPECT_EQ(Imported({{"vocab_length", 64}, {"ls_schedule_by_step", {{"0", 10}}}})
                .option("loss_scaling_by_step"),
            (Json{{"0", 10}}));
  Json optimum = {{"ipu_config", {{"ipus_per_replica", 4}, {"auto_loss_scaling", true}}},
                  {"loss_scaling", 16384}};
  EXPECT_EQ(Imported(optimum).option("loss_scaling"), 0);
  EXPECT_EQ(Imported(optimum).option("init_loss_scale"), 16384);
  optimum["ipu_config"]["auto_loss_scaling"] = false;
  EXPECT_EQ(Imported(optimum).option("loss_scaling"), 16384);
  EXPECT_EQ(Imported(optimum).option("init_loss_scale"), Json());
}

TEST(Import, HalfMomentsAndTheBasisOfTheLossAreTaken) {
  const Json optimum = {
      {"ipu_config", {{"ipus_per_replica", 4}, {"enable_half_first_order_momentum", true}}}};
  EXPECT_EQ(Imported(optimum).option("first_moment_precision"), "f16");
  Json mlperf = {{"vocab_length", 64}, {"lamb_accl_dtype", "FLOAT16"}};
  EXPECT_EQ(Imported(mlperf).option("first_moment_precision"), "f16");
  EXPECT_EQ(Imported(mlperf).option("loss_averaging_basis"), "persequence");
  mlperf["loss_averaging_basis"] = "pertoken";
  EXPECT_EQ(Imported(mlperf).option("loss_averaging_basis"), "pertoken");
  mlperf["task"] = "SQUAD";
  EXPECT_EQ(Imported(mlperf).option("loss_averaging_basis"), Json());
}

TEST(Import, OptimumTakesReplicasByTheSizeOfThePod) {
  Json document = {{"ipu_config",
                    {{"ipus_per_replica", 4},
                     {"replication_factor", {{"default", 1}, {"pod16", 4}}},
                     {"gradient_accumulation_steps", 16}}},
                   {"pod_type", "pod16"},
                   {"max_steps", -1},
                   {"learning_rate", 2e-4},
                   {"dataset_name", "squad"}};
  const Imported result(document);
  EXPECT_EQ(result.conversion.task(), "SQuAD");
  EXPECT_EQ(result.option("replicas"), 4);
  EXPECT_EQ(result.option("gradient_accumulation_count"), 16);
  EXPECT_EQ(result.option("epochs"), 3.0);
  document["gradient_accumulation_steps"] = 64;
  document["ipu_config_overrides"] = "replication_factor=2";
  EXPECT_EQ(Imported(document).option("gradient_accumulation_count"), 64);
  EXPECT_EQ(Imported(document).option("replicas"), 2);
}

TEST(Import, OptimumTakesAllThatItsOverridesAssign) {
  Json document = {{"config_name", "bert-base-uncased"},
                   {"config_overrides", "hidden_size=256,layer_norm_eps=0.001"},
                   {"ipu_config_overrides",
                    "device_iterations=4,enable_half_first_order_momentum="
                    "True,layers_per_ipu=[3 7],seed=7"},
                   {"seed", nullptr}};
  const Imported result(document);
  EXPECT_EQ(result.option("hidden_size"), 256);
  EXPECT_EQ(result.option("num_hidden_layers"), 12);
  EXPECT_EQ(result.option("layer_norm_eps"), 0.001);
  EXPECT_EQ(result.option("device_iterations"), 4);
  EXPECT_EQ(result.option("first_moment_precision"), "f16");
  EXPECT_EQ(result.option("seed"), 7);
  document["config_overrides"] = "hidden_sizes=256";
  EXPECT_EQ(Imported(document).conversion.unknown(),
            (std::vector<std::string>{"config_overrides.hidden_sizes"}));
  document["config_name"] = "prajjwal1/bert-tiny";
  EXPECT_EQ(Imported(document).conversion.refused(), (std::vector<std::string>{"config_name"}));
}

TEST(Import, OptimumsGroupBertHasNoDropoutUnlessItsOverridesSayOne) {
  Json document = {{"config_name", "Graphcore/groupbert-base-uncased"},
                   {"ipu_config_name", "Graphcore/bert-base-ipu"},
                   {"auto_loss_scaling", false}};
  const Imported published(document);
  EXPECT_EQ(published.option("groupbert"), true);
  EXPECT_EQ(published.option("hidden_dropout_prob"), 0.0);
  EXPECT_EQ(published.option("attention_probs_dropout_prob"), 0.0);
  EXPECT_NE(published.sentence("config_name").find("; hidden_dropout_prob 0.0; "),
            std::string::npos)
      << published.sentence("config_name");
  document["config_overrides"] = "hidden_dropout_prob=0.25";
  const Imported overridden(document);
  EXPECT_EQ(overridden.option("hidden_dropout_prob"), 0.25);
  EXPECT_EQ(overridden.option("attention_probs_dropout_prob"), 0.0);
  document["config_name"] = "bert-base-uncased";
  EXPECT_EQ(Imported(document).option("attention_probs_dropout_prob"), Json());
}

// Its IPUConfig says how many.
TEST(Import, OptimumSaysThatReplicasAreUnknown) {
  Json document = {{"pod_type", "pod16"},
                   {"ipu_config_name", "Graphcore/bert-base-ipu"},
                   {"learning_rate", 2e-4}};
  EXPECT_EQ(Imported(document).conversion.pointed(),
            (std::vector<std::string>{"pod_type", "ipu_config_name"}));
  document["ipu_config_overrides"] = "replication_factor=4";
  EXPECT_EQ(Imported(document).option("replicas"), 4);
}

// In units of the mean over the step, where there the norm of the sum over replicas is 1.
TEST(Import, TensorFlow1ClipsAsItsReductionSays) {
  Json document = {{"optimizer", "adamw"}, {"reduction_type", "mean"},
                   {"replicas", 4},        {"gradient_accumulation_count", 8},
                   {"epsilon", 1e-6},      {"partials_type", "half"}};
  EXPECT_EQ(Imported(document).option("max_grad_norm"), 4.0);
  EXPECT_EQ(Imported(document).option("epsilon"), 1e-6);
  document["reduction_type"] = "sum";
  EXPECT_EQ(Imported(document).option("max_grad_norm"), 1.0 / 8);
  EXPECT_EQ(Imported(document).option("epsilon"), 1e-6 / 32);
  document["optimizer"] = "lamb";
  EXPECT_EQ(Imported(document).option("max_grad_norm"), Json());
  document["use_mpclip"] = true;
  EXPECT_EQ(Imported(document).option("max_grad_norm"), 1.0 / 8);
  EXPECT_EQ(Imported(document).option("use_mpclip"), false);
  document["use_nvlamb"] = true;
  EXPECT_EQ(Imported(document).option("max_grad_norm"), 1.0 / 32);
  document["max_grad_norm"] = 0.5;  // ours
  EXPECT_EQ(Imported(document).option("max_grad_norm"), Json());
  document["optimizer"] = "momentum";
  document["base_learning_rate"] = 0.25;
  EXPECT_EQ(Imported(document).option("base_learning_rate"), 8.0);
}

TEST(Import, MlperfCountsPacksAndDropsAllDropout) {
  Json document = {{"vocab_length", 64},      {"batch_size", 3},    {"avg_seq_per_pack", 2},
                   {"global_batch_size", 48}, {"no_dropout", true}, {"learning_rate", 0.5}};
  const Imported result(document);
  EXPECT_EQ(result.option("global_batch_size"), 96);
  EXPECT_EQ(result.option("hidden_dropout_prob"), 0.0);
  EXPECT_EQ(result.option("attention_probs_dropout_prob"), 0.0);
  EXPECT_EQ(result.option("lr_schedule"), "constant");
  document["learning_rate_function"] = "Linear";
  EXPECT_EQ(Imported(document).option("lr_schedule"), "linear");
}

TEST(Import, TensorFlow2CountsExecutions) {
  Json document = {{"bert_config", {{"hidden_size", 64}}},
                   {"micro_batch_size", 80},
                   {"global_batches_per_log", 5},
                   {"total_num_train_samples", 4000},
                   {"ckpt_every_n_steps_per_execution", 6}};
  EXPECT_EQ(Imported(document).option("steps_per_ckpts"), 30);
  EXPECT_EQ(Imported(document).option("num_train_steps"), 50);
  document["total_num_train_samples"] = 300;
  EXPECT_EQ(Imported(document).conversion.refused(),
            (std::vector<std::string>{"total_num_train_samples"}));
}

// The error that a document or a command line ends in.
std::string refusal(const ForeignFile& file) {
  try {
    converted(recognised_system(file), file);
  } catch (const UserError& error) {
    return error.what();
  }
  return "it was taken";
}
std::string refusal(const Json& document) { return refusal(flat_values(document)); }

TEST(Import, ANumberThatIsNoneIsRefused) {
  const std::string habana = "python3 run_pretraining.py --learning_rate 0.01 ";
  const int64_t large = int64_t{1} << 40;
  EXPECT_EQ(refusal(Json{{"batch_size", 0}, {"vocab_length", 30912}}),
            "batch_size is 0; it must be a whole number above 0");
  EXPECT_EQ(refusal(Json{{"batch_size", 1e300}, {"vocab_length", 30912}}),
            "batch_size is 1e+300; it must be a whole number above 0");
  EXPECT_EQ(
      refusal(Json{{"batch_size", large}, {"replication_factor", large}, {"vocab_length", 9}}),
      "1099511627776 * 1 * 1 * 1099511627776 * 1 are more sequences than a step can have; "
      "lower them");
  EXPECT_EQ(refusal(Json{{"lr_bert_schedule", {{"init_lr", "x"}}}, {"vocab_length", 9}}),
            "lr_bert_schedule.init_lr is \"x\"; it must be a number");
  EXPECT_EQ(refusal(command_line_values(habana + "--gradient_accumulation_steps 0")),
            "gradient_accumulation_steps is 0; it must be a whole number above 0");
  EXPECT_EQ(refusal(command_line_values(habana + "--gradient_accumulation_steps 5")),
            "train_batch_size is 32, which 5 does not divide; change one of them");
}

TEST(Import, AnErrorNamesTheFile) {
  const auto refusal_of_file = [](const Json& document) {
    ForeignFile file = flat_values(document);
    file.path = "a.yaml,b.json";
    return refusal(file);
  };
  EXPECT_EQ(refusal_of_file({{"batch_size", 0}, {"vocab_length", 30912}}),
            "a.yaml,b.json: batch_size is 0; it must be a whole number above 0");
  EXPECT_TRUE(refusal_of_file({{"colour", "red"}}).starts_with("a.yaml,b.json: none of its keys"));
}

TEST(Import, ABatchBelowOnePassIsRefused) {
  const Imported result(
      {{"pipeline_schedule", "Grouped"}, {"micro_batch_size", 8}, {"global_batch_size", 4}});
  EXPECT_EQ(result.conversion.refused(), std::vector<std::string>{"global_batch_size"});
  EXPECT_EQ(result.sentence("global_batch_size"),
            "4 is less than the 8 sequences of a pass, micro_batch_size * replicas; raise it");
}

TEST(Import, AdamOfMlperfMayLeaveItsMomentsUncorrected) {
  const Json document = {{"vocab_length", 64}, {"optimizer", "ADAM_NO_BIAS"}};
  EXPECT_EQ(Imported(document).option("optimizer"), "adamw");
  EXPECT_EQ(Imported(document).option("use_debiasing"), false);
  EXPECT_EQ(Imported(document).option("max_grad_norm"), 0.0);
}

TEST(Import, ADecayOfMlperfBeginsAfterTheWarmUp) {
  const Imported result(
      {{"vocab_length", 64},
       {"optimizer", "LAMB"},
       {"learning_rate", 3.0},
       {"lr_bert_schedule",
        {{"init_lr", 0.5}, {"num_training_steps", 1000}, {"num_warmup_steps", 100}}}});
  EXPECT_EQ(result.option("base_learning_rate"), 0.5);
  EXPECT_EQ(result.option("num_train_steps"), 1100);
  EXPECT_EQ(result.option("warmup"), 100);
  EXPECT_EQ(result.sentence("learning_rate"), "lr_bert_schedule overrides it");
}

TEST(Import, ADampedVelocityOfMlperfIsAScaledRate) {
  Json document = {{"vocab_length", 64}, {"learning_rate", 0.5}, {"momentum", 0.75}};
  EXPECT_EQ(Imported(document).option("base_learning_rate"), 0.125);
  document["dampening"] = 0.5;
  EXPECT_EQ(Imported(document).option("base_learning_rate"), 0.25);
  document["dampening"] = 0;
  EXPECT_EQ(Imported(document).option("base_learning_rate"), 0.5);
  document["dampening"] = 0.5;
  document["lr_schedule_by_step"] = {{"0", 1.0}, {"10", 0.5}};
  EXPECT_EQ(Imported(document).option("lr_schedule_by_step"), (Json{{"0", 0.5}, {"10", 0.25}}));
  document["optimizer"] = "LAMB";
  EXPECT_EQ(Imported(document).option("base_learning_rate"), 0.5);
}

TEST(Import, WhatASwitchDecidesNoKeyOverrides) {
  const Imported dropout({{"vocab_length", 64},
                          {"no_dropout", true},
                          {"dropout_prob", 0.1},
                          {"attn_dropout_prob", 0.1}});
  EXPECT_EQ(dropout.option("hidden_dropout_prob"), 0.0);
  EXPECT_EQ(dropout.option("attention_probs_dropout_prob"), 0.0);
  EXPECT_EQ(dropout.sentence("dropout_prob"), "no_dropout overrides it");
  const Imported attention({{"vocab_length", 64},
                            {"no_attn_dropout", true},
                            {"dropout_prob", 0.2},
                            {"attn_dropout_prob", 0.1}});
  EXPECT_EQ(attention.option("hidden_dropout_prob"), 0.2);
  EXPECT_EQ(attention.option("attention_probs_dropout_prob"), 0.0);
  const Imported optimum({{"ipu_config_name", "a"},
                          {"lamb", true},
                          {"optim", "adamw_hf"},
                          {"groupbert_schedule", true},
                          {"lr_scheduler_type", "linear"}});
  EXPECT_EQ(optimum.option("optimizer"), "lamb");
  EXPECT_EQ(optimum.option("lr_schedule"), "polynomial_decay");
  const Imported decay({{"vocab_length", 64},
                        {"lr_warmup_steps", 50},
                        {"lr_bert_schedule", {{"init_lr", 0.5}, {"num_training_steps", 9}}}});
  EXPECT_EQ(decay.option("warmup"), 0);
}

// What each system's LAMB does beside ours: docs/fidelity/options.md, "Optimisers, system by
// system".
struct LambOptions {
  Json adapt_vectors, join_qkv, decay_layer_norm_scale;
  bool operator==(const LambOptions&) const = default;
};

LambOptions lamb_options(const Imported& imported) {
  return {imported.option("adapt_vectors"), imported.option("join_qkv"),
          imported.option("decay_layer_norm_scale")};
}

TEST(Import, LambAdaptsAndDecaysAsItsSystemDoes) {
  const Json none;
  const Json mlperf = {{"vocab_length", 64}, {"optimizer", "LAMB_NO_BIAS"}};
  EXPECT_EQ(lamb_options(Imported(mlperf)), (LambOptions{true, true, none}));
  const Json optimum = {{"ipu_config_name", "a"}, {"lamb", true}};
  EXPECT_EQ(lamb_options(Imported(optimum)), (LambOptions{true, none, none}));
  const Json tensorflow1 = {{"partials_type", "half"}, {"optimizer", "lamb"}};
  EXPECT_EQ(lamb_options(Imported(tensorflow1)), (LambOptions{none, none, true}));
  Json tensorflow2 = {{"bert_config", {{"vocab_size", 64}}},
                      {"optimizer_opts", {{"name", "LAMB"}}}};
  EXPECT_EQ(lamb_options(Imported(tensorflow2)), (LambOptions{none, none, true})) << "v2.4.0";
  tensorflow2["global_batch"] = {{"micro_batch_size", 8}};
  EXPECT_EQ(lamb_options(Imported(tensorflow2)), (LambOptions{none, true, true})) << "v3.0.0";
  const ForeignFile habana_file = command_line_values("python3 run_pretraining.py --output_dir a");
  for (const char* option : {"adapt_vectors", "join_qkv", "decay_layer_norm_scale"}) {
    EXPECT_FALSE(converted(habana(), habana_file).options().contains(option)) << option;
  }
}

TEST(Import, WhatALambDoesInItsSystemHasAReason) {
  const Imported mlperf({{"vocab_length", 64}, {"optimizer", "LAMB"}});
  EXPECT_EQ(mlperf.conversion.reason_of("adapt_vectors"),
            "PopART's LAMB has a trust ratio for every tensor, biases and LayerNorm included");
  EXPECT_EQ(mlperf.conversion.reason_of("join_qkv"), "query, key and value are one tensor there");
  const Imported tensorflow1({{"partials_type", "half"}, {"optimizer", "lamb"}});
  EXPECT_EQ(tensorflow1.conversion.reason_of("decay_layer_norm_scale"),
            "LAMB there leaves biases and LayerNorm's shift out of decay, and not its scale");
  EXPECT_EQ(tensorflow1.conversion.reason_of("epsilon"), "");
}

TEST(Import, HabanasAdamWAddsEpsilonBeforeTheCorrection) {
  const auto converted_line = [](const char* line) {
    return converted(habana(), command_line_values(line));
  };
  const Conversion tuning = converted_line(
      "python3 run_squad.py --model_type bert --model_name_or_path a --output_dir b");
  EXPECT_EQ(tuning.options().at("debias_epsilon"), true);
  EXPECT_EQ(tuning.reason_of("debias_epsilon"),
            "AdamW there adds epsilon before the second moment is corrected");
  const Conversion pretraining = converted_line("python3 run_pretraining.py --output_dir a");
  EXPECT_FALSE(pretraining.options().contains("debias_epsilon")) << "LAMB";
}

TEST(Import, AGroupBertOfTensorFlow1KeepsItsScalesFromDecay) {
  const Imported result({{"partials_type", "half"}, {"optimizer", "lamb"}, {"groupbert", true}});
  EXPECT_EQ(result.option("decay_layer_norm_scale"), Json());
  const Imported adamw({{"partials_type", "half"}, {"optimizer", "adamw"}});
  EXPECT_EQ(adamw.option("decay_layer_norm_scale"), Json());
}

TEST(Import, AKeySaysWhetherQueryKeyAndValueAreApart) {
  Json mlperf = {{"vocab_length", 64}, {"optimizer", "LAMB"}, {"split_qkv", true}};
  EXPECT_EQ(Imported(mlperf).option("join_qkv"), false);
  EXPECT_EQ(Imported(mlperf).sentence("split_qkv"), "join_qkv false");
  mlperf["split_qkv"] = false;
  EXPECT_EQ(Imported(mlperf).sentence("split_qkv"), "join_qkv true");
  mlperf["optimizer"] = "ADAM";
  EXPECT_EQ(Imported(mlperf).option("join_qkv"), Json());
  EXPECT_EQ(Imported(mlperf).sentence("split_qkv"),
            "no effect: LAMB alone sees query, key and value as one tensor or as three");
  Json tensorflow2 = {{"global_batch", {{"micro_batch_size", 8}}},
                      {"use_qkv_split", true},
                      {"optimizer_opts", {{"name", "LAMB"}}}};
  EXPECT_EQ(Imported(tensorflow2).option("join_qkv"), false);
  tensorflow2["use_qkv_split"] = false;
  EXPECT_EQ(Imported(tensorflow2).option("join_qkv"), true);
  tensorflow2["replace_layers"] = false;
  EXPECT_EQ(Imported(tensorflow2).option("join_qkv"), Json());
}

TEST(Import, TheDecayOfAdamwInTensorFlow2IsSaid) {
  const Imported result({{"bert_config", {{"vocab_size", 64}}},
                         {"optimizer_opts", {{"name", "AdamW"}, {"weight_decay_rate", 0.01}}}});
  EXPECT_EQ(result.option("weight_decay_rate"), 0.01);
  EXPECT_EQ(result.sentence("optimizer_opts.weight_decay_rate"),
            "weight_decay_rate 0.01 times the learning rate, and not of biases and LayerNorm; "
            "there each step takes this share of every tensor, whatever the learning rate");
}

TEST(Import, MlperfsLambBeginsWithTheMomentsOfItsCheckpoint) {
  Json document = {{"vocab_length", 64}, {"optimizer", "LAMB"}, {"tf_checkpoint", "model.ckpt"}};
  const Imported result(document);
  EXPECT_EQ(result.option("init_optimizer"), "moments");
  EXPECT_EQ(result.sentence("tf_checkpoint"),
            "init_checkpoint \"model.ckpt\" and the moments in it");
  document["optimizer"] = "ADAM";
  EXPECT_EQ(Imported(document).option("init_optimizer"), Json());
  EXPECT_EQ(Imported(document).option("init_checkpoint"), "model.ckpt");
}

TEST(Import, MlperfsLastRateStays) {
  const Json document = {{"vocab_length", 64},
                         {"lr_bert_schedule", {{"init_lr", 0.5}, {"num_training_steps", 9}}}};
  EXPECT_EQ(Imported(document).option("lr_schedule"), "linear_held");
}

TEST(Import, OptimumCountsStepsAsTransformersDoes) {
  Json document = {{"ipu_config_name", "a"}, {"warmup_ratio", 0.1}, {"num_train_epochs", 2}};
  EXPECT_EQ(Imported(document).option("warmup_rounds_up"), true);
  EXPECT_EQ(Imported(document).option("steps_per_epoch"), "up");
  document["dataloader_drop_last"] = true;
  EXPECT_EQ(Imported(document).option("steps_per_epoch"), "down");
  document["max_steps"] = 100;
  document["warmup_steps"] = 10;
  EXPECT_EQ(Imported(document).option("steps_per_epoch"), Json());
  EXPECT_EQ(Imported(document).option("warmup_rounds_up"), Json());
  EXPECT_EQ(Imported(document).sentence("dataloader_drop_last"), "max_steps sets the length");
  document["lr_scheduler_type"] = "polynomial";
  EXPECT_EQ(Imported(document).option("lr_power"), (Json{1.0, 1.0}));
}

TEST(Import, OptimumsLambKeepsItsBetas) {
  Json document = {{"ipu_config_name", "a"}, {"adam_beta1", 0.8}, {"lamb", true}};
  EXPECT_EQ(Imported(document).option("beta1"), Json());
  EXPECT_EQ(Imported(document).sentence("adam_beta1"), "no effect: LAMB there keeps 0.9 and 0.999");
  document["lamb"] = false;
  EXPECT_EQ(Imported(document).option("beta1"), 0.8);
}

TEST(Import, SquadOfTransformersHasItsWindows) {
  const Json optimum = {{"ipu_config_name", "a"}, {"dataset_name", "squad"}};
  EXPECT_EQ(Imported(optimum).option("feature_style"), "hf");
  const Json glue = {{"ipu_config_name", "a"}, {"task_name", "mrpc"}};
  EXPECT_EQ(Imported(glue).option("feature_style"), Json());
  const Imported tensorflow2(
      {{"bert_config", {{"vocab_size", 64}}}, {"pipeline_stages", {{"emb"}, {"hid", "qa_head"}}}});
  EXPECT_EQ(tensorflow2.option("feature_style"), "hf");
  EXPECT_EQ(tensorflow2.conversion.reason_of("feature_style"),
            "tokens and labels are those of transformers; there a paragraph that is too long is "
            "cut, here it has further windows");
}

TEST(Import, WhatMlperfDoesNotKnowIsRefused) {
  Json document = {{"vocab_length", 64}, {"optimizer", "lamb"}};
  EXPECT_EQ(Imported(document).conversion.refused(), std::vector<std::string>{"optimizer"});
  document["optimizer"] = "SGD_NO_BIAS";
  EXPECT_EQ(Imported(document).conversion.refused(), std::vector<std::string>{"optimizer"});
  document = {{"vocab_length", 64}, {"task", "Squad"}};
  EXPECT_EQ(Imported(document).conversion.refused(), std::vector<std::string>{"task"});
}

TEST(Import, MlperfsWordsOfASchedule) {
  Json document = {{"vocab_length", 64},
                   {"optimizer", "LAMB"},
                   {"lr_schedule_by_step", {"0:0.5", "10:2e-3"}},
                   {"loss_scaling", 4},
                   {"ls_schedule_by_step", "0:128"},
                   {"steps_per_save", -1}};
  EXPECT_EQ(Imported(document).option("lr_schedule_by_step"), (Json{{"0", 0.5}, {"10", 2e-3}}));
  EXPECT_EQ(Imported(document).option("loss_scaling_by_step"), (Json{{"0", 128}}));
  EXPECT_EQ(Imported(document).option("loss_scaling"), Json());
  EXPECT_EQ(Imported(document).option("steps_per_ckpts"), Json(256)) << "-1 says nothing";
  document["lr_schedule_by_step"] = {"0:0.5", "10"};
  EXPECT_EQ(Imported(document).option("lr_schedule_by_step"), (Json{"0:0.5", "10"}));
}

TEST(Import, ASwitchThatIsOffLeavesThePrecisionToAnother) {
  Json document = {{"ipu_config_name", "a"}, {"fp16", true}, {"bf16", false}};
  EXPECT_EQ(Imported(document).option("precision"), "fp16");
  document["fp16"] = false;
  EXPECT_EQ(Imported(document).option("precision"), "16");
  document["bf16"] = true;
  EXPECT_EQ(Imported(document).option("precision"), "bf16");
  document["fp16"] = true;
  EXPECT_EQ(Imported(document).conversion.refused(), std::vector<std::string>{"bf16"});
}

TEST(Import, LayersOfTensorFlow2KeepTheirGeluUnlessTheyAreReplaced) {
  Json document = {{"bert_config", {{"hidden_act", "gelu"}}},
                   {"optimizer_opts", {{"name", "LAMB"}}}};
  EXPECT_EQ(Imported(document).option("hidden_act"), "gelu_new");
  document["replace_layers"] = false;
  EXPECT_EQ(Imported(document).option("hidden_act"), "gelu");
}

TEST(Import, AProgramOfHabanaByItselfHasItsOwnDefaults) {
  const auto option = [](const std::string& command, const std::string& name) {
    const ForeignFile file = command_line_values(command);
    return converted(habana(), file).options().value(name, Json());
  };
  const std::string pretraining = "python3 run_pretraining.py --output_dir a";
  EXPECT_EQ(option(pretraining, "seq_length"), 512);
  EXPECT_EQ(option(pretraining, "base_learning_rate"), 5e-5);
  EXPECT_EQ(option(pretraining, "warmup"), 0.01);
  EXPECT_EQ(option(pretraining, "max_predictions_per_seq"), 80);
  EXPECT_EQ(option(pretraining, "global_batch_size"), 32);
  EXPECT_EQ(option(pretraining, "num_train_steps"), 1000);
  EXPECT_EQ(option(pretraining, "steps_per_ckpts"), 100);
  EXPECT_EQ(option(pretraining, "use_nvlamb"), true);
  EXPECT_EQ(option(pretraining + " --max_grad_norm 0.5", "use_nvlamb"), false);
  EXPECT_EQ(option("python3 run_squad.py --do_train", "epochs"), 3);
  EXPECT_EQ(option("python3 run_squad.py --do_train", "base_learning_rate"), 5e-5);
  EXPECT_EQ(option("python3 run_glue.py --task_name MRPC", "epochs"), 3);
}

TEST(Import, AFileThatNoSystemKnowsIsRefused) {
  EXPECT_THROW(Imported(Json{{"colour", "red"}}), UserError);
}

}  // namespace
}  // namespace cloze::configuration
