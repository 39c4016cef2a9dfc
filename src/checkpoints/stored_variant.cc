#include "checkpoints/stored_variant.h"

#include <algorithm>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/tensor_names.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

std::string_view name_of_variant(bool groupbert) { return groupbert ? "GroupBERT" : "BERT"; }

// If the stored configuration says otherwise, it is not to blame: the run follows its own
// configuration.
std::string who_says(const StoredModel& model, bool groupbert) {
  if (has_configuration(model.folder())) {
    const std::filesystem::path file = configuration_of(model.path());
    if (read_hugging_face_config(file).groupbert == groupbert) return file.string();
  }
  return "the configuration of this run";
}

}  // namespace

bool is_of_groupbert(std::string_view hugging_face_name) {
  return hugging_face_name.find(".convolution.") != std::string_view::npos;
}

std::optional<bool> holds_groupbert(std::span<const TensorView> tensors) {
  const auto is_of_layer = [](const TensorView& tensor) {
    return tensor.name.find("encoder.layer.") != std::string::npos;
  };
  if (std::ranges::none_of(tensors, is_of_layer)) return std::nullopt;
  return std::ranges::any_of(tensors,
                             [](const TensorView& tensor) { return is_of_groupbert(tensor.name); });
}

void require_variant(const StoredModel& model, const SaidVariant& said) {
  const bool stored = holds_groupbert(model.tensors()).value_or(said.groupbert);
  if (stored == said.groupbert) return;
  throw_user_error("{} describes a {}, but {} holds a {}; {}", said.said_by,
                   name_of_variant(said.groupbert), model.path().string(), name_of_variant(stored),
                   said.next_step);
}

void require_variant(const StoredModel& model, bool groupbert) {
  if (holds_groupbert(model.tensors()).value_or(groupbert) == groupbert) return;
  require_variant(model, {.groupbert = groupbert,
                          .said_by = who_says(model, groupbert),
                          .next_step = "correct it, or take another checkpoint"});
}

}  // namespace cloze::checkpoints
