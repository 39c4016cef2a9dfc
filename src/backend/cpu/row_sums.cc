#include "backend/cpu/row_sums.h"

#include <algorithm>

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kFloatsPerLine = 16;

}  // namespace

RowSums::RowSums(int64_t rows, int64_t sums, int num_threads)
    : rows_(rows),
      stride_(divide_up(sums, kFloatsPerLine) * kFloatsPerLine),
      num_chunks_(std::clamp<int64_t>(divide_up(rows, kLeastRows), 1, kMostChunks)),
      num_threads_(num_threads) {}

size_t RowSums::workspace_bytes() const {
  return static_cast<size_t>(num_chunks_ * stride_) * sizeof(float);
}

void RowSums::finish(void* workspace, const Target& target) const {
  const Work work{.items = target.count,
                  .granularity = kFloatsPerLine,
                  .least_items = kLeastSums,
                  .num_threads = num_threads_};
  for_each_part(work, [&](const Part& part) {
    if (!target.accumulates) std::fill(target.target + part.begin, target.target + part.end, 0.0f);
    for (int64_t chunk = 0; chunk < num_chunks_; ++chunk) {
      const float* sums = partial(workspace, chunk) + target.first;
      for (int64_t i = part.begin; i < part.end; ++i) target.target[i] += sums[i];
    }
  });
}

}  // namespace cloze::backend::cpu
