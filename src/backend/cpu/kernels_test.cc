// Every kernel of the table against the reference, on each instruction set of this machine.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "backend/cpu/backend.h"
#include "backend/cpu/own_kernels_test.h"
#include "backend/cpu/vector_target_test.h"
#include "backend/testing/check_kernel.h"
#include "ops/vocabulary_loss.h"

namespace cloze::backend::cpu {
namespace {

class Kernels : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(Kernels, AgreeWithTheReference) {
  for_each_target([] { EXPECT_EQ(testing::check_operator(backend(), *GetParam()), ""); });
}

// The code around the products of bf16 units is checked on machines without such units too, that
// around oneDNN's products on those with AVX-512.
TEST_P(Kernels, ForBf16UnitsAgreeWithTheReferenceEverywhere) {
  const graph::OpDefinition& op = *GetParam();
  for (const KernelEntry& entry : own_kernels(op, DType::kBF16)) {
    if (!is_native(entry)) continue;
    for (const testing::KernelCase& one : testing::kernel_cases(DType::kBF16)) {
      if (one.op != &op) continue;
      for_each_target([&] {
        const testing::CaseReport report = testing::run_case(entry, one);
        EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
      });
    }
  }
}

// A kernel that no case reaches is not checked by any of the tests here.
TEST_P(Kernels, EachServesSomeCase) {
  std::set<std::string_view> idle;
  for (const KernelEntry& entry : backend().kernels(*GetParam())) {
    const bool needs_onednn = is_native(entry) && !multiplies_pairs(*GetParam());
    if (!needs_onednn || !refuse_any_bf16()) idle.insert(entry.name);
  }
  for (const DType dtype : testing::storage_dtypes()) {
    std::vector<KernelEntry> entries = own_kernels(*GetParam(), dtype);
    entries.push_back(backend().kernels(*GetParam()).back());
    for (const testing::KernelCase& one : testing::kernel_cases(dtype)) {
      if (one.op != GetParam()) continue;
      const KernelRequest request = request_of(one);
      for (const KernelEntry& entry : entries) {
        if (!entry.refuse(request)) idle.erase(entry.name);
      }
    }
  }
  EXPECT_EQ(fmt::format("{}", fmt::join(idle, " ")), "");
}

// Rows of the tables of all files.
size_t count_rows() {
  const std::regex row(R"(^    \{&ops::k\w+, ")");
  size_t rows = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(
           std::string(CLOZE_SOURCE_DIR) + "/src/backend/cpu")) {
    std::ifstream source(file.path());
    for (std::string line; std::getline(source, line);) {
      rows += std::regex_search(line, row) ? 1 : 0;
    }
  }
  return rows;
}

TEST(KernelTable, HasEveryKernel) {
  const size_t written = count_rows();
  std::set<std::string_view> names;
  size_t in_table = 0;
  for (const graph::OpDefinition* op : operators_with_own_kernels()) {
    for (const KernelEntry& entry : own_kernels(*op, DType::kF32)) {
      names.insert(entry.name);
      ++in_table;
    }
  }
  EXPECT_GT(written, 0u);
  EXPECT_EQ(in_table, written);
  EXPECT_EQ(names.size(), written);
}

INSTANTIATE_TEST_SUITE_P(Operators, Kernels, ::testing::ValuesIn(operators_with_own_kernels()),
                         [](const auto& info) { return std::string(info.param->name); });

// Predictions that span several blocks, the last ones unused, or all unused.
testing::KernelCase vocabulary_case(int64_t predictions, int64_t used, DType dtype) {
  constexpr int64_t kVocabulary = 200;
  constexpr int64_t kHidden = 4;
  const graph::TensorType scalar{DType::kF32, {1}};
  testing::KernelCase one{.name = fmt::format("{} of {} predictions used", used, predictions),
                          .op = &ops::kVocabularyLossWithGradient,
                          .inputs = {scalar,
                                     {dtype, {predictions, kHidden}},
                                     {DType::kF32, {kVocabulary, kHidden}},
                                     {DType::kI32, {predictions}},
                                     scalar,
                                     {DType::kF32, {kVocabulary}}},
                          .summed_terms = predictions,
                          .through_storage = {ops::VocabularyLossWithGradient::kDx,
                                              ops::VocabularyLossWithGradient::kDtable,
                                              ops::VocabularyLossWithGradient::kDbias}};
  one.prepare = [=](std::vector<testing::Tensor>& inputs, testing::Random& random) {
    using Op = ops::VocabularyLossWithGradient;
    inputs[Op::kDloss].values = {0.75};
    inputs[Op::kNormalizer].values = {1.0 / static_cast<double>(predictions)};
    // Two words of different chunks are likely, so that some predictions are right; but not as
    // likely as they are frequent as labels, or the gradient of their bias would be nothing but
    // rounding.
    inputs[Op::kBias].values[5] = 5.0;
    inputs[Op::kBias].values[150] = 7.0;
    for (int64_t i = 0; i < predictions; ++i) {
      const int64_t label = i % 2 == 0 ? 5 + i % 3 / 2 * 145 : random.below(kVocabulary);
      const bool is_ignored = i >= used || i % 50 == 7;
      inputs[Op::kLabels].values[i] = is_ignored ? -1.0 : static_cast<double>(label);
    }
  };
  if (used == 0) one.why_zeros = "no prediction is used";
  return one;
}

TEST(VocabularyLoss, AgreesAcrossBlocks) {
  for (const DType dtype : testing::storage_dtypes()) {
    for (const KernelEntry& entry : own_kernels(ops::kVocabularyLossWithGradient, dtype)) {
      for (const int64_t used : {300, 257, 0}) {
        const testing::CaseReport report =
            testing::run_case(entry, vocabulary_case(300, used, dtype));
        EXPECT_EQ(fmt::format("{}", fmt::join(report.failures, "\n")), "");
      }
    }
  }
}

}  // namespace
}  // namespace cloze::backend::cpu
