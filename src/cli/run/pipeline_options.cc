#include "cli/run/pipeline_options.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

using Contents = std::vector<std::vector<std::string>>;  // by stage

template <typename T>
std::optional<T> parsed(const std::string& text) {
  const auto json = formats::parse_json(text);
  try {
    if (json) return json->get<T>();
  } catch (const formats::JsonError&) {
  }
  return std::nullopt;
}

// Embeddings come first and heads last; layers are in between.
std::vector<int64_t> layers_of(const Contents& contents, const std::string& text,
                               int64_t num_layers) {
  std::vector<int64_t> layers;
  for (size_t i = 0; i < contents.size(); ++i) {
    const std::vector<std::string>& stage = contents[i];
    const auto has = [&](const char* part) {
      return std::ranges::find(stage, part) != stage.end();
    };
    layers.push_back(std::ranges::count(stage, "hid"));
    const bool is_first = i == 0, is_last = i + 1 == contents.size();
    const bool fits = has("emb") == is_first && (has("mlm") || has("heads")) == is_last;
    if (!fits || (!is_first && !is_last && layers.back() == 0)) {
      throw_user_error(
          "stage {} of pipeline_stages {} cannot be computed here: \"emb\" belongs to the first "
          "stage, \"mlm\" or \"heads\" to the last, and every other has a \"hid\"",
          i, text);
    }
  }
  const int64_t total = std::reduce(layers.begin(), layers.end());
  if (total != num_layers) {
    throw_user_error(
        "pipeline_stages has {} \"hid\", but the model has {} layers; give one for each layer",
        total, num_layers);
  }
  return layers;
}

passes::Stages stages_of(const std::string& text, int64_t num_layers) {
  if (const auto count = parsed<int64_t>(text)) {
    if (*count < 1 || *count > num_layers + 2) {
      throw_user_error(
          "pipeline_stages is {}, but {} layers, embeddings and heads make at most {} stages",
          *count, num_layers, num_layers + 2);
    }
    return passes::even_stages(static_cast<int>(*count), num_layers);
  }
  const auto contents = parsed<Contents>(text);
  if (!contents || contents->empty()) {
    throw_user_error(
        "pipeline_stages is {}; give a number, or lists such as [[\"emb\", \"pos\", \"hid\"], "
        "[\"hid\", \"mlm\", \"nsp\"]]",
        text);
  }
  passes::Stages stages{.layers = layers_of(*contents, text, num_layers)};
  stages.ranks.resize(stages.layers.size());
  std::iota(stages.ranks.begin(), stages.ranks.end(), 0);
  return stages;
}

}  // namespace

passes::Stages pipeline_stages(const std::string& stages, const std::string& device_mapping,
                               int64_t num_layers) {
  passes::Stages result = stages_of(stages, num_layers);
  if (device_mapping.empty()) return result;
  const auto devices = parsed<std::vector<int>>(device_mapping);
  const bool are_numbers =
      devices && std::ranges::all_of(*devices, [](int device) { return device >= 0; });
  if (!are_numbers || devices->size() != result.ranks.size()) {
    throw_user_error(
        "device_mapping is {}, but there are {} pipeline_stages; give each a device, such as [0, "
        "1, 0]",
        device_mapping, result.ranks.size());
  }
  result.ranks = *devices;
  for (int rank = 0; rank < result.num_ranks(); ++rank) {
    if (std::ranges::find(result.ranks, rank) != result.ranks.end()) continue;
    throw_user_error("device_mapping is {}, which leaves device {} out; number them from 0",
                     device_mapping, rank);
  }
  return result;
}

}  // namespace cloze::cli
