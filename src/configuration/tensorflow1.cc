#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "configuration/import.h"
#include "configuration/key_rules.h"
#include "formats/json.h"

namespace cloze::configuration {
namespace {

constexpr double kLearningRate = 2e-5, kEpsilon = 1e-4;

KeyRules training_rules() {
  return KeyRules()
      .supported({"micro_batch_size", "global_batch_size", "gradient_accumulation_count"})
      // Releases before 2.4 have these names, and the README there writes two of them.
      .mapped("batch_size", "micro_batch_size")
      .mapped("batches_per_step", "device_iterations")
      .mapped("steps", "num_train_steps")
      .mapped("sequence_length", "seq_length")
      .supported(
          {"base_learning_rate", "num_train_steps", "epochs", "steps_per_ckpts", "max_to_keep"})
      .supported({"optimizer", "beta1", "beta2", "loss_scaling", "loss_scaling_by_step",
                  "weight_decay_rate", "epsilon", "momentum"})
      .supported({"lr_schedule", "lr_power", "lr_schedule_by_step", "decay_rate", "decay_steps"})
      .supported(
          {"wandb", "wandb_name", "warmup", "seed", "save_path", "init_checkpoint", "restore_dir"})
      .no_effect({"ipu_replica_identical_seed"},
                 "random numbers belong to samples: replicas need no seeds")
      .elsewhere({"restore_optimiser_from_checkpoint"},
                 "restore_dir restores it, init_checkpoint does not", true)
      .elsewhere({"save_optimiser_to_checkpoint"}, "it is always saved, in a file of its own", true)
      .elsewhere({"name"}, "save_path names a run and holds all its files");
}

KeyRules model_rules() {
  return KeyRules()
      .supported({"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                  "intermediate_size", "max_position_embeddings", "type_vocab_size", "hidden_act",
                  "hidden_dropout_prob", "attention_probs_dropout_prob", "initializer_range",
                  "layer_norm_eps", "use_qkv_bias", "use_attention_projection_bias",
                  "use_cls_layer", "use_prediction_bias", "static_mask", "max_predictions_per_seq",
                  "duplicate_factor"})
      .no_effect({"disable_acc"}, "accuracies are always computed")
      .supported({"groupbert", "groupbert_ffn_output_groups", "groupbert_conv_kernel_size",
                  "groupbert_conv_group_size"})
      .no_effect({"use_qkv_split"}, "checkpoints always hold query, key and value apart", true);
}

KeyRules execution_rules() {
  return KeyRules()
      .supported({"pipeline_schedule", "pipeline_stages", "device_mapping"})
      .mapped("replicas", "replicas")
      .mapped("precision", "precision")
      .supported({"device_iterations", "replicated_tensor_sharding"})
      .no_effect({"parallel_io_threads", "sloppy_parallel_interleave", "dataset_repeat"},
                 "loader_threads keep the next steps ready, in an order given by the seed")
      .no_effect({"available_memory_proportion", "variable_offloading", "min_remote_tensor_size"},
                 "host memory is the device's memory")
      .no_effect({"max_cross_replica_sum_buffer_size", "max_reduce_scatter_buffer_size"}, kBuckets)
      .no_effect({"sync_replicas_independently"}, kNoHost)
      .no_effect({"log_all_workers"}, "every process writes a log of its own")
      .elsewhere({"stochastic_rounding"}, kRoundsWeights)
      .no_effect({"partials_type", "increase_optimiser_precision", "use_lr_fp32"},
                 "products accumulate in f32 and weights keep an f32 master")
      .no_effect({"no_outlining", "scheduler"}, "there is no graph compiler")
      .no_effect({"enable_recomputation", "recomputation_mode"},
                 "recompute is the option here; host memory seldom needs it")
      .no_effect({"fp_exceptions"},
                 "on_non_finite says what a loss or gradient that is not finite does to the run")
      .supported({"use_nvlamb", "use_debiasing", "use_mpclip", "weight_norm_clip", "compile_only"})
      .no_effect({"reduction_type"}, "gradients are those of the mean over the step", "mean")
      .no_effect({"matmul_serialize_factor"}, "the vocabulary projection always works in blocks")
      .missing({"glue_dropout_prob"}, "it is an option of cloze glue; leave it out");
}

KeyRules data_rules() {
  return KeyRules()
      .supported({"train_file", "seq_length", "generated_data", "synthetic_data", "progress_bar",
                  "steps_per_logs", "config", "help"})
      .elsewhere({"execution_profile", "memory_profile", "profile_dir"},
                 "cloze plan --report shows memory over the program and time per operator, "
                 "profile_report the times of a run")
      .elsewhere({"name_suffix", "log_dir"}, "save_path names a run and holds all its files")
      .no_effect({"steps_per_tensorboard"}, "scalars go to TensorBoard with every line of metrics")
      .mapped("task", "task");
}

KeyRules pretraining_rules() {
  return training_rules().with(model_rules()).with(execution_rules()).with(data_rules());
}

// Keys that both fine-tuning programs have, including those on pre-training records, which they
// never read.
KeyRules finetuning_rules() {
  return KeyRules()
      .supported({"do_training", "do_predict", "do_evaluation", "do_lower_case", "vocab_file",
                  "output_dir"})
      .no_effect({"verbose_logging"}, "important messages are always printed")
      .no_effect({"tfrecord_dir"},
                 "features are made in a second or two; cloze data squad writes them")
      .no_effect({"static_mask", "max_predictions_per_seq"},
                 "it is an option of pre-training records")
      .no_effect({"duplicate_factor"}, "a task's files hold its data once")
      .no_effect({"generated_data"}, "cloze pretrain makes generated data")
      .missing({"synthetic_data"}, "cloze pretrain computes on synthetic data; leave it out")
      .no_effect({"num_synthetic_dataset_samples"}, "there is no run without data")
      .no_effect({"buffer_size"}, "an epoch is shuffled whole");
}

KeyRules squad_rules() {
  return finetuning_rules().supported({"train_file", "predict_file", "doc_stride",
                                       "max_query_length", "n_best_size", "max_answer_length",
                                       "version_2_with_negative", "null_score_diff_threshold"});
}

KeyRules glue_rules() {
  return finetuning_rules()
      .supported({"task_name", "data_dir", "glue_dropout_prob"})
      .no_effect({"doc_stride", "n_best_size", "max_answer_length", "null_score_diff_threshold",
                  "max_query_length", "predict_file"},
                 "it was read and never used there");
}

std::string task_of(const Conversion& conversion) {
  const std::string& program = conversion.program();
  if (program == "run_squad.py") return "SQuAD";
  if (program == "run_classifier.py") return "GLUE";
  const std::string task = conversion.text("task");
  return task.empty() ? "pretraining" : task;
}

// A list of stages, which may be given as its text; null where there is none.
formats::Json list_of(const Conversion& c, const std::string& key) {
  const auto parsed = formats::parse_json(c.text(key));
  const formats::Json list = parsed ? *parsed : c.value(key);
  return list.is_array() ? list : formats::Json();
}

// The accumulation that the program there derives from a global batch: enough micro-batches for
// the batch, and then up to the next multiple of two for each stage of its pipeline. Returns it.
int64_t convert_batch(Conversion& c) {
  const std::string key = "global_batch_size";
  if (!c.has(key)) return c.count("gradient_accumulation_count", 1);
  const formats::Json stages = list_of(c, "pipeline_stages");
  const int64_t multiple = stages.is_array() ? 2 * static_cast<int64_t>(stages.size()) : 1;
  const int64_t per_pass = checked_product(
      {c.count(c.first_of({"micro_batch_size", "batch_size"}), 1), c.count("replicas", 1)});
  const int64_t wanted = c.count(key, 1) / per_pass;
  const int64_t reached = stages.is_array() ? multiple * (1 + wanted / multiple) : wanted;
  const int64_t given = c.count("gradient_accumulation_count", reached);
  if (given != reached) {
    c.refuse(key,
             fmt::format("refused, as there: it makes gradient_accumulation_count {}, which is {}; "
                         "leave one of the two out",
                         reached, given));
    return given;
  }
  if (reached == 0) {
    c.refuse(key, fmt::format("{} is less than the {} sequences of a pass, micro_batch_size * "
                              "replicas; raise it",
                              c.count(key, 1), per_pass));
    return 1;
  }
  c.set(key, checked_product({reached, per_pass}), {key},
        fmt::format(" = micro_batch_size * replicas * {}, {}", reached,
                    stages.is_array() ? "the next multiple of twice the stages" : "rounded down"));
  c.say("gradient_accumulation_count", "global_batch_size sets it");
  return reached;
}

// The size of a gradient there relative to ours, which is the mean over the step. With `mean` they
// are equal; with `sum` the micro-batches of all replicas are added up: the gradient is copies()
// times as large.
struct GradientScale {
  bool is_sum = false;
  int64_t accumulated = 1, replicas = 1;

  double copies() const { return static_cast<double>(checked_product({accumulated, replicas})); }
  // The clipping wrapper's limit, which is 1 for the sum over replicas, as a norm here.
  double wrapper_norm() const {
    return is_sum ? 1.0 / static_cast<double>(accumulated) : static_cast<double>(replicas);
  }
  // NVLAMB's limit, which is 1 for the gradient there.
  double nvlamb_norm() const { return is_sum ? 1.0 / copies() : 1.0; }
};

void convert_clipping(Conversion& c, const GradientScale& scale) {
  if (c.has("max_grad_norm")) return;  // an option of ours, which the file gives as well
  const std::string optimizer = c.text("optimizer");
  const bool is_lamb = optimizer == "lamb";
  const bool has_wrapper =
      is_lamb ? c.value("use_mpclip") == true : optimizer == "adamw" || optimizer == "mpadamw";
  double norm = std::numeric_limits<double>::infinity();
  if (has_wrapper) norm = scale.wrapper_norm();
  if (is_lamb && c.value("use_nvlamb") == true) norm = std::min(norm, scale.nvlamb_norm());
  if (std::isinf(norm) || norm == 1.0) return;
  c.set("max_grad_norm", norm, {"reduction_type"}, ", of the mean over the step");
  for (const char* key : {"use_mpclip", "use_nvlamb"}) {
    if (c.value(key) == true) c.set(key, false, {key}, ": max_grad_norm clips");
  }
}

// Converts what depends on the size of gradients.
void convert_gradients(Conversion& c, const GradientScale& scale) {
  convert_clipping(c, scale);
  if (!scale.is_sum || scale.copies() == 1.0) return;
  const std::string optimizer = c.text("optimizer");
  const bool takes_rate = optimizer == "sgd" || optimizer == "momentum";
  const std::string option = takes_rate ? "base_learning_rate" : "epsilon";
  const double value = c.number(option, takes_rate ? kLearningRate : kEpsilon);
  c.set(option, takes_rate ? value * scale.copies() : value / scale.copies(),
        {option, "reduction_type"}, ", for gradients of the mean over the step");
}

// Its GroupBERT leaves the scale out, too.
void convert_decay(Conversion& c) {
  if (c.text("optimizer") != "lamb" || c.value("groupbert") == true) return;
  c.set_default("decay_layer_norm_scale", true, kScaleDecays);
}

// Generated data switches the files off, and makes duplicate_factor 1.
void convert_made_data(Conversion& c) {
  for (const char* key : {"generated_data", "synthetic_data"}) {
    if (c.task() != "pretraining" || c.value(key) != true) continue;
    c.say("train_file", fmt::format("{} switches it off, as there", key));
    c.say("duplicate_factor", fmt::format("{} makes it 1, as there", key));
  }
}

// Decides where a key and its other name are given: a command line has the one, its file the other.
void settle_names(Conversion& c) {
  const std::pair<const char*, const char*> overridden[] = {
      {"num_train_steps", "steps"},
      {"seq_length", "sequence_length"},
      {"batch_size", "micro_batch_size"},
      {"batches_per_step", "device_iterations"}};
  for (const auto& [key, other] : overridden) {
    if (c.has(other)) c.say(key, std::string(other) + " overrides it");
  }
}

void convert(Conversion& c) {
  settle_names(c);
  convert_gradients(c, {.is_sum = c.text("reduction_type") == "sum",
                        .accumulated = convert_batch(c),
                        .replicas = c.count("replicas", 1)});
  convert_decay(c);
  for (const char* key : {"pipeline_stages", "device_mapping"}) {
    if (const formats::Json list = list_of(c, key); list.is_array()) c.set(key, list.dump(), {key});
  }
  convert_made_data(c);
  const int64_t together = c.count(c.first_of({"device_iterations", "batches_per_step"}), 1);
  const std::string steps = c.first_of({"steps", "num_train_steps"});
  if (together > 1 && !steps.empty()) {
    c.set("num_train_steps", c.count(steps, 1) / together * together, {steps},
          ", a multiple of device_iterations");
  }
}

}  // namespace

const ForeignSystem& tensorflow1() {
  static const ForeignSystem system = {
      .id = "tensorflow1",
      .name = "Graphcore's TensorFlow 1 programs",
      .groups = {{"Graphcore TensorFlow 1: the pre-training program", "", pretraining_rules()},
                 {"Graphcore TensorFlow 1: run_squad.py", "SQuAD", squad_rules()},
                 {"Graphcore TensorFlow 1: run_classifier.py", "GLUE", glue_rules()}},
      // They include no optimiser and no schedule: the program's defaults, momentum and a schedule
      // that does not exist, train nothing there or here.
      .defaults = {{"use_qkv_bias", false},
                   {"layer_norm_eps", 1e-3},
                   {"hidden_act", "gelu_new"},
                   {"use_debiasing", false},
                   {"epsilon", kEpsilon},
                   {"weight_decay_rate", 0.0},
                   {"base_learning_rate", kLearningRate},
                   {"warmup", 0.1},
                   {"duplicate_factor", 5},
                   {"seq_length", 128},
                   {"precision", "16"},
                   {"max_to_keep", 5},
                   {"steps_per_ckpts", 256}},
      .meanings = {{"hidden_act", "gelu", "gelu_new"}},
      // Keys that are no options of ours, nearly all about how its processor runs a graph.
      .marks = {"partials_type", "available_memory_proportion", "variable_offloading",
                "no_outlining", "matmul_serialize_factor", "enable_recomputation",
                "stochastic_rounding", "fp_exceptions", "use_qkv_split"},
      .task_of = task_of,
      .convert = convert};
  return system;
}

}  // namespace cloze::configuration
