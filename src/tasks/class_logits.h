// What a classifier says of samples: a row of logits for each, in the order of the samples.
#pragma once

#include <span>
#include <vector>

#include "data/sample.h"
#include "inference/inference_session.h"

namespace cloze::tasks {

// `session` has the head of sequence classification with `classes` classes (1: a score).
std::vector<std::vector<float>> class_logits(inference::InferenceSession& session,
                                             std::span<const data::Sample> samples,
                                             int64_t classes);

// The number of the (first) largest logit, or of a single logit its value.
std::vector<double> class_predictions(std::span<const std::vector<float>> logits);

}  // namespace cloze::tasks
