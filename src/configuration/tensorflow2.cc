#include <algorithm>

#include "configuration/import.h"

namespace cloze::configuration {
namespace {

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

void convert_executions(Conversion& c) {
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
}

void convert_layout(Conversion& c) {
  const std::string stages = c.first_of({"pipeline_stages", "ipu_config.pipeline_stages"});
  if (!stages.empty()) c.set("pipeline_stages", c.value(stages).dump(), {stages});
  const std::string devices = c.first_of({"device_mapping", "ipu_config.pipeline_device_mapping"});
  if (!devices.empty()) c.set("device_mapping", c.value(devices).dump(), {devices});
}

}  // namespace

Computations tensorflow2_computations() {
  return {.task_of = task_of,
          .by_name = {{"executions", convert_executions},
                      {"layout", convert_layout},
                      {"steps", convert_steps}}};
}

}  // namespace cloze::configuration
