// Runs the sweep (backend/testing/kernel_sweep.h) over every kernel, on each instruction set of
// this machine, as scripts/check_kernels and the tests do.
//   kernel_sweep [--thin] [--part I/N] [OPERATOR ...]
// Prints a line "OPERATOR SET cases N failures N" for each; failures go to standard error. Exit
// status 1 when there are any, 2 when there is no such operator.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
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
#include "backend/testing/check_kernel.h"
#include "backend/testing/kernel_sweep.h"

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

struct Arguments {
  testing::SweepDensity density = testing::SweepDensity::kWhole;
  size_t part = 0, parts = 1;
  std::vector<std::string_view> operators;  // none: all
};

Arguments arguments_of(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--thin") {
      arguments.density = testing::SweepDensity::kThin;
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

// The kernels that a case is for: those of the CPU; of operators without any, the reference.
std::vector<KernelEntry> kernels_for(const testing::KernelCase& one, DType dtype) {
  std::vector<KernelEntry> entries = own_kernels(*one.op, dtype);
  if (entries.empty()) entries.push_back(backend().kernels(*one.op).front());
  return entries;
}

struct Count {
  int64_t cases = 0;
  int64_t failures = 0;
};

// Counts of the operators, in the order of their names.
using Counts = std::map<std::string_view, Count>;

void sweep(const testing::KernelCase& one, DType dtype, Count& count) {
  for (const KernelEntry& entry : kernels_for(one, dtype)) {
    const testing::CaseReport report = testing::sweep_case(entry, one);
    if (report.refusal) continue;
    ++count.cases;
    count.failures += report.failures.empty() ? 0 : 1;
    for (const std::string& line : report.failures) fmt::print(stderr, "{}\n", line);
  }
}

Counts sweep_all(const Arguments& arguments) {
  Counts counts;
  for (const DType dtype : testing::storage_dtypes()) {
    size_t index = 0;
    for (const testing::KernelCase& one : testing::sweep_cases(dtype, arguments.density)) {
      if (index++ % arguments.parts != arguments.part) continue;
      if (!arguments.operators.empty() &&
          std::ranges::count(arguments.operators, one.op->name) == 0) {
        continue;
      }
      sweep(one, dtype, counts[one.op->name]);
    }
  }
  return counts;
}

// Counts the operators without a case in a whole sweep; prints a line for each on standard error.
int64_t count_unswept(const Counts& counts) {
  int64_t unswept = 0;
  for (const graph::OpDefinition* op : reference::operators()) {
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
  for (const int64_t target : vector_targets()) {
    choose_target(target);
    const Counts counts = sweep_all(arguments);
    if (is_all) failures += count_unswept(counts);
    for (const auto& [name, count] : counts) {
      fmt::print("{} {} cases {} failures {}\n", name, hwy::TargetName(target), count.cases,
                 count.failures);
      failures += count.failures;
    }
  }
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace cloze::backend::cpu

int main(int argc, char** argv) {
  return cloze::backend::cpu::run(cloze::backend::cpu::arguments_of(argc, argv));
}
