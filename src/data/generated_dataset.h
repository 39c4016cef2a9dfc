// GeneratedDataset: random samples that are valid but meaningless, for measuring without data.
// Sample i is a function of (seed, i): [CLS] random ids [SEP] random ids [SEP], of exactly S tokens
// with exactly M predictions, so that every step costs the same.
#pragma once

#include <cstdint>
#include <string>

#include "data/dataset.h"

namespace cloze::data {

struct GeneratedOptions {
  int64_t sequence_length = 128;  // S, at least 5
  int64_t max_predictions = 20;   // M, at most S - 3
  int64_t vocabulary_size = 0;    // at least 1
  int64_t size = 10'000'000;      // as many as the seed programs pretend
  uint64_t seed = 0;
};

class GeneratedDataset final : public Dataset {
 public:
  explicit GeneratedDataset(const GeneratedOptions& options);  // UserError for nonsense sizes
  int64_t size() const override { return options_.size; }
  Sample sample(int64_t index, int64_t epoch) const override;
  std::string fingerprint() const override;

 private:
  GeneratedOptions options_;
};

}  // namespace cloze::data
