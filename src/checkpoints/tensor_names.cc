#include "checkpoints/tensor_names.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace cloze::checkpoints {
namespace {

// A '#' stands for a layer's number. `graphcore` is empty where it is Google's.
struct NameRow {
  std::string_view hugging_face;
  std::string_view google;
  std::string_view graphcore = {};
  StoredLayout layout = StoredLayout::kSame;
};

using enum StoredLayout;
constexpr std::string_view kLayer = "bert.encoder.layer.#.";
constexpr std::string_view kTfLayer = "bert/encoder/layer_#/";

// Names of a layer, without what they begin with.
constexpr NameRow kLayerRows[] = {
    {"attention.self.query.weight", "attention/self/query/kernel", {}, kTransposed},
    {"attention.self.query.bias", "attention/self/query/bias"},
    {"attention.self.key.weight", "attention/self/key/kernel", {}, kTransposed},
    {"attention.self.key.bias", "attention/self/key/bias"},
    {"attention.self.value.weight", "attention/self/value/kernel", {}, kTransposed},
    {"attention.self.value.bias", "attention/self/value/bias"},
    {"attention.output.dense.weight", "attention/output/dense/kernel",
     "attention/projection/dense/kernel", kTransposed},
    {"attention.output.dense.bias", "attention/output/dense/bias",
     "attention/projection/dense/bias"},
    {"attention.output.LayerNorm.weight", "attention/output/LayerNorm/gamma",
     "attention/projection/LayerNorm/gamma"},
    {"attention.output.LayerNorm.bias", "attention/output/LayerNorm/beta",
     "attention/projection/LayerNorm/beta"},
    {"intermediate.dense.weight", "intermediate/dense/kernel", {}, kTransposed},
    {"intermediate.dense.bias", "intermediate/dense/bias"},
    {"output.dense.weight", "output/dense/kernel", {}, kTransposed},
    {"output.dense.bias", "output/dense/bias"},
    {"output.LayerNorm.weight", "output/LayerNorm/gamma"},
    {"output.LayerNorm.bias", "output/LayerNorm/beta"},
    // GroupBERT's. The halves of its gated linear unit are one tensor here (tensorflow_tensors.h).
    {"convolution.glu.gates.weight", "convolution/pre/glu/gates/dense/kernel", {}, kTransposed},
    {"convolution.glu.gates.bias", "convolution/pre/glu/gates/dense/bias"},
    {"convolution.glu.values.weight", "convolution/pre/glu/values/dense/kernel", {}, kTransposed},
    {"convolution.glu.values.bias", "convolution/pre/glu/values/dense/bias"},
    {"convolution.prenorm.weight", "convolution/prenorm/LayerNorm/gamma"},
    {"convolution.prenorm.bias", "convolution/prenorm/LayerNorm/beta"},
    {"convolution.groupconv.weight", "convolution/dwconv/weight", {}, kTransposed},
    {"convolution.groupconv.bias", "convolution/dwconv/bias"},
    {"convolution.conv_norm.weight", "convolution/dwconv/LayerNorm/gamma"},
    {"convolution.conv_norm.bias", "convolution/dwconv/LayerNorm/beta"},
    {"convolution.output_projection.weight", "convolution/post/dense/kernel", {}, kTransposed},
    {"convolution.output_projection.bias", "convolution/post/dense/bias"},
    {"intermediate_first.LayerNorm.weight", "feed_forward_1/prenorm/LayerNorm/gamma"},
    {"intermediate_first.LayerNorm.bias", "feed_forward_1/prenorm/LayerNorm/beta"},
    {"intermediate_first.dense.weight",
     "feed_forward_1/intermediate/dense/kernel",
     {},
     kTransposed},
    {"intermediate_first.dense.bias", "feed_forward_1/intermediate/dense/bias"},
    {"output_first.grouped_matmul.weight", "feed_forward_1/output/dense/kernel", {}, kOneTokenWide},
    {"output_first.grouped_matmul.bias", "feed_forward_1/output/dense/bias"},
    {"output_first.dense_output_projection.weight",
     "feed_forward_1/output/mixer/dense/kernel",
     {},
     kTransposed},
    {"output_first.dense_output_projection.bias", "feed_forward_1/output/mixer/dense/bias"},
    {"attention.LayerNorm.weight", "attention/prenorm/LayerNorm/gamma"},
    {"attention.LayerNorm.bias", "attention/prenorm/LayerNorm/beta"},
    {"intermediate_second.LayerNorm.weight", "feed_forward_2/prenorm/LayerNorm/gamma"},
    {"intermediate_second.LayerNorm.bias", "feed_forward_2/prenorm/LayerNorm/beta"},
    {"intermediate_second.dense.weight",
     "feed_forward_2/intermediate/dense/kernel",
     {},
     kTransposed},
    {"intermediate_second.dense.bias", "feed_forward_2/intermediate/dense/bias"},
    {"output_second.grouped_matmul.weight",
     "feed_forward_2/output/dense/kernel",
     {},
     kOneTokenWide},
    {"output_second.grouped_matmul.bias", "feed_forward_2/output/dense/bias"},
    {"output_second.dense_output_projection.weight",
     "feed_forward_2/output/mixer/dense/kernel",
     {},
     kTransposed},
    {"output_second.dense_output_projection.bias", "feed_forward_2/output/mixer/dense/bias"},
};

constexpr NameRow kOtherRows[] = {
    {"bert.embeddings.word_embeddings.weight", "bert/embeddings/word_embeddings"},
    {"bert.embeddings.position_embeddings.weight", "bert/embeddings/position_embeddings"},
    {"bert.embeddings.token_type_embeddings.weight", "bert/embeddings/token_type_embeddings"},
    {"bert.embeddings.LayerNorm.weight", "bert/embeddings/LayerNorm/gamma"},
    {"bert.embeddings.LayerNorm.bias", "bert/embeddings/LayerNorm/beta"},
    {"bert.encoder.LayerNorm.weight", "LayerNorm/gamma"},  // GroupBERT's last
    {"bert.encoder.LayerNorm.bias", "LayerNorm/beta"},
    {"bert.pooler.dense.weight", "bert/pooler/dense/kernel", {}, kTransposed},
    {"bert.pooler.dense.bias", "bert/pooler/dense/bias"},
    {"cls.predictions.transform.dense.weight",
     "cls/predictions/transform/dense/kernel",
     {},
     kTransposed},
    {"cls.predictions.transform.dense.bias", "cls/predictions/transform/dense/bias"},
    {"cls.predictions.transform.LayerNorm.weight", "cls/predictions/transform/LayerNorm/gamma"},
    {"cls.predictions.transform.LayerNorm.bias", "cls/predictions/transform/LayerNorm/beta"},
    {"cls.predictions.bias", "cls/predictions/output_bias"},
    {"cls.seq_relationship.weight", "cls/seq_relationship/output_weights"},
    {"cls.seq_relationship.bias", "cls/seq_relationship/output_bias"},
    {"qa_outputs.weight", "cls/squad/output_weights"},
    {"qa_outputs.bias", "cls/squad/output_bias"},
    {"classifier.weight", "output_weights", "glue_loss/output_weights"},
    {"classifier.bias", "output_bias", "glue_loss/output_bias"},
};

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

std::string_view graphcore_name(const NameRow& row) {
  return row.graphcore.empty() ? row.google : row.graphcore;
}

template <typename Matches>
const NameRow* find_row(bool is_in_layer, Matches matches) {
  const auto find = [&](const auto& rows) -> const NameRow* {
    const auto found = std::find_if(std::begin(rows), std::end(rows), matches);
    return found == std::end(rows) ? nullptr : found;
  };
  return is_in_layer ? find(kLayerRows) : find(kOtherRows);
}

void replace_all(std::string& name, std::string_view from, std::string_view to) {
  for (size_t at = name.find(from); at != std::string::npos; at = name.find(from, at + to.size())) {
    name.replace(at, from.size(), to);
  }
}

// Of names within a layer: research, Graphcore. In the order in which the left become the right.
constexpr std::pair<std::string_view, std::string_view> kResearchParts[] = {
    {"GroupNorm", "LayerNorm"},
    {"/boom", "/feed_forward_"},
    {"/up/", "/intermediate/"},
    {"/down/", "/output/"},
    {"/mixer/", "/output/mixer/"},
    {"attention/output/", "attention/projection/"},
    {"attention/qkv/", "attention/self/"},
    {"/conv/", "/convolution/"}};
constexpr std::string_view kResearchScope = "all/";
constexpr std::string_view kPostLayers = "bert/encoder/post_layers/";

void replace_suffix(std::string& name, std::string_view from, std::string_view to) {
  if (name.ends_with(from)) name.replace(name.size() - from.size(), from.size(), to);
}

// In lower case: programs differ in that.
std::string last_part(std::string_view tensorflow_name) {
  std::string last(tensorflow_name.substr(tensorflow_name.rfind('/') + 1));
  std::ranges::transform(last, last.begin(), [](unsigned char c) { return std::tolower(c); });
  return last;
}

}  // namespace

std::optional<OtherName> hugging_face_name(std::string_view tensorflow_name) {
  const NameParts parts = parts_of(tensorflow_name, kTfLayer);
  const NameRow* row = find_row(!parts.layer.empty(), [&](const NameRow& candidate) {
    return candidate.google == parts.rest || graphcore_name(candidate) == parts.rest;
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
  std::string name =
      in_layer(kTfLayer, parts.layer,
               names == TensorflowNames::kGoogle ? row->google : graphcore_name(*row));
  if (names == TensorflowNames::kResearch) name = research_name(name);
  return OtherName{std::move(name), row->layout};
}

std::string current_tensorflow_name(std::string_view name) {
  std::string current(name);
  if (!current.starts_with(kResearchScope)) return current;
  current.erase(0, kResearchScope.size());
  for (const auto& [research, graphcore] : kResearchParts)
    replace_all(current, research, graphcore);
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
  if (name.find("/feed_forward_") == std::string::npos) {
    replace_all(name, "attention/projection/", "attention/output/");
    replace_all(name, "attention/self/", "attention/qkv/");
    replace_all(name, "/convolution/", "/conv/");
  } else {
    replace_all(name, "/output/mixer/", "/mixer/");
    replace_all(name, "/output/", "/down/");
    replace_all(name, "/intermediate/", "/up/");
    replace_all(name, "/feed_forward_", "/boom");
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

}  // namespace cloze::checkpoints
