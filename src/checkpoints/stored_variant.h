// Tells which encoder a stored model has, BERT's or GroupBERT's. The tensors that the two share
// have the same names and shapes, so that one could be taken for the other with parts missing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "checkpoints/stored_model.h"
#include "formats/safetensors.h"

namespace cloze::checkpoints {

// Says whether only a GroupBERT has a tensor of this name.
bool is_of_groupbert(std::string_view hugging_face_name);
// Returns nothing where none of the tensors is of an encoder's layer.
std::optional<bool> holds_groupbert(std::span<const formats::TensorView> tensors);

// The variant that a model is said to have.
struct SaidVariant {
  bool groupbert = false;
  std::string said_by;    // "config.json", for the message
  std::string next_step;  // "give its configuration with --config"
};
// UserError when the tensors of `model` are of the other variant, and for a GroupBERT that mixes the
// output of one group: its mixers would be left out.
void require_variant(const StoredModel& model, const SaidVariant& said);
// The same for what the configuration beside the model says, or the run that loads it.
void require_variant(const StoredModel& model, bool groupbert);

}  // namespace cloze::checkpoints
