#include <fmt/format.h>

#include "configuration/import.h"
#include "configuration/key_rules.h"

namespace cloze::configuration {
namespace {

constexpr const char* kHostMemory = "host memory is the device's memory";

KeyRules model_rules() {
  return KeyRules()
      .mapped_model("bert_config.")
      .mapped("bert_config.max_seq_length", "seq_length")
      .mapped("max_seq_length", "seq_length")
      .mapped("bert_config.max_predictions_per_seq", "max_predictions_per_seq")
      .mapped("max_predictions_per_seq", "max_predictions_per_seq")
      .no_effect({"bert_config.position_embedding_type"}, "positions are absolute", "absolute")
      .supported({"use_cls_layer", "use_prediction_bias", "use_qkv_bias"})
      .mapped("use_projection_bias", "use_attention_projection_bias")
      .elsewhere({"use_qkv_split"},
                 "join_qkv, with LAMB; checkpoints hold query, key and value apart", true)
      .mapped("bert_model_name", "init_checkpoint")
      .elsewhere({"replace_layers"}, "hidden_act says which GELU");
}

KeyRules batch_rules() {
  return KeyRules()
      .mapped("micro_batch_size", "micro_batch_size")
      .mapped("global_batch.micro_batch_size", "micro_batch_size")
      .mapped("replicas", "replicas")
      .mapped("global_batch.replicas", "replicas")
      .mapped("grad_acc_steps_per_replica", "gradient_accumulation_count")
      .mapped("global_batch.grad_acc_steps_per_replica", "gradient_accumulation_count")
      .elsewhere({"total_num_train_samples"}, "num_train_steps, by the samples in a step")
      .mapped("num_epochs", "epochs")
      .elsewhere({"global_batches_per_log"}, "steps_per_logs and device_iterations");
}

KeyRules optimizer_rules() {
  return KeyRules()
      .mapped("optimizer_opts.name", "optimizer")
      .mapped("optimizer_opts.params.weight_decay_rate", "weight_decay_rate")
      .mapped("optimizer_opts.weight_decay_rate", "weight_decay_rate")
      .mapped("learning_rate.lr_schedule", "lr_schedule")
      .mapped("optimizer_opts.learning_rate.schedule_name", "lr_schedule")
      .mapped("learning_rate.lr_schedule_params.max_learning_rate", "base_learning_rate")
      .mapped("optimizer_opts.learning_rate.max_learning_rate", "base_learning_rate")
      .mapped("learning_rate.lr_schedule_params.warmup_frac", "warmup")
      .mapped("optimizer_opts.learning_rate.warmup_frac", "warmup")
      .supported({"loss_scaling"})
      .mapped("optimizer_opts.loss_scaling", "loss_scaling");
}

KeyRules run_rules() {
  return KeyRules()
      .supported({"seed", "compile_only", "do_training"})
      .mapped("do_validation", "do_evaluation")
      .mapped("do_test", "do_predict")
      .mapped("glue_task", "task_name")
      .elsewhere({"dataset_dir"}, "train_file; the folder of a task's data is a cache there")
      .no_effect({"cache_dir"}, "nothing is downloaded")
      .mapped("generated_dataset", "generated_data")
      .mapped("output_dir", "output_dir")
      .mapped("save_ckpt_path", "save_path")
      .mapped("pretrained_ckpt_path", "init_checkpoint")
      .mapped("ckpt_every_n_steps_per_execution", "steps_per_ckpts")
      .elsewhere({"name"}, "save_path names a run and holds all its files")
      .elsewhere({"config"}, "give that file to cloze config import as well")
      .mapped("wandb_opts.log_to_wandb", "wandb")
      .mapped("enable_wandb", "wandb")
      .mapped("wandb_opts.init.name", "wandb_name")
      .supported({"wandb_name"})
      .no_effect({"wandb_opts.*", "wandb_tags"}, "a run has a name and no tags")
      .no_effect({"logging"}, "important messages are always printed")
      .no_effect({"show_accuracy"}, "accuracies are always computed", true);
}

KeyRules execution_rules() {
  return KeyRules()
      .supported({"pipeline_stages", "device_mapping"})
      .elsewhere({"ipu_config.pipeline_stages", "ipu_config.pipeline_device_mapping"},
                 "`pipeline_stages` and `device_mapping`")
      .no_effect({"matmul_available_memory_proportion_per_pipeline_stage",
                  "ipu_config.matmul_available_memory_proportion_per_pipeline_stage",
                  "optimizer_state_offchip", "ipu_config.optimizer_state_offchip",
                  "min_remote_tensor_size", "ipu_config.min_remote_tensor_size"},
                 kHostMemory)
      .no_effect({"matmul_partials_type", "ipu_config.matmul_partials_type"},
                 "products accumulate in f32")
      .elsewhere({"enable_stochastic_rounding", "ipu_config.enable_stochastic_rounding"},
                 kRoundsWeights)
      .supported({"replicated_tensor_sharding"})
      .mapped("ipu_config.replicated_tensor_sharding", "replicated_tensor_sharding")
      .no_effect({"use_outlining", "ipu_config.use_outlining"}, "there is no graph compiler")
      .no_effect({"enable_recomputation", "ipu_config.enable_recomputation"},
                 "recompute is the option here; host memory seldom needs it")
      .no_effect({"embedding_serialization_factor"},
                 "the vocabulary projection always works in blocks")
      .no_effect({"fp_exceptions", "ipu_config.fp_exceptions"},
                 "on_non_finite says what a loss or gradient that is not finite does to the run");
}

KeyRules rules() {
  return model_rules()
      .with(batch_rules())
      .with(optimizer_rules())
      .with(run_rules())
      .with(execution_rules());
}

std::string stages(const Conversion& c) {
  return c.value(c.first_of({"pipeline_stages", "ipu_config.pipeline_stages"})).dump();
}

// The head in the last stage shows which program it was.
std::string task_of(const Conversion& c) {
  if (stages(c).find("glue_head") != std::string::npos) return "GLUE";
  if (stages(c).find("qa_head") != std::string::npos) return "SQuAD";
  return "pretraining";
}

int64_t samples_of_the_data_set(const Conversion& c) {
  constexpr int64_t kOfSequencesOf128 = 460'849'152, kOfLongerSequences = 34'239'360;
  const std::string length = c.first_of({"bert_config.max_seq_length", "max_seq_length"});
  const bool is_short = length.empty() || c.count(length, 128) <= 128;
  return c.count("total_num_train_samples", is_short ? kOfSequencesOf128 : kOfLongerSequences);
}

// Steps are counted in executions of so many micro-batches; the rest of the data is left out.
void convert_steps(Conversion& c) {
  const auto of_batch = [&](const std::string& name) {
    return c.count(c.has(name) ? name : "global_batch." + name, 1);
  };
  const int64_t micro_batch = of_batch("micro_batch_size");
  const int64_t micro_batches = samples_of_the_data_set(c) / micro_batch;
  const int64_t steps_together = c.count("global_batches_per_log", 1);
  const int64_t executions =
      micro_batches / checked_product({of_batch("grad_acc_steps_per_replica"), of_batch("replicas"),
                                       steps_together});
  const std::string cause = c.first_of({"total_num_train_samples", "global_batches_per_log"});
  if (executions == 0 && !cause.empty()) {
    c.refuse(
        cause,
        "refused, as there: the samples are too few for global_batches_per_log steps; lower it");
  }
  c.set("num_train_steps", std::max<int64_t>(executions * steps_together, 1),
        {"total_num_train_samples"}, " by the samples in a step");
}

// Files of v3.0.0 group what makes a batch.
bool is_later_version(const Conversion& c) { return c.has("global_batch.micro_batch_size"); }

bool replaces_layers(const Conversion& c) { return c.value("replace_layers") != false; }

// There, AdamW takes weight_decay_rate of every tensor at each step, whatever the learning rate.
// With a rate of 2e-5 and 0.01 this would be 500 times the decay that the name promises.
void convert_optimizer(Conversion& c) {
  const std::string name = c.text("optimizer_opts.name");
  if (name == "AdamW") {
    const std::string key =
        c.first_of({"optimizer_opts.params.weight_decay_rate", "optimizer_opts.weight_decay_rate"});
    if (!key.empty()) {
      c.set("weight_decay_rate", c.value(key), {key},
            " times the learning rate, and not of biases and LayerNorm; there each step takes this "
            "share of every tensor, whatever the learning rate");
    }
  }
  if (name != "LAMB") return c.say("use_qkv_split", kLambAloneJoins);
  c.set_default("decay_layer_norm_scale", true, kScaleDecays);
  if (is_later_version(c) && replaces_layers(c)) set_join(c, "use_qkv_split");
}

// There, a question has one window: the paragraph, cut to fit, and then the question.
void convert_squad(Conversion& c) {
  if (c.task() != "SQuAD") return;
  c.set_default("feature_style", "hf",
                "tokens and labels are those of transformers; there a paragraph that is too long "
                "is cut, here it has further windows");
}

void convert(Conversion& c) {
  for (const char* option : {"steps_per_logs", "device_iterations"}) {
    const std::string key = "global_batches_per_log";
    if (c.has(key)) c.set(option, c.count(key, 1), {key});
  }
  const std::string period = "ckpt_every_n_steps_per_execution";
  if (c.has(period)) {
    c.set("steps_per_ckpts",
          checked_product({c.count(period, 1), c.count("global_batches_per_log", 1)}), {period},
          ", as it counts executions of global_batches_per_log steps");
  }
  const std::string stages = c.first_of({"pipeline_stages", "ipu_config.pipeline_stages"});
  if (!stages.empty()) c.set("pipeline_stages", c.value(stages).dump(), {stages.c_str()});
  const std::string devices = c.first_of({"device_mapping", "ipu_config.pipeline_device_mapping"});
  if (!devices.empty()) c.set("device_mapping", c.value(devices).dump(), {devices.c_str()});
  if (c.task() == "pretraining") {
    if (!c.has("num_epochs")) convert_steps(c);
    if (c.has("dataset_dir")) c.set("train_file", c.value("dataset_dir"), {"dataset_dir"});
  }
  const std::string activation = "bert_config.hidden_act";
  if (!replaces_layers(c) && c.task() == "pretraining" && c.text(activation) == "gelu") {
    c.set("hidden_act", "gelu", {activation});
  }
  c.set_default("hidden_act", replaces_layers(c) ? "gelu_new" : "gelu");
  convert_optimizer(c);
  convert_squad(c);
  if (!is_later_version(c)) return;
  for (const char* option : {"use_cls_layer", "use_qkv_bias", "use_attention_projection_bias"}) {
    c.set_default(option, false);
  }
}

}  // namespace

const ForeignSystem& tensorflow2() {
  static const ForeignSystem system = {
      .id = "tensorflow2",
      .name = "Graphcore's TensorFlow 2 programs",
      .groups = {{"Graphcore TensorFlow 2", "", rules()}},
      // Its optimisers correct the moments and clip nothing; layers compute in half precision.
      .defaults = {{"use_debiasing", true},
                   {"max_grad_norm", 0.0},
                   {"epsilon", 1e-6},
                   {"precision", "16"}},
      .meanings = {{"optimizer", "LAMB", "lamb"},
                   {"optimizer", "AdamW", "adamw"},
                   {"lr_schedule", "up_down", "polynomial_decay"},
                   {"hidden_act", "gelu", "gelu_new"}},
      .marks = {"optimizer_opts", "bert_config"},
      .task_of = task_of,
      .convert = convert};
  return system;
}

}  // namespace cloze::configuration
