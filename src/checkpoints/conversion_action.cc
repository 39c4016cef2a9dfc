#include "checkpoints/conversion_action.h"

#include <optional>

#include "base/error.h"

namespace cloze::checkpoints {
namespace {

constexpr CheckpointForm kForms[] = {CheckpointForm::kHuggingFace, CheckpointForm::kGoogle,
                                     CheckpointForm::kGraphcore, CheckpointForm::kResearch};
constexpr std::string_view kShortNames[] = {"hf", "google", "graphcore", "research"};

// Graphcore's program calls its own form "apps".
std::optional<CheckpointForm> form_named(std::string_view name) {
  for (const CheckpointForm form : kForms) {
    if (name == short_name(form)) return form;
  }
  return name == "apps" ? std::optional(CheckpointForm::kGraphcore) : std::nullopt;
}

}  // namespace

std::string_view short_name(CheckpointForm form) { return kShortNames[static_cast<int>(form)]; }

bool is_graphcore(CheckpointForm form) {
  return form == CheckpointForm::kGraphcore || form == CheckpointForm::kResearch;
}

ConversionAction conversion_action(std::string_view name) {
  const size_t two = name.find('2');
  if (two != std::string_view::npos) {
    const auto from = form_named(name.substr(0, two)), to = form_named(name.substr(two + 1));
    if (from && to) return {*from, *to};
  }
  throw_user_error(
      "{} is not a conversion; name it FROM2TO, where each is hf, google, graphcore (apps) or "
      "research",
      name);
}

}  // namespace cloze::checkpoints
