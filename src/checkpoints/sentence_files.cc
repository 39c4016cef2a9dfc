#include "checkpoints/sentence_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/folder.h"

namespace cloze::checkpoints {
namespace {

using formats::Json;
using models::DenseLayer, models::EmbeddingLayers;

constexpr const char* kPoolingFolder = "1_Pooling";

// The place of Normalize among the modules: after the encoder, the pooling and the dense layers.
std::string normalize_folder(const EmbeddingLayers& layers) {
  return fmt::format("{}_Normalize", 2 + layers.dense.size());
}

void add_module(Json& modules, const char* kind, const std::string& path) {
  const size_t place = modules.size();
  modules.push_back(Json::object({{"idx", place},
                                  {"name", std::to_string(place)},
                                  {"path", path},
                                  {"type", fmt::format("sentence_transformers.models.{}", kind)}}));
}

Json modules_json(const EmbeddingLayers& layers) {
  Json modules = Json::array();
  add_module(modules, "Transformer", "");
  add_module(modules, "Pooling", kPoolingFolder);
  for (const DenseLayer& layer : layers.dense) add_module(modules, "Dense", layer.name);
  if (layers.is_normalized) add_module(modules, "Normalize", normalize_folder(layers));
  return modules;
}

Json pooling_json(const EmbeddingLayers& layers, int64_t hidden_size) {
  Json pooling = Json::object({{"word_embedding_dimension", hidden_size}});
  std::vector<ops::PoolingMode> said;
  for (const PoolingKey& one : pooling_keys()) {
    const bool is_set = std::ranges::count(layers.pooling, one.mode) != 0;
    pooling[one.key] = is_set;
    if (is_set) said.push_back(one.mode);
  }
  if (said != layers.pooling) {
    const auto names = [](const std::vector<ops::PoolingMode>& modes) {
      std::vector<std::string_view> list;
      for (const ops::PoolingMode mode : modes) list.push_back(pooling_name(mode));
      return fmt::format("{}", fmt::join(list, ", "));
    };
    throw_user_error(
        "the model's modes of pooling are {}; the older form of sentence-transformers' folders has "
        "them only in the order {}",
        names(layers.pooling), names(said));
  }
  pooling["include_prompt"] = true;
  return pooling;
}

Json dense_json(const DenseLayer& layer) {
  return Json::object(
      {{"in_features", layer.in_features},
       {"out_features", layer.out_features},
       {"bias", layer.has_bias},
       {"activation_function",
        layer.has_tanh ? "torch.nn.modules.activation.Tanh" : "torch.nn.modules.linear.Identity"}});
}

Json texts_json(const SentenceSettings& settings) {
  Json prompts = Json::object();
  for (const auto& [name, text] : settings.prompts) prompts[name] = text;
  Json name;
  if (!settings.default_prompt.empty()) name = settings.default_prompt;
  return Json::object({{"prompts", std::move(prompts)},
                       {"default_prompt_name", std::move(name)},
                       {"similarity_fn_name", settings.similarity}});
}

}  // namespace

std::vector<TextFile> sentence_files(const EmbeddingLayers& layers,
                                     const SentenceSettings& settings,
                                     const models::BertConfig& config) {
  const Json encoder = Json::object(
      {{"max_seq_length", settings.max_length.value_or(config.max_position_embeddings)},
       {"do_lower_case", settings.lower_case}});
  std::vector<TextFile> files{
      {"modules.json", formats::json_text(modules_json(layers))},
      {"sentence_bert_config.json", formats::json_text(encoder)},
      {"config_sentence_transformers.json", formats::json_text(texts_json(settings))}};
  const auto add = [&](const std::string& folder, const Json& content) {
    files.push_back({folder + "/config.json", formats::json_text(content)});
  };
  add(kPoolingFolder, pooling_json(layers, config.hidden_size));
  for (const DenseLayer& layer : layers.dense) add(layer.name, dense_json(layer));
  if (layers.is_normalized) add(normalize_folder(layers), Json::object());
  return files;
}

bool is_of_dense_layer(const EmbeddingLayers& layers, std::string_view tensor) {
  return std::ranges::any_of(
      layers.dense, [&](const DenseLayer& layer) { return tensor.starts_with(layer.name + "."); });
}

std::vector<std::string> write_dense_layers(const std::filesystem::path& folder,
                                            const EmbeddingLayers& layers,
                                            std::span<const formats::TensorSource> tensors) {
  std::vector<std::string> files;
  for (const DenseLayer& layer : layers.dense) {
    const std::string start = layer.name + ".";
    std::vector<formats::TensorSource> own;
    for (formats::TensorSource tensor : tensors) {
      if (!tensor.name.starts_with(start)) continue;
      tensor.name.erase(0, start.size());
      own.push_back(std::move(tensor));
    }
    files.push_back(layer.name + "/model.safetensors");
    platform::make_writable_directory(folder / layer.name);
    formats::write_safetensors(folder / files.back(), own);
  }
  return files;
}

}  // namespace cloze::checkpoints
