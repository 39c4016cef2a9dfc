#include "cli/pretrain.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "cli/exit_code.h"
#include "cli/pretrain_data.h"
#include "cli/training_setup.h"
#include "formats/json.h"
#include "platform/memory.h"
#include "platform/signals.h"
#include "platform/terminal.h"
#include "train/progress.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct Command {
  PretrainOptions options;
  OptionTable table = pretrain_option_table(options);

  void resolve() {
    table.resolve();
    prefer_command_line(options, table);
    validate(options);
    const std::vector<std::string> data_notes = check_data_options(options, table);
    for (const std::string& note : data_notes) fmt::print(stderr, "note: {}\n", note);
    for (const std::string& note : table.notes()) fmt::print(stderr, "note: {}\n", note);
  }
};

train::Progress make_progress(const PretrainOptions& options, int64_t total_steps) {
  const bool redraws = options.progress_bar == "true" ||
                       (options.progress_bar == "auto" && platform::is_interactive_terminal());
  return train::Progress(std::cerr, {.total_steps = total_steps,
                                     .redraws = redraws,
                                     .has_color = redraws && std::getenv("NO_COLOR") == nullptr,
                                     .columns = platform::terminal_columns()});
}

void print_plan(const PretrainOptions& options, bool with_kernels) {
  const auto step = training_step_options(options);
  const plan::Program program = engine::compile(train::training_graph(step).graph, step.compile);
  const BatchPlan batch = batch_plan(options);
  fmt::print("step {} sequences, in micro-batches of {} tokens, {} sequences, {} predictions\n",
             batch.sequences_per_step, batch.tokens, batch.sequences,
             prediction_room(options, batch));
  fmt::print("{}", describe_program(program, with_kernels));
}

void print_memory(const engine::Session& session) {
  constexpr double kMebibyte = 1 << 20;
  fmt::print(
      stderr,
      "memory: planned {:.1f} MiB, used {:.1f} MiB; {:.1f} MiB at the peak with the pages of "
      "the program and of files\n",
      static_cast<double>(session.program().total_bytes()) / kMebibyte,
      static_cast<double>(platform::private_bytes()) / kMebibyte,
      static_cast<double>(platform::peak_resident_bytes()) / kMebibyte);
}

train::TrainingOutcome train(Command& command) {
  train::TrainingOptions run_options = pretraining_options(command.options);
  run_options.extra_files.push_back(
      {"training_config.json", formats::json_text(command.table.values())});
  const fs::path folder = run_options.save_path;
  const int64_t total_steps = run_options.num_steps;

  std::optional<train::Progress> progress;
  train::Training pretraining(std::move(run_options), [&](const std::string& line) {
    if (progress) progress->clear();
    fmt::print(stderr, "{}\n", line);
  });
  progress.emplace(make_progress(command.options, total_steps));
  train::MetricsLog log(folder / "metrics.jsonl", pretraining.first_step());
  train::TensorBoardMetrics tensorboard(folder / "event", pretraining.first_step());
  const auto outcome = pretraining.run({&log, &tensorboard, &*progress});
  progress->finish();
  print_memory(pretraining.session());
  return outcome;
}

void run_pretrain(Command& command) {
  command.resolve();
  if (command.options.compile_only) {
    print_plan(command.options, false);
    return;
  }
  platform::install_stop_signals();
  if (train(command) == train::TrainingOutcome::kStoppedBySignal) {
    fmt::print(stderr, "stopped on signal {}; go on with --restore-dir {}\n",
               platform::stop_signal(), command.options.save_path);
    throw EarlyExit{ExitCode::kSavedOnSignal};
  }
}

}  // namespace

void add_pretrain(Subcommand parent) {
  Subcommand app = parent.add_subcommand("pretrain", "Pre-train BERT on records");
  const auto command = std::make_shared<Command>();
  command->table.add_flags(app.app());
  app.set_action([command] { run_pretrain(*command); });
}

void add_plan(Subcommand parent) {
  Subcommand app = parent.add_subcommand("plan", "Say what a configuration takes; run nothing");
  const auto command = std::make_shared<Command>();
  command->options.compile_only = true;  // needs no data
  command->table.add_flags(app.app());
  const auto with_kernels = std::make_shared<bool>(false);
  app.add_flag("--kernels", *with_kernels, "Also list the kernels chosen, and why not others");
  app.set_action([command, with_kernels] {
    command->resolve();
    print_plan(command->options, *with_kernels);
  });
}

}  // namespace cloze::cli
