#include "forecast/step_seconds.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace cloze::forecast {
namespace {

double median(std::vector<double> values) {
  if (values.empty()) return 0.0;
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::ranges::nth_element(values, middle);
  return *middle;
}

int64_t gradient_bytes(const plan::Program& program) {
  return program.bytes_of(plan::Arena::kGradients);
}

void require_products(const DeviceRates& rates, const std::string& op, const std::string& dtype) {
  if (rates.operators.contains({op, dtype}) || rates.gflops.contains(dtype)) return;
  throw_user_error(
      "the rates of {} do not include products in {}; measure them with cloze plan --measure FILE "
      "--precision {}",
      rates.device, dtype, dtype);
}

}  // namespace

int64_t calls_in_step(const plan::LaunchUse& use, int64_t micro_batches) {
  return use.node->phase.index == 0 ? micro_batches : 1;  // the first is kMicroStep
}

double StepSeconds::of_step(const plan::ProgramUse& use, int64_t micro_batches) const {
  double seconds = host;
  for (size_t i = 0; i < calls.size(); ++i) {
    seconds += calls[i] * static_cast<double>(calls_in_step(use.launches[i], micro_batches));
  }
  return seconds;
}

StepSeconds estimated_seconds(const plan::Program& program, const plan::ProgramUse& use,
                              const DeviceRates& rates) {
  StepSeconds seconds{.source = fmt::format("an estimate from {}{}",
                                            rates.operators.empty() ? "" : "the rates of ",
                                            rates.device)};
  for (const plan::LaunchUse& launch : use.launches) {
    if (launch.launch->flops > 0.0) {
      require_products(rates, std::string(launch.launch->op->name),
                       dtype_of(program, *launch.node));
    }
    seconds.calls.push_back(rates.seconds(program, launch));
  }
  seconds.host = rates.seconds(kHostWork, "f32", static_cast<double>(gradient_bytes(program)));
  return seconds;
}

bool is_of(const runtime::LaunchSpan& span, const plan::Program& program) {
  return span.program->bytes_of(plan::Arena::kInputs) == program.bytes_of(plan::Arena::kInputs);
}

StepSeconds measured_seconds(const plan::Program& program,
                             std::span<const runtime::LaunchSpan> spans,
                             const std::vector<double>& steps) {
  std::vector<size_t> first;  // of each phase
  size_t count = 0;
  for (const auto& launches : program.phases) {
    first.push_back(count);
    count += launches.size();
  }
  std::vector<std::vector<double>> by_launch(count);
  double in_launches = 0.0;
  for (const runtime::LaunchSpan& span : spans) {
    in_launches += span.seconds;
    if (span.phase == 0 && !is_of(span, program)) continue;
    by_launch[first[span.phase] + span.launch].push_back(span.seconds);
  }
  const size_t profiled_steps = by_launch.back().size();  // the last launch runs once a step
  StepSeconds seconds{.source = steps.size() == 1
                                    ? "measured: one step"
                                    : fmt::format("measured: medians of {} steps", steps.size())};
  for (std::vector<double>& values : by_launch) seconds.calls.push_back(median(std::move(values)));
  const double whole = std::accumulate(steps.begin(), steps.end(), 0.0);
  const auto runs = static_cast<double>(std::max<size_t>(profiled_steps, 1));
  seconds.host = std::max(0.0, whole / static_cast<double>(steps.size()) - in_launches / runs);
  return seconds;
}

}  // namespace cloze::forecast
