#include "cli/plan/measure_rates.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/seconds.h"
#include "data/generated_dataset.h"
#include "data/loader.h"
#include "forecast/step_seconds.h"

namespace cloze::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSeconds = 2.0;
constexpr size_t kFewestSteps = 5;
constexpr size_t kMostSteps = 50;

data::StepBatch full_batch(const PretrainOptions& options, const train::TrainingStepOptions& step) {
  const int64_t S = options.seq_length;
  const auto dataset = std::make_shared<data::GeneratedDataset>(
      data::GeneratedOptions{.sequence_length = S,
                             .max_predictions = std::min(options.max_predictions(), S - 3),
                             .vocabulary_size = step.model.vocab_size});
  const int64_t sequences = std::min(step.capacity.tokens / S, step.capacity.sequences);
  return data::load_step(
      {.dataset = dataset, .global_batch_size = sequences, .capacity = step.capacity}, 0);
}

// Seconds of each step, with profiling on from the second.
std::vector<double> run_steps(train::TrainingStep& training, const data::StepBatch& batch) {
  constexpr double kLearningRate = 1e-4;
  // The first step runs code and touches memory for the first time.
  training.run(batch, 0, kLearningRate);
  training.session().executor().set_profiling(true);
  std::vector<double> steps;
  double total = 0.0;
  while (steps.size() < kFewestSteps || (total < kSeconds && steps.size() < kMostSteps)) {
    const auto start = Clock::now();
    training.run(batch, std::ssize(steps) + 1, kLearningRate);
    steps.push_back(seconds_since(start));
    total += steps.back();
  }
  return steps;
}

// Launches with the same operator, dtype and work become one row: their mean.
void add_rows(const plan::Program& program, const forecast::StepSeconds& seconds,
              forecast::DeviceRates& rates) {
  const plan::ProgramUse use = plan::use_of(program);
  std::map<std::pair<std::string, std::string>, std::map<double, int>> counts;
  double bytes = 0.0, seconds_of_bytes = 0.0;
  for (size_t i = 0; i < use.launches.size(); ++i) {
    const plan::LaunchUse& launch = use.launches[i];
    const std::string dtype = forecast::dtype_of(program, *launch.node);
    const std::pair name{std::string(launch.launch->op->name), dtype};
    const double work = forecast::work_of(launch);
    const int count = ++counts[name][work];
    double& mean = rates.operators[name][work];
    mean += (seconds.calls[i] - mean) / count;
    if (const double flops = launch.launch->flops; flops > 0.0) {
      rates.gflops[dtype] = std::max(rates.gflops[dtype], flops / seconds.calls[i] / 1e9);
    } else {
      bytes += work;
      seconds_of_bytes += seconds.calls[i];
    }
  }
  rates.gigabytes_per_second = bytes / seconds_of_bytes / 1e9;
  rates.operators[{forecast::kHostWork, "f32"}]
                 [static_cast<double>(program.bytes_of(plan::Arena::kGradients))] = seconds.host;
}

}  // namespace

forecast::DeviceRates measure_rates(const PretrainRun& run) {
  const PretrainOptions& options = run.options;
  train::TrainingStepOptions step = run.training.step;
  step.model.num_hidden_layers = std::min<int64_t>(step.model.num_hidden_layers, 2);
  train::TrainingStep training(step);
  training.session().initialize_parameters(step.seed, step.compile.target.threads);
  const std::vector<double> steps = run_steps(training, full_batch(options, step));
  const plan::Program& program = training.session().program();
  forecast::DeviceRates rates{.device = program.target->description()};
  rates.source = fmt::format(
      "cloze plan --measure: medians of {} steps of {} layers, {} tokens in sequences of {}",
      steps.size(), step.model.num_hidden_layers, step.capacity.tokens, options.seq_length);
  add_rows(program,
           forecast::measured_seconds(program, training.session().executor().spans(), steps),
           rates);
  return rates;
}

}  // namespace cloze::cli
