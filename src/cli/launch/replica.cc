#include "cli/launch/replica.h"

#include "cli/pipeline_options.h"
#include "cli/pretrain_options.h"
#include "cli/resumed_options.h"
#include "cli/subcommand.h"

namespace cloze::cli {

int processes_of_replica(const std::vector<std::string>& command) {
  PretrainOptions options;
  OptionTable table;
  add_pretrain_options(table, options);
  resolve_words(table, {command.begin() + 1, command.end()});
  take_options_of_run(table, options);
  return pipeline_stages(options.pipeline_stages, options.device_mapping,
                         options.model().num_hidden_layers)
      .num_ranks();
}

}  // namespace cloze::cli
