#include <fmt/format.h>

#include <array>

#include "configuration/import.h"
#include "configuration/key_rules.h"

namespace cloze::configuration {
namespace {

using formats::Json;

KeyRules ipu_rules() {
  return KeyRules()
      .elsewhere({"ipu_config.replication_factor", "ipu_config.gradient_accumulation_steps"},
                 "replicas and gradient_accumulation_count")
      .mapped("ipu_config.seed", "seed")
      .no_effect({"ipu_config.ipus_per_replica", "ipu_config.layers_per_ipu"}, kStages)
      .no_effect({"ipu_config.inference_replication_factor"}, "inference has one process")
      .no_effect({"ipu_config.use_popdist"}, kMpirunSays)
      .no_effect({"ipu_config.decompose_grad_sum"}, kBuckets)
      .mapped("ipu_config.replicated_tensor_sharding", "replicated_tensor_sharding")
      .mapped("ipu_config.device_iterations", "device_iterations")
      .no_effect({"ipu_config.inference_device_iterations", "ipu_config.output_mode"},
                 "loader_threads keep the next steps ready, in an order given by the seed")
      .no_effect({"ipu_config.optimizer_state_offchip", "ipu_config.matmul_proportion",
                  "ipu_config.sharded_execution_for_inference",
                  "ipu_config.execute_encoder_on_cpu_for_generation"},
                 "host memory is the device's memory")
      .mapped("ipu_config.enable_half_first_order_momentum", "first_moment_precision")
      .no_effect({"ipu_config.enable_half_partials"}, "products accumulate in f32")
      .no_effect({"ipu_config.executable_cache_dir"}, "a step is planned in milliseconds")
      .elsewhere({"ipu_config.profile_dir"},
                 "cloze plan --report shows memory over the program and time per operator, "
                 "profile_report the times of a run")
      .no_effect({"ipu_config.embedding_serialization_factor"},
                 "the vocabulary projection always works in blocks")
      .no_effect({"ipu_config.recompute_checkpoint_every_layer"},
                 "recompute is the option here; host memory seldom needs it")
      .elsewhere({"ipu_config.auto_loss_scaling"}, "loss_scaling 0", false)
      .no_effect({"ipu_config.optimum_version", "ipu_config.transformers_version"},
                 "says who wrote the file");
}

KeyRules training_rules() {
  return KeyRules()
      .mapped("learning_rate", "base_learning_rate")
      .mapped("weight_decay", "weight_decay_rate")
      .mapped("adam_beta1", "beta1")
      .mapped("adam_beta2", "beta2")
      .mapped("adam_epsilon", "epsilon")
      .mapped("max_steps", "num_train_steps")
      .mapped("num_train_epochs", "epochs")
      .mapped("per_device_train_batch_size", "micro_batch_size")
      .mapped("gradient_accumulation_steps", "gradient_accumulation_count")
      .mapped("warmup_ratio", "warmup")
      .mapped("warmup_steps", "warmup")
      .mapped("lr_scheduler_type", "lr_schedule")
      .mapped("optim", "optimizer")
      .mapped("logging_steps", "steps_per_logs")
      .mapped("save_steps", "steps_per_ckpts")
      .mapped("save_total_limit", "max_to_keep")
      .mapped("output_dir", "save_path")
      .mapped("resume_from_checkpoint", "restore_dir")
      .mapped("model_name_or_path", "init_checkpoint")
      .mapped("max_seq_length", "seq_length")
      .mapped("mlm_probability", "mlm_prob")
      .mapped("dataloader_num_workers", "loader_threads")
      .mapped("gradient_checkpointing", "recompute")
      .mapped("bf16", "precision")
      .mapped("do_train", "do_training")
      .mapped("do_eval", "do_evaluation")
      .mapped("validation_file", "predict_file")
      .supported({"seed", "do_predict", "train_file", "task_name", "doc_stride", "n_best_size",
                  "max_answer_length", "null_score_diff_threshold", "version_2_with_negative"});
}

KeyRules optimum_rules() {
  return KeyRules()
      .elsewhere({"lamb", "lamb_no_bias_correction"}, "optimizer lamb and use_debiasing")
      .elsewhere({"fp16", "fp32"}, "precision")
      .elsewhere({"pod_type", "ipu_config_overrides", "ipu_config_name"},
                 "a value of the IPUConfig")
      .mapped_model("config_overrides.")
      .no_effect({"max_grad_norm"}, "the trainer there clips nothing", 0)
      .supported({"loss_scaling"})
      .elsewhere({"auto_loss_scaling"}, "loss_scaling 0", false)
      .elsewhere({"groupbert_schedule"}, "lr_schedule polynomial_decay and lr_power")
      .elsewhere({"compile_only"}, "cloze plan")
      .elsewhere({"config_name", "config_overrides", "model_type", "tokenizer_name"},
                 "the sizes of that model, of a GroupBERT no dropout, and vocab_file")
      .elsewhere({"dataset_name", "dataset_config_name", "dataset_path_name"},
                 "train_file; nothing is downloaded")
      .no_effect({"per_device_eval_batch_size", "pad_on_batch_axis", "complete_last_batch",
                  "dataloader_mode", "pad_to_max_length", "preprocessing_num_workers"},
                 "the packer lays samples out without padding, and leaves none out")
      .elsewhere({"dataloader_drop_last"}, "steps_per_epoch")
      .elsewhere({"evaluation_strategy", "eval_steps"}, "evaluations_per_epoch")
      .no_effect({"logging_dir", "logging_strategy", "logging_first_step", "report_to", "run_name",
                  "disable_tqdm"},
                 "metrics go to metrics.jsonl and TensorBoard in save_path")
      .elsewhere({"save_strategy"}, "steps_per_ckpts; no: the end alone", "steps")
      .no_effect({"overwrite_output_dir", "overwrite_cache", "push_to_hub", "hub_model_id",
                  "remove_unused_columns", "cache_dir", "use_auth_token", "is_already_preprocessed",
                  "log_level"},
                 "it is not needed here");
}

std::string task_of(const Conversion& c) {
  const bool is_squad = c.text("dataset_name").starts_with("squad") || c.program() == "run_qa.py" ||
                        c.has("version_2_with_negative") || c.has("doc_stride");
  if (is_squad) return "SQuAD";
  return c.program() == "run_glue.py" || c.has("task_name") ? "GLUE" : "pretraining";
}

// A number of the IPUConfig, which may have one value for each size of pod.
int64_t ipu_value(const Conversion& c, const std::string& name) {
  Json value = c.value("ipu_config." + name);
  if (value.is_object()) {
    const std::string pod = c.text("pod_type").empty() ? "default" : c.text("pod_type");
    value = value.value(pod, value.value("default", Json(1)));
  }
  return value.is_null() ? 1 : checked_count(name, value);
}

void convert_batch(Conversion& c) {
  const std::string replication = "replication_factor",
                    accumulation = "gradient_accumulation_steps";
  c.set("replicas", ipu_value(c, replication), {"ipu_config." + replication, "pod_type"});
  if (!c.has("ipu_config." + replication)) {
    c.point("pod_type",
            "replicas 1: its IPUConfig says how many; name that file as well, or say "
            "replication_factor=N in ipu_config_overrides");
  }
  if (c.has(accumulation)) {
    c.say("ipu_config." + accumulation,
          "gradient_accumulation_steps of the arguments overrides it");
  } else {
    c.set("gradient_accumulation_count", ipu_value(c, accumulation),
          {"ipu_config." + accumulation});
  }
}

bool is_above_0(const Json& value) { return value.is_number() && value.get<double>() > 0; }

// Its loader leaves out the last batch of an epoch where it is not full, or not.
void convert_epochs(Conversion& c) {
  const std::string key = "dataloader_drop_last";
  const char* rounding = c.value(key) == true ? "down" : "up";
  if (c.has(key)) {
    c.set("steps_per_epoch", rounding, {key});
  } else {
    c.set_default("steps_per_epoch", rounding, "an epoch there ends with a batch that is not full");
  }
}

// -1 and 0 say that another argument counts.
void convert_length(Conversion& c) {
  if (is_above_0(c.value("max_steps"))) {
    c.say("num_train_epochs", "max_steps overrides it");
    c.say("dataloader_drop_last", "max_steps sets the length");
  } else {
    c.say("max_steps", "says nothing");
    if (!c.has("num_train_epochs")) c.set_default("epochs", 3.0);
    convert_epochs(c);
  }
  const Json saves = c.value("save_steps");
  const bool saves_end =
      c.text("save_strategy") == "no" || (saves.is_number() && !is_above_0(saves));
  if (saves_end) c.set("steps_per_ckpts", 0, {"save_steps", "save_strategy"}, ", the end alone");
  if (is_above_0(c.value("warmup_steps"))) {
    c.say("warmup_ratio", "warmup_steps overrides it");
    return;
  }
  c.say("warmup_steps", "says nothing");
  if (is_above_0(c.value("warmup_ratio"))) {
    c.set_default("warmup_rounds_up", true, "transformers rounds a share of the steps up");
  }
}

void convert_optimizer(Conversion& c) {
  if (c.value("lamb") == true || c.value("lamb_no_bias_correction") == true) {
    c.set("optimizer", "lamb", {"lamb", "lamb_no_bias_correction"});
    c.set("use_debiasing", c.value("lamb_no_bias_correction") != true, {"lamb_no_bias_correction"});
    c.say("optim", "lamb overrides it");
    c.set_default("adapt_vectors", true, kPopartAdapts);
    for (const char* key : {"adam_beta1", "adam_beta2"}) {
      c.say(key, "no effect: LAMB there keeps 0.9 and 0.999");
    }
  }
}

// A switch that is off says nothing of the precision: another may be on.
void convert_precision(Conversion& c) {
  if (c.value("bf16") == true && c.value("fp16") == true) {
    c.refuse("bf16", "refused, as there: fp16 is true as well; leave one of the two out");
    return;
  }
  if (c.value("fp32") == true) c.set("precision", "f32", {"fp32"});
  if (c.value("fp16") == true) c.set("precision", "fp16", {"fp16"});
  if (c.value("bf16") == true) {
    c.set("precision", "bf16", {"bf16"});
  } else {
    c.say("bf16", "says nothing");
  }
}

// With automatic loss scaling, the given scale is the initial one.
void convert_loss_scale(Conversion& c) {
  const std::string ours = "auto_loss_scaling", config = "ipu_config.auto_loss_scaling";
  if (c.value(ours) != true && c.value(config) != true) return;
  c.set("loss_scaling", 0, {ours, config}, ", dynamic");
  if (c.has("loss_scaling")) c.set("init_loss_scale", c.value("loss_scaling"), {"loss_scaling"});
}

// The polynomial of transformers ends one step later than that of one power here. GroupBERT's
// warm-up follows a square root.
void convert_schedule(Conversion& c) {
  if (c.text("lr_scheduler_type") == "polynomial") {
    c.set("lr_schedule", "polynomial_decay", {"lr_scheduler_type"});
    c.set("lr_power", {1.0, 1.0}, {"lr_scheduler_type"});
  }
  if (c.value("groupbert_schedule") != true) return;
  c.set("lr_schedule", "polynomial_decay", {"groupbert_schedule"});
  c.set("lr_power", {0.5, 1.0}, {"groupbert_schedule"});
  c.say("lr_scheduler_type", "groupbert_schedule overrides it");
}

// Its GroupBERT was published with a bias in the convolution, and without dropout.
void take_groupbert(Conversion& c) {
  c.set("groupbert", true, {"config_name"});
  c.set("groupbert_conv_bias", true, {"config_name"});
  c.set("hidden_dropout_prob", 0.0, {"config_name"});
  c.set("attention_probs_dropout_prob", 0.0, {"config_name"});
}

// Named by the configuration: bert-base-uncased, bert-large-uncased, groupbert-base-uncased.
void convert_model(Conversion& c) {
  const std::string name = c.text("config_name");
  if (c.task() != "pretraining" || name.empty()) return;
  const bool is_large = name.find("large") != std::string::npos;
  if (!is_large && name.find("base") == std::string::npos) {
    c.refuse("config_name",
             "only sizes of base and large models are known here; name one, and "
             "give config_overrides for what differs");
    return;
  }
  const std::array<int64_t, 4> sizes = is_large ? std::array<int64_t, 4>{1024, 24, 16, 4096}
                                                : std::array<int64_t, 4>{768, 12, 12, 3072};
  const char* options[] = {"hidden_size", "num_hidden_layers", "num_attention_heads",
                           "intermediate_size"};
  for (size_t i = 0; i < sizes.size(); ++i) c.set(options[i], sizes[i], {"config_name"});
  if (name.find("groupbert") != std::string::npos) take_groupbert(c);
}

void convert(Conversion& c) {
  if (c.task() == "SQuAD") {
    c.set_default("feature_style", "hf", "windows and labels are those of transformers");
  }
  convert_batch(c);
  convert_length(c);
  convert_optimizer(c);
  convert_precision(c);
  convert_loss_scale(c);
  convert_schedule(c);
  convert_model(c);
}

}  // namespace

const ForeignSystem& optimum() {
  static const ForeignSystem system = {
      .id = "optimum",
      .name = "Optimum Graphcore",
      .groups = {{"Optimum Graphcore: IPUConfig", "", ipu_rules()},
                 {"Hugging Face training arguments", "", training_rules().with(optimum_rules())}},
      .defaults = {{"base_learning_rate", 5e-5},
                   {"weight_decay_rate", 0.0},
                   {"epsilon", 1e-8},
                   {"max_grad_norm", 0.0},
                   {"use_debiasing", false},
                   {"optimizer", "adamw"},
                   {"lr_schedule", "linear"},
                   {"warmup", 0},
                   {"precision", "16"},
                   {"micro_batch_size", 8},
                   {"seed", 42}},
      .meanings = {{"lr_schedule", "polynomial", "polynomial_decay"},
                   {"lr_schedule", "cosine", "cosine_decay"},
                   {"lr_schedule", "constant_with_warmup", "constant"},
                   {"optimizer", "adamw_hf", "adamw"},
                   {"optimizer", "adamw_torch", "adamw"},
                   {"optimizer", "adamw_torch_fused", "adamw"},
                   {"first_moment_precision", true, "f16"},
                   {"first_moment_precision", false, "f32"},
                   {"precision", true, "bf16"},
                   {"precision", false, "f32"}},
      .marks = {"ipus_per_replica", "layers_per_ipu"},
      .task_of = task_of,
      .convert = convert};
  return system;
}

const KeyGroup& training_arguments() { return optimum().groups.back(); }

}  // namespace cloze::configuration
