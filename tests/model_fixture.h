// A model of transformers in numbers (scripts/make_fixtures): its weights, one batch, and what one
// step on that batch gives in double precision.
#pragma once

#include <string>
#include <vector>

#include "data/micro_batch.h"
#include "data/sample.h"
#include "engine/session.h"
#include "formats/safetensors.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"

namespace cloze::tests {

class ModelFixture {
 public:
  explicit ModelFixture(const std::string& name);  // "bert_pretraining_a"

  const models::BertConfig& config() const { return config_; }
  const models::BertHead& head() const { return head_; }
  const std::vector<data::Sample>& samples() const { return samples_; }
  // Capacity that holds the whole batch in one micro-batch, with unused slots left over.
  data::MicroBatchCapacity capacity() const;
  void load_parameters(engine::Session& session) const;
  std::vector<double> expected(const std::string& name) const;  // f64 or f32 tensor

 private:
  std::string folder_;
  models::BertConfig config_;
  models::BertHead head_;
  std::vector<data::Sample> samples_;
  formats::SafetensorsFile model_;
  formats::SafetensorsFile expected_;
};

}  // namespace cloze::tests
