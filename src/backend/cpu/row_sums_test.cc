#include "backend/cpu/row_sums.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kFirst = 5;  // the first of the sums that are asked for

// Row counts just beyond a border, where the next chunk or part begins.
constexpr int64_t kRows[] = {1, 2 * RowSums::kLeastRows + 1,
                             RowSums::kMostChunks* RowSums::kLeastRows + 1};
constexpr int64_t kCounts[] = {1, RowSums::kLeastSums + 1, 2 * RowSums::kLeastSums + 17};

struct Case {
  int64_t rows = 0;
  int64_t count = 0;
  bool accumulates = false;
  int num_threads = 1;
};

// Sum i of a row is i % 7 + 1: whole numbers, whose sums are exact.
std::vector<float> sums_of(const Case& c) {
  const int64_t sums = kFirst + c.count;
  const RowSums row_sums(c.rows, sums, c.num_threads);
  std::vector<float> workspace(row_sums.workspace_bytes() / sizeof(float), -1.0f);
  row_sums.for_each_chunk(workspace.data(), [&](const Part& rows, float* partial) {
    for (int64_t i = 0; i < sums; ++i) partial[i] = static_cast<float>(rows.size() * (i % 7 + 1));
  });
  std::vector<float> target(static_cast<size_t>(c.count), 3.0f);
  row_sums.finish(workspace.data(), {target.data(), kFirst, c.count, c.accumulates});
  return target;
}

TEST(RowSums, AddsUpAllRowsInAnyNumberOfParts) {
  for (const int64_t rows : kRows) {
    for (const int64_t count : kCounts) {
      for (const bool accumulates : {false, true}) {
        std::vector<float> expected;
        for (int64_t i = kFirst; i < kFirst + count; ++i) {
          expected.push_back(static_cast<float>(rows * (i % 7 + 1) + (accumulates ? 3 : 0)));
        }
        for (const int threads : {1, 3, 8}) {
          EXPECT_EQ(sums_of({rows, count, accumulates, threads}), expected)
              << rows << " rows, " << count << " sums, threads " << threads;
        }
      }
    }
  }
}

}  // namespace
}  // namespace cloze::backend::cpu
