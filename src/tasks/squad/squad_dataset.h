// The windows of SQuAD questions as a data set to train on. Sequences are made when asked for.
#pragma once

#include <string>

#include "data/dataset.h"
#include "tasks/squad/squad_features.h"

namespace cloze::tasks {

class SquadDataset : public data::Dataset {
 public:
  SquadDataset(SquadData data, SquadFeatures features);
  int64_t size() const override { return std::ssize(features_.windows); }
  data::Sample sample(int64_t index, int64_t epoch) const override;
  std::string fingerprint() const override;

 private:
  SquadData data_;
  SquadFeatures features_;
};

}  // namespace cloze::tasks
