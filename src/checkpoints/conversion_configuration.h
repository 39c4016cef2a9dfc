// The configuration that goes with converted weights: what its file says, which biases and heads
// the weights have, and what Graphcore's programs compute whatever their file says.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/shape.h"
#include "checkpoints/conversion.h"
#include "checkpoints/stored_model.h"
#include "formats/json.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"

namespace cloze::checkpoints {

struct ConversionConfiguration {
  models::BertConfig config = {};
  std::string file_name;
  formats::Json content;  // of the file
};

// None when no file is given, none lies beside the model, and the new form does not need one.
// `tensors` are those that will be converted. Appends to `notes` where the old or the new form's
// programs do not compute what the file says. UserError when a file that the new form needs is
// missing, or when it describes the other variant (BERT, GroupBERT).
std::optional<ConversionConfiguration> conversion_configuration(
    const ConversionOptions& options, const StoredModel& model,
    std::span<const formats::TensorView> tensors, std::vector<std::string>& notes);

// Shapes of the parameters of a BERT or GroupBERT with a head, by name.
std::map<std::string, Shape> parameter_shapes(const models::BertConfig& config,
                                              const models::BertHead& head);

}  // namespace cloze::checkpoints
