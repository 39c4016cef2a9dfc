#include "cli/options/graphcore_form.h"

namespace cloze::cli {

FileForm graphcore_form() {
  FileForm form;
  form.system = kGraphcoreSystem;
  // Keys that say how its processor runs a graph: each of its files has most of them.
  form.marks = {"pipeline_stages",      "pipeline_schedule",  "device_mapping",
                "device_iterations",    "partials_type",      "available_memory_proportion",
                "variable_offloading",  "no_outlining",       "matmul_serialize_factor",
                "enable_recomputation", "stochastic_rounding"};
  // An optimiser and a schedule are not among them: its defaults, momentum and a schedule that does
  // not exist, train nothing there or here.
  form.defaults = {
      {"use_qkv_bias", false},      {"layer_norm_eps", 1e-3}, {"hidden_act", "gelu_new"},
      {"use_debiasing", false},     {"epsilon", 1e-4},        {"weight_decay_rate", 0.0},
      {"base_learning_rate", 2e-5}, {"warmup", 0.1},          {"duplicate_factor", 5},
      {"seq_length", 128},          {"precision", "16"},      {"max_to_keep", 5},
      {"steps_per_ckpts", 256}};
  form.meanings = {{.option = "hidden_act", .there = "gelu", .here = "gelu_new"}};
  return form;
}

}  // namespace cloze::cli
