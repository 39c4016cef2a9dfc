#include "models/bert_heads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "models/vector_loss.h"
#include "nn/layer_norm_layer.h"
#include "nn/linear_layer.h"
#include "ops/binary_cross_entropy.h"
#include "ops/choice_loss.h"
#include "ops/cross_entropy.h"
#include "ops/dropout.h"
#include "ops/gather_rows.h"
#include "ops/gelu.h"
#include "ops/linear.h"
#include "ops/pooling.h"
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

}  // namespace

// The graph that a head is added to, and the model that it is built for.
struct HeadGraph {
  Graph& graph;
  const BertConfig& config;
  const BertHead& head;
  const BatchShape& shape;
  BertInputs inputs;

  Value integers(const char* name, int64_t count) const {
    return graph.add_input(name, {DType::kI32, {count}});
  }
  Value normalizer_of(const std::string& loss) const {
    return graph.add_input(loss + "_normalizer", graph::kScalar);
  }
  // The loss of labels [B] or [P] that number the head's classes.
  TaskLoss class_loss(const char* name, Value logits, Value labels, bool per_prediction) const {
    const int64_t classes = std::ssize(head.class_weights);
    const Value weights = classes == 0 ? Value{}
                                       : graph.add_input(fmt::format("{}_class_weights", name),
                                                         {DType::kF32, {classes}});
    const ops::LossOutputs loss = ops::cross_entropy(graph, logits, labels, normalizer_of(name),
                                                     {head.label_smoothing, weights});
    return {name, loss.loss, loss.correct, per_prediction, head.class_weights};
  }
  Value linear(std::string_view name, Value x, int64_t out_features) const {
    return nn::linear_layer(
        graph, name, x,
        {.out_features = out_features, .initializer_range = config.initializer_range});
  }
  // The encoder's hidden states, [T, H].
  Value encoded() const { return bert_encoder(graph, config, inputs); }
  Value pooled(Value hidden) const { return bert_pooler(graph, config, inputs, hidden); }
};

namespace {

int64_t words_of(const BertConfig& config, const BertHead& /*head*/) { return config.vocab_size; }
int64_t positions_of(const BertConfig& config, const BertHead& /*head*/) {
  return config.max_position_embeddings;
}
int64_t one(const BertConfig& /*config*/, const BertHead& /*head*/) { return 1; }
int64_t two(const BertConfig& /*config*/, const BertHead& /*head*/) { return 2; }
int64_t labels_of(const BertConfig& /*config*/, const BertHead& head) {
  return std::ssize(head.labels);
}

Value mlm_transform(const HeadGraph& model, Value hidden) {
  const auto scope = model.graph.scope("transform");
  const Value dense = model.linear("dense", hidden, model.config.hidden_size);
  const Value activated = ops::gelu(model.graph, dense, gelu_form(model.config.hidden_act));
  return nn::layer_norm_layer(model.graph, "LayerNorm", activated, model.config.layer_norm_eps);
}

// The hidden states that the vocabulary projection reads, [P, H], and that projection's parameters.
struct MaskedLanguageModel {
  Value hidden;  // [P, H]
  Value table;   // [V, H]: the word embeddings, tied
  Value bias;    // [V], may be invalid
};
MaskedLanguageModel masked_language_model(const HeadGraph& model, Value encoded,
                                          Value masked_positions) {
  Graph& graph = model.graph;
  const auto scope = graph.scope("cls.predictions");
  Value hidden = ops::gather_rows(graph, encoded, masked_positions);
  if (model.config.use_cls_layer) hidden = mlm_transform(model, hidden);
  Value bias;
  if (model.config.use_prediction_bias) {
    bias =
        graph.add_parameter("bias", {model.config.vocab_size}, Init::zeros(), graph::kVectorTraits);
  }
  return {.hidden = hidden, .table = *graph.find(kWordEmbeddings), .bias = bias};
}

// [B, 2]; class 0: the second sentence really follows.
Value next_sentence_logits(const HeadGraph& model, Value encoded) {
  return model.linear("cls.seq_relationship", model.pooled(encoded), 2);
}

Value mlm_normalizer_of(const HeadGraph& model) {
  if (model.head.loss_basis == LossBasis::kPerToken) return model.normalizer_of("mlm");
  return model.graph.add_input("prediction_weights", {DType::kF32, {model.shape.predictions}});
}

std::vector<TaskLoss> pretraining_losses(const HeadGraph& model) {
  const Value masked_positions = model.integers("masked_positions", model.shape.predictions);
  const Value masked_labels = model.integers("masked_labels", model.shape.predictions);
  const Value next_sentence_labels = model.integers("next_sentence_labels", model.shape.sequences);
  const Value mlm_normalizer = mlm_normalizer_of(model);
  const Value nsp_normalizer = model.normalizer_of("nsp");

  const Value encoded = model.encoded();
  const Value nsp_logits = next_sentence_logits(model, encoded);
  const ops::LossOutputs nsp =
      ops::cross_entropy(model.graph, nsp_logits, next_sentence_labels, nsp_normalizer);
  const MaskedLanguageModel words = masked_language_model(model, encoded, masked_positions);
  const ops::LossOutputs mlm = ops::vocabulary_loss(model.graph, {.x = words.hidden,
                                                                  .table = words.table,
                                                                  .labels = masked_labels,
                                                                  .normalizer = mlm_normalizer,
                                                                  .bias = words.bias});
  return {{"mlm", mlm.loss, mlm.correct, true}, {"nsp", nsp.loss, nsp.correct, false}};
}

std::vector<Value> pretraining_logits(const HeadGraph& model, Value encoded) {
  const Value masked_positions = model.integers("masked_positions", model.shape.predictions);
  const MaskedLanguageModel words = masked_language_model(model, encoded, masked_positions);
  const Value predictions =
      ops::linear(model.graph, {.x = words.hidden, .weight = words.table, .bias = words.bias});
  return {predictions, next_sentence_logits(model, encoded)};
}

HeadTraits pretraining() {
  return {
      .kind = HeadKind::kPretraining,
      .name = "pre-training",
      .architecture = "BertForPreTraining",
      .also_read = {"BertForMaskedLM"},
      .parameters = "cls.predictions.",
      .pipeline = "fill-mask",
      .objective = "Masked language model",
      .endpoint = "/fill",
      .outputs =
          {{"prediction_logits", OutputRows::kPredictions, words_of, {"prediction_logits"}},
           {"seq_relationship_logits", OutputRows::kSequences, two, {"seq_relationship_logits"}}},
      .losses = pretraining_losses,
      .logits = pretraining_logits,
      .softmax_classes = {words_of, two}};
}

// [T, 2]: where an answer begins and where it ends.
std::vector<Value> span_logits(const HeadGraph& model, Value encoded) {
  return {model.linear("qa_outputs", encoded, 2)};
}

std::vector<TaskLoss> question_answering_losses(const HeadGraph& model) {
  const Value start_positions = model.integers("start_positions", model.shape.sequences);
  const Value end_positions = model.integers("end_positions", model.shape.sequences);
  const Value normalizer = model.normalizer_of("span");
  const Value logits = span_logits(model, model.encoded()).front();
  const ops::LossOutputs span =
      ops::span_loss(model.graph, {.logits = logits,
                                   .sequence_starts = model.inputs.sequence_starts,
                                   .start_positions = start_positions,
                                   .end_positions = end_positions,
                                   .normalizer = normalizer});
  return {{"span", span.loss, span.correct}};
}

HeadTraits question_answering() {
  return {.kind = HeadKind::kQuestionAnswering,
          .name = "question answering",
          .architecture = "BertForQuestionAnswering",
          .parameters = "qa_outputs.",
          .pipeline = "question-answering",
          .objective = "Question answering",
          .endpoint = "/answer",
          .outputs = {{"span_logits", OutputRows::kTokens, two, {"start_logits", "end_logits"}}},
          .losses = question_answering_losses,
          .logits = span_logits,
          .softmax_classes = {positions_of}};
}

// The classifier of each row of hidden states, [R, H] -> [R, C].
std::vector<Value> class_logits(const HeadGraph& model, Value hidden) {
  return {model.linear("classifier", hidden, std::ssize(model.head.labels))};
}

// The pooled states as the classifier of sequences reads them in training, [B, H].
Value dropped_pooled(const HeadGraph& model) {
  const Value sequence_ids = model.integers("sequence_ids", model.shape.sequences);
  const ops::RandomInputs random{.sample_ids = sequence_ids,
                                 .position_ids = sequence_ids,
                                 .random_key = model.inputs.random_key};
  return ops::dropout(model.graph, model.pooled(model.encoded()), random,
                      model.head.classifier_dropout);
}

std::vector<TaskLoss> regression_losses(const HeadGraph& model) {
  const Value kept = dropped_pooled(model);
  const Value scores = model.graph.add_input("scores", {DType::kF32, {model.shape.sequences}});
  const Value normalizer = model.normalizer_of("score");
  const Value predicted = class_logits(model, kept).front();
  return {{"score", ops::squared_error(model.graph, predicted, scores, normalizer), Value{}}};
}

std::vector<TaskLoss> multi_label_losses(const HeadGraph& model) {
  const Value kept = dropped_pooled(model);
  const Value labels = model.integers("masked_labels", model.shape.predictions);
  const Value normalizer = model.normalizer_of("label");
  const ops::LossOutputs loss =
      ops::binary_cross_entropy(model.graph, class_logits(model, kept).front(), labels, normalizer);
  return {{"label", loss.loss, loss.correct, true}};
}

std::vector<TaskLoss> classification_losses(const HeadGraph& model) {
  if (model.head.is_regression()) return regression_losses(model);
  if (model.head.is_multi_label) return multi_label_losses(model);
  const Value kept = dropped_pooled(model);
  const Value labels = model.integers("class_labels", model.shape.sequences);
  return {model.class_loss("class", class_logits(model, kept).front(), labels,
                           /*per_prediction=*/false)};
}

HeadTraits classification() {
  return {.kind = HeadKind::kSequenceClassification,
          .name = "sequence classification",
          .architecture = "BertForSequenceClassification",
          .parameters = "classifier.",
          .needs_pooler = true,
          .has_dropout = true,
          .has_labels = true,
          .pipeline = "text-classification",
          .objective = "Classification of sequences",
          .endpoint = "/classify",
          .outputs = {{"class_logits", OutputRows::kSequences, labels_of}},
          .losses = classification_losses,
          .logits = [](const HeadGraph& model,
                       Value encoded) { return class_logits(model, model.pooled(encoded)); },
          .softmax_classes = {[](const BertConfig& config, const BertHead& head) {
            return head.is_multi_label ? two(config, head) : labels_of(config, head);
          }},
          .prediction_room = [](const BertHead& head, int64_t /*tokens*/, int64_t sequences)
              -> int64_t { return head.is_multi_label ? sequences * std::ssize(head.labels) : 0; }};
}

// Only labelled tokens, the first pieces of words, are classified in training.
std::vector<TaskLoss> tagging_losses(const HeadGraph& model) {
  const ops::RandomInputs random{.sample_ids = model.inputs.sample_ids,
                                 .position_ids = model.inputs.position_ids,
                                 .random_key = model.inputs.random_key};
  const Value positions = model.integers("masked_positions", model.shape.predictions);
  const Value tags = model.integers("masked_labels", model.shape.predictions);
  const Value kept =
      ops::dropout(model.graph, model.encoded(), random, model.head.classifier_dropout);
  const Value labelled = ops::gather_rows(model.graph, kept, positions);
  return {model.class_loss("tag", class_logits(model, labelled).front(), tags,
                           /*per_prediction=*/true)};
}

HeadTraits token_classification() {
  return {.kind = HeadKind::kTokenClassification,
          .name = "token classification",
          .architecture = "BertForTokenClassification",
          .parameters = "classifier.",
          .has_dropout = true,
          .has_labels = true,
          .pipeline = "token-classification",
          .objective = "Tags of words",
          .endpoint = "/tag",
          .outputs = {{"tag_logits", OutputRows::kTokens, labels_of}},
          .losses = tagging_losses,
          .logits = class_logits,
          .softmax_classes = {labels_of},
          .prediction_room = [](const BertHead& /*head*/, int64_t tokens, int64_t /*sequences*/) {
            return tokens;
          }};
}

// [B, 1]
std::vector<Value> choice_logits(const HeadGraph& model, Value pooled) {
  return {model.linear("classifier", pooled, 1)};
}

std::vector<TaskLoss> choice_losses(const HeadGraph& model) {
  const Value kept = dropped_pooled(model);
  const Value num_choices = model.integers("num_choices", model.shape.predictions);
  const Value labels = model.integers("masked_labels", model.shape.predictions);
  const Value normalizer = model.normalizer_of("choice");
  const ops::LossOutputs loss =
      ops::choice_loss(model.graph, {.logits = choice_logits(model, kept).front(),
                                     .num_choices = num_choices,
                                     .labels = labels,
                                     .normalizer = normalizer});
  return {{"choice", loss.loss, loss.correct, true}};
}

HeadTraits multiple_choice() {
  return {.kind = HeadKind::kMultipleChoice,
          .name = "multiple choice",
          .architecture = "BertForMultipleChoice",
          .parameters = "classifier.",
          .needs_pooler = true,
          .has_dropout = true,
          .pipeline = "multiple-choice",
          .objective = "Choice of the right text",
          .endpoint = "/choose",
          .outputs = {{"choice_logits", OutputRows::kSequences, one}},
          .losses = choice_losses,
          .logits = [](const HeadGraph& model,
                       Value encoded) { return choice_logits(model, model.pooled(encoded)); },
          .softmax_classes = {nullptr},
          .prediction_room = [](const BertHead& /*head*/, int64_t /*tokens*/,
                                int64_t sequences) { return sequences; }};
}

Value dense_layer(const HeadGraph& model, Value x, const DenseLayer& layer) {
  const Value y = nn::linear_layer(model.graph, layer.name + ".linear", x,
                                   {.out_features = layer.out_features,
                                    .initializer_range = model.config.initializer_range,
                                    .has_bias = layer.has_bias});
  return layer.has_tanh ? ops::tanh(model.graph, y) : y;
}

std::vector<Value> embeddings(const HeadGraph& model, Value encoded) {
  const EmbeddingLayers& layers = model.head.embedding;
  Value vectors =
      ops::pool_sequences(model.graph, encoded, model.inputs.sequence_starts, layers.pooling);
  for (const DenseLayer& layer : layers.dense) vectors = dense_layer(model, vectors, layer);
  return {vectors, encoded};
}

std::vector<TaskLoss> embedding_losses(const HeadGraph& model) {
  const Value vectors = embeddings(model, model.encoded()).front();
  model.graph.mark_output(vectors, kVectors);
  const Value gradient = model.graph.add_input(kVectorGradients, model.graph.type(vectors));
  TaskLoss loss{.name = "vector", .loss = vectors, .correct = {}};
  loss.given_gradient = gradient;
  return {loss};
}

HeadTraits embedding() {
  return {.kind = HeadKind::kEmbedding,
          .name = "embedding",
          .architecture = "BertModel",
          .pipeline = "sentence-similarity",
          .objective = "Vectors of texts",
          .outputs = {{kVectors,
                       OutputRows::kSequences,
                       [](const BertConfig& config, const BertHead& head) {
                         return head.embedding.dimensions(config.hidden_size);
                       },
                       {"sentence_embedding"}},
                      {"token_embeddings",
                       OutputRows::kTokens,
                       [](const BertConfig& config, const BertHead& /*head*/) {
                         return config.hidden_size;
                       },
                       {"last_hidden_state"}}},
          .losses = embedding_losses,
          .logits = embeddings,
          .softmax_classes = {nullptr}};
}

}  // namespace

std::span<const HeadTraits> all_heads() {
  static const std::vector<HeadTraits> rows{pretraining(),     question_answering(),
                                            classification(),  token_classification(),
                                            multiple_choice(), embedding()};
  return rows;
}

bool HeadTraits::predicts_words() const {
  return std::ranges::count(outputs, OutputRows::kPredictions, &HeadOutput::rows) > 0;
}

const HeadTraits& traits_of(HeadKind kind) {
  const auto found = std::ranges::find(all_heads(), kind, &HeadTraits::kind);
  CLOZE_CHECK(found != all_heads().end(), "head {} has no row", static_cast<int>(kind));
  return *found;
}

const HeadTraits& BertHead::traits() const { return traits_of(kind); }

const HeadTraits* head_of_architecture(std::string_view architecture) {
  const auto is_read = [&](const HeadTraits& head) {
    return head.architecture == architecture ||
           std::ranges::count(head.also_read, architecture) > 0;
  };
  const auto found = std::ranges::find_if(all_heads(), is_read);
  return found == all_heads().end() ? nullptr : &*found;
}

std::vector<TaskLoss> bert_for_training(Graph& graph, const BertConfig& config,
                                        const BertHead& head, const BatchShape& shape) {
  return head.traits().losses({graph, config, head, shape, add_bert_inputs(graph, shape)});
}

void bert_for_inference(Graph& graph, const BertConfig& config, const BertHead& head,
                        const BatchShape& shape) {
  BertConfig without_dropout = config;
  without_dropout.hidden_dropout_prob = 0.0;
  without_dropout.attention_probs_dropout_prob = 0.0;
  const HeadGraph model{graph, without_dropout, head, shape, add_bert_inputs(graph, shape)};
  graph.info(model.inputs.random_key).is_optional = true;  // nothing is dropped
  const std::vector<Value> logits = head.traits().logits(model, model.encoded());
  for (size_t i = 0; i < logits.size(); ++i) {
    graph.mark_output(logits[i], head.traits().outputs.at(i).name);
  }
}

namespace {

// The factor by which a smoothed loss may exceed the untrained one.
double smoothing_factor(const BertHead& head) {
  double sum = 0.0;
  double least = std::numeric_limits<double>::infinity();
  for (const double weight : head.class_weights) {
    sum += weight;
    if (weight > 0.0) least = std::min(least, weight);
  }
  if (sum == 0.0) return 1.0;
  const double mean = sum / static_cast<double>(head.class_weights.size());
  return 1.0 + head.label_smoothing * (mean / least - 1.0);
}

}  // namespace

std::optional<double> untrained_loss(const BertConfig& config, const BertHead& head) {
  const double deviation =
      config.initializer_range * std::sqrt(static_cast<double>(config.hidden_size));
  const auto softmax = [&](int64_t classes) {
    const double entropy = std::log(static_cast<double>(classes));
    return entropy + std::min(deviation * deviation / 2.0, deviation * std::sqrt(2.0 * entropy));
  };
  if (head.is_regression()) return std::nullopt;
  double loss = 0.0;
  for (const HeadCount classes : head.traits().softmax_classes) {
    if (classes == nullptr) return std::nullopt;
    loss += softmax(classes(config, head));
  }
  return loss * smoothing_factor(head);
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
  if (traits_of(head).predicts_words() && !config.use_prediction_bias) {
    absent.push_back({"cls.predictions.bias", config.vocab_size});
  }
  return absent;
}

}  // namespace cloze::models
