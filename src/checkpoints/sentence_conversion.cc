#include "checkpoints/sentence_conversion.h"

#include <algorithm>

#include "checkpoints/sentence_files.h"
#include "checkpoints/tensor_names.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;
using models::EmbeddingLayers;

constexpr std::string_view kEncoder = "bert.";

}  // namespace

std::optional<SentenceModel> sentence_model(const ConversionOptions& options,
                                            const StoredModel& model,
                                            const models::BertConfig& config) {
  const bool is_one = has_modules(model.folder());
  if (!is_one && !options.pooling) return std::nullopt;
  SentenceModel sentences;
  if (is_one) {
    sentences = {.layers = read_embedding_layers(model.folder(), config),
                 .settings = read_sentence_settings(model.folder(), config)};
  }
  if (options.pooling) replace_pooling(sentences.layers, *options.pooling, model.path());
  return sentences;
}

std::vector<std::string> take_heads(std::vector<TensorView>& tensors,
                                    const EmbeddingLayers& layers) {
  std::vector<std::string> names;
  std::erase_if(tensors, [&](const TensorView& tensor) {
    const bool is_head =
        !full_name(tensor.name).starts_with(kEncoder) && !is_of_dense_layer(layers, tensor.name);
    if (is_head) names.push_back(tensor.name);
    return is_head;
  });
  return names;
}

bool is_of_pooler(std::string_view tensor) { return full_name(tensor).starts_with("bert.pooler."); }

void name_as_bare_encoder(std::vector<TensorView>& tensors, const EmbeddingLayers& layers) {
  std::erase_if(tensors,
                [&](const TensorView& tensor) { return is_of_dense_layer(layers, tensor.name); });
  for (TensorView& tensor : tensors) {
    if (tensor.name.starts_with(kEncoder)) tensor.name.erase(0, kEncoder.size());
  }
}

}  // namespace cloze::checkpoints
