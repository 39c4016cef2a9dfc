#include "models/bert_fields.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <type_traits>

#include "base/error.h"
#include "ops/dropout_mask.h"

namespace cloze::models {
namespace {

// The bounds keep products of sizes within 64 bits, and keep a forged file from taking all memory.
constexpr int64_t kMostLayers = 10'000;
constexpr int64_t kMostOfASize = int64_t{1} << 24;
constexpr int64_t kMostOfAttention = ops::kMostHeadsOrQueries;
constexpr int64_t kMostOfAConvolution = int64_t{1} << 16;  // its weights have two of these sizes

using enum FieldKind;
using C = BertConfig;

constexpr BertField kFields[] = {
    {"vocab_size", kSize, &C::vocab_size, "Vocabulary size: rows of the word embeddings",
     kMostOfASize},
    {"hidden_size", kSize, &C::hidden_size, "Width of the encoder", kMostOfASize},
    {"num_hidden_layers", kSize, &C::num_hidden_layers, "Encoder layers", kMostLayers},
    {"num_attention_heads", kSize, &C::num_attention_heads,
     "Attention heads; must divide hidden_size", kMostOfAttention},
    {"intermediate_size", kSize, &C::intermediate_size, "Width of the feed-forward part",
     kMostOfASize},
    {"hidden_act", kArithmetic, &C::hidden_act, "gelu is the erf form, the others the tanh form"},
    {"hidden_dropout_prob", kTraining, &C::hidden_dropout_prob, "Dropout of hidden values", 0,
     true},
    {"attention_probs_dropout_prob", kTraining, &C::attention_probs_dropout_prob,
     "Dropout of attention", 0, true},
    {"max_position_embeddings", kSize, &C::max_position_embeddings,
     "Number of positions; at least seq_length", kMostOfAttention},
    {"type_vocab_size", kSize, &C::type_vocab_size, "Token types (segments)", kMostOfASize},
    {"initializer_range", kStart, &C::initializer_range,
     "Standard deviation of the initial weights"},
    {"layer_norm_eps", kArithmetic, &C::layer_norm_eps, "Added to LayerNorm's variance"},
    {"use_qkv_bias", kSwitch, &C::use_qkv_bias, "Biases of query, key and value"},
    {"use_attention_projection_bias", kSwitch, &C::use_attention_projection_bias,
     "Bias of the attention output"},
    {"use_cls_layer", kSwitch, &C::use_cls_layer, "Transform before the vocabulary projection"},
    {"use_prediction_bias", kSwitch, &C::use_prediction_bias, "Bias of the vocabulary"},
    {"groupbert", kVariant, &C::groupbert, "GroupBERT's encoder in place of BERT's"},
    {"groupbert_ffn_output_groups", kVariant, &C::groupbert_ffn_output_groups,
     "Groups of the second product in GroupBERT's feed-forward part; must divide hidden_size and "
     "intermediate_size",
     kMostOfASize, false, "ffn_groups"},
    {"groupbert_conv_kernel_size", kVariant, &C::groupbert_conv_kernel_size,
     "Tokens that GroupBERT's convolution spans; odd", kMostOfAConvolution, false,
     "conv_kernel_size"},
    {"groupbert_conv_group_size", kVariant, &C::groupbert_conv_group_size,
     "Channels of a group of GroupBERT's convolution; must divide hidden_size", kMostOfAConvolution,
     false, "conv_group_size"},
    {"groupbert_conv_bias", kVariant, &C::groupbert_conv_bias,
     "Bias of GroupBERT's convolution, as Optimum-Graphcore's models have it", 0, false,
     "conv_bias"},
};

// The first name of an activation is the one that is written.
struct ActivationRow {
  std::string_view name;
  Activation activation;
};
constexpr ActivationRow kActivations[] = {{"gelu", Activation::kGeluErf},
                                          {"gelu_new", Activation::kGeluTanh},
                                          {"gelu_pytorch_tanh", Activation::kGeluTanh}};

}  // namespace

std::span<const BertField> bert_fields() { return kFields; }

formats::Json field_value(const BertConfig& config, const BertField& field) {
  return std::visit(
      [&](auto member) -> formats::Json {
        if constexpr (std::is_same_v<decltype(member), Activation BertConfig::*>) {
          return activation_name(config.*member);
        } else {
          return config.*member;
        }
      },
      field.member);
}

std::string field_text(const BertConfig& config, const BertField& field) {
  const formats::Json value = field_value(config, field);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

Activation activation_named(std::string_view name) {
  const auto found = std::ranges::find(kActivations, name, &ActivationRow::name);
  if (found == std::end(kActivations)) {
    throw_user_error("hidden_act {} is not supported; choose {}", name,
                     fmt::join(activation_names(), ", "));
  }
  return found->activation;
}

std::string_view activation_name(Activation activation) {
  return std::ranges::find(kActivations, activation, &ActivationRow::activation)->name;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const ActivationRow& row : kActivations) names.emplace_back(row.name);
  return names;
}

}  // namespace cloze::models
