// Runs the sweep (backend/testing/kernel_sweep.h) over every kernel of the CPU on each instruction
// set of this machine, over those of the emulated device under some seeds, or over those of any
// other device, in its memory, as scripts/check_kernels, scripts/gpu_check and the tests do.
//   kernel_sweep [--emulated SEEDS | --device NAME] [--thin] [--part I/N] [OPERATOR ...]
// Prints a line "OPERATOR SET cases N failures N" for each operator and set, seed or device;
// failures go to standard error. Exit status 1 when there are any, 2 when there is no such operator
// or device, 4 when this machine cannot use the device.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/attention.h"
#include "backend/cpu/native/matmul.h"
#include "backend/cpu/native/pair_product.h"
#include "backend/cpu/own_kernels_test.h"
#include "backend/cpu/packed_linear.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/product_plan.h"
#include "backend/cpu/row_sums.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/cpu/vocabulary_block.h"
#include "backend/cpu/vocabulary_softmax.h"
#include "backend/emulated/emulated_device.h"
#include "backend/gpu/chunks.h"
#include "backend/gpu/column_sums.h"
#include "backend/gpu/emulation/seed.h"
#include "backend/gpu/matching_rows.h"
#include "backend/gpu/vocabulary_rows.h"
#include "backend/testing/check_kernel.h"
#include "backend/testing/kernel_sweep.h"
#include "backend/testing/run_kernel.h"
#include "base/error.h"
#include "engine/devices.h"

namespace cloze::backend::cpu {
namespace {

// The sweep goes beyond twice whatever a kernel cuts its work into.
static_assert(testing::kSweptLength > 2 * kQueryRows);
static_assert(testing::kSweptLength > 2 * kMostGradientRows);
static_assert(testing::kSweptLength > 2 * kMostNativeRows);
static_assert(testing::kSweptLength > 2 * kPairProductRows);
static_assert(testing::kSweptLength > 2 * kConvolutionSlots);
static_assert(testing::kSweptGroupSize > 2 * kConvolutionPanel);
static_assert(testing::kSweptHeadSize > 2 * kPaddedExtent);
static_assert(testing::kSweptRows > 2 * ProductPlan::kMostRows);
static_assert(testing::kSweptRows > 2 * Matmul::kMostRows);
static_assert(testing::kSweptPairRows > 2 * Matmul::kMostRows);
static_assert(testing::kSweptRows > 2 * PackedLinearPlan::kMostRows);
static_assert(testing::kSweptRows > 2 * VocabularySoftmax::kMostColumns);
static_assert(testing::kSweptColumns > 2 * ProductPlan::kColumns);
static_assert(testing::kSweptDepth > 2 * ProductPlan::kMostDepth);
static_assert(testing::kSweptPackedDepth > 2 * PackedLinearPlan::kMostDepth);
static_assert(testing::kSweptVocabulary > 2 * VocabularySoftmax::kChunkRows);
static_assert(testing::kSweptSlicedWords >
              2 * VocabularySizes::kMostSlices * VocabularySoftmax::kChunkRows);
static_assert(testing::kSweptGroupedDepth > 2 * ProductPlan::kMostGroupDepth);
static_assert(testing::kSweptChunkedRows > 2 * RowSums::kMostChunks * RowSums::kLeastRows);
static_assert(testing::kSweptRowSums > 2 * RowSums::kLeastSums);
static_assert(testing::kSweptElements > 2 * kLeastElements);
static_assert(testing::kSweptElements > 2 * kNormBlockElements);
static_assert(testing::kSweptElements > 2 * kLambBlockElements);
static_assert(testing::kSweptElements > 2 * gpu::kChunkElements);
static_assert(testing::kSweptRows > 2 * gpu::kChunkNumbers);
static_assert(testing::kSweptChannels > 2 * gpu::SumMatchingRows<float, float>::kThreads);
static_assert(testing::kSweptChunkedRows >
              2 * gpu::SummedShape::kChunkRows * gpu::SummedShape::kMostChunks);
static_assert(testing::kSweptChunkedRows > 2 * gpu::kVocabularyRows);

struct Arguments {
  testing::SweepDensity density = testing::SweepDensity::kWhole;
  size_t part = 0, parts = 1;
  uint64_t seeds = 0;                       // of the emulated device; 0: the CPU
  std::string_view device = {};             // any other; empty: the CPU
  std::vector<std::string_view> operators;  // none: all
};

Arguments arguments_of(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--thin") {
      arguments.density = testing::SweepDensity::kThin;
    } else if (argument == "--emulated" && i + 1 < argc &&
               std::sscanf(argv[i + 1], "%lu", &arguments.seeds) == 1 && arguments.seeds > 0) {
      ++i;
    } else if (argument == "--device" && i + 1 < argc) {
      arguments.device = argv[++i];
    } else if (argument == "--part" && i + 1 < argc &&
               std::sscanf(argv[i + 1], "%zu/%zu", &arguments.part, &arguments.parts) == 2 &&
               arguments.part < arguments.parts) {
      ++i;
    } else {
      arguments.operators.push_back(argument);
    }
  }
  return arguments;
}

// The kernels that cases of an operator are for.
using KernelsOf = std::function<std::vector<KernelEntry>(const graph::OpDefinition&, DType)>;

// Those of the CPU; of operators without any, the reference.
std::vector<KernelEntry> cpu_kernels(const graph::OpDefinition& op, DType dtype) {
  std::vector<KernelEntry> entries = own_kernels(op, dtype);
  if (entries.empty()) entries.push_back(backend().kernels(op).front());
  return entries;
}

std::vector<KernelEntry> emulated_kernels(const graph::OpDefinition& op, DType) {
  const auto entries = emulated::own_kernels(op);
  return {entries.begin(), entries.end()};
}

// The sweep once: what is chosen before it, and which kernels it takes.
struct Pass {
  std::string set;
  std::function<void()> choose;
  KernelsOf kernels;
  std::vector<int> threads;
};

std::vector<Pass> passes_of(const Arguments& arguments) {
  std::vector<Pass> passes;
  for (uint64_t seed = 0; seed < arguments.seeds; ++seed) {
    passes.push_back({fmt::format("seed{}", seed),
                      [seed] { gpu::emulation::set_seed(seed); },
                      emulated_kernels,
                      {1}});
  }
  if (!arguments.device.empty()) {
    Device& device = engine::device_named(arguments.device);
    passes.push_back({std::string(arguments.device),
                      [&device] { testing::set_device(&device); },
                      [&device](const graph::OpDefinition& op, DType) {
                        const auto entries = device.backend().kernels(op);
                        return std::vector<KernelEntry>(entries.begin(), entries.end());
                      },
                      {1}});
  }
  if (!passes.empty()) return passes;
  for (const int64_t target : vector_targets()) {
    passes.push_back(
        {hwy::TargetName(target), [target] { choose_target(target); }, cpu_kernels, {1, 3}});
  }
  return passes;
}

struct Count {
  int64_t cases = 0;
  int64_t failures = 0;
};

// Counts of the operators, in the order of their names.
using Counts = std::map<std::string_view, Count>;

void sweep(const testing::KernelCase& one, const std::vector<KernelEntry>& entries,
           const std::vector<int>& threads, Count& count) {
  for (const KernelEntry& entry : entries) {
    const testing::CaseReport report = testing::sweep_case(entry, one, threads);
    if (report.refusal) continue;
    ++count.cases;
    count.failures += report.failures.empty() ? 0 : 1;
    for (const std::string& line : report.failures) fmt::print(stderr, "{}\n", line);
  }
}

Counts sweep_all(const Arguments& arguments, const Pass& pass) {
  Counts counts;
  for (const DType dtype : testing::storage_dtypes()) {
    size_t index = 0;
    for (const testing::KernelCase& one : testing::sweep_cases(dtype, arguments.density)) {
      if (index++ % arguments.parts != arguments.part) continue;
      if (!arguments.operators.empty() &&
          std::ranges::count(arguments.operators, one.op->name) == 0) {
        continue;
      }
      const std::vector<KernelEntry> entries = pass.kernels(*one.op, dtype);
      if (!entries.empty()) sweep(one, entries, pass.threads, counts[one.op->name]);
    }
  }
  return counts;
}

// Counts the operators with kernels but without a case in a whole sweep; prints a line for each on
// standard error.
int64_t count_unswept(const Counts& counts, const KernelsOf& kernels) {
  int64_t unswept = 0;
  for (const graph::OpDefinition* op : reference::operators()) {
    if (kernels(*op, DType::kF32).empty()) continue;
    const auto count = counts.find(op->name);
    if (count != counts.end() && count->second.cases > 0) continue;
    fmt::print(stderr, "{}: the sweep has no cases\n", op->name);
    ++unswept;
  }
  return unswept;
}

// Counts the names that no operator has; prints a line for each on standard error.
int64_t count_unknown(const std::vector<std::string_view>& names) {
  int64_t unknown = 0;
  for (const std::string_view name : names) {
    if (std::ranges::count(reference::operators(), name, &graph::OpDefinition::name) > 0) continue;
    fmt::print(stderr, "kernel_sweep: no operator is called {}\n", name);
    ++unknown;
  }
  return unknown;
}

int run(const Arguments& arguments) {
  if (count_unknown(arguments.operators) > 0) return 2;
  const bool is_all = arguments.operators.empty() && arguments.parts == 1;
  int64_t failures = 0;
  for (const Pass& pass : passes_of(arguments)) {
    pass.choose();
    const Counts counts = sweep_all(arguments, pass);
    if (is_all) failures += count_unswept(counts, pass.kernels);
    for (const auto& [name, count] : counts) {
      fmt::print("{} {} cases {} failures {}\n", name, pass.set, count.cases, count.failures);
      failures += count.failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cloze::backend::cpu

int main(int argc, char** argv) {
  try {
    return cloze::backend::cpu::run(cloze::backend::cpu::arguments_of(argc, argv));
  } catch (const cloze::UserError& error) {
    fmt::print(stderr, "kernel_sweep: {}\n", error.what());
    return 2;
  } catch (const cloze::EnvironmentError& error) {
    fmt::print(stderr, "kernel_sweep: {}\n", error.what());
    return 4;
  }
}
