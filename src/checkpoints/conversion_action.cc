#include "checkpoints/conversion_action.h"

#include <fmt/format.h>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

constexpr CheckpointForm kForms[] = {CheckpointForm::kHuggingFace, CheckpointForm::kGoogle,
                                     CheckpointForm::kGraphcore, CheckpointForm::kResearch};
constexpr std::string_view kShortNames[] = {"hf", "google", "graphcore", "research"};

}  // namespace

std::string_view short_name(CheckpointForm form) { return kShortNames[static_cast<int>(form)]; }

bool is_graphcore(CheckpointForm form) {
  return form == CheckpointForm::kGraphcore || form == CheckpointForm::kResearch;
}

ConversionAction conversion_action(std::string_view name) {
  if (name == "research2apps") name = "research2graphcore";
  if (name == "apps2research") name = "graphcore2research";
  for (const CheckpointForm from : kForms) {
    for (const CheckpointForm to : kForms) {
      if (name == fmt::format("{}2{}", short_name(from), short_name(to))) return {from, to};
    }
  }
  throw_user_error(
      "{} is not a conversion; name it FROM2TO, where each is hf, google, graphcore or "
      "research",
      name);
}

}  // namespace cloze::checkpoints
