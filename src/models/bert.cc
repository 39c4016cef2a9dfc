#include "models/bert.h"

#include <fmt/format.h>

#include "nn/encoder_layer.h"
#include "nn/groupbert_layer.h"
#include "nn/layer_norm_layer.h"
#include "nn/linear_layer.h"
#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/layer_norm.h"
#include "ops/tanh.h"

namespace cloze::models {
namespace {

using graph::Graph;
using graph::Init;
using graph::Value;

ops::RandomInputs random_inputs(const BertInputs& inputs) {
  return {.sample_ids = inputs.sample_ids,
          .position_ids = inputs.position_ids,
          .random_key = inputs.random_key};
}

Value embeddings(Graph& graph, const BertConfig& config, const BertInputs& inputs) {
  const auto scope = graph.scope("embeddings");
  const int64_t hidden = config.hidden_size;
  const Init init = Init::truncated_normal(config.initializer_range);
  const Value word =
      graph.add_parameter("word_embeddings.weight", {config.vocab_size, hidden}, init);
  const Value position = graph.add_parameter("position_embeddings.weight",
                                             {config.max_position_embeddings, hidden}, init);
  const Value token_type =
      graph.add_parameter("token_type_embeddings.weight", {config.type_vocab_size, hidden}, init);
  const Value sum = ops::embedding(graph, {.input_ids = inputs.input_ids,
                                           .token_type_ids = inputs.token_type_ids,
                                           .position_ids = inputs.position_ids,
                                           .word = word,
                                           .token_type = token_type,
                                           .position = position,
                                           .sequence_starts = inputs.sequence_starts});
  const Value normed = nn::layer_norm_layer(graph, "LayerNorm", sum, config.layer_norm_eps);
  return ops::dropout(graph, normed, random_inputs(inputs), config.hidden_dropout_prob);
}

// Each token of a sequence has a position, so a sequence is no longer than the table of positions.
nn::EncoderLayer encoder_layer_of(const BertConfig& config) {
  return {.num_heads = config.num_attention_heads,
          .max_length = config.max_position_embeddings,
          .intermediate_size = config.intermediate_size,
          .activation = gelu_form(config.hidden_act),
          .hidden_dropout_rate = config.hidden_dropout_prob,
          .attention_dropout_rate = config.attention_probs_dropout_prob,
          .initializer_range = config.initializer_range,
          .layer_norm_epsilon = config.layer_norm_eps,
          .has_qkv_bias = config.use_qkv_bias,
          .has_attention_projection_bias = config.use_attention_projection_bias};
}

std::string layer_name(int64_t layer) { return fmt::format("encoder.layer.{}", layer); }

Value bert_layers(Graph& graph, const BertConfig& config, const BertInputs& inputs, Value hidden) {
  const nn::EncoderLayer layer = encoder_layer_of(config);
  for (int64_t i = 0; i < config.num_hidden_layers; ++i) {
    const auto scope = graph.layer_scope(layer_name(i), static_cast<int32_t>(i));
    hidden = nn::encoder_layer(graph, hidden, inputs.sequence_starts, random_inputs(inputs), layer);
  }
  return hidden;
}

// Each layer ends with the norm of the next; the last with one of its own.
nn::LayerNormParameters norm_before(Graph& graph, const BertConfig& config, int64_t layer) {
  if (layer == config.num_hidden_layers) {
    return nn::layer_norm_parameters(graph, "encoder.LayerNorm", config.hidden_size);
  }
  const auto scope = graph.scope(layer_name(layer));
  return nn::groupbert_first_norm(graph, config.hidden_size);
}

Value groupbert_layers(Graph& graph, const BertConfig& config, const BertInputs& inputs,
                       Value hidden) {
  const nn::GroupBertLayer layer{.common = encoder_layer_of(config),
                                 .ffn_groups = config.groupbert_ffn_output_groups,
                                 .conv_kernel_size = config.groupbert_conv_kernel_size,
                                 .conv_group_size = config.groupbert_conv_group_size,
                                 .has_convolution_bias = config.groupbert_conv_bias};
  const nn::LayerNormParameters first = norm_before(graph, config, 0);
  ops::SumAndNorm state{
      .z = hidden,
      .y = ops::layer_norm(graph, hidden, first.gamma, first.beta, config.layer_norm_eps)};
  for (int64_t i = 0; i < config.num_hidden_layers; ++i) {
    const nn::LayerNormParameters next = norm_before(graph, config, i + 1);
    const auto scope = graph.layer_scope(layer_name(i), static_cast<int32_t>(i));
    state = nn::groupbert_layer(graph, state, inputs.sequence_starts, random_inputs(inputs), next,
                                layer);
  }
  return state.y;
}

}  // namespace

ops::GeluForm gelu_form(Activation activation) {
  return activation == Activation::kGeluErf ? ops::GeluForm::kErf : ops::GeluForm::kTanh;
}

BertInputs add_bert_inputs(Graph& graph, const BatchShape& shape) {
  const auto integers = [&](const char* name, int64_t count) {
    return graph.add_input(name, {DType::kI32, {count}});
  };
  return {.input_ids = integers("input_ids", shape.tokens),
          .token_type_ids = integers("token_type_ids", shape.tokens),
          .position_ids = integers("position_ids", shape.tokens),
          .sample_ids = integers("sample_ids", shape.tokens),
          .sequence_starts = integers("sequence_starts", shape.sequences + 1),
          .first_tokens = integers("first_tokens", shape.sequences),
          .random_key = integers(kRandomKey, 2)};
}

Value bert_encoder(Graph& graph, const BertConfig& config, const BertInputs& inputs) {
  const auto scope = graph.scope("bert");
  const Value hidden = embeddings(graph, config, inputs);
  return config.groupbert ? groupbert_layers(graph, config, inputs, hidden)
                          : bert_layers(graph, config, inputs, hidden);
}

Value bert_pooler(Graph& graph, const BertConfig& config, const BertInputs& inputs, Value hidden) {
  const Value first = ops::gather_rows(graph, hidden, inputs.first_tokens);
  const Value dense = nn::linear_layer(
      graph, "bert.pooler.dense", first,
      {.out_features = config.hidden_size, .initializer_range = config.initializer_range});
  return ops::tanh(graph, dense);
}

}  // namespace cloze::models
