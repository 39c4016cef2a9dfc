// InferenceClient: one thread's way to run a packed model. Clients share the weights, each has
// programs and buffers of its own.
//
//   auto model = std::make_shared<const PackedModel>(PackedModel::open("model.cloze"));
//   InferenceClient client(model, 1);
//   client.run(samples, [&](const data::MicroBatch& batch) { client.output("span_logits") ... });
//
// Samples are laid end to end in micro-batches, and a program has as many slots as its batch needs,
// rounded up a little (engine/sized_sessions.h): short texts cost what they weigh. All programs run
// in the same memory, which is as large as the largest micro-batch needs and is touched only as far
// as one has needed it. Errors: UserError for a sample longer than the model's positions. One
// thread calls a client.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/micro_batch.h"
#include "data/sample.h"
#include "engine/sized_sessions.h"
#include "inference/packed_model.h"
#include "models/bert_heads.h"

namespace cloze::inference {

class InferenceClient {
 public:
  // `num_threads` run one batch together; 0: all processors.
  InferenceClient(std::shared_ptr<const PackedModel> model, int num_threads);
  // UserError, before any memory is taken, when the model has another head.
  InferenceClient(std::shared_ptr<const PackedModel> model, models::HeadKind head, int num_threads);

  // Calls `visit` after each micro-batch, when output() holds its results. A batch's sample_ids and
  // sequence_ids are indexes of `samples`; which samples share a batch is unspecified. Up to
  // kMostTokens tokens go into one.
  void run(std::span<const data::Sample> samples,
           const std::function<void(const data::MicroBatch&)>& visit);
  // Calls `visit` for each sample, with its index and its logits: the rows of the head's first output
  // for its tokens, or its one row. Not for a head that predicts words.
  void run_each(std::span<const data::Sample> samples,
                const std::function<void(size_t sample, std::span<const float> logits)>& visit);
  // Called after each micro-batch, before `visit`: for callers that show how far the work has come.
  // What it throws ends run().
  void set_observer(std::function<void(const data::MicroBatch&)> observer) {
    observer_ = std::move(observer);
  }
  // An output of the micro-batch just run; models::bert_for_inference names the outputs and their
  // shapes. The values are there until the next.
  std::span<const float> output(std::string_view name);

  const PackedModel& model() const { return *model_; }

  int num_threads() const { return num_threads_; }

  // Tokens of a micro-batch; a single sample may have more tokens. A prediction has a row of logits
  // as long as the vocabulary.
  static constexpr int64_t kMostTokens = 4096;
  static constexpr int64_t kMostSequences = 512;
  static constexpr int64_t kMostPredictions = 64;

 private:
  std::shared_ptr<const PackedModel> model_;
  int num_threads_;
  engine::SizedSessions sessions_;
  std::map<std::string, std::vector<float>, std::less<>> outputs_;
  engine::Session* current_ = nullptr;
  std::function<void(const data::MicroBatch&)> observer_;  // may be empty
};

// Slots of the program that runs so many tokens: 16 or more, and at most an eighth or 7 too many.
int64_t slots_for(int64_t tokens);

}  // namespace cloze::inference
