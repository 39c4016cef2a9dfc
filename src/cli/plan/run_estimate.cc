#include "cli/plan/run_estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "base/seconds.h"
#include "engine/session.h"
#include "models/bert_flops.h"
#include "ops/linear.h"

namespace cloze::cli {
namespace {

using Clock = std::chrono::steady_clock;

// As many rows as a micro-batch has, but no more than keep all threads busy.
int64_t product_rows(const PretrainRun& run) {
  constexpr int64_t kEnoughRows = 1024;
  return std::min(run.batch.tokens, kEnoughRows);
}

graph::Graph product_graph(const PretrainRun& run) {
  const DType dtype = run.training.step.compute_dtype;
  const models::BertConfig& model = run.training.step.model;
  graph::Graph graph;
  const auto x = graph.add_input("x", {dtype, {product_rows(run), model.hidden_size}});
  const auto weight =
      graph.add_input("weight", {DType::kF32, {model.intermediate_size, model.hidden_size}});
  graph.mark_output(ops::linear(graph, {.x = x, .weight = weight}), "y");
  return graph;
}

// "1,234,567"
std::string grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

}  // namespace

double training_flops(const PretrainRun& run, int64_t sequences) {
  const auto count = static_cast<double>(sequences);
  const auto length = static_cast<double>(run.options.seq_length);
  return models::training_flops(
      run.training.step.model,
      {.tokens = count * length,
       .squared_lengths = count * length * length,
       .predictions = count * static_cast<double>(run.options.max_predictions())});
}

double product_rate(const PretrainRun& run) {
  constexpr double kSeconds = 0.1;
  const models::BertConfig& model = run.training.step.model;
  engine::Session session(product_graph(run), run.training.step.compile);
  session.clear(plan::Arena::kInputs);
  const double flops = 2.0 * static_cast<double>(product_rows(run)) *
                       static_cast<double>(model.hidden_size) *
                       static_cast<double>(model.intermediate_size);
  double best = 0.0;
  const auto begin = Clock::now();
  do {
    const auto start = Clock::now();
    session.run(graph::kMicroStep);
    session.finish();
    best = std::max(best, flops / seconds_since(start));
  } while (seconds_since(begin) < kSeconds);
  return best;
}

std::string rough_duration(double seconds) {
  struct Unit {
    const char* name;
    double seconds;
  };
  constexpr std::array<Unit, 5> kUnits = {{{"years", 365.25 * 86400},
                                           {"days", 86400},
                                           {"hours", 3600},
                                           {"minutes", 60},
                                           {"seconds", 1}}};
  for (const Unit& unit : kUnits) {
    const double count = seconds / unit.seconds;
    if (count >= 1.5) return fmt::format("{:.{}f} {}", count, count < 9.95 ? 1 : 0, unit.name);
  }
  return fmt::format("{:.1f} seconds", seconds);
}

std::string describe_run(const ResolvedRun& run, const StepEstimate& step) {
  const RunOptions& options = run.options;
  const int64_t per_step = run.batch.sequences_per_step;
  const std::optional<int64_t> steps = run.length.planned();
  const int64_t sequences = steps ? *steps * per_step : 1000000;
  std::string text;
  if (steps) {
    text = fmt::format("run {} steps, which see {} sequences of up to {} tokens\n", grouped(*steps),
                       grouped(sequences), options.seq_length);
  } else {
    text =
        fmt::format("run {}; the time is for a million sequences\n",
                    options.epochs ? fmt::format("{} epochs", *options.epochs) : "of any length");
  }
  const double rate = static_cast<double>(per_step) / step.seconds;
  return text + fmt::format("time {} {}, {:.3g} sequences/s{}: {}\n",
                            step.is_least ? "at least" : "about",
                            rough_duration(static_cast<double>(sequences) / rate), rate,
                            step.is_least ? " at most" : "", step.source);
}

}  // namespace cloze::cli
