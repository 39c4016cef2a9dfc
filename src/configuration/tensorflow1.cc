#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "configuration/import.h"
#include "formats/json.h"

namespace cloze::configuration {
namespace {

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
  const double value = c.number(option, c.system().defaults.at(option).get<double>());
  c.set(option, takes_rate ? value * scale.copies() : value / scale.copies(),
        {option, "reduction_type"}, ", for gradients of the mean over the step");
}

void convert_batch_and_gradients(Conversion& c) {
  convert_gradients(c, {.is_sum = c.text("reduction_type") == "sum",
                        .accumulated = convert_batch(c),
                        .replicas = c.count("replicas", 1)});
}

void convert_stages(Conversion& c) {
  for (const char* key : {"pipeline_stages", "device_mapping"}) {
    if (const formats::Json list = list_of(c, key); list.is_array()) c.set(key, list.dump(), {key});
  }
}

void convert_steps(Conversion& c) {
  const int64_t together = c.count(c.first_of({"device_iterations", "batches_per_step"}), 1);
  const std::string steps = c.first_of({"steps", "num_train_steps"});
  if (together > 1 && !steps.empty()) {
    c.set("num_train_steps", c.count(steps, 1) / together * together, {steps},
          ", a multiple of device_iterations");
  }
}

}  // namespace

Computations tensorflow1_computations() {
  return {.task_of = task_of,
          .by_name = {{"batch and gradients", convert_batch_and_gradients},
                      {"stages", convert_stages},
                      {"steps", convert_steps}}};
}

}  // namespace cloze::configuration
