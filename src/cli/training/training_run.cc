#include "cli/training/training_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "checkpoints/tensor_names.h"
#include "cli/console/exit_code.h"
#include "cli/console/say.h"
#include "cli/options/machine_options.h"
#include "cli/plan/run_memory.h"
#include "cli/report/step_profile.h"
#include "formats/json.h"
#include "platform/signals.h"
#include "platform/standard_streams.h"
#include "runtime/executor.h"
#include "train/metrics/progress.h"
#include "train/mllog_run.h"

namespace cloze::cli {
namespace {

train::Progress make_progress(const RunOptions& options, int64_t total_steps) {
  const bool redraws = options.progress_bar == "true" ||
                       (options.progress_bar == "auto" && platform::is_interactive_terminal());
  return train::Progress(std::cerr, {.total_steps = total_steps,
                                     .redraws = redraws,
                                     .has_color = redraws && std::getenv("NO_COLOR") == nullptr,
                                     .columns = platform::terminal_columns()});
}

std::vector<std::string> tensorflow_names(const graph::Graph& graph) {
  std::vector<std::string> names;
  for (const graph::Value value : graph.variables(graph::VariableRole::kParameter)) {
    const auto name =
        checkpoints::tensorflow_name(graph.info(value).name, checkpoints::TensorflowNames::kGoogle);
    if (name) names.push_back(name->name);
  }
  return names;
}

// Null when nobody asked for one.
std::unique_ptr<StepProfile> profile_of(engine::Session& session, const ResolvedRun& run,
                                        const std::string& memory) {
  const RunOptions& options = run.options;
  if (options.profile_report.empty()) return nullptr;
  const auto make_report = [&run, &options, memory](const plan::Program& program,
                                                    int64_t micro_batches) {
    Report report = training_report(run.training.step,
                                    {.sequences = run.batch.sequences_per_step,
                                     .seq_length = options.seq_length,
                                     .micro_batches = micro_batches},
                                    program, memory);
    if (!options.device_file.empty()) {
      report.estimated = forecast::estimated_seconds(program, report.use, device_rates(options));
    }
    return report;
  };
  return std::make_unique<StepProfile>(session, make_report, options.profile_report);
}

// Exits with 6 when the target was missed. A run may have continued after the step that reached it.
void report_target(double target, const train::TrainingState& state,
                   train::TrainingOutcome outcome) {
  const double best = state.best_metric.value_or(0.0);
  if (outcome != train::TrainingOutcome::kMissedTarget) {
    say("the target {} is reached after step {}: {:.4f}\n", target, state.best_step, best);
    return;
  }
  say("the target {} is not reached: the best evaluation is {:.4f}, after step {} of {}; "
      "train longer (num_train_steps, max_training_sequences), or lower the target\n",
      target, best, state.best_step, state.total_steps);
  throw EarlyExit{ExitCode::kMissedTarget};
}

// Says so where a run resumes after its last step.
void report_nothing_to_do(const ResolvedRun& run, int64_t steps_done, int64_t total_steps) {
  if (steps_done < total_steps || run.options.training.restore_dir.empty()) return;
  const char* const length = run.length.last_step ? "max_training_sequences"
                             : run.options.epochs ? "`epochs`"
                                                  : "num_train_steps";
  say("nothing to do: {} of {} steps are done; raise {} to train longer\n", steps_done, total_steps,
      length);
}

// Says why a run ended before its last step, also where that was known when it resumed.
void report_early_stop(const train::EarlyStoppingOptions& options,
                       const train::TrainingState& state) {
  say("stopped early after step {} of {}: {}; to train longer, resume with a larger "
      "early_stopping_patience than {}\n",
      state.step, state.total_steps, state.early_stopping.reason(options), options.patience);
}

// The values of all options, of a checkpoint's files.
formats::Json stored_values(const std::vector<train::TextFile>& files) {
  const auto file = std::ranges::find(files, kStoredOptionsName, &train::TextFile::name);
  return file == files.end() ? formats::Json::object() : formats::Json::parse(file->text);
}

// Describes the run to the logs for other programs.
train::ExportedRun exported_run(const train::TrainingOptions& training, const RunOptions& options) {
  train::ExportedRun exported{
      .folder = training.save_path,
      .config = stored_values(training.extra_files),
      .mllog = train::mllog_run(training, options.seq_length, options.exports.submission),
      .start = std::chrono::system_clock::now()};
  constexpr const char* kPredictions = "max_predictions_per_seq";
  if (exported.config.contains(kPredictions)) {
    exported.mllog.facts[kPredictions] = exported.config[kPredictions];
  }
  return exported;
}

void add_start(train::ExportedRun& exported, train::Training& training) {
  exported.mllog.tensors = tensorflow_names(training.session().graph());
  exported.done = {.steps = training.first_step(),
                   .samples = training.state().samples,
                   .evaluated_step = training.state().evaluated_step,
                   .best = training.state().best_metric};
}

// Adds what the compiled step takes.
void add_session(forecast::MemoryForecast& memory, train::Training& training,
                 const ResolvedRun& run, bool saves_before_end) {
  if (training.evaluation_bytes() > 0)
    memory.add_to_device("evaluation", training.evaluation_bytes());
  const plan::Program& program = training.session().program();
  add_step(memory, run.training, program, saves_before_end);
  const int64_t more = training.step().in_flight(run.batch.micro_batches) - 1;
  if (more <= 0) return;
  memory.add_to_device(
      "micro-batches in flight",
      more * (program.bytes_of(plan::Arena::kInputs) + program.bytes_of(plan::Arena::kActivations)),
      more * runtime::input_image_bytes(program));
}

train::TrainingOutcome run_steps(train::Training& training, train::Progress& progress,
                                 const ResolvedRun& run, train::ExportedRun exported) {
  const std::filesystem::path& folder = exported.folder;
  train::MetricsLog log(folder / "metrics.jsonl", training.first_step());
  train::TensorBoardMetrics tensorboard(folder / "event", training.first_step());
  std::vector<train::MetricsSink*> sinks = {&log, &tensorboard, &progress};
  add_start(exported, training);
  const auto exports = train::make_exports(run.options.exports, exported);
  for (const auto& sink : exports) sinks.push_back(sink.get());
  const train::TrainingOutcome outcome = training.run(sinks);
  for (train::MetricsSink* const sink : sinks) sink->finish();
  return outcome;
}

}  // namespace

void end_saved_run(const RunOptions& options, int signal, const char* when) {
  say("stopped on signal {}{}; resume with --restore-dir {}\n", signal, when,
      options.training.save_path.string());
  throw EarlyExit{ExitCode::kSavedOnSignal};
}

train::TrainingState run_training(train::TrainingOptions options, const ResolvedRun& run,
                                  int64_t evaluation_bytes) {
  const train::ExportedRun exported = exported_run(options, run.options);
  platform::stop_if_requested();
  forecast::MemoryForecast memory = memory_beside_step(run);
  if (evaluation_bytes > 0) memory.add_to_device("evaluation", evaluation_bytes);
  const int64_t total_steps = options.num_steps;
  const std::optional<double> target = options.target;
  const bool saves = saves_before_end(options, total_steps);
  std::unique_ptr<StepProfile> profile;
  options.after_step = [&](const train::StepMetrics& step) {
    if (profile) profile->add(step);
  };
  std::optional<train::Progress> progress;
  train::Training training(std::move(options), [&](const std::string& line) {
    if (progress) progress->clear();
    say("{}\n", line);
  });
  report_nothing_to_do(run, training.first_step(), total_steps);
  platform::stop_if_requested();
  add_session(memory, training, run, saves);
  say_card(run.training.step.compile.device);
  say("{}\n", memory.text());
  progress.emplace(make_progress(run.options, total_steps));
  profile = profile_of(training.session(), run, memory.text());
  const auto outcome = run_steps(training, *progress, run, exported);
  if (profile) say("{}\n", profile->outcome());
  say("{}\n", memory.outcome());
  if (const auto line = training.high_loss_at_end()) say("note: {}\n", *line);
  if (outcome == train::TrainingOutcome::kStoppedBySignal) {
    end_saved_run(run.options, training.stop_signal());
  }
  if (outcome == train::TrainingOutcome::kStoppedEarly) {
    report_early_stop(run.training.early_stopping, training.state());
  }
  if (target) report_target(*target, training.state(), outcome);
  return training.state();
}

}  // namespace cloze::cli
