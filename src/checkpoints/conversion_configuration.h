// The configuration that goes with converted weights: its file, with what the weights say of it and
// what programs of either form compute whatever a file says.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "checkpoints/conversion.h"
#include "checkpoints/stored_model.h"
#include "models/bert_config.h"

namespace cloze::checkpoints {

struct ConversionConfiguration {
  models::BertConfig config;
  std::string file_name;
  nlohmann::json content;  // of the file
};

// None where no file is given, none lies beside the model, and the new form can do without.
// `tensors` are those that will be converted. Appends to `notes` what the new form's programs
// compute otherwise. UserError or DataError where there is none though there has to be, or it is not
// of this model's variant.
std::optional<ConversionConfiguration> conversion_configuration(
    const ConversionOptions& options, const StoredModel& model,
    std::span<const formats::TensorView> tensors, std::vector<std::string>& notes);

}  // namespace cloze::checkpoints
