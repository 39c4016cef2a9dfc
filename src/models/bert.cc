#include "models/bert.h"

#include <fmt/format.h>

#include "nn/encoder_layer.h"
#include "nn/layer_norm_layer.h"
#include "nn/linear_layer.h"
#include "ops/cross_entropy.h"
#include "ops/embedding.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/tanh.h"

namespace cloze::models {
namespace {

using graph::Graph;
using graph::Init;
using graph::Value;

constexpr std::string_view kWordEmbeddings = "bert.embeddings.word_embeddings.weight";

ops::GeluForm gelu_form(Activation activation) {
  return activation == Activation::kGeluErf ? ops::GeluForm::kErf : ops::GeluForm::kTanh;
}

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

Value mlm_transform(Graph& graph, const BertConfig& config, Value hidden) {
  const auto scope = graph.scope("transform");
  const Value dense = nn::linear_layer(
      graph, "dense", hidden,
      {.out_features = config.hidden_size, .initializer_range = config.initializer_range});
  const Value activated = ops::gelu(graph, dense, gelu_form(config.hidden_act));
  return nn::layer_norm_layer(graph, "LayerNorm", activated, config.layer_norm_eps);
}

}  // namespace

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
          .masked_positions = integers("masked_positions", shape.predictions),
          .random_key = integers("random_key", 2)};
}

Value bert_encoder(Graph& graph, const BertConfig& config, const BertInputs& inputs) {
  const auto scope = graph.scope("bert");
  Value hidden = embeddings(graph, config, inputs);
  const nn::EncoderLayer layer = encoder_layer_of(config);
  for (int64_t i = 0; i < config.num_hidden_layers; ++i) {
    const auto layer_scope = graph.scope(fmt::format("encoder.layer.{}", i));
    hidden = nn::encoder_layer(graph, hidden, inputs.sequence_starts, random_inputs(inputs), layer);
  }
  return hidden;
}

MaskedLanguageModel masked_language_model(Graph& graph, const BertConfig& config, Value encoded,
                                          Value masked_positions) {
  const auto scope = graph.scope("cls.predictions");
  Value hidden = ops::gather_rows(graph, encoded, masked_positions);
  if (config.use_cls_layer) hidden = mlm_transform(graph, config, hidden);
  Value bias;
  if (config.use_prediction_bias) {
    bias = graph.add_parameter("bias", {config.vocab_size}, Init::zeros());
  }
  return {.hidden = hidden, .table = *graph.find(kWordEmbeddings), .bias = bias};
}

Value next_sentence_logits(Graph& graph, const BertConfig& config, Value encoded,
                           Value first_tokens) {
  const nn::LinearLayer dense{.out_features = config.hidden_size,
                              .initializer_range = config.initializer_range};
  const Value first = ops::gather_rows(graph, encoded, first_tokens);
  const Value pooled = ops::tanh(graph, nn::linear_layer(graph, "bert.pooler.dense", first, dense));
  return nn::linear_layer(graph, "cls.seq_relationship", pooled,
                          {.out_features = 2, .initializer_range = config.initializer_range});
}

PretrainingOutputs bert_for_pretraining(Graph& graph, const BertConfig& config,
                                        const BatchShape& shape) {
  const BertInputs inputs = add_bert_inputs(graph, shape);
  const Value masked_labels = graph.add_input("masked_labels", {DType::kI32, {shape.predictions}});
  const Value next_sentence_labels =
      graph.add_input("next_sentence_labels", {DType::kI32, {shape.sequences}});
  const Value mlm_normalizer = graph.add_input("mlm_normalizer", {DType::kF32, {1}});
  const Value nsp_normalizer = graph.add_input("nsp_normalizer", {DType::kF32, {1}});

  const Value encoded = bert_encoder(graph, config, inputs);
  const Value nsp_logits = next_sentence_logits(graph, config, encoded, inputs.first_tokens);
  const ops::LossOutputs nsp =
      ops::cross_entropy(graph, nsp_logits, next_sentence_labels, nsp_normalizer);
  const MaskedLanguageModel mlm =
      masked_language_model(graph, config, encoded, inputs.masked_positions);
  return {.mlm = ops::vocabulary_loss(graph, {.x = mlm.hidden,
                                              .table = mlm.table,
                                              .labels = masked_labels,
                                              .normalizer = mlm_normalizer,
                                              .bias = mlm.bias}),
          .nsp = nsp};
}

void bert_for_inference(Graph& graph, const BertConfig& config, const BatchShape& shape) {
  BertConfig without_dropout = config;
  without_dropout.hidden_dropout_prob = 0.0;
  without_dropout.attention_probs_dropout_prob = 0.0;
  const BertInputs inputs = add_bert_inputs(graph, shape);
  const Value encoded = bert_encoder(graph, without_dropout, inputs);
  const MaskedLanguageModel mlm =
      masked_language_model(graph, without_dropout, encoded, inputs.masked_positions);
  const Value predictions =
      ops::linear(graph, {.x = mlm.hidden, .weight = mlm.table, .bias = mlm.bias});
  graph.mark_output(predictions, "prediction_logits");
  graph.mark_output(next_sentence_logits(graph, without_dropout, encoded, inputs.first_tokens),
                    "seq_relationship_logits");
}

std::vector<AbsentBias> absent_biases(const BertConfig& config) {
  std::vector<AbsentBias> absent;
  for (int64_t i = 0; i < config.num_hidden_layers; ++i) {
    const std::string attention = fmt::format("bert.encoder.layer.{}.attention.", i);
    if (!config.use_qkv_bias) {
      for (const char* part : {"query", "key", "value"}) {
        absent.push_back({fmt::format("{}self.{}.bias", attention, part), config.hidden_size});
      }
    }
    if (!config.use_attention_projection_bias) {
      absent.push_back({attention + "output.dense.bias", config.hidden_size});
    }
  }
  if (!config.use_prediction_bias) absent.push_back({"cls.predictions.bias", config.vocab_size});
  return absent;
}

}  // namespace cloze::models
