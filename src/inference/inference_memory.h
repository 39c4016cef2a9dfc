// Predicts the memory that a model takes for inference, before it is loaded.
#pragma once

#include <cstdint>

#include "inference/inference_graph.h"
#include "plan/program.h"

namespace cloze::inference {

// The largest micro-batch that a client (inference_client.h) runs.
models::BatchShape largest_batch(const models::BertConfig& config, const models::BertHead& head);

struct InferenceMemory {
  int64_t weights_bytes = 0;
  int64_t loading_bytes = 0;  // most of what is held beside the weights while they are made
  int64_t batch_bytes = 0;    // of the largest micro-batch
};
InferenceMemory inference_memory(const models::BertConfig& config, const models::BertHead& head,
                                 const PackOptions& options, int num_threads);

}  // namespace cloze::inference
