// A dataset for a model whose table of word embeddings has fewer rows than the data has ids
// (text/vocabulary.h): ids without a row become [UNK], in the text and among the labels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "data/dataset.h"

namespace cloze::data {

struct RowLimit {
  int64_t rows = 0;
  int32_t unknown_id = 0;  // below rows
};

class RowLimitedDataset final : public Dataset {
 public:
  RowLimitedDataset(std::shared_ptr<const Dataset> dataset, const RowLimit& limit)
      : dataset_(std::move(dataset)), limit_(limit) {}

  int64_t size() const override { return dataset_->size(); }
  Sample sample(int64_t index, int64_t epoch) const override;
  std::string fingerprint() const override;

 private:
  std::shared_ptr<const Dataset> dataset_;
  RowLimit limit_;
};

}  // namespace cloze::data
