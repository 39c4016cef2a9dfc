#include "checkpoints/tensor_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <ranges>
#include <utility>
#include <vector>

namespace cloze::checkpoints {
namespace {

using enum StoredLayout;

// The names of a module's tensors, which follow the module's name.
struct ParameterNames {
  std::string_view hugging_face;
  std::string_view tensorflow;
  StoredLayout layout = kSame;
};
constexpr ParameterNames kDense[] = {{"weight", "kernel", kTransposed}, {"bias", "bias"}};
constexpr ParameterNames kGrouped[] = {{"weight", "kernel", kOneTokenWide}, {"bias", "bias"}};
constexpr ParameterNames kConvolution[] = {{"weight", "weight", kTransposed}, {"bias", "bias"}};
constexpr ParameterNames kNorm[] = {{"weight", "LayerNorm/gamma"}, {"bias", "LayerNorm/beta"}};
constexpr ParameterNames kTable[] = {{"weight", ""}};
constexpr ParameterNames kHead[] = {{"weight", "output_weights"}, {"bias", "output_bias"}};
constexpr ParameterNames kHeadBias[] = {{"bias", "output_bias"}};

// `graphcore` is empty where it is Google's.
struct ModuleRow {
  std::span<const ParameterNames> parameters;
  std::string_view hugging_face;
  std::string_view google;
  std::string_view graphcore = {};
};

// A '#' stands for a layer's number.
constexpr std::string_view kLayer = "bert.encoder.layer.#.";
constexpr std::string_view kTfLayer = "bert/encoder/layer_#/";

// Modules of a layer, without their common prefix.
constexpr ModuleRow kLayerModules[] = {
    {kDense, "attention.self.query.", "attention/self/query/"},
    {kDense, "attention.self.key.", "attention/self/key/"},
    {kDense, "attention.self.value.", "attention/self/value/"},
    {kDense, "attention.output.dense.", "attention/output/dense/", "attention/projection/dense/"},
    {kNorm, "attention.output.LayerNorm.", "attention/output/", "attention/projection/"},
    {kDense, "intermediate.dense.", "intermediate/dense/"},
    {kDense, "output.dense.", "output/dense/"},
    {kNorm, "output.LayerNorm.", "output/"},
    // GroupBERT's. The halves of its gated linear unit are one tensor here (tensorflow_tensors.h).
    {kDense, "convolution.glu.gates.", "convolution/pre/glu/gates/dense/"},
    {kDense, "convolution.glu.values.", "convolution/pre/glu/values/dense/"},
    {kNorm, "convolution.prenorm.", "convolution/prenorm/"},
    {kConvolution, "convolution.groupconv.", "convolution/dwconv/"},
    {kNorm, "convolution.conv_norm.", "convolution/dwconv/"},
    {kDense, "convolution.output_projection.", "convolution/post/dense/"},
    {kNorm, "intermediate_first.LayerNorm.", "feed_forward_1/prenorm/"},
    {kDense, "intermediate_first.dense.", "feed_forward_1/intermediate/dense/"},
    {kGrouped, "output_first.grouped_matmul.", "feed_forward_1/output/dense/"},
    {kDense, "output_first.dense_output_projection.", "feed_forward_1/output/mixer/dense/"},
    {kNorm, "attention.LayerNorm.", "attention/prenorm/"},
    {kNorm, "intermediate_second.LayerNorm.", "feed_forward_2/prenorm/"},
    {kDense, "intermediate_second.dense.", "feed_forward_2/intermediate/dense/"},
    {kGrouped, "output_second.grouped_matmul.", "feed_forward_2/output/dense/"},
    {kDense, "output_second.dense_output_projection.", "feed_forward_2/output/mixer/dense/"},
};

constexpr ModuleRow kOtherModules[] = {
    {kTable, "bert.embeddings.word_embeddings.", "bert/embeddings/word_embeddings"},
    {kTable, "bert.embeddings.position_embeddings.", "bert/embeddings/position_embeddings"},
    {kTable, "bert.embeddings.token_type_embeddings.", "bert/embeddings/token_type_embeddings"},
    {kNorm, "bert.embeddings.LayerNorm.", "bert/embeddings/"},
    {kNorm, "bert.encoder.LayerNorm.", ""},  // GroupBERT's last
    {kDense, "bert.pooler.dense.", "bert/pooler/dense/"},
    {kDense, "cls.predictions.transform.dense.", "cls/predictions/transform/dense/"},
    {kNorm, "cls.predictions.transform.LayerNorm.", "cls/predictions/transform/"},
    {kHeadBias, "cls.predictions.", "cls/predictions/"},
    {kHead, "cls.seq_relationship.", "cls/seq_relationship/"},
    {kHead, "qa_outputs.", "cls/squad/"},
    {kHead, "classifier.", "", "glue_loss/"},
};

// A tensor, as the rows of its module and its parameter call it.
struct NameRow {
  std::string hugging_face, google, graphcore;
  StoredLayout layout;
};

std::vector<NameRow> rows_of(std::span<const ModuleRow> modules) {
  std::vector<NameRow> rows;
  for (const auto& [parameters, hugging_face, google, graphcore] : modules) {
    const std::string_view own = graphcore.empty() ? google : graphcore;
    for (const ParameterNames& parameter : parameters) {
      rows.push_back({std::string(hugging_face).append(parameter.hugging_face),
                      std::string(google).append(parameter.tensorflow),
                      std::string(own).append(parameter.tensorflow), parameter.layout});
    }
  }
  return rows;
}

// A name taken apart: layer "12" and what follows it; layer is empty outside the encoder.
struct NameParts {
  std::string_view layer;
  std::string_view rest;
};

NameParts parts_of(std::string_view name, std::string_view layer_pattern) {
  const std::string_view start = layer_pattern.substr(0, layer_pattern.find('#'));
  const char separator = layer_pattern.back();
  if (!name.starts_with(start)) return {{}, name};
  const std::string_view rest = name.substr(start.size());
  const size_t digits = rest.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos || rest[digits] != separator) {
    return {{}, name};
  }
  return {rest.substr(0, digits), rest.substr(digits + 1)};
}

std::string in_layer(std::string_view layer_pattern, std::string_view layer,
                     std::string_view rest) {
  if (layer.empty()) return std::string(rest);
  std::string name(layer_pattern);
  name.replace(name.find('#'), 1, layer);
  return name.append(rest);
}

template <typename Matches>
const NameRow* find_row(bool is_in_layer, Matches matches) {
  static const std::vector<NameRow> layer_rows = rows_of(kLayerModules);
  static const std::vector<NameRow> other_rows = rows_of(kOtherModules);
  const std::vector<NameRow>& rows = is_in_layer ? layer_rows : other_rows;
  const auto found = std::ranges::find_if(rows, matches);
  return found == rows.end() ? nullptr : &*found;
}

void replace_all(std::string& name, std::string_view from, std::string_view to) {
  for (size_t at = name.find(from); at != std::string::npos; at = name.find(from, at + to.size())) {
    name.replace(at, from.size(), to);
  }
}

// Parts of names within a layer. Applied from first to last, the left becomes the right; from last
// to first, the right becomes the left.
struct ResearchPart {
  std::string_view research, graphcore;
  bool is_of_feed_forward = false;
};
constexpr ResearchPart kResearchParts[] = {{"/boom", "/feed_forward_", true},
                                           {"/up/", "/intermediate/", true},
                                           {"/down/", "/output/", true},
                                           {"/mixer/", "/output/mixer/", true},
                                           {"attention/output/", "attention/projection/"},
                                           {"attention/qkv/", "attention/self/"},
                                           {"/conv/", "/convolution/"}};
constexpr std::string_view kResearchScope = "all/";
constexpr std::string_view kPostLayers = "bert/encoder/post_layers/";

void replace_suffix(std::string& name, std::string_view from, std::string_view to) {
  if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
}

// The last part of the name, in lower case because programs differ in that.
std::string last_part(std::string_view tensorflow_name) {
  std::string last(tensorflow_name.substr(tensorflow_name.rfind('/') + 1));
  std::ranges::transform(last, last.begin(), [](unsigned char c) { return std::tolower(c); });
  return last;
}

}  // namespace

std::optional<OtherName> hugging_face_name(std::string_view tensorflow_name) {
  const NameParts parts = parts_of(tensorflow_name, kTfLayer);
  const NameRow* row = find_row(!parts.layer.empty(), [&](const NameRow& candidate) {
    return candidate.google == parts.rest || candidate.graphcore == parts.rest;
  });
  if (row == nullptr) return std::nullopt;
  return OtherName{in_layer(kLayer, parts.layer, row->hugging_face), row->layout};
}

std::optional<OtherName> tensorflow_name(std::string_view hugging_face_name,
                                         TensorflowNames names) {
  const NameParts parts = parts_of(hugging_face_name, kLayer);
  const NameRow* row = find_row(!parts.layer.empty(), [&](const NameRow& candidate) {
    return candidate.hugging_face == parts.rest;
  });
  if (row == nullptr) return std::nullopt;
  std::string name = in_layer(kTfLayer, parts.layer,
                              names == TensorflowNames::kGoogle ? row->google : row->graphcore);
  if (names == TensorflowNames::kResearch) name = research_name(name);
  return OtherName{std::move(name), row->layout};
}

std::optional<TensorflowNames> kind_of_name(std::string_view tensorflow_name) {
  if (tensorflow_name.starts_with(kResearchScope)) return TensorflowNames::kResearch;
  const NameParts parts = parts_of(tensorflow_name, kTfLayer);
  if (parts.layer.empty()) return std::nullopt;
  const NameRow* row = find_row(true, [&](const NameRow& candidate) {
    return candidate.google != candidate.graphcore &&
           (candidate.google == parts.rest || candidate.graphcore == parts.rest);
  });
  if (row == nullptr) return std::nullopt;
  return row->google == parts.rest ? TensorflowNames::kGoogle : TensorflowNames::kGraphcore;
}

std::string current_tensorflow_name(std::string_view name) {
  std::string current(name);
  if (!current.starts_with(kResearchScope)) return current;
  current.erase(0, kResearchScope.size());
  replace_all(current, "GroupNorm", "LayerNorm");
  for (const ResearchPart& part : kResearchParts) {
    replace_all(current, part.research, part.graphcore);
  }
  replace_all(current, kPostLayers, "");
  if (parts_of(current, kTfLayer).layer.empty() || current.find("/dwconv/") != std::string::npos) {
    return current;
  }
  replace_suffix(current, "/weight", "/dense/kernel");
  replace_suffix(current, "/bias", "/dense/bias");
  replace_suffix(current, "attention/self/dense/kernel", "attention/self/kernel/qkv_weight");
  if (current.find("attention/self/") != std::string::npos) {
    replace_suffix(current, "/dense/bias", "/bias");
  }
  return current;
}

std::string research_name(std::string_view graphcore_name) {
  std::string name(graphcore_name);
  if (name.starts_with("LayerNorm/")) name.insert(0, kPostLayers);
  const bool is_in_layer = !parts_of(name, kTfLayer).layer.empty();
  if (is_in_layer) {
    replace_suffix(name, "attention/self/kernel/qkv_weight", "attention/self/weight");
    replace_suffix(name, "/dense/kernel", "/weight");
    replace_suffix(name, "/dense/bias", "/bias");
  }
  const bool is_feed_forward = name.find("/feed_forward_") != std::string::npos;
  for (const ResearchPart& part : std::views::reverse(kResearchParts)) {
    if (part.is_of_feed_forward != is_feed_forward) continue;
    replace_all(name, part.graphcore, part.research);
  }
  if (is_in_layer || name.starts_with(kPostLayers)) {
    replace_all(name, "LayerNorm", "GroupNorm");
  }
  return name.insert(0, kResearchScope);
}

bool is_training_state(std::string_view tensorflow_name) {
  constexpr std::string_view kStarts[] = {"adam",    "lamb",        "momentum",   "accum",
                                          "rmsprop", "beta1_power", "beta2_power"};
  const std::string last = last_part(tensorflow_name);
  return last == "global_step" || std::ranges::any_of(kStarts, [&](std::string_view start) {
           return last.starts_with(start);
         });
}

std::optional<MomentSlot> moment_slot(std::string_view tensorflow_name) {
  constexpr std::pair<std::string_view, char> kSlots[] = {
      {"adam_m", 'm'}, {"lamb_m", 'm'}, {"lamb", 'm'},   {"adam", 'm'},
      {"adam_v", 'v'}, {"lamb_v", 'v'}, {"lamb_1", 'v'}, {"adam_1", 'v'}};
  const std::string last = last_part(tensorflow_name);
  if (last.size() >= tensorflow_name.size()) return std::nullopt;
  for (const auto& [name, moment] : kSlots) {
    if (last != name) continue;
    tensorflow_name.remove_suffix(last.size() + 1);
    return MomentSlot{std::string(tensorflow_name), moment};
  }
  return std::nullopt;
}

std::string current_name(std::string_view hugging_face_name) {
  std::string name(hugging_face_name);
  replace_suffix(name, "LayerNorm.gamma", "LayerNorm.weight");
  replace_suffix(name, "LayerNorm.beta", "LayerNorm.bias");
  replace_suffix(name, ".dense_act.weight", ".dense.weight");
  replace_suffix(name, ".dense_act.bias", ".dense.bias");
  return name;
}

std::string full_name(std::string_view hugging_face_name) {
  std::string name = current_name(hugging_face_name);
  const bool is_bare = name.starts_with("embeddings.") || name.starts_with("encoder.") ||
                       name.starts_with("pooler.");
  return is_bare ? "bert." + name : name;
}

bool is_redundant(std::string_view full_name) {
  return full_name == "bert.embeddings.position_ids" ||
         full_name == "cls.predictions.decoder.weight" ||
         full_name == "cls.predictions.decoder.bias";
}

std::string list_names(std::span<const std::string> names, size_t limit) {
  const size_t shown = std::min(limit, names.size());
  std::string text = fmt::format("{}", fmt::join(names.begin(), names.begin() + shown, ", "));
  if (shown < names.size()) text += fmt::format(" and {} more", names.size() - shown);
  return text;
}

}  // namespace cloze::checkpoints
