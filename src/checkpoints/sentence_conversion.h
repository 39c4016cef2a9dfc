// The part of a conversion (conversion.h) that makes a folder of sentence-transformers. The folder
// holds the encoder and the layers behind it. The encoder's tensors have the names that a bare encoder
// of transformers gives them: "encoder.layer.0..." instead of "bert.encoder.layer.0...".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoints/conversion.h"
#include "checkpoints/sentence_folder.h"
#include "checkpoints/stored_model.h"
#include "models/bert_config.h"

namespace cloze::checkpoints {

// The layers behind an encoder that make vectors of texts, and how these are given to it.
struct SentenceModel {
  models::EmbeddingLayers layers;
  SentenceSettings settings;
};

// Reads what the model's folder states where it has modules.json, or else pooling alone where that is
// asked for; none: the model is to stay what it is. Errors as of sentence_folder.h.
std::optional<SentenceModel> sentence_model(const ConversionOptions& options,
                                            const StoredModel& model,
                                            const models::BertConfig& config);

// Takes out the tensors of other heads and returns their names.
std::vector<std::string> take_heads(std::vector<formats::TensorView>& tensors,
                                    const models::EmbeddingLayers& layers);

// Says whether a tensor is of bert.pooler.
bool is_of_pooler(std::string_view tensor);

// Takes out the tensors of dense layers, and "bert." out of the others' names.
void name_as_bare_encoder(std::vector<formats::TensorView>& tensors,
                          const models::EmbeddingLayers& layers);

}  // namespace cloze::checkpoints
