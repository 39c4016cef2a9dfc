// The forms of checkpoints that `cloze convert` knows, and the names of its actions.
#pragma once

#include <string_view>

namespace cloze::checkpoints {

enum class CheckpointForm { kHuggingFace, kGoogle, kGraphcore, kResearch };

std::string_view short_name(CheckpointForm form);  // "hf", "google", "graphcore", "research"

struct ConversionAction {
  CheckpointForm from;
  CheckpointForm to;
};

// "google2graphcore", "hf2hf" ...: FROM2TO by short names; "apps" is another name for graphcore.
// UserError that lists them for others.
ConversionAction conversion_action(std::string_view name);

}  // namespace cloze::checkpoints
