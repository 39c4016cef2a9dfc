// SQuAD questions answered by a model: windows run through it, answers chosen from the logits.
#pragma once

#include <vector>

#include "inference/inference_client.h"
#include "tasks/squad/squad_predictions.h"

namespace cloze::tasks {

// A prediction for each question, in order, by a model with the head of question answering. The
// features are made with its tokenizer.
std::vector<SquadPrediction> answer_squad(inference::InferenceClient& client, const SquadData& data,
                                          const SquadFeatures& features,
                                          const SquadPredictionOptions& options);

}  // namespace cloze::tasks
