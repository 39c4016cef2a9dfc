// InferenceSession: BERT with a head, ready to run samples. Samples are laid end to end in
// micro-batches, so short ones cost what they weigh.
//
//   InferenceSession session(config, {.kind = HeadKind::kQuestionAnswering}, {});
//   session.load(folder);
//   session.run(samples, [&](const data::MicroBatch& batch) { session.output("span_logits") ... });
//
// Errors: UserError for a sample longer than a micro-batch; DataError for weights that do not fit.
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "data/micro_batch.h"
#include "data/sample.h"
#include "engine/session.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"

namespace cloze::inference {

struct InferenceOptions {
  engine::CompileOptions compile;
  int64_t tokens_per_micro_batch = 1024;  // as many as the model has positions, if that is more
  int64_t sequences_per_micro_batch = 64;
  int64_t predictions_per_micro_batch = 64;  // of the pre-training head
};

class InferenceSession {
 public:
  InferenceSession(const models::BertConfig& config, const models::BertHead& head,
                   const InferenceOptions& options);

  // The weights of a checkpoint.
  void load(const std::filesystem::path& path);
  // Those of a session that has all of this one's parameters, as one that trains does.
  void copy_parameters(engine::Session& from);

  // Calls `visit` after each micro-batch, when output() holds its results. A batch's sample_ids and
  // sequence_ids are indexes of `samples`; which samples share a batch is left open.
  void run(std::span<const data::Sample> samples,
           const std::function<void(const data::MicroBatch&)>& visit);
  // models::bert_for_inference names the outputs and their shapes.
  std::span<const float> output(std::string_view name) { return session_.values<float>(name); }

 private:
  data::MicroBatchCapacity capacity_;
  engine::Session session_;
};

}  // namespace cloze::inference
