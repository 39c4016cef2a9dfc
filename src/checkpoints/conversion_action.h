// The forms of checkpoints, and the names of conversions between them.
#pragma once

#include <string_view>

namespace cloze::checkpoints {

// The forms of checkpoints that `cloze convert` knows.
enum class CheckpointForm { kHuggingFace, kGoogle, kGraphcore, kResearch };

std::string_view short_name(CheckpointForm form);  // "hf", "google", "graphcore", "research"
// Research checkpoints are Graphcore's under other names.
bool is_graphcore(CheckpointForm form);

struct ConversionAction {
  CheckpointForm from;
  CheckpointForm to;
};

// "google2graphcore", "hf2hf" ...: FROM2TO by short names, or "apps", the original's name of
// its own form. UserError that lists the short names for anything else.
ConversionAction conversion_action(std::string_view name);

}  // namespace cloze::checkpoints
