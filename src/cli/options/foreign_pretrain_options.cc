#include "cli/options/foreign_pretrain_options.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace cloze::cli {
namespace {

using Names = std::initializer_list<const char*>;

void add_without_effect(std::vector<ForeignOption>& options, Names names,
                        const std::string& reason) {
  for (const char* name : names) options.push_back({.name = name, .reason = reason});
}

void add_planned(std::vector<ForeignOption>& options, Names names, const std::string& reason) {
  for (const char* name : names) {
    options.push_back({.name = name, .reason = reason, .is_refused = true});
  }
}

void add_without_effect(std::vector<ForeignOption>& options) {
  add_without_effect(options, {"pipeline_schedule", "pipeline_stages", "device_mapping"},
                     "one device holds the whole model");
  add_without_effect(options, {"loss_scaling_by_step"}, "f32 and bf16 have the range of the loss");
  add_without_effect(options,
                     {"ipu_replica_identical_seed", "sync_replicas_independently",
                      "log_all_workers", "replicated_tensor_sharding",
                      "max_cross_replica_sum_buffer_size", "max_reduce_scatter_buffer_size"},
                     "one process does the work of all replicas");
  add_without_effect(
      options, {"available_memory_proportion", "variable_offloading", "min_remote_tensor_size"},
      "host memory is the device's memory");
  add_without_effect(
      options,
      {"stochastic_rounding", "partials_type", "increase_optimiser_precision", "use_lr_fp32"},
      "products accumulate in f32 and weights keep an f32 master");
  add_without_effect(options, {"no_outlining", "scheduler"}, "there is no graph compiler");
  add_without_effect(options, {"enable_recomputation", "recomputation_mode"},
                     "recompute says it here: host memory seldom needs it");
  add_without_effect(options, {"matmul_serialize_factor"},
                     "the vocabulary projection always works in blocks");
  add_without_effect(options, {"disable_acc"}, "accuracies are always computed");
  add_without_effect(
      options,
      {"parallel_io_threads", "sloppy_parallel_interleave", "dataset_repeat", "device_iterations"},
      "loader_threads keep the next steps ready, in an order given by the seed");
  add_without_effect(options, {"steps_per_tensorboard"},
                     "scalars go to TensorBoard with every line of metrics");
  add_without_effect(options, {"fp_exceptions"},
                     "a loss or gradient that is not finite always ends the run");
  add_without_effect(options, {"name", "name_suffix", "log_dir"},
                     "save_path names a run and holds all its files");
  add_without_effect(options, {"execution_profile", "memory_profile", "profile_dir"},
                     "bench_step shows times by operator, cloze plan the memory");
}

void add_planned(std::vector<ForeignOption>& options) {
  add_planned(options,
              {"groupbert", "groupbert_ffn_output_groups", "groupbert_conv_kernel_size",
               "groupbert_conv_group_size"},
              "GroupBERT is planned; leave it out");
  add_planned(options, {"synthetic_data"}, "there is no run without data; use generated_data");
}

// Those with one value that asks for what is done here anyway.
void add_agreeing(std::vector<ForeignOption>& options) {
  options.push_back(
      {.name = "loss_scaling", .reason = "f32 and bf16 have the range of the loss", .agreeing = 1});
  options.push_back({.name = "use_qkv_split",
                     .reason = "checkpoints always hold query, key and value apart",
                     .agreeing = true});
  options.push_back({.name = "reduction_type",
                     .reason = "gradients are those of the mean over the step",
                     .agreeing = "mean"});
  options.push_back({.name = "restore_optimiser_from_checkpoint",
                     .reason = "restore_dir restores it, init_checkpoint does not",
                     .agreeing = true});
  options.push_back({.name = "save_optimiser_to_checkpoint",
                     .reason = "it is always saved, in a file of its own",
                     .agreeing = true});
}

}  // namespace

std::vector<ForeignOption> foreign_run_options() {
  std::vector<ForeignOption> options;
  add_without_effect(options);
  add_planned(options);
  add_agreeing(options);
  return options;
}

std::vector<ForeignOption> foreign_pretrain_options() {
  std::vector<ForeignOption> options = foreign_run_options();
  add_planned(options, {"glue_dropout_prob"}, "it is an option of cloze glue; leave it out");
  return options;
}

}  // namespace cloze::cli
