#include "cli/launch/replica.h"

#include "cli/options/subcommand.h"
#include "cli/run/batch_plan.h"
#include "cli/run/pipeline_options.h"
#include "cli/run/pretrain_options.h"
#include "cli/run/resumed_options.h"

namespace cloze::cli {
namespace {

struct LaunchedOptions {
  PretrainOptions options;
  OptionTable table;
};

void resolve(const std::vector<std::string>& command, LaunchedOptions& launched) {
  add_pretrain_options(launched.table, launched.options);
  resolve_words(launched.table, {command.begin() + 1, command.end()});
  take_options_of_run(launched.table, launched.options);
}

int processes_of_replica(const PretrainOptions& options) {
  return pipeline_stages(options.pipeline_stages, options.device_mapping,
                         options.model().num_hidden_layers)
      .num_ranks();
}

}  // namespace

int processes_of_replica(const std::vector<std::string>& command) {
  LaunchedOptions launched;
  resolve(command, launched);
  return processes_of_replica(launched.options);
}

int64_t sequences_of_launched_step(const std::vector<std::string>& command, int processes) {
  LaunchedOptions launched;
  resolve(command, launched);
  PretrainOptions& options = launched.options;
  settle_rivals(options, launched.table);
  // A run that goes on has as many sequences as it had, by the rule of take_rank()
  // (cli/run/pretrain_run.h).
  if (!options.training.restore_from || launched.table.origin("replicas") == kCommandLineOrigin) {
    options.replicas = processes / processes_of_replica(options);
  }
  return batch_plan(options).sequences_per_step;
}

}  // namespace cloze::cli
