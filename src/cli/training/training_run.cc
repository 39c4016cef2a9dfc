#include "cli/training/training_run.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>

#include "checkpoints/tensor_names.h"
#include "cli/exit_code.h"
#include "cli/options/shipped_files.h"
#include "cli/plan/report.h"
#include "cli/plan/step_profile.h"
#include "cli/say.h"
#include "data/loader.h"
#include "feed/step_inputs.h"
#include "formats/json.h"
#include "platform/memory.h"
#include "platform/signals.h"
#include "platform/standard_streams.h"
#include "text/utf8.h"
#include "train/metrics/progress.h"
#include "train/mllog_run.h"
#include "train/ranks/gradient_exchange.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

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
std::unique_ptr<StepProfile> profile_of(engine::Session& session, const RunOptions& options,
                                        const std::string& memory) {
  if (options.profile_report.empty()) return nullptr;
  const auto make_report = [&options, memory](const plan::Program& program, int64_t micro_batches) {
    Report report = training_report(options, program, micro_batches, memory);
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
void report_nothing_to_do(const RunOptions& options, int64_t steps_done, int64_t total_steps) {
  if (steps_done < total_steps || options.training.restore_dir.empty()) return;
  const char* const length = options.last_step ? "max_training_sequences"
                             : options.epochs  ? "`epochs`"
                                               : "num_train_steps";
  say("nothing to do: {} of {} steps are done; raise {} to train longer\n", steps_done, total_steps,
      length);
}

}  // namespace

formats::Json stored_options(const std::vector<checkpoints::TextFile>& files) {
  const auto file = std::ranges::find(files, kStoredOptionsName, &checkpoints::TextFile::name);
  if (file == files.end()) return formats::Json::object();
  return formats::Json::parse(file->text);
}

forecast::DeviceRates device_rates(const RunOptions& options) {
  return forecast::read_device_file(find_shipped(options.device_file));
}

train::TrainingStepOptions step_options(const RunOptions& options) {
  const BatchPlan batch = batch_plan(options);
  train::TrainingStepOptions step = options.training.step;
  step.capacity = {.tokens = batch.tokens, .sequences = batch.sequences};
  return step;
}

train::TrainingOptions training_options(const RunOptions& options, int64_t num_steps) {
  const std::string warmup = warmup_note(options, num_steps);
  if (!warmup.empty()) say("note: {}\n", warmup);
  train::TrainingOptions training = options.training;
  training.step = step_options(options);
  training.global_batch_size = batch_plan(options).sequences_per_step;
  training.num_steps = num_steps;
  training.schedule = learning_rate_schedule(options, num_steps);
  if (!options.device_file.empty()) {
    const forecast::DeviceRates rates = device_rates(options);
    const auto rate = rates.gflops.find(std::string(name_of(training.step.compute_dtype)));
    if (rate != rates.gflops.end()) training.product_flops = rate->second * 1e9;
  }
  return training;
}

std::vector<checkpoints::TextFile> option_files(const OptionTable& table) {
  const formats::Json values = table.values();
  for (const auto& [name, value] : values.items()) {
    if (!value.is_string() || text::is_valid_utf8(value.get<std::string>())) continue;
    throw_user_error("{} {} is not UTF-8, so {} cannot keep it for a resumed run; rename it", name,
                     formats::json_line(value), kStoredOptionsName);
  }
  return {{kStoredOptionsName, formats::json_text(values)},
          {kStoredOriginsName, formats::json_text(table.origins())}};
}

forecast::MemoryForecast memory_beside_step(const RunOptions& options,
                                            const data::MicroBatchCapacity& capacity,
                                            forecast::MemoryForecast memory) {
  // Code that has not run yet, stacks of threads, and what the allocator keeps for them: measured,
  // 3 to 4 MiB.
  constexpr int64_t kFirstStepBytes = 4 << 20;
  memory.add("what the first step alone takes", kFirstStepBytes);
  if (options.training.synthetic_data) return memory;
  data::LoaderOptions loading{.global_batch_size = batch_plan(options).sequences_per_step,
                              .capacity = capacity,
                              .threads = options.training.loader_threads,
                              .memory_bytes = options.training.loader_memory << 20};
  loading.take_together(options.training.device_iterations);
  memory.add("batches made ahead", data::most_bytes(loading, options.seq_length));
  return memory;
}

void add_step(forecast::MemoryForecast& memory, const RunOptions& options,
              const plan::Program& program, bool saves_before_end) {
  const train::TrainingStepOptions& step = options.training.step;
  const bool has_states_aside = !step.compile.optimizer_state_folder.empty();
  memory.add("a step", program.total_bytes() + runtime::input_image_bytes(program) -
                           (has_states_aside ? program.bytes_of(plan::Arena::kOptimizerState) : 0));
  memory.add("smaller micro-batches", feed::smaller_sessions_bytes(program));
  if (saves_before_end && train::saves_from_copy(step)) {
    memory.add("a copy to save", train::checkpoint_tensor_bytes(program.graph));
  }
  if (step.ranks->size() > 1) {
    memory.add("messages of ranks",
               train::message_bytes(step.num_stages(), step.num_replicas(),
                                    program.bytes_of(plan::Arena::kGradients)));
  }
  if (step.reproducible_sums) {
    memory.add("sums of gradients", program.bytes_of(plan::Arena::kGradients));
  }
  const int64_t steps = options.training.device_iterations;
  if (steps == 1) return;
  // Each is a separate block of the host's memory.
  memory.add("device iterations",
             steps * platform::whole_pages(program.bytes_of(plan::Arena::kMetrics)));
}

bool saves_before_end(const train::TrainingOptions& training, int64_t num_steps) {
  const int64_t period = training.steps_per_checkpoint;
  return training.watch.rolls_back() || (period > 0 && num_steps > period) ||
         (!training.evaluation_steps.empty() && num_steps > training.evaluation_steps.front());
}

bool saves_before_end(const RunOptions& options) {
  return saves_before_end(options.training, planned_steps(options).value_or(INT64_MAX));
}

void end_saved_run(const RunOptions& options, int signal, const char* when) {
  say("stopped on signal {}{}; resume with --restore-dir {}\n", signal, when,
      options.training.save_path.string());
  throw EarlyExit{ExitCode::kSavedOnSignal};
}

train::TrainingState run_training(train::TrainingOptions run, const RunOptions& options,
                                  int64_t evaluation_bytes) {
  const auto start = std::chrono::system_clock::now();
  platform::stop_if_requested();
  forecast::MemoryForecast memory = memory_beside_step(options, run.step.capacity);
  if (evaluation_bytes > 0) memory.add("evaluation", evaluation_bytes);
  const fs::path folder = run.save_path;
  const int64_t total_steps = run.num_steps;
  const std::optional<double> target = run.target;
  const bool copies = saves_before_end(run, total_steps);
  train::ExportedRun exported{
      .folder = folder,
      .config = stored_options(run.extra_files),
      .mllog = train::mllog_run(run, options.seq_length, options.exports.submission),
      .start = start};

  constexpr const char* kPredictions = "max_predictions_per_seq";
  if (exported.config.contains(kPredictions)) {
    exported.mllog.facts[kPredictions] = exported.config[kPredictions];
  }

  std::unique_ptr<StepProfile> profile;
  run.after_step = [&](const train::StepMetrics& step) {
    if (profile) profile->add(step);
  };
  std::optional<train::Progress> progress;
  train::Training training(std::move(run), [&](const std::string& line) {
    if (progress) progress->clear();
    say("{}\n", line);
  });
  report_nothing_to_do(options, training.first_step(), total_steps);
  platform::stop_if_requested();
  if (training.evaluation_bytes() > 0) memory.add("evaluation", training.evaluation_bytes());
  const plan::Program& program = training.session().program();
  add_step(memory, options, program, copies);
  if (const int64_t more = training.step().in_flight(micro_batches_of_step(options)) - 1;
      more > 0) {
    memory.add("micro-batches in flight", more * (program.bytes_of(plan::Arena::kInputs) +
                                                  runtime::input_image_bytes(program) +
                                                  program.bytes_of(plan::Arena::kActivations)));
  }
  say("{}\n", memory.text());
  progress.emplace(make_progress(options, total_steps));
  train::MetricsLog log(folder / "metrics.jsonl", training.first_step());
  train::TensorBoardMetrics tensorboard(folder / "event", training.first_step());
  profile = profile_of(training.session(), options, memory.text());
  std::vector<train::MetricsSink*> sinks = {&log, &tensorboard, &*progress};
  exported.mllog.tensors = tensorflow_names(training.session().graph());
  exported.done = {.steps = training.first_step(),
                   .samples = training.state().samples,
                   .evaluated_step = training.state().evaluated_step,
                   .best = training.state().best_metric};
  const auto exports = train::make_exports(options.exports, exported);
  for (const auto& sink : exports) sinks.push_back(sink.get());
  const auto outcome = training.run(sinks);
  for (train::MetricsSink* const sink : sinks) sink->finish();
  if (profile) say("{}\n", profile->outcome());
  say("{}\n", memory.outcome());
  if (const auto line = training.high_loss_at_end()) say("note: {}\n", *line);
  if (outcome == train::TrainingOutcome::kStoppedBySignal) {
    end_saved_run(options, training.stop_signal());
  }
  if (target) report_target(*target, training.state(), outcome);
  return training.state();
}

}  // namespace cloze::cli
