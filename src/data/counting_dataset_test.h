// Small data whose ids are known: for tests.
#pragma once

#include "data/dataset.h"

namespace cloze::data {

// Sample i: the ids i, i + 1 and, after a mask with id 4, i + 2.
class CountingDataset final : public Dataset {
 public:
  explicit CountingDataset(int64_t size) : size_(size) {}
  int64_t size() const override { return size_; }
  Sample sample(int64_t index, int64_t epoch) const override {
    const auto first = static_cast<int32_t>(index + epoch);
    return {.input_ids = {first, first + 1, 4},
            .token_type_ids = {0, 0, 0},
            .masked_positions = {2},
            .masked_labels = {first + 2}};
  }
  std::string fingerprint() const override { return "counting"; }

 private:
  int64_t size_;
};

}  // namespace cloze::data
