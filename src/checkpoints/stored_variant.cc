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

std::string with_part(std::string name, std::string_view part, std::string_view instead) {
  return name.replace(name.find(part), part.size(), instead);
}

// Optimum's class mixes the output of a feed-forward part even where that has a single group;
// TensorFlow's, and nn/groupbert_layer.h, do not.
void refuse_mixers_of_one_group(const StoredModel& model) {
  constexpr std::string_view kMixer = ".dense_output_projection.weight";
  for (const TensorView& mixer : model.tensors()) {
    if (!mixer.name.ends_with(kMixer)) continue;
    const std::string grouped = with_part(mixer.name, kMixer, ".grouped_matmul.weight");
    const std::string dense =
        with_part(with_part(mixer.name, kMixer, ".dense.weight"), ".output_", ".intermediate_");
    const TensorView* const product = formats::find_tensor(model.tensors(), grouped);
    const TensorView* const before = formats::find_tensor(model.tensors(), dense);
    if (product == nullptr || before == nullptr || product->shape.rank() < 2) continue;
    if (product->shape[1] != before->shape[0]) continue;
    throw_user_error(
        "{} has {} after a product of one group, which a GroupBERT here mixes only from two groups "
        "on; take a model with more groups, or one without that tensor",
        model.path().string(), mixer.name);
  }
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
  if (stored == said.groupbert) return refuse_mixers_of_one_group(model);
  throw_user_error("{} describes a {}, but {} holds a {}; {}", said.said_by,
                   name_of_variant(said.groupbert), model.path().string(), name_of_variant(stored),
                   said.next_step);
}

void require_variant(const StoredModel& model, bool groupbert) {
  if (holds_groupbert(model.tensors()).value_or(groupbert) == groupbert) {
    return refuse_mixers_of_one_group(model);
  }
  require_variant(model, {.groupbert = groupbert,
                          .said_by = who_says(model, groupbert),
                          .next_step = "correct it, or take another checkpoint"});
}

}  // namespace cloze::checkpoints
