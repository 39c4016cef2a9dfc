#include <array>

#include "configuration/import.h"

namespace cloze::configuration {
namespace {

using formats::Json;

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
  if (name.empty()) return;
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

}  // namespace

Computations optimum_computations() {
  return {.task_of = task_of,
          .by_name = {{"batch", convert_batch}, {"length", convert_length}, {"model", convert_model}}};
}

}  // namespace cloze::configuration
