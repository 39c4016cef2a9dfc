#include <fmt/format.h>

#include "configuration/import.h"
#include "configuration/key_rules.h"
#include "formats/json.h"

namespace cloze::configuration {
namespace {

using formats::Json;

KeyRules model_rules() {
  return KeyRules()
      .elsewhere({"batch_size", "avg_seq_per_pack", "gradient_accumulation_factor",
                  "replication_factor", "batch_serialize"},
                 "global_batch_size, their product")
      .mapped("global_batch_size", "global_batch_size")
      .mapped("sequence_length", "seq_length")
      .mapped("max_positional_length", "max_position_embeddings")
      .mapped("mask_tokens", "max_predictions_per_seq")
      .mapped("vocab_length", "vocab_size")
      .supported({"hidden_size", "layer_norm_eps", "seed", "beta1", "beta2", "wandb",
                  "compile_only", "generated_data", "synthetic_data", "vocab_file",
                  "do_lower_case"})
      .mapped("ff_size", "intermediate_size")
      .mapped("attention_heads", "num_attention_heads")
      .mapped("num_layers", "num_hidden_layers")
      .mapped("dropout_prob", "hidden_dropout_prob")
      .mapped("attn_dropout_prob", "attention_probs_dropout_prob")
      .elsewhere({"no_dropout", "no_attn_dropout"},
                 "hidden_dropout_prob and attention_probs_dropout_prob 0", false)
      .mapped("activation_type", "hidden_act")
      .mapped("projection_bias", "use_attention_projection_bias")
      .elsewhere({"no_cls_layer"}, "use_cls_layer false", false)
      .elsewhere({"split_qkv"}, "join_qkv false, with LAMB", false)
      .mapped("popart_dtype", "precision")
      .mapped("dtype", "precision")
      .elsewhere({"task"}, "the subcommand")
      .no_effect({"relu_leak"}, "activations are GELU")
      .no_effect({"no_mask"}, "sequences are always kept apart", false)
      .no_effect(
          {"max_sequences_per_pack", "reduce_nsp_overhead", "use_prepacked_pretraining_dataset"},
          "a pack is taken apart, and its sequences are packed again as samples of their own");
}

KeyRules optimizer_rules() {
  return KeyRules()
      .elsewhere({"optimizer"}, "optimizer and use_debiasing")
      .mapped("learning_rate", "base_learning_rate")
      .mapped("weight_decay", "weight_decay_rate")
      .elsewhere({"loss_averaging_basis"}, "loss_averaging_basis of pre-training")
      .no_effect({"accuracy_averaging_basis"}, "accuracies are shares of the step's tokens",
                 "pertoken")
      .no_effect({"gradient_reduction_type"}, "gradients are those of the mean over the step",
                 "Mean")
      .mapped("lamb_accl_dtype", "first_moment_precision", "the second moment stays f32")
      .elsewhere({"stochastic_rounding"}, kRoundsWeights)
      .no_effect({"enable_half_partials"}, "products accumulate in f32")
      .supported({"loss_scaling"})
      .mapped("ls_schedule_by_step", "loss_scaling_by_step")
      .planned({"ls_schedule_by_epoch"}, "a schedule goes by steps; choose ls_schedule_by_step")
      .no_effect({"scale_loaded_optimizer_state"}, "moments are those of the true gradients", 1)
      .mapped("gradient_clipping_norm", "max_grad_norm")
      .mapped("max_weight_norm", "weight_norm_clip")
      .mapped("momentum", "momentum")
      .elsewhere({"dampening"}, "base_learning_rate, which it scales with SGD")
      .planned({"velocity_scaling"}, "the velocity takes gradients as they are here")
      .planned({"beta1_schedule"}, "a schedule of beta1 is planned; leave it out")
      .planned({"pipeline_lr_scaling", "pipeline_lr_scaling_offset", "pipeline_momentum_scaling",
                "pipeline_momentum_scaling_offset", "pipeline_dampening_scaling_offset"},
               "rates and momenta that differ by stage are planned; leave it out")
      .elsewhere({"lr_bert_schedule"}, "base_learning_rate, num_train_steps and warmup")
      .mapped("lr_schedule_by_step", "lr_schedule_by_step", "and lr_schedule custom")
      .planned({"lr_schedule_by_epoch"}, "a schedule goes by steps; choose lr_schedule_by_step")
      .elsewhere({"learning_rate_function"}, "lr_schedule")
      .mapped("lr_warmup_steps", "warmup")
      .no_effect({"lr_warmup_start", "lr_steps_per_warmup_update", "lr_steps_per_decay_update"},
                 "the rate begins at its minimum and changes with every step");
}

KeyRules run_rules() {
  return KeyRules()
      .elsewhere({"epochs"}, "num_train_steps sets the length")
      .mapped("input_files", "train_file")
      .mapped("duplication_factor", "duplicate_factor")
      .mapped("tf_checkpoint", "init_checkpoint")
      .planned({"onnx_checkpoint"}, "ONNX files are not read; give tf_checkpoint")
      .mapped("checkpoint_dir", "save_path")
      .mapped("steps_per_log", "steps_per_logs")
      .mapped("steps_per_save", "steps_per_ckpts")
      .elsewhere({"epochs_per_save", "no_model_save"}, "steps_per_ckpts; the end is always saved")
      .supported({"max_training_sequences", "on_the_spot_validation_files",
                  "on_the_spot_validation_triggers", "submission_division", "submission_platform"})
      .no_effect({"no_validation", "validation_config", "epochs_inference", "inference",
                  "inference_lm_perplexity", "update_embedding_dict"},
                 "on_the_spot_validation_files is what a run is evaluated on")
      .no_effect({"shuffle", "epochs_to_cache", "overwrite_cache", "no_drop_remainder"},
                 "an epoch is shuffled whole, in an order given by the seed")
      .no_effect({"synthetic_data_initializer"}, "synthetic data are random samples that are valid")
      .no_effect({"squad_results_dir", "squad_evaluate_script", "squad_lr_scale"},
                 "cloze squad has options of its own")
      .elsewhere({"continue_training_from_epoch", "no_training"}, "restore_dir resumes a run")
      .no_effect({"submission_run_index"}, "scripts/mlperf_runs numbers its runs")
      .no_effect({"aggregate_metrics_over_steps", "enable_tensorboard", "log_dir", "log_level",
                  "report_hw_cycle_count"},
                 "metrics go to metrics.jsonl and TensorBoard in save_path")
      .elsewhere({"profile", "profile_dir", "profile_instrument"},
                 "cloze plan --report shows memory over the program and time per operator, "
                 "profile_report the times of a run")
      .elsewhere({"config"}, "give that file to cloze config import as well");
}

KeyRules execution_rules() {
  return KeyRules()
      .no_effect({"att_ffn_placement", "encoder_start_pipeline_stage", "host_embedding",
                  "split_transformer", "split_linear_layers", "num_attention_splits",
                  "num_ffwd_splits", "execution_mode", "virtual_graph", "pipeline",
                  "phased_execution", "single_device", "dual_device", "num_io_tiles"},
                 kStages)
      .no_effect({"available_memory_proportion", "use_default_available_memory_proportion",
                  "optimizer_state_offchip", "activations_on_chip", "tensor_storage_onchip",
                  "activation_io_schedule", "optimizer_io_schedule", "weight_io_schedule",
                  "optimizer_schedule", "activation_checkpoint_dtype"},
                 "host memory is the device's memory")
      .no_effect({"embedding_serialization_vocab_steps"},
                 "the vocabulary projection always works in blocks")
      .mapped("batches_per_step", "device_iterations")
      .no_effect({"floating_point_exceptions"},
                 "on_non_finite says what a loss or gradient that is not finite does to the run")
      .no_effect({"engine_cache"}, "a step is planned in milliseconds")
      .no_effect({"no_outlining", "disable_fully_connected_pass", "max_copy_merge_size",
                  "internal_exchange_optimisation_target"},
                 "there is no graph compiler")
      .supported({"replicated_tensor_sharding"})
      .no_effect({"merge_collectives"}, kBuckets)
      .no_effect({"group_host_syncs"}, kNoHost)
      .no_effect({"mpi_distributed", "mpi_rank", "mpi_size"}, kMpirunSays)
      .no_effect({"device_id", "device_connection_type", "device_version", "device_tiles",
                  "device_ondemand_timeout", "use_ipu_model", "realtime_scheduler"},
                 "the device is the CPU")
      .no_effect(
          {"variable_weights_inference", "low_latency_inference", "minimum_latency_inference"},
          "cloze compile and cloze latency serve inference");
}

KeyRules rules() {
  return model_rules().with(optimizer_rules()).with(run_rules()).with(execution_rules());
}

std::string task_of(const Conversion& c) {
  if (c.text("task") == "SQUAD") return "SQuAD";
  return c.text("task") == "MRPC" ? "GLUE" : "pretraining";
}

// Returns the sequences of a step.
int64_t convert_batch(Conversion& c) {
  const int64_t packs = c.count("batch_size", 1);
  const int64_t product = checked_product(
      {packs, c.count("avg_seq_per_pack", 1), c.count("gradient_accumulation_factor", 1),
       c.count("replication_factor", 1), c.count("batch_serialize", 1)});
  c.set("micro_batch_size", packs, {"batch_size"}, ", packs in one pass");
  const std::string key = "global_batch_size";
  if (c.has(key)) {
    const int64_t sequences = checked_product({c.count(key, 1), c.count("avg_seq_per_pack", 1)});
    c.set(key, sequences, {key, "avg_seq_per_pack"}, ", packs * avg_seq_per_pack");
    return sequences;
  }
  c.set(key, product,
        {"batch_size", "avg_seq_per_pack", "gradient_accumulation_factor", "replication_factor",
         "batch_serialize"},
        ", their product");
  return product;
}

constexpr int64_t kMostSequences = 6'000'000;
constexpr double kLearningRate = 8e-4;
constexpr double kMomentum = 0.984375;

// There, SGD's velocity takes 1 - dampening of each gradient, and dampening defaults to the
// momentum. Here it takes the whole gradient, so the factor goes into the rate.
double rate_factor(const Conversion& c) {
  const bool is_descent = !c.has("optimizer") || c.text("optimizer") == "SGD";
  return is_descent ? 1.0 - c.number("dampening", c.number("momentum", kMomentum)) : 1.0;
}

// Its decay begins at the end of the warm-up and takes num_training_steps.
void convert_bert_schedule(Conversion& c, int64_t ends_after) {
  const std::string key = "lr_bert_schedule";
  const Json& schedule = c.value(key);
  const auto steps = [&](const std::string& name, int64_t otherwise) {
    const Json value = schedule.value(name, Json(otherwise));
    return value == 0 ? 0 : checked_count(key + "." + name, value);
  };
  const int64_t warmup = steps("num_warmup_steps", 0);
  const Json rate = schedule.value("init_lr", Json(0.0));
  c.set("base_learning_rate", rate_factor(c) * checked_number(key + ".init_lr", rate), {key});
  c.set("num_train_steps", warmup + steps("num_training_steps", ends_after), {key});
  c.set("warmup", warmup, {key});
  for (const char* other : {"learning_rate", "lr_warmup_steps"}) {
    c.say(other, "lr_bert_schedule overrides it");
  }
}

// A schedule by step as an object; on the command line it is words such as 0:1e-4. What is neither
// stays as it is, and is refused as the value of the option.
Json by_step(const Conversion& c, const std::string& key) {
  const Json& given = c.value(key);
  if (!given.is_array() && !given.is_string()) return given;
  Json steps = Json::object();
  for (const Json& word : given.is_array() ? given : Json::array({given})) {
    const std::string text = word.is_string() ? word.get<std::string>() : "";
    const size_t colon = text.find(':');
    const auto number =
        formats::parse_json(colon == std::string::npos ? "" : text.substr(colon + 1));
    if (!number || !number->is_number()) return given;
    steps[text.substr(0, colon)] = *number;
  }
  return steps;
}

void convert_rates(Conversion& c) {
  const std::string key = "lr_schedule_by_step";
  Json rates = by_step(c, key);
  const double factor = rate_factor(c);
  const bool falls =
      c.value("lr_bert_schedule").is_object() || c.text("learning_rate_function") == "Linear";
  if (c.value("lr_bert_schedule").is_object()) {
    c.set_default("lr_schedule", "linear_held", "its last rate stays until the run ends");
  }
  c.set_default("lr_schedule", falls ? "linear" : c.has(key) ? "custom" : "constant");
  if (factor == 1.0) {
    if (c.has(key)) c.set(key, rates, {key});
    return;
  }
  c.say("dampening", "base_learning_rate is the rate * (1 - dampening)");
  if (!c.value("lr_bert_schedule").is_object()) {
    c.set("base_learning_rate", factor * c.number("learning_rate", kLearningRate),
          {"learning_rate"}, ", the rate * (1 - dampening)");
  }
  if (!rates.is_object()) return;
  for (auto& [step, rate] : rates.items()) rate = factor * checked_number(key + "." + step, rate);
  c.set(key, rates, {key}, ", the rates * (1 - dampening)");
}

void convert_length(Conversion& c, int64_t sequences) {
  const std::string end = "max_training_sequences";
  const int64_t ends_after = c.count(end, kMostSequences) / sequences;
  if (c.task() == "pretraining") {
    c.set(end, c.count(end, kMostSequences), {end});
  } else {
    c.set("num_train_steps", ends_after, {end});
  }
  if (c.value("lr_bert_schedule").is_object()) convert_bert_schedule(c, ends_after);
}

// The target was a constant of the program.
void convert_validation(Conversion& c) {
  const bool is_pretraining = c.task() == "pretraining";
  for (const char* key : {"on_the_spot_validation_files", "on_the_spot_validation_triggers",
                          "submission_division", "submission_platform"}) {
    if (!is_pretraining) c.say(key, "no effect: it is an option of another task");
  }
  if (!is_pretraining || !c.has("on_the_spot_validation_files")) return;
  const std::string key = "on_the_spot_validation_files";
  c.set(key, c.value(key), {key});
  c.set("target_mlm_accuracy", 0.72, {key});
  c.set("mllog_file", "mllog.txt", {key});
}

// Its run begins with the moments of the checkpoint, where that has them, and counts steps from 0.
void convert_lamb(Conversion& c) {
  c.set_default("adapt_vectors", true, kPopartAdapts);
  set_join(c, "split_qkv");
  if (c.task() == "pretraining" && c.has("tf_checkpoint")) {
    c.set("init_checkpoint", c.value("tf_checkpoint"), {"tf_checkpoint"}, " and the moments in it");
    c.set_default("init_optimizer", "moments", "LAMB begins with those of tf_checkpoint");
  }
}

// There, ADAM decays weights like AdamW.
void convert_optimizer(Conversion& c) {
  std::string name = c.text("optimizer").empty() ? "SGD" : c.text("optimizer");
  const bool is_biased = name.ends_with("_NO_BIAS");
  if (is_biased) name.resize(name.size() - std::string("_NO_BIAS").size());
  const bool is_known = name == "LAMB" || name == "ADAM" || (name == "SGD" && !is_biased);
  if (!is_known) {
    c.refuse("optimizer",
             "unknown there; give SGD, ADAM, ADAM_NO_BIAS, LAMB or LAMB_NO_BIAS, in capitals");
    return;
  }
  const char* ours = name == "LAMB" ? "lamb" : name == "ADAM" ? "adamw" : "momentum";
  c.set("optimizer", ours, {"optimizer"});
  c.set("use_debiasing", !is_biased, {"optimizer"});
  if (name == "LAMB") convert_lamb(c);
  if (name != "LAMB") c.say("split_qkv", kLambAloneJoins);
}

void convert_loss_scale(Conversion& c) {
  const std::string key = "ls_schedule_by_step";
  if (!c.has(key)) return;
  c.set("loss_scaling_by_step", by_step(c, key), {key});
  c.say("loss_scaling", key + " overrides it");
}

// There, no_dropout switches off both kinds of dropout.
void convert_dropout(Conversion& c) {
  for (const char* key : {"no_dropout", "no_attn_dropout"}) {
    if (c.value(key) != true) continue;
    c.set("attention_probs_dropout_prob", 0.0, {key});
    c.say("attn_dropout_prob", std::string(key) + " overrides it");
  }
  if (c.value("no_dropout") != true) return;
  c.set("hidden_dropout_prob", 0.0, {"no_dropout"});
  c.say("dropout_prob", "no_dropout overrides it");
}

void convert(Conversion& c) {
  const std::string task = c.text("task");
  if (c.has("task") && task != "PRETRAINING" && task != "SQUAD" && task != "MRPC") {
    c.refuse("task", "unknown there; give PRETRAINING, SQUAD or MRPC, in capitals");
  }
  convert_length(c, convert_batch(c));
  convert_optimizer(c);
  convert_rates(c);
  convert_loss_scale(c);
  if (c.number("steps_per_save", 1) <= 0) c.say("steps_per_save", "says nothing");
  if (c.task() == "pretraining") {
    const std::string key = "loss_averaging_basis";
    c.set(key, c.has(key) ? c.text(key) : "persequence", {key});
  }
  convert_validation(c);
  convert_dropout(c);
  if (c.value("no_cls_layer") == true) c.set("use_cls_layer", false, {"no_cls_layer"});
  c.set_default("intermediate_size", 4 * c.count("hidden_size", 768));
}

}  // namespace

const ForeignSystem& mlperf() {
  static const ForeignSystem system = {.id = "mlperf",
                                       .name = "Graphcore's MLPerf BERT",
                                       .groups = {{"MLPerf packed BERT", "", rules()}},
                                       .defaults = {{"layer_norm_eps", 1e-3},
                                                    {"hidden_act", "gelu_new"},
                                                    {"vocab_size", 30912},
                                                    {"hidden_size", 768},
                                                    {"num_hidden_layers", 2},
                                                    {"num_attention_heads", 12},
                                                    {"seq_length", 128},
                                                    {"use_attention_projection_bias", false},
                                                    {"base_learning_rate", kLearningRate},
                                                    {"warmup", 0},
                                                    {"weight_decay_rate", 0.0},
                                                    {"epsilon", 1e-6},
                                                    {"max_grad_norm", 0.0},
                                                    {"precision", "16"},
                                                    {"seed", 42}},
                                       .meanings = {{"precision", "FLOAT16", "16"},
                                                    {"precision", "FLOAT", "32"},
                                                    {"first_moment_precision", "FLOAT16", "f16"},
                                                    {"first_moment_precision", "FLOAT", "f32"},
                                                    {"hidden_act", "Gelu", "gelu_new"}},
                                       .marks = {"vocab_length", "attention_heads"},
                                       .task_of = task_of,
                                       .convert = convert};
  return system;
}

}  // namespace cloze::configuration
