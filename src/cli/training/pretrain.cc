#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoints/stored_model.h"
#include "cli/commands.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/inference/inference_options.h"
#include "cli/plan/plan_command.h"
#include "cli/say.h"
#include "cli/training/export_options.h"
#include "cli/training/pretrain_data.h"
#include "cli/training/rank_agreement.h"
#include "cli/training/ranks.h"
#include "cli/training/resumed_options.h"
#include "cli/training/resumed_text.h"
#include "cli/training/start_shape.h"
#include "cli/training/training_run.h"
#include "cli/training/training_setup.h"
#include "comm/world.h"
#include "platform/files/input_paths.h"
#include "platform/phase.h"
#include "platform/signals.h"

namespace cloze::cli {
namespace {

// Files and folders that the run reads: not its text, where that is gone.
std::vector<std::filesystem::path> inputs_of(const PretrainOptions& options) {
  std::vector<std::filesystem::path> inputs = {options.tokenizer.vocabulary_file};
  const std::string text = is_text_gone(options) ? "" : options.input_file;
  for (const std::string& list : {options.train_file, text, options.validation.files}) {
    if (list.empty()) continue;
    std::ranges::move(platform::expand_paths_with_folders(list), std::back_inserter(inputs));
  }
  return inputs;
}

// A plan needs no weights: a configuration of another system may name a folder that is not here.
bool is_planned_without_start(const PretrainOptions& options, const OptionTable& table) {
  return options.compile_only && table.origin("init_checkpoint") != kCommandLineOrigin &&
         !std::filesystem::exists(options.training.init_checkpoint);
}

// The start model, and from the configuration beside it the model's shape. Weights without one have
// the shape that the options give.
void take_start(PretrainOptions& options, const OptionTable& table) {
  std::filesystem::path& start = options.training.init_checkpoint;
  if (start.empty() || is_planned_without_start(options, table)) return;
  start = model_path(start);
  if (!checkpoints::has_configuration(checkpoints::folder_of(start))) return;
  options.model() = config_of_start(start, options.model(), table, OtherArithmetic::kNoted);
  fit_seq_length(options, table);
}

void settle(PretrainOptions& options, OptionTable& table, comm::Communicator& ranks) {
  take_options_of_run(table, options);
  take_vocabulary_of_checkpoint(options, table);
  settle_rivals(options, table);
  take_start(options, table);
  take_rank(ranks, options, table);
  validate(options);
  // The first rank alone writes exports.
  if (!options.compile_only && ranks.rank() == 0) require_other_inputs(options, inputs_of(options));
  limit_instruction_set(options.instruction_set);
  const std::vector<std::string> data_notes = check_data_options(options, table);
  for (const std::string& note : data_notes) say("note: {}\n", note);
  print_notes(options, table);
}

void run_pretrain(PretrainOptions& options, OptionTable& table) {
  // Before ranks wait for each other and files are searched. A plan has nothing to lose.
  if (!options.compile_only) platform::install_stop_signals();
  comm::Communicator& ranks = comm::world();
  together(ranks, [&] { require_same(ranks, start_of(table)); });
  together(ranks, [&] { settle(options, table, ranks); });
  if (options.compile_only) {
    if (ranks.rank() == 0) print_plan(options, {});
    return;
  }
  std::unique_ptr<comm::Heartbeat> heartbeat;
  together(ranks, [&] { heartbeat = start_heartbeat(ranks, options.rank_watch); });
  platform::enter_phase("opening data");
  train::TrainingOptions run;
  formats::Json contents;
  const auto open = [&] {
    run = pretraining_options(options, table);
    if (ranks.size() > 1) contents = contents_of(run);
  };
  // One rank makes a token store of the text in each folder, and the others find it there.
  options.input_file.empty() ? together(ranks, open) : one_after_the_first(ranks, open);
  together(ranks, [&] { require_same(ranks, contents); });
  run.extra_files = option_files(table);
  together(ranks, [&] { take_own_folder(ranks, run); });
  platform::enter_phase("compiling");
  run_training(std::move(run), options);
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
  settle(options, table, comm::alone());
  print_plan(options, options.request);
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
