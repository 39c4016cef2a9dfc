// Computes what a classifier says of samples: a row of logits for each, in the order of the
// samples.
#pragma once

#include <span>
#include <vector>

#include "data/sample.h"
#include "inference/inference_client.h"

namespace cloze::tasks {

// The logits of a model with the head of sequence classification (a single class: a score).
// DataError when they are not finite.
std::vector<std::vector<float>> class_logits(inference::InferenceClient& client,
                                             std::span<const data::Sample> samples);

// The number of the (first) largest logit, or of a single logit its value.
std::vector<double> class_predictions(std::span<const std::vector<float>> logits);

}  // namespace cloze::tasks
