#include "models/bert_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "nn/layer_norm_layer.h"
#include "nn/linear_layer.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/span_loss.h"
#include "ops/squared_error.h"
#include "ops/tanh.h"
#include "ops/vocabulary_loss.h"

namespace cloze::models {
namespace {

using graph::Graph;
using graph::Init;
using graph::Value;

constexpr std::string_view kWordEmbeddings = "bert.embeddings.word_embeddings.weight";

Value integers(Graph& graph, const char* name, int64_t count) {
  return graph.add_input(name, {DType::kI32, {count}});
}
Value normalizer_of(Graph& graph, const std::string& loss) {
  return graph.add_input(loss + "_normalizer", graph::kScalar);
}

Value mlm_transform(Graph& graph, const BertConfig& config, Value hidden) {
  const auto scope = graph.scope("transform");
  const Value dense = nn::linear_layer(
      graph, "dense", hidden,
      {.out_features = config.hidden_size, .initializer_range = config.initializer_range});
  const Value activated = ops::gelu(graph, dense, gelu_form(config.hidden_act));
  return nn::layer_norm_layer(graph, "LayerNorm", activated, config.layer_norm_eps);
}

// The hidden states that the vocabulary projection reads, [P, H], and that projection's parameters.
struct MaskedLanguageModel {
  Value hidden;  // [P, H]
  Value table;   // [V, H]: the word embeddings, tied
  Value bias;    // [V], may be invalid
};
MaskedLanguageModel masked_language_model(Graph& graph, const BertConfig& config, Value encoded,
                                          Value masked_positions) {
  const auto scope = graph.scope("cls.predictions");
  Value hidden = ops::gather_rows(graph, encoded, masked_positions);
  if (config.use_cls_layer) hidden = mlm_transform(graph, config, hidden);
  Value bias;
  if (config.use_prediction_bias) {
    bias = graph.add_parameter("bias", {config.vocab_size}, Init::zeros(), graph::kVectorTraits);
  }
  return {.hidden = hidden, .table = *graph.find(kWordEmbeddings), .bias = bias};
}

// tanh(W h[CLS]): [T, H] -> [B, H]
Value pooled(Graph& graph, const BertConfig& config, Value encoded, Value first_tokens) {
  const Value first = ops::gather_rows(graph, encoded, first_tokens);
  return ops::tanh(graph, nn::linear_layer(graph, "bert.pooler.dense", first,
                                           {.out_features = config.hidden_size,
                                            .initializer_range = config.initializer_range}));
}

// [B, 2]; class 0: the second sentence really follows.
Value next_sentence_logits(Graph& graph, const BertConfig& config, Value encoded,
                           Value first_tokens) {
  return nn::linear_layer(graph, "cls.seq_relationship",
                          pooled(graph, config, encoded, first_tokens),
                          {.out_features = 2, .initializer_range = config.initializer_range});
}

// [T, 2]: where an answer begins and where it ends.
Value span_logits(Graph& graph, const BertConfig& config, Value encoded) {
  return nn::linear_layer(graph, "qa_outputs", encoded,
                          {.out_features = 2, .initializer_range = config.initializer_range});
}

// [B, C]. `sequence_ids` keys the dropout; invalid when inferring.
Value class_logits(Graph& graph, const BertConfig& config, const BertHead& head,
                   const BertInputs& inputs, Value encoded, Value sequence_ids) {
  Value hidden = pooled(graph, config, encoded, inputs.first_tokens);
  if (sequence_ids.valid()) {
    const ops::RandomInputs random{
        .sample_ids = sequence_ids, .position_ids = sequence_ids, .random_key = inputs.random_key};
    hidden = ops::dropout(graph, hidden, random, head.classifier_dropout);
  }
  return nn::linear_layer(
      graph, "classifier", hidden,
      {.out_features = std::ssize(head.labels), .initializer_range = config.initializer_range});
}

Value mlm_normalizer_of(Graph& graph, LossBasis basis, const BatchShape& shape) {
  if (basis == LossBasis::kPerToken) return normalizer_of(graph, "mlm");
  return graph.add_input("prediction_weights", {DType::kF32, {shape.predictions}});
}

std::vector<TaskLoss> pretraining_losses(Graph& graph, const BertConfig& config, LossBasis basis,
                                         const BatchShape& shape, const BertInputs& inputs) {
  const Value masked_positions = integers(graph, "masked_positions", shape.predictions);
  const Value masked_labels = integers(graph, "masked_labels", shape.predictions);
  const Value next_sentence_labels = integers(graph, "next_sentence_labels", shape.sequences);
  const Value mlm_normalizer = mlm_normalizer_of(graph, basis, shape);
  const Value nsp_normalizer = normalizer_of(graph, "nsp");

  const Value encoded = bert_encoder(graph, config, inputs);
  const Value nsp_logits = next_sentence_logits(graph, config, encoded, inputs.first_tokens);
  const ops::LossOutputs nsp =
      ops::cross_entropy(graph, nsp_logits, next_sentence_labels, nsp_normalizer);
  const MaskedLanguageModel model = masked_language_model(graph, config, encoded, masked_positions);
  const ops::LossOutputs mlm = ops::vocabulary_loss(graph, {.x = model.hidden,
                                                            .table = model.table,
                                                            .labels = masked_labels,
                                                            .normalizer = mlm_normalizer,
                                                            .bias = model.bias});
  return {{"mlm", mlm.loss, mlm.correct, true}, {"nsp", nsp.loss, nsp.correct, false}};
}

std::vector<TaskLoss> question_answering_losses(Graph& graph, const BertConfig& config,
                                                const BatchShape& shape, const BertInputs& inputs) {
  const Value start_positions = integers(graph, "start_positions", shape.sequences);
  const Value end_positions = integers(graph, "end_positions", shape.sequences);
  const Value normalizer = normalizer_of(graph, "span");
  const Value logits = span_logits(graph, config, bert_encoder(graph, config, inputs));
  const ops::LossOutputs span = ops::span_loss(graph, {.logits = logits,
                                                       .sequence_starts = inputs.sequence_starts,
                                                       .start_positions = start_positions,
                                                       .end_positions = end_positions,
                                                       .normalizer = normalizer});
  return {{"span", span.loss, span.correct}};
}

std::vector<TaskLoss> classification_losses(Graph& graph, const BertConfig& config,
                                            const BertHead& head, const BatchShape& shape,
                                            const BertInputs& inputs) {
  const Value sequence_ids = integers(graph, "sequence_ids", shape.sequences);
  const auto logits = [&] {
    const Value encoded = bert_encoder(graph, config, inputs);
    return class_logits(graph, config, head, inputs, encoded, sequence_ids);
  };
  if (head.is_regression()) {
    const Value scores = graph.add_input("scores", {DType::kF32, {shape.sequences}});
    const Value normalizer = normalizer_of(graph, "score");
    return {{"score", ops::squared_error(graph, logits(), scores, normalizer), Value{}}};
  }
  const Value labels = integers(graph, "class_labels", shape.sequences);
  const Value normalizer = normalizer_of(graph, "class");
  const ops::LossOutputs loss = ops::cross_entropy(graph, logits(), labels, normalizer);
  return {{"class", loss.loss, loss.correct}};
}

void infer_blanks(Graph& graph, const BertConfig& config, const BatchShape& shape,
                  const BertInputs& inputs, Value encoded) {
  const MaskedLanguageModel mlm = masked_language_model(
      graph, config, encoded, integers(graph, "masked_positions", shape.predictions));
  const Value predictions =
      ops::linear(graph, {.x = mlm.hidden, .weight = mlm.table, .bias = mlm.bias});
  graph.mark_output(predictions, "prediction_logits");
  graph.mark_output(next_sentence_logits(graph, config, encoded, inputs.first_tokens),
                    "seq_relationship_logits");
}

}  // namespace

std::string_view architecture_of(HeadKind kind) {
  switch (kind) {
    case HeadKind::kPretraining:
      return "BertForPreTraining";
    case HeadKind::kQuestionAnswering:
      return "BertForQuestionAnswering";
    case HeadKind::kSequenceClassification:
      return "BertForSequenceClassification";
  }
  CLOZE_CHECK(false, "no architecture for this head");
}

std::vector<TaskLoss> bert_for_training(Graph& graph, const BertConfig& config,
                                        const BertHead& head, const BatchShape& shape) {
  const BertInputs inputs = add_bert_inputs(graph, shape);
  switch (head.kind) {
    case HeadKind::kPretraining:
      return pretraining_losses(graph, config, head.loss_basis, shape, inputs);
    case HeadKind::kQuestionAnswering:
      return question_answering_losses(graph, config, shape, inputs);
    case HeadKind::kSequenceClassification:
      return classification_losses(graph, config, head, shape, inputs);
  }
  CLOZE_CHECK(false, "no losses for this head");
}

void bert_for_inference(Graph& graph, const BertConfig& config, const BertHead& head,
                        const BatchShape& shape) {
  BertConfig without_dropout = config;
  without_dropout.hidden_dropout_prob = 0.0;
  without_dropout.attention_probs_dropout_prob = 0.0;
  const BertInputs inputs = add_bert_inputs(graph, shape);
  graph.info(inputs.random_key).is_optional = true;  // nothing is dropped
  const Value encoded = bert_encoder(graph, without_dropout, inputs);
  switch (head.kind) {
    case HeadKind::kPretraining:
      infer_blanks(graph, without_dropout, shape, inputs, encoded);
      return;
    case HeadKind::kQuestionAnswering:
      graph.mark_output(span_logits(graph, without_dropout, encoded), "span_logits");
      return;
    case HeadKind::kSequenceClassification:
      graph.mark_output(
          class_logits(graph, without_dropout, head, inputs, encoded, /*sequence_ids=*/Value{}),
          "class_logits");
      return;
  }
}

std::optional<double> untrained_loss(const BertConfig& config, const BertHead& head) {
  const double deviation =
      config.initializer_range * std::sqrt(static_cast<double>(config.hidden_size));
  const auto softmax = [&](int64_t classes) {
    const double entropy = std::log(static_cast<double>(classes));
    return entropy + std::min(deviation * deviation / 2.0, deviation * std::sqrt(2.0 * entropy));
  };
  switch (head.kind) {
    case HeadKind::kPretraining:
      return softmax(config.vocab_size) + softmax(2);
    case HeadKind::kQuestionAnswering:
      return softmax(config.max_position_embeddings);
    case HeadKind::kSequenceClassification:
      return head.is_regression() ? std::nullopt : std::optional(softmax(std::ssize(head.labels)));
  }
  CLOZE_CHECK(false, "no loss for this head");
}

std::vector<AbsentBias> absent_biases(const BertConfig& config, HeadKind head) {
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
    if (config.groupbert && !config.groupbert_conv_bias) {
      absent.push_back(
          {fmt::format("bert.encoder.layer.{}.convolution.groupconv.bias", i), config.hidden_size});
    }
  }
  if (head == HeadKind::kPretraining && !config.use_prediction_bias) {
    absent.push_back({"cls.predictions.bias", config.vocab_size});
  }
  return absent;
}

}  // namespace cloze::models
