// The configuration of a model, as transformers keeps it beside the weights (config.json): for a
// command that trains, the options that give the model its shape.
#pragma once

#include <optional>
#include <string>

#include "formats/json.h"

namespace cloze::cli {

// The model's options, if `config` is one: if it says which model it is ("model_type") or which
// class ("architectures"). UserError, naming the file and the key, for a model that is not ours.
std::optional<formats::Json> options_of_model(const formats::Json& config, const std::string& file);

}  // namespace cloze::cli
