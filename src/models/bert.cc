#include "models/bert.h"

#include <fmt/format.h>

#include "nn/encoder_layer.h"
#include "nn/layer_norm_layer.h"
#include "ops/embedding.h"
#include "ops/gelu.h"

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

nn::EncoderLayer encoder_layer_of(const BertConfig& config) {
  return {.num_heads = config.num_attention_heads,
          .intermediate_size = config.intermediate_size,
          .activation = gelu_form(config.hidden_act),
          .hidden_dropout_rate = config.hidden_dropout_prob,
          .attention_dropout_rate = config.attention_probs_dropout_prob,
          .initializer_range = config.initializer_range,
          .layer_norm_epsilon = config.layer_norm_eps,
          .has_qkv_bias = config.use_qkv_bias,
          .has_attention_projection_bias = config.use_attention_projection_bias};
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
          .random_key = integers("random_key", 2)};
}

Value bert_encoder(Graph& graph, const BertConfig& config, const BertInputs& inputs) {
  const auto scope = graph.scope("bert");
  Value hidden = embeddings(graph, config, inputs);
  const nn::EncoderLayer layer = encoder_layer_of(config);
  for (int64_t i = 0; i < config.num_hidden_layers; ++i) {
    const auto layer_scope =
        graph.layer_scope(fmt::format("encoder.layer.{}", i), static_cast<int32_t>(i));
    hidden = nn::encoder_layer(graph, hidden, inputs.sequence_starts, random_inputs(inputs), layer);
  }
  return hidden;
}

}  // namespace cloze::models
