// Checks whether a conversion can begin: the options fit each other and the checkpoint.
#pragma once

#include <string>
#include <vector>

#include "checkpoints/conversion.h"
#include "checkpoints/stored_model.h"

namespace cloze::checkpoints {

// UserError when the checkpoint is of another form or variant than the options say, a value is out
// of its range or has no place in the new form, or output_dir is not empty. Appends to `notes`
// which options were not needed.
void check_conversion(const ConversionOptions& options, const StoredModel& model,
                      std::vector<std::string>& notes);

}  // namespace cloze::checkpoints
