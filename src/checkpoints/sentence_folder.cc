#include "checkpoints/sentence_folder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/error.h"
#include "checkpoints/hugging_face_tokenizer.h"
#include "checkpoints/key_reader.h"

namespace cloze::checkpoints {
namespace {

namespace fs = std::filesystem;
using formats::Json;
using models::DenseLayer, models::EmbeddingLayers;
using ops::PoolingMode;

constexpr std::array<PoolingKey, 6> kModes{
    {{PoolingMode::kFirst, "pooling_mode_cls_token", "cls"},
     {PoolingMode::kMax, "pooling_mode_max_tokens", "max"},
     {PoolingMode::kMean, "pooling_mode_mean_tokens", "mean"},
     {PoolingMode::kMeanSqrtLength, "pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens"},
     {PoolingMode::kWeightedMean, "pooling_mode_weightedmean_tokens", "weightedmean"},
     {PoolingMode::kLast, "pooling_mode_lasttoken", "lasttoken"}}};
constexpr std::array<std::string_view, 4> kSimilarities{"cosine", "dot", "euclidean", "manhattan"};

constexpr int64_t kMostFeatures = 1 << 20;  // of a vector; a file that says more is no model's

struct Module {
  std::string kind;  // "Pooling"
  std::string path;  // in the folder
};

std::vector<Module> modules_in(const fs::path& folder) {
  const fs::path file = folder / "modules.json";
  const Json list = formats::read_json_file(file);
  if (!list.is_array()) throw_user_error("{}: not a list of modules", file.string());
  std::vector<Module> modules;
  for (const Json& entry : list) {
    const std::string source = file.string();
    if (!entry.is_object()) throw_user_error("{}: a module is not an object", source);
    const KeyReader reader(entry, source);
    std::string type, path;
    reader.read("type", type);
    reader.read("path", path);
    if (fs::path(path).is_absolute() || path.find("..") != std::string::npos) {
      throw_user_error("{}: path is \"{}\"; it must be a folder in {}", source, path,
                       folder.string());
    }
    const Module module{type.substr(type.rfind('.') + 1), path};
    if (module.kind == "Dense" &&
        (path.empty() || std::ranges::count(modules, path, &Module::path))) {
      throw_user_error("{}: a Dense has the path \"{}\"; it must be a folder of its own", source,
                       path);
    }
    modules.push_back(module);
  }
  return modules;
}

void require_right_order(const std::vector<Module>& modules, const fs::path& folder) {
  constexpr std::array<std::string_view, 4> kOrder{"Transformer", "Pooling", "Dense", "Normalize"};
  ptrdiff_t last = -1;
  for (const Module& module : modules) {
    const ptrdiff_t place = std::ranges::find(kOrder, module.kind) - kOrder.begin();
    if (place == std::ssize(kOrder)) {
      throw_user_error("{}/modules.json: a module is a {}; known are {}", folder.string(),
                       module.kind, fmt::join(kOrder, ", "));
    }
    const bool may_follow = place > last || (place == last && module.kind == "Dense");
    if (!may_follow || (last == -1 && place != 0)) {
      throw_user_error("{}/modules.json: {} comes {}; supported is the order {}", folder.string(),
                       module.kind, last == -1 ? "first" : fmt::format("after {}", kOrder[last]),
                       fmt::join(kOrder, ", "));
    }
    last = place;
  }
  if (last < 1) throw_user_error("{}/modules.json lists no Pooling", folder.string());
}

std::vector<PoolingMode> modes_named(const Json& names, const KeyReader& reader) {
  const Json list = names.is_array() ? names : Json::array({names});
  std::vector<PoolingMode> modes;
  for (const Json& name : list) {
    if (!name.is_string()) {
      reader.refuse("pooling_mode", names, "the name of a mode, or a list of names");
    }
    const auto known = std::ranges::find(kModes, name.get<std::string>(), &PoolingKey::name);
    if (known == kModes.end()) {
      throw_user_error("{}: pooling_mode is {}; known are {}", reader.source(), name.dump(),
                       fmt::join(pooling_names(), ", "));
    }
    modes.push_back(known->mode);
  }
  return modes;
}

std::vector<PoolingMode> read_pooling(const fs::path& file, int64_t hidden_size) {
  const Json config = formats::read_json_file(file);
  const std::string source = file.string();
  if (!config.is_object()) throw_user_error("{}: not a JSON object", source);
  const KeyReader reader(config, source);
  reader.require("include_prompt", true);
  for (const char* key : {"word_embedding_dimension", "embedding_dimension"}) {
    reader.require(key, hidden_size);
  }
  std::vector<PoolingMode> modes;
  if (const Json* names = reader.find("pooling_mode")) {
    modes = modes_named(*names, reader);
  } else {
    for (const PoolingKey& one : kModes) {
      bool is_set = false;
      reader.read(one.key, is_set);
      if (is_set) modes.push_back(one.mode);
    }
  }
  if (modes.empty()) throw_user_error("{} sets no mode of pooling", source);
  for (const PoolingMode mode : modes) {
    if (std::ranges::count(modes, mode) == 1) continue;
    throw_user_error("{}: pooling_mode has {} twice; name each mode once", source,
                     pooling_name(mode));
  }
  return modes;
}

DenseLayer read_dense(const fs::path& folder, const Module& module, int64_t in_features) {
  const fs::path file = folder / module.path / "config.json";
  const Json config = formats::read_json_file(file);
  const std::string source = file.string();
  if (!config.is_object()) throw_user_error("{}: not a JSON object", source);
  const KeyReader reader(config, source);
  DenseLayer layer{.name = module.path};
  reader.require("in_features", in_features);
  layer.in_features = in_features;
  reader.read("out_features", layer.out_features);
  if (layer.out_features < 1 || layer.out_features > kMostFeatures) {
    throw_user_error("{}: out_features is {}; it must be 1 to {}", source, layer.out_features,
                     kMostFeatures);
  }
  reader.read("bias", layer.has_bias);
  std::string activation = "torch.nn.modules.activation.Tanh";
  reader.read("activation_function", activation);
  const std::string kind = activation.substr(activation.rfind('.') + 1);
  if (kind != "Tanh" && kind != "Identity") {
    throw_user_error("{}: activation_function is {}; supported are Tanh and Identity", source,
                     activation);
  }
  layer.has_tanh = kind == "Tanh";
  return layer;
}

void read_prompts(const KeyReader& reader, SentenceSettings& settings) {
  if (const Json* prompts = reader.find("prompts")) {
    if (!prompts->is_object()) reader.refuse("prompts", *prompts, "an object of texts by name");
    for (const formats::JsonMember& prompt : prompts->items()) {
      if (!prompt.value.is_string()) {
        reader.refuse("prompts", *prompts, "an object of texts by name");
      }
      settings.prompts.emplace_back(prompt.name, prompt.value.get<std::string>());
    }
  }
  reader.read("default_prompt_name", settings.default_prompt);
  if (!settings.default_prompt.empty() &&
      std::ranges::none_of(settings.prompts, [&](const auto& prompt) {
        return prompt.first == settings.default_prompt;
      })) {
    throw_user_error("{}: default_prompt_name is {}, which is none of its prompts", reader.source(),
                     settings.default_prompt);
  }
}

}  // namespace

const std::string& SentenceSettings::prompt_named(std::string_view name) const {
  for (const auto& [known, text] : prompts) {
    if (known == name) return text;
  }
  std::vector<std::string_view> names;
  for (const auto& prompt : prompts) names.push_back(prompt.first);
  throw_user_error("the model has no prompt {}; it has {}", name,
                   names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

const std::string& SentenceSettings::default_text() const {
  static const std::string none;
  return default_prompt.empty() ? none : prompt_named(default_prompt);
}

bool has_modules(const fs::path& folder) { return fs::exists(folder / "modules.json"); }

std::vector<std::string> dense_folders(const fs::path& folder) {
  std::vector<std::string> folders;
  for (const Module& module : modules_in(folder)) {
    if (module.kind == "Dense") folders.push_back(module.path);
  }
  return folders;
}

EmbeddingLayers read_embedding_layers(const fs::path& folder, const models::BertConfig& config) {
  const std::vector<Module> modules = modules_in(folder);
  require_right_order(modules, folder);
  EmbeddingLayers layers;
  for (const Module& module : modules) {
    if (module.kind == "Pooling") {
      layers.pooling = read_pooling(folder / module.path / "config.json", config.hidden_size);
    } else if (module.kind == "Dense") {
      layers.dense.push_back(read_dense(folder, module, layers.dimensions(config.hidden_size)));
    } else if (module.kind == "Normalize") {
      layers.is_normalized = true;
    }
  }
  return layers;
}

SentenceSettings read_sentence_settings(const fs::path& folder, const models::BertConfig& config) {
  SentenceSettings settings;
  int64_t most = config.max_position_embeddings;
  const std::string encoder_file = (folder / "sentence_bert_config.json").string();
  const Json encoder = object_in(encoder_file);
  const KeyReader encoder_reader(encoder, encoder_file);
  if (encoder_reader.find("max_seq_length") != nullptr) {
    encoder_reader.read("max_seq_length", most);
  } else {
    const Json tokenizer = object_in(folder / "tokenizer_config.json");
    // transformers says "no limit" by a number of 30 digits.
    const Json* length = tokenizer.find("model_max_length");
    if (length != nullptr && length->is_number_integer()) most = length->get<int64_t>();
  }
  if (most < 3) {
    throw_user_error("{}: max_seq_length is {}; it must be 3 or more", encoder_file, most);
  }
  settings.max_length = std::min(most, config.max_position_embeddings);
  encoder_reader.read("do_lower_case", settings.lower_case);

  const std::string own_file = (folder / "config_sentence_transformers.json").string();
  const Json own = object_in(own_file);
  const KeyReader reader(own, own_file);
  read_prompts(reader, settings);
  reader.read("similarity_fn_name", settings.similarity);
  if (std::ranges::count(kSimilarities, settings.similarity) == 0) {
    throw_user_error("{}: similarity_fn_name is {}; known are {}", own_file, settings.similarity,
                     fmt::join(kSimilarities, ", "));
  }
  return settings;
}

void take_sentence_rules(const SentenceSettings& settings, text::TokenizerOptions& rules) {
  if (!settings.lower_case || rules.lower_case) return;
  rules.strip_accents = rules.strips_accents();
  rules.lower_case = true;
}

Json sentence_json(const EmbeddingLayers& layers, const SentenceSettings& settings) {
  Json pooling = Json::array(), dense = Json::array(), prompts = Json::object();
  for (const PoolingMode mode : layers.pooling) pooling.push_back(pooling_name(mode));
  for (const DenseLayer& layer : layers.dense) {
    dense.push_back(Json::object({{"name", layer.name},
                                  {"in_features", layer.in_features},
                                  {"out_features", layer.out_features},
                                  {"has_bias", layer.has_bias},
                                  {"has_tanh", layer.has_tanh}}));
  }
  for (const auto& [name, text] : settings.prompts) prompts[name] = text;
  return Json::object({{"pooling", std::move(pooling)},
                       {"dense", std::move(dense)},
                       {"is_normalized", layers.is_normalized},
                       {"max_length", formats::or_null(settings.max_length)},
                       {"prompts", std::move(prompts)},
                       {"default_prompt", settings.default_prompt},
                       {"similarity", settings.similarity}});
}

std::pair<EmbeddingLayers, SentenceSettings> sentence_from_json(const Json& json) {
  EmbeddingLayers layers{.pooling = {}, .is_normalized = json.at("is_normalized").get<bool>()};
  for (const Json& name : json.at("pooling")) {
    layers.pooling.push_back(pooling_named(name.get<std::string>()));
  }
  for (const Json& layer : json.at("dense")) {
    layers.dense.push_back({.name = layer.at("name").get<std::string>(),
                            .in_features = layer.at("in_features").get<int64_t>(),
                            .out_features = layer.at("out_features").get<int64_t>(),
                            .has_bias = layer.at("has_bias").get<bool>(),
                            .has_tanh = layer.at("has_tanh").get<bool>()});
  }
  SentenceSettings settings{.default_prompt = json.at("default_prompt").get<std::string>(),
                            .similarity = json.at("similarity").get<std::string>()};
  if (!json.at("max_length").is_null()) settings.max_length = json["max_length"].get<int64_t>();
  for (const formats::JsonMember& prompt : json.at("prompts").items()) {
    settings.prompts.emplace_back(prompt.name, prompt.value.get<std::string>());
  }
  return {layers, settings};
}

std::span<const PoolingKey> pooling_keys() { return kModes; }

std::string_view pooling_name(PoolingMode mode) {
  return std::ranges::find(kModes, mode, &PoolingKey::mode)->name;
}

std::vector<std::string> pooling_names() {
  std::vector<std::string> names;
  for (const PoolingKey& one : kModes) names.emplace_back(one.name);
  return names;
}

PoolingMode pooling_named(std::string_view name) {
  for (const PoolingKey& one : kModes) {
    if (one.name == name) return one.mode;
  }
  throw_user_error("pooling is {}; known are {}", name, fmt::join(pooling_names(), ", "));
}

void replace_pooling(EmbeddingLayers& layers, PoolingMode mode, const fs::path& model) {
  if (!layers.dense.empty() && layers.pooling.size() != 1) {
    throw_user_error("{} has dense layers for {} modes of pooling; leave the mode to its folder",
                     model.string(), layers.pooling.size());
  }
  layers.pooling = {mode};
}

}  // namespace cloze::checkpoints
