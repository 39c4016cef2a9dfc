// SQuAD questions answered by a model: windows run through it, answers chosen from the logits.
#pragma once

#include <functional>
#include <vector>

#include "inference/inference_session.h"
#include "tasks/squad/squad_predictions.h"

namespace cloze::tasks {

struct SquadAnswering {
  SquadPredictionOptions prediction;
  int threads = 1;
  // Called with the number of windows done, from time to time.
  std::function<void(size_t done)> progress = {};
};

// A prediction for each question, in order. `session` has the head of question answering.
std::vector<SquadPrediction> answer_squad(inference::InferenceSession& session,
                                          const SquadData& data, const SquadFeatures& features,
                                          const text::Tokenizer& tokenizer,
                                          const SquadAnswering& options);

}  // namespace cloze::tasks
