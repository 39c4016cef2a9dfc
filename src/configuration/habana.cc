#include <fmt/format.h>

#include "base/error.h"
#include "configuration/import.h"

namespace cloze::configuration {
namespace {

using formats::Json;

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
    defaults_ = &c.system().constants.at(is_launcher_ ? launched : c.task());
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
    const Conversion::Keys keys = {place("batch_size"),
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

  void convert_rates() {
    set("base_learning_rate", "learning_rate");
    for (const char* key : {"warmup", "warmup_proportion", "warmup_steps"}) set("warmup", key);
  }

  // It clips at 1, and a file that clips elsewhere is followed.
  void convert_clipping() {
    c_.set_default("use_nvlamb", is_pretraining_ && c_.number("max_grad_norm", 1.0) == 1.0);
  }

  void convert_loss_scale() {
    if (!is_off(c_.value("loss_scale"))) return set("loss_scaling", "loss_scale");
    c_.set("loss_scaling", 0, {"loss_scale"}, ", dynamic");
    set("init_loss_scale", "init_loss_scale");
    if (is_pretraining_) c_.set_default("init_loss_scale", 1 << 20);
  }

  // A name alone is that of a published model.
  void convert_model() {
    const std::string name = c_.text("model_name_or_path");
    if (name.empty()) return;
    const std::string folder = name == "base"    ? "bert-base-uncased"
                               : name == "large" ? "bert-large-uncased-whole-word-masking"
                                                 : name;
    c_.set("init_checkpoint", folder, {"model_name_or_path"}, ", the folder of that model");
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

  void convert_switches() {
    if (is_launcher_ || c_.value("do_train") == true) c_.set("do_training", true, {"do_train"});
    if (c_.value("do_eval") == true) c_.set("do_evaluation", true, {"do_eval"});
  }

  // The launcher runs both phases unless one is chosen.
  void say_of_phases() {
    const bool has_both = is_pretraining_ && is_launcher_ && !c_.has("phase");
    if (!has_both) return;
    c_.remark(
        "there this runs two phases, and this is the first; cloze config import --phase 2 writes "
        "the second, which starts from it by --init-checkpoint, and scripts/reproduce runs both");
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

  // -1: the end alone is saved.
  void set_save_steps(const std::string& key) {
    const Json steps = value(key);
    const bool saves_end = steps.is_number() && steps.get<double>() <= 0;
    if (!saves_end) return set("steps_per_ckpts", key);
    c_.set("steps_per_ckpts", 0, {place(key)}, ", the end alone");
  }

  void set_file(const std::string& key, const std::string& prefix, const std::string& otherwise) {
    const std::string name = c_.has(key) ? c_.text(key) : otherwise;
    c_.set(key, prefix + name, {key, place("data_dir")});
  }

  Conversion& c_;
  const Json* defaults_;  // of the program
  bool is_pretraining_ = false, is_launcher_ = false;
  size_t phase_ = 0;
};

template <void (HabanaRun::*convert)()>
void run(Conversion& c) {
  (HabanaRun(c).*convert)();
}

}  // namespace

Computations habana_computations() {
  return {.task_of = task_of,
          .by_name = {{"batch", run<&HabanaRun::convert_batch>},
                      {"length", run<&HabanaRun::convert_length>},
                      {"rates", run<&HabanaRun::convert_rates>},
                      {"clipping", run<&HabanaRun::convert_clipping>},
                      {"loss scale", run<&HabanaRun::convert_loss_scale>},
                      {"model", run<&HabanaRun::convert_model>},
                      {"data", run<&HabanaRun::convert_data>},
                      {"switches", run<&HabanaRun::convert_switches>},
                      {"phases", run<&HabanaRun::say_of_phases>}}};
}

}  // namespace cloze::configuration
