#include <fmt/format.h>

#include <map>

#include "base/error.h"
#include "configuration/import.h"
#include "configuration/key_rules.h"

namespace cloze::configuration {
namespace {

constexpr const char* kEpsilonIsAdded =
    "AdamW there adds epsilon before the second moment is corrected";

using formats::Json;

KeyRules model_rules() {
  return KeyRules()
      .supported({"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads",
                  "intermediate_size", "max_position_embeddings", "type_vocab_size", "hidden_act",
                  "hidden_dropout_prob", "attention_probs_dropout_prob", "initializer_range",
                  "layer_norm_eps"})
      .elsewhere({"config_file", "config_name"}, "give that file to cloze config import as well")
      .elsewhere({"model_name_or_path", "bert_model"},
                 "init_checkpoint of fine-tuning; pre-training has the sizes of config_file, or of "
                 "BERT-large")
      .elsewhere({"model", "model_type"}, "the model is BERT")
      .elsewhere({"tokenizer_name"}, "vocab_file");
}

KeyRules batch_rules() {
  return KeyRules()
      .elsewhere({"batch_size", "train_batch_size", "accumulate_gradients", "world_size",
                  "per_gpu_train_batch_size", "per_device_train_batch_size",
                  "gradient_accumulation_steps", "dist"},
                 "micro_batch_size and global_batch_size")
      .elsewhere({"dataset_parameters.*"}, "of another task or data type")
      .elsewhere({"max_seq_length"}, "seq_length")
      .mapped("max_predictions_per_seq", "max_predictions_per_seq")
      .elsewhere({"max_steps"}, "num_train_steps")
      .elsewhere({"num_train_epochs"}, "epochs; max_steps overrides it");
}

KeyRules optimizer_rules() {
  return KeyRules()
      .elsewhere({"learning_rate"}, "base_learning_rate")
      .elsewhere({"warmup", "warmup_proportion", "warmup_steps"}, "warmup")
      .mapped("weight_decay", "weight_decay_rate")
      .mapped("adam_epsilon", "epsilon")
      .supported({"max_grad_norm", "seed"})
      .elsewhere({"fp16", "amp", "hmp", "autocast", "data_type"}, "precision")
      .no_effect({"hmp_bf16", "hmp_fp32", "hmp_opt_level", "hmp_verbose", "fp16_opt_level"},
                 "kernels choose what is computed in which precision")
      .elsewhere({"loss_scale"}, "loss_scaling, with fp16 or amp; no other precision reads it")
      .elsewhere({"init_loss_scale"}, "read with a dynamic loss scale of fp16 or amp only");
}

KeyRules run_rules() {
  return KeyRules()
      .elsewhere({"command", "task_name"}, "the subcommand; task_name of cloze glue")
      .elsewhere({"input_dir", "data_dir", "train_file", "predict_file"},
                 "train_file, predict_file or data_dir")
      .mapped("output_dir", "save_path")
      .supported({"init_checkpoint", "vocab_file"})
      .elsewhere({"save_steps", "num_steps_per_checkpoint", "skip_checkpoint"}, "steps_per_ckpts")
      .mapped("save_total_limit", "max_to_keep")
      .mapped("log_freq", "steps_per_logs")
      .mapped("logging_steps", "steps_per_logs")
      .mapped("json_summary", "dllogger_file")
      .mapped("checkpoint_activations", "recompute")
      .elsewhere({"do_train", "do_eval"}, "do_training, do_evaluation")
      .mapped("do_predict", "do_predict")
      .elsewhere({"resume_from_checkpoint", "resume_step"}, "restore_dir")
      .elsewhere({"phase", "phase2", "phase1_end_step"}, "a second run with init_checkpoint")
      .elsewhere({"steps_this_run"}, "stop with SIGTERM and resume with restore_dir")
      .elsewhere({"create_logfile", "logging_dir", "logging_first_step"},
                 "metrics go to metrics.jsonl and TensorBoard in save_path")
      .elsewhere({"disable_progress_bar", "tqdm_smoothing"}, "progress_bar")
      .supported({"version_2_with_negative", "null_score_diff_threshold", "doc_stride",
                  "max_query_length", "n_best_size", "max_answer_length", "do_lower_case"})
      .no_effect({"verbose_logging"}, "important messages are always printed")
      .no_effect({"eval_script"}, "do_evaluation scores answers by the same rules")
      .no_effect(
          {"enable_packed_data_mode"},
          "a pack is taken apart, and its sequences are packed again as samples of their own",
          false)
      .no_effect({"per_gpu_eval_batch_size", "per_device_eval_batch_size", "predict_batch_size"},
                 "evaluation packs sequences by itself")
      .elsewhere({"evaluate_during_training", "eval_steps"}, "evaluations_per_epoch")
      .no_effect({"eval_all_checkpoints"}, "the best weights are kept while training")
      .no_effect({"overwrite_output_dir", "overwrite_cache", "cache_dir", "dataloader_drop_last",
                  "past_index", "lang_id", "skip_cache"},
                 "it is not needed here");
}

KeyRules execution_rules() {
  return KeyRules()
      .no_effect({"mode", "device", "no_cuda", "use_habana", "use_jit_trace", "use_lazy_mode",
                  "use_fused_lamb", "use_fused_adam", "use_fused_clip_norm", "use_torch_compile",
                  "env_variables"},
                 "kernels and device are chosen by a table")
      .no_effect({"allreduce_post_accumulation", "allreduce_post_accumulation_fp16",
                  "all_reduce_post_accumulation", "all_reduce_post_accumulation_fp16"},
                 "gradients are summed once a step; reduction_precision says how they travel")
      .no_effect({"local_rank", "no_mpirun", "use_env", "server_ip", "server_port"}, kMpirunSays)
      .elsewhere({"threads"},
                 "all of the machine's threads are used, unless threads says otherwise");
}

KeyRules rules() {
  return model_rules()
      .with(batch_rules())
      .with(optimizer_rules())
      .with(run_rules())
      .with(execution_rules());
}

std::string task_of(const Conversion& c) {
  std::string task = c.text("task_name");
  for (char& letter : task) letter = static_cast<char>(std::tolower(letter));
  if (c.text("command") == "pretraining" || c.program() == "run_pretraining.py" ||
      task == "bookswiki") {
    return "pretraining";
  }
  if (task == "squad" || c.program() == "run_squad.py") return "SQuAD";
  return c.text("command").empty() && task.empty() ? "pretraining" : "GLUE";
}

// The defaults: those of the launcher, demo_bert.py, which has one value for each phase of
// pre-training, or those of the task's program.
using Defaults = std::map<std::string, Json>;
const Defaults& defaults_of(const std::string& name) {
  static const std::map<std::string, Defaults> programs = {{"launcher pretraining",
                                                            {{"learning_rate", {6e-3, 4e-3}},
                                                             {"max_seq_length", {128, 512}},
                                                             {"max_predictions_per_seq", {20, 80}},
                                                             {"batch_size", {64, 8}},
                                                             {"train_batch_size", {8192, 4096}},
                                                             {"save_steps", {200, 200}},
                                                             {"max_steps", {7038, 1563}},
                                                             {"warmup", {0.2843, 0.128}}}},
                                                           {"launcher finetuning",
                                                            {{"learning_rate", 2e-5},
                                                             {"max_seq_length", 128},
                                                             {"batch_size", 8},
                                                             {"num_train_epochs", 1}}},
                                                           {"pretraining",
                                                            {{"learning_rate", 5e-5},
                                                             {"max_seq_length", 512},
                                                             {"max_predictions_per_seq", 80},
                                                             {"train_batch_size", 32},
                                                             {"num_steps_per_checkpoint", 100},
                                                             {"max_steps", 1000},
                                                             {"warmup_proportion", 0.01}}},
                                                           {"SQuAD",
                                                            {{"learning_rate", 5e-5},
                                                             {"max_seq_length", 384},
                                                             {"save_steps", 500},
                                                             {"num_train_epochs", 3}}},
                                                           {"GLUE",
                                                            {{"learning_rate", 5e-5},
                                                             {"max_seq_length", 128},
                                                             {"save_steps", 500},
                                                             {"num_train_epochs", 3}}}};
  return programs.at(name);
}

// whole / part; UserError unless `part` divides `whole`.
int64_t checked_quotient(const std::string& key, int64_t whole, int64_t part) {
  if (whole % part == 0) return whole / part;
  throw_user_error("{} is {}, which {} does not divide; change one of them", key, whole, part);
}

// One run of Habana's programs: what the launcher's command line and its presets leave open is
// settled as the launcher does.
class HabanaRun {
 public:
  explicit HabanaRun(Conversion& c) : c_(c) {
    is_pretraining_ = c.task() == "pretraining";
    is_launcher_ = c.has("command") || c.program().starts_with("demo_bert");
    const bool is_second = c.value("phase2") == true || c.value("phase") == 2;
    phase_ = is_pretraining_ && is_second ? 1 : 0;
    const char* launched = is_pretraining_ ? "launcher pretraining" : "launcher finetuning";
    defaults_ = &defaults_of(is_launcher_ ? launched : c.task());
  }

  void convert() {
    convert_batch();
    convert_length();
    convert_optimizer();
    convert_model();
    convert_data();
    convert_switches();
    say_of_phases();
  }

 private:
  // The full key of a value: a preset keeps some by task and by dtype.
  std::string place(const std::string& key) const {
    const std::string block = "dataset_parameters." + c_.text("task_name") + ".";
    const std::string of_type = block + "data_type_parameters." + c_.text("data_type") + "." + key;
    const std::string found = c_.first_of({key, block + key, of_type});
    return found.empty() ? key : found;
  }
  // The value of this run's phase; null: none.
  Json value(const std::string& key) const {
    Json found = c_.value(place(key));
    if (found.is_null() && defaults_->contains(key)) found = defaults_->at(key);
    if (found.is_string() && key == "data_dir" && is_pretraining_)
      found = split(found.get<std::string>());
    if (!found.is_array()) return found;
    return found.empty() ? Json() : found[std::min<size_t>(phase_, found.size() - 1)];
  }
  static Json split(const std::string& text) {
    const size_t comma = text.find(',');
    if (comma == std::string::npos) return Json::array({text});
    return Json::array({text.substr(0, comma), text.substr(comma + 1)});
  }
  int64_t count(const std::string& key, int64_t otherwise) const {
    const Json found = value(key);
    return found.is_null() ? otherwise : checked_count(key, found);
  }
  void set(const std::string& option, const std::string& key) {
    const Json found = value(key);
    if (!found.is_null()) c_.set(option, found, {place(key)});
  }

  void convert_batch() {
    const char* per_device[] = {"per_gpu_train_batch_size", "per_device_train_batch_size",
                                "batch_size"};
    int64_t batch = 8, accumulation = count("gradient_accumulation_steps", 1);
    for (const char* key : per_device) batch = count(key, batch);
    const bool divides = is_pretraining_ || c_.has("train_batch_size");
    if (divides && !is_launcher_) {
      batch = checked_quotient("train_batch_size", count("train_batch_size", 1), accumulation);
    }
    if (is_pretraining_ && is_launcher_ && c_.value("accumulate_gradients") == true) {
      const int64_t whole = count("train_batch_size", batch);
      accumulation = checked_quotient("train_batch_size", whole, batch);
    }
    const int64_t devices = c_.count("world_size", c_.value("dist") == true ? 8 : 1);
    const int64_t sequences = checked_product({batch, accumulation, devices});
    const std::initializer_list<std::string> keys = {place("batch_size"),
                                                     "per_gpu_train_batch_size",
                                                     "per_device_train_batch_size",
                                                     "train_batch_size",
                                                     "gradient_accumulation_steps",
                                                     "accumulate_gradients",
                                                     "world_size",
                                                     "dist"};
    c_.set("micro_batch_size", batch, {place("batch_size")});
    c_.set("global_batch_size", sequences, keys,
           fmt::format(" = {} * {} micro-batches * {} devices", batch, accumulation, devices));
  }

  void convert_length() {
    const Json steps = value("max_steps");  // -1: none
    if (steps.is_number() && steps.get<double>() > 0) {
      c_.set("num_train_steps", checked_count("max_steps", steps), {place("max_steps")});
    } else {
      set("epochs", "num_train_epochs");
    }
    set("seq_length", "max_seq_length");
    for (const char* key : {"save_steps", "num_steps_per_checkpoint"}) set_save_steps(key);
    if (is_pretraining_) set("max_predictions_per_seq", "max_predictions_per_seq");
  }

  // -1: the end alone is saved.
  void set_save_steps(const std::string& key) {
    const Json steps = value(key);
    const bool saves_end = steps.is_number() && steps.get<double>() <= 0;
    if (!saves_end) return set("steps_per_ckpts", key);
    c_.set("steps_per_ckpts", 0, {place(key)}, ", the end alone");
  }

  // The launcher runs both phases unless one is chosen.
  void say_of_phases() {
    const bool has_both = is_pretraining_ && is_launcher_ && !c_.has("phase");
    if (!has_both) return;
    c_.remark(
        "there this runs two phases, and this is the first; cloze config import --phase 2 writes "
        "the second, which starts from it by --init-checkpoint, and scripts/reproduce runs both");
  }

  void convert_optimizer() {
    set("base_learning_rate", "learning_rate");
    for (const char* key : {"warmup", "warmup_proportion", "warmup_steps"}) set("warmup", key);
    c_.set_default("optimizer", is_pretraining_ ? "lamb" : "adamw");
    c_.set_default("lr_schedule", is_pretraining_ ? "poly_warmup" : "linear");
    if (is_pretraining_) c_.set_default("lr_power", {1.0, 0.5});
    if (!is_pretraining_) c_.set_default("warmup", 0);
    // It clips at 1, and a file that clips elsewhere is followed.
    c_.set_default("use_nvlamb", is_pretraining_ && c_.number("max_grad_norm", 1.0) == 1.0);
    c_.set_default("weight_decay_rate", is_pretraining_ ? 0.01 : 0.0);
    c_.set_default("epsilon", is_pretraining_ ? 1e-6 : 1e-8);
    if (!is_pretraining_) c_.set_default("debias_epsilon", true, kEpsilonIsAdded);
    convert_precision();
  }

  void convert_precision() {
    if (c_.has("data_type")) {
      c_.set("precision", c_.text("data_type") == "fp32" ? "f32" : c_.text("data_type"),
             {"data_type"});
    }
    for (const char* key : {"fp16", "amp"}) {
      if (c_.value(key) != true) continue;
      c_.set("precision", "fp16", {key});
      convert_loss_scale();
    }
    for (const char* key : {"hmp", "autocast"}) {
      if (c_.value(key) == true) c_.set("precision", "bf16", {key});
    }
  }

  void convert_loss_scale() {
    if (!is_off(c_.value("loss_scale"))) return set("loss_scaling", "loss_scale");
    c_.set("loss_scaling", 0, {"loss_scale"}, ", dynamic");
    set("init_loss_scale", "init_loss_scale");
    if (is_pretraining_) c_.set_default("init_loss_scale", 1 << 20);
  }

  void convert_model() {
    const std::string name = c_.text("model_name_or_path");
    if (is_pretraining_) {
      c_.set_default("vocab_size", 30528);  // 30522, up to a multiple of 8
      const std::pair<const char*, int64_t> sizes[] = {{"hidden_size", 1024},
                                                       {"num_hidden_layers", 24},
                                                       {"num_attention_heads", 16},
                                                       {"intermediate_size", 4096}};
      for (const auto& [option, size] : sizes) c_.set_default(option, size);
    } else if (!name.empty()) {
      const std::string folder = name == "base"    ? "bert-base-uncased"
                                 : name == "large" ? "bert-large-uncased-whole-word-masking"
                                                   : name;
      c_.set("init_checkpoint", folder, {"model_name_or_path"}, ", the folder of that model");
    }
  }

  void convert_data() {
    if (is_pretraining_) {
      set("train_file", "data_dir");
      set("train_file", "input_dir");
    } else if (c_.task() == "GLUE") {
      set("data_dir", "data_dir");
      const bool is_left_out = is_launcher_ && !c_.has("task_name");
      c_.set("task_name", is_left_out ? Json("mrpc") : c_.value("task_name"), {"task_name"});
    } else {
      const Json folder = value("data_dir");
      const std::string prefix = folder.is_string() ? folder.get<std::string>() + "/" : "";
      set_file("train_file", prefix, "train-v1.1.json");
      set_file("predict_file", prefix, "dev-v1.1.json");
    }
  }
  void set_file(const std::string& key, const std::string& prefix, const std::string& otherwise) {
    const std::string name = c_.has(key) ? c_.text(key) : otherwise;
    c_.set(key, prefix + name, {key, place("data_dir")});
  }

  void convert_switches() {
    if (is_pretraining_) return;
    if (is_launcher_ || c_.value("do_train") == true) c_.set("do_training", true, {"do_train"});
    if (c_.value("do_eval") == true) c_.set("do_evaluation", true, {"do_eval"});
  }

  Conversion& c_;
  const Defaults* defaults_;
  bool is_pretraining_ = false, is_launcher_ = false;
  size_t phase_ = 0;
};

void convert(Conversion& c) { HabanaRun(c).convert(); }

}  // namespace

const ForeignSystem& habana() {
  static const ForeignSystem system = {.id = "habana",
                                       .name = "Habana's PyTorch programs",
                                       .groups = {{"Habana PyTorch", "", rules()}},
                                       .defaults = {{"use_debiasing", true}, {"seed", 42}},
                                       .task_of = task_of,
                                       .convert = convert};
  return system;
}

}  // namespace cloze::configuration
