#include "backend/testing/check_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "backend/host/host_target.h"
#include "backend/testing/run_kernel.h"
#include "backend/testing/tolerance.h"
#include "base/error.h"

namespace cloze::backend::testing {
namespace {

// How much of a case is looked at.
struct Effort {
  int probes = 0;
  bool is_whole = true;  // every way to accumulate, repeated runs, doubtful bounds
};
constexpr Effort kThorough{4, true};
constexpr Effort kSwept{3, false};
// To confirm a failure: with few probes, the scale of some of many elements is too small by chance.
constexpr Effort kConfirmingThoroughly{16, true};
constexpr Effort kConfirmingSwept{16, false};
constexpr int kMostLinesPerOperator = 40;

// A case with everything that does not depend on the kernel. `expected` and `changes` are those of
// a run that accumulates nothing.
struct Prepared {
  const KernelCase& kernel_case;
  KernelRequest request;
  std::vector<Tensor> inputs;
  std::vector<Tensor> initial_outputs;
  std::vector<Tensor> expected;
  std::vector<std::vector<double>> changes;  // per result and element
};

// What a kernel has to give, per result and element.
struct Target {
  std::vector<Tensor> expected;
  std::vector<std::vector<double>> bounds;
};

// Raises changes[result][element] to what random changes of all floating inputs do to the element,
// per unit of relative change. No change is small: a small one would say nothing about an element
// that depends on one input.
void probe(Prepared& prepared, Random& random) {
  std::vector<Tensor> inputs = prepared.inputs;
  for (Tensor& tensor : inputs) {
    if (!is_floating(tensor.type.dtype)) continue;
    for (double& value : tensor.values) {
      const double size = probe_size() * random.uniform(0.5, 1.0);
      value *= 1.0 + (random.below(2) == 0 ? size : -size);
    }
  }
  const std::vector<Tensor> moved = run_reference_in_double(prepared.request, inputs, {});
  for (size_t result = 0; result < moved.size(); ++result) {
    const std::vector<double>& expected = prepared.expected[result].values;
    for (size_t i = 0; i < expected.size(); ++i) {
      const double change = std::abs(moved[result].values[i] - expected[i]) / probe_size();
      if (change > prepared.changes[result][i]) prepared.changes[result][i] = change;
    }
  }
}

Prepared prepare(const KernelCase& kernel_case, const Effort& effort) {
  Prepared prepared{.kernel_case = kernel_case, .request = request_of(kernel_case)};
  prepared.inputs = make_inputs(kernel_case);
  Random random(2);
  for (const graph::TensorType& type : prepared.request.outputs) {
    prepared.initial_outputs.push_back(zeros(type));
    fill_normal(prepared.initial_outputs.back(), random);
  }
  prepared.expected = run_reference_in_double(prepared.request, prepared.inputs, {});
  for (const Tensor& tensor : prepared.expected) {
    prepared.changes.emplace_back(tensor.values.size());
  }
  for (int i = 0; i < effort.probes; ++i) probe(prepared, random);
  return prepared;
}

Target target_of(const Prepared& prepared, const std::vector<bool>& accumulates) {
  const std::vector<graph::TensorType> types = result_types(prepared.request);
  const auto& through_storage = prepared.kernel_case.through_storage;
  Target target{.expected = prepared.expected, .bounds = {}};
  for (size_t result = 0; result < types.size(); ++result) {
    std::vector<double>& expected = target.expected[result].values;
    if (result < accumulates.size() && accumulates[result]) {
      const std::vector<double>& initial = prepared.initial_outputs[result].values;
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += initial[i];
    }
    const bool through = std::ranges::count(through_storage, result) > 0;
    const ErrorModel model{.output = types[result].dtype,
                           .through = through ? storage_of(prepared.request) : DType::kF32,
                           .summed_terms = prepared.kernel_case.summed_terms,
                           .absolute = prepared.kernel_case.absolute_error};
    const auto scale = scales(expected, prepared.changes[result], types[result].shape[-1]);
    target.bounds.push_back(tolerances(model, expected, scale));
  }
  return target;
}

std::vector<std::string> doubts(const KernelCase& kernel_case, const Target& target) {
  std::vector<std::string> lines;
  if (!kernel_case.why_zeros.empty()) return lines;
  for (size_t result = 0; result < target.expected.size(); ++result) {
    const std::vector<double>& expected = target.expected[result].values;
    if (has_too_many_zeros(expected)) {
      lines.push_back(
          fmt::format("result {}: MISTRUSTED, too many expected values are zero", result));
      continue;
    }
    if (!is_meaningful(target.bounds[result], expected)) {
      lines.push_back(fmt::format("result {}: MISTRUSTED, the tolerance is too wide", result));
    }
  }
  return lines;
}

// A number beyond the range of its dtype becomes infinite.
bool is_within(double actual, double expected, double bound, DType dtype) {
  if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) == std::isnan(actual);
  if (std::isinf(actual) && std::abs(expected) + bound >= overflow_threshold(dtype)) {
    return std::signbit(actual) == std::signbit(expected);
  }
  if (std::isinf(expected) || std::isinf(actual)) return expected == actual;
  return std::abs(actual - expected) <= bound;
}

// Compares one result; returns a message about the worst element, empty when all are close enough.
std::string compare(std::span<const double> expected, std::span<const double> bounds,
                    const Tensor& actual) {
  size_t wrong = 0;
  size_t worst = 0;
  double worst_excess = -1.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (is_within(actual.values[i], expected[i], bounds[i], actual.type.dtype)) continue;
    ++wrong;
    const double difference = std::abs(actual.values[i] - expected[i]);
    const double excess = std::isfinite(difference) ? difference / bounds[i] : INFINITY;
    if (excess <= worst_excess) continue;
    worst = i;
    worst_excess = excess;
  }
  if (wrong == 0) return {};
  return fmt::format(
      "{}: {} of {} elements wrong, worst [{}] = {:.9g}, expected {:.9g}, tolerance {:.3g}",
      actual.type.to_string(), wrong, expected.size(), worst, actual.values[worst], expected[worst],
      bounds[worst]);
}

std::vector<std::string> compare_all(const Target& target, const KernelOutcome& outcome) {
  std::vector<std::string> lines = outcome.violations;
  for (size_t result = 0; result < outcome.results.size(); ++result) {
    const std::string line =
        compare(target.expected[result].values, target.bounds[result], outcome.results[result]);
    if (!line.empty()) lines.push_back(fmt::format("result {} {}", result, line));
  }
  return lines;
}

// `how` says how the second outcome came about.
std::vector<std::string> compare_bytes(const KernelOutcome& first, const KernelOutcome& second,
                                       std::string_view how) {
  std::vector<std::string> lines;
  for (size_t result = 0; result < first.results.size(); ++result) {
    if (first.results_bytes[result] != second.results_bytes[result]) {
      lines.push_back(fmt::format("result {}: other bytes {}", result, how));
    }
  }
  return lines;
}

// Which outputs accumulate: none, all that may, and, if there are several, each alone.
std::vector<std::vector<bool>> accumulation_variants(const KernelCase& kernel_case) {
  const size_t outputs = request_of(kernel_case).outputs.size();
  std::vector<bool> all(outputs);
  std::vector<std::vector<bool>> variants{all};
  std::vector<std::vector<bool>> single;
  for (const int output : kernel_case.op->accumulable_outputs) {
    if (static_cast<size_t>(output) >= outputs) continue;
    all[output] = true;
    single.emplace_back(outputs)[output] = true;
  }
  if (!single.empty()) variants.push_back(all);
  if (single.size() > 1) variants.insert(variants.end(), single.begin(), single.end());
  return variants;
}

std::string accumulation_text(const std::vector<bool>& accumulates) {
  std::vector<size_t> outputs;
  for (size_t i = 0; i < accumulates.size(); ++i) {
    if (accumulates[i]) outputs.push_back(i);
  }
  return outputs.empty() ? "" : fmt::format(", accumulates outputs {}", fmt::join(outputs, " "));
}

// One way to accumulate, with each number of threads, which give the same bytes.
void check_variant(const KernelEntry& entry, const Prepared& prepared,
                   const std::vector<bool>& accumulates, const Effort& effort,
                   const std::vector<int>& all_threads, CaseReport& report) {
  const Target target = target_of(prepared, accumulates);
  KernelRequest request = prepared.request;
  request.accumulates = accumulates;
  int threads = 1;
  const auto report_line = [&](const std::string& line) {
    report.failures.push_back(fmt::format("{}: {}{}, threads {}: {}", entry.name,
                                          describe(prepared.kernel_case),
                                          accumulation_text(accumulates), threads, line));
  };
  const auto report_lines = [&](const std::vector<std::string>& lines) {
    std::ranges::for_each(lines, report_line);
  };
  if (effort.is_whole) report_lines(doubts(prepared.kernel_case, target));
  KernelOutcome by_one_thread;
  for (const int number : all_threads) {
    threads = number;
    request.target = make_target(TargetOptions{threads});
    if (const auto refusal = entry.refuse(request)) {
      report.refusal = refusal;
      return;
    }
    const std::unique_ptr<Kernel> kernel = entry.create(request);
    const auto run = [&] {
      return run_kernel(*kernel, request, prepared.inputs, prepared.initial_outputs);
    };
    try {
      const KernelOutcome first = run();
      report_lines(compare_all(target, first));
      if (effort.is_whole) report_lines(compare_bytes(first, run(), "when run again"));
      if (threads == 1) by_one_thread = first;
      report_lines(compare_bytes(by_one_thread, first, "than by one thread"));
    } catch (const InternalError& error) {  // what an emulated kernel did wrong
      return report_line(error.what());
    }
  }
}

}  // namespace

CaseReport run_case(const KernelEntry& entry, const KernelCase& kernel_case) {
  CaseReport report;
  report.refusal = entry.refuse(request_of(kernel_case));
  if (report.refusal) return report;
  for (const Effort& effort : {kThorough, kConfirmingThoroughly}) {
    report.failures.clear();
    const Prepared prepared = prepare(kernel_case, effort);
    for (const std::vector<bool>& accumulates : accumulation_variants(kernel_case)) {
      check_variant(entry, prepared, accumulates, effort, {1, 3, 17}, report);
    }
    if (report.failures.empty()) break;
  }
  return report;
}

CaseReport sweep_case(const KernelEntry& entry, const KernelCase& kernel_case,
                      const std::vector<int>& threads) {
  CaseReport report;
  report.refusal = entry.refuse(request_of(kernel_case));
  if (report.refusal) return report;
  const auto variants = accumulation_variants(kernel_case);
  // One by the sizes, so that every operator meets each of them often.
  int64_t elements = 0;
  for (const graph::TensorType& type : kernel_case.inputs) elements += type.shape.elements();
  const auto& variant = variants[static_cast<size_t>(elements) % variants.size()];
  check_variant(entry, prepare(kernel_case, kSwept), variant, kSwept, threads, report);
  if (report.failures.empty()) return report;
  report.failures.clear();
  check_variant(entry, prepare(kernel_case, kConfirmingSwept), variant, kConfirmingSwept, threads,
                report);
  return report;
}

std::string check_operator(const Backend& backend, const graph::OpDefinition& op) {
  const std::vector<KernelCase> cases = kernel_cases(op);
  if (cases.empty()) return fmt::format("{} has no kernel cases", op.name);
  std::vector<std::string> lines;
  size_t served = 0;
  for (const KernelEntry& entry : backend.kernels(op)) {
    for (const KernelCase& kernel_case : cases) {
      const CaseReport report = run_case(entry, kernel_case);
      if (!report.refusal) ++served;
      lines.insert(lines.end(), report.failures.begin(), report.failures.end());
    }
  }
  // An entry may refuse all cases on a processor that lacks what it needs.
  if (served == 0) lines.push_back(fmt::format("{} has no kernel of {}", backend.name(), op.name));
  if (lines.size() > kMostLinesPerOperator) {
    const size_t more = lines.size() - kMostLinesPerOperator;
    lines.resize(kMostLinesPerOperator);
    lines.push_back(fmt::format("and {} more", more));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace cloze::backend::testing
