#include <memory>
#include <optional>
#include <utility>

#include "cli/configuration/configuration_commands.h"
#include "cli/launch/ranks.h"
#include "cli/options/commands.h"
#include "cli/plan/plan_command.h"
#include "cli/run/pretrain_run.h"
#include "cli/training/pretrain_data.h"
#include "cli/training/rank_agreement.h"
#include "cli/training/training_run.h"
#include "comm/world.h"
#include "platform/phase.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

// On all ranks together, before any of them computes.
train::TrainingOptions open_data(const PretrainRun& run, comm::Communicator& ranks) {
  platform::enter_phase("opening data");
  train::TrainingOptions training;
  formats::Json contents;
  const auto open = [&] {
    training = with_data(run);
    if (ranks.size() > 1) contents = contents_of(training);
  };
  // One rank makes a token store of the text in each folder, and the others find it there.
  run.options.input_file.empty() ? together(ranks, open) : one_after_the_first(ranks, open);
  together(ranks, [&] { require_same(ranks, contents); });
  return training;
}

void run_pretrain(PretrainOptions& options, OptionTable& table) {
  // Before ranks wait for each other and files are searched. A plan has nothing to lose.
  if (!options.compile_only) platform::install_stop_signals();
  comm::Communicator& ranks = comm::world();
  together(ranks, [&] { require_same(ranks, start_of(table)); });
  std::optional<PretrainRun> run;
  together(ranks, [&] { run.emplace(resolve(options, table, ranks)); });
  if (options.compile_only) {
    if (ranks.rank() == 0) print_plan(*run, {});
    return;
  }
  std::unique_ptr<comm::Heartbeat> heartbeat;
  together(ranks, [&] { heartbeat = start_heartbeat(ranks, options.rank_watch); });
  train::TrainingOptions training = open_data(*run, ranks);
  together(ranks, [&] { take_own_folder(ranks, training.save_path); });
  platform::enter_phase("compiling");
  run_training(std::move(training), *run);
}

struct PlanOptions : PretrainOptions {
  PlanRequest request;
  PlanOptions() { compile_only = true; }  // needs no data
};

void add_plan_options(OptionTable& table, PlanOptions& options) {
  add_plan_rows(table, options.request);
  add_scale_rows(table, options.request.scale);
  add_pretrain_options(table, options);
}

void run_plan(PlanOptions& options, OptionTable& table) {
  options.plans_ranks = !options.request.scale.network_file.empty();
  print_plan(resolve(options, table, comm::alone()), options.request);
}

}  // namespace

void add_pretrain(Subcommand program) {
  program.add_command(
      "pretrain",
      {"Pre-train BERT or GroupBERT on text or records",
       "cloze pretrain --config bert_tiny --input-file 'text/*.txt' --vocab-file vocab.txt "
       "--save-path run"},
      add_pretrain_options, run_pretrain);
}

void add_plan(Subcommand program) {
  program.add_command("plan",
                      {"Say how much memory and time a configuration takes; train nothing",
                       "cloze plan --config bert_tiny --num-train-steps 1000"},
                      add_plan_options, run_plan);
}

void add_pretrain_configuration(ConfigurationCommands& commands) {
  commands.add("pretrain", add_pretrain_options);
}

}  // namespace cloze::cli
