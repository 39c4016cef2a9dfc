// The heads on BERT's encoder: what is computed from its hidden states, to train and to infer.
// A head is a row of the table in bert_heads.cc. Whoever needs to know something of one asks its
// row; only serving has a table of its own (serve/model_endpoints.cc), of what answers requests.
// Parameter names are Hugging Face's.
//
//   pre-training              cls.predictions (tied projection), bert.pooler, cls.seq_relationship
//   question answering        qa_outputs: [T, H] -> [T, 2], where an answer begins and ends
//   sequence classification   bert.pooler, dropout, classifier: [B, H] -> [B, C]: one label out of
//                             several, several labels, or a number (C = 1)
//   token classification      dropout, classifier: [T, H] -> [T, C]
//   multiple choice           bert.pooler, dropout, classifier: [B, H] -> [B, 1], a sequence for
//                             each choice
//   embedding                 models/embedding_layers.h: [T, H] -> [B, D]
//
// Sources: transformers modeling_bert.py; google-research/bert run_squad.py, run_classifier.py.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "models/bert.h"
#include "models/bert_config.h"
#include "models/embedding_layers.h"

namespace cloze::models {

enum class HeadKind {
  kPretraining,
  kQuestionAnswering,
  kSequenceClassification,
  kTokenClassification,
  kMultipleChoice,
  kEmbedding
};

// The average that is the loss of the masked language model: over the predictions of the step, or
// first over those of each sequence and then over the sequences (loss_averaging_basis in
// Graphcore's MLPerf programs).
enum class LossBasis { kPerToken, kPerSequence };

struct HeadTraits;

struct BertHead {
  HeadKind kind = HeadKind::kPretraining;
  LossBasis loss_basis = LossBasis::kPerToken;  // of pre-training
  // The names of its classes, where it has any, in the order of the logits.
  std::vector<std::string> labels = {};
  bool is_multi_label = false;  // of sequences: each label holds or not, whatever the others do
  double classifier_dropout = 0.1;
  double label_smoothing = 0.0;           // of the loss of classes: ops/cross_entropy.h
  std::vector<float> class_weights = {};  // likewise; empty: all are 1
  std::string task = {};  // what the classifier was fine-tuned on, "MRPC"; empty: not known
  EmbeddingLayers embedding = {};

  // Says whether it predicts a number: a sequence's only label, unless that holds or not.
  bool is_regression() const {
    return kind == HeadKind::kSequenceClassification && labels.size() == 1 && !is_multi_label;
  }
  const HeadTraits& traits() const;
};

// One term of what is minimised, normalised by the totals of the step through its input
// NAME_normalizer [1]; mlm per sequence through prediction_weights [P] (data/micro_batch.h). Where
// its classes have weights, they are its input NAME_class_weights [C].
struct TaskLoss {
  // "mlm", "nsp", "span", "class", "score", "label", "tag", "choice", "vector"
  std::string name;
  graph::Value loss;                      // [1] f32
  graph::Value correct;                   // [1] f32; invalid where right and wrong mean nothing
  bool per_prediction = false;            // normalised by predictions, not by sequences
  std::vector<float> class_weights = {};  // empty, or normalised by the weights of the labels
  // Valid where the host computes the loss (models/vector_loss.h): then `loss` is what it reads, and
  // this input its gradient.
  graph::Value given_gradient = {};
};

// A number that a model and its head have, such as that of their classes.
using HeadCount = int64_t (*)(const BertConfig& config, const BertHead& head);

// The most predictions that a micro-batch of a head can have.
using PredictionRoom = int64_t (*)(const BertHead& head, int64_t tokens, int64_t sequences);

// An output of inference, f32: a row of `width` logits for each token, sequence or prediction.
enum class OutputRows { kTokens, kSequences, kPredictions };

struct HeadOutput {
  const char* name;  // "span_logits"
  OutputRows rows;
  HeadCount width;
  // Its name in transformers; several names are those of its columns, one by one.
  std::vector<std::string_view> exported = {"logits"};
};

struct HeadGraph;  // bert_heads.cc

// The row of a head.
struct HeadTraits {
  HeadKind kind;
  std::string_view name;  // "question answering"
  // transformers' class, "BertForQuestionAnswering"; with "Group" in front it is that of
  // Optimum-Graphcore's GroupBERT.
  std::string_view architecture;
  std::vector<std::string_view> also_read = {};  // other classes that are read as this head
  // The beginning of its parameters' names, "qa_outputs.", and whether it also has bert.pooler: both
  // tell the head. Those of multiple choice are those of a regression; only its class tells it.
  // Empty: it has none of its own.
  std::string_view parameters;
  bool needs_pooler = false;
  bool has_dropout = false;    // before the classifier, and config.json says its rate
  bool has_labels = false;     // config.json names its classes
  std::string_view pipeline;   // Hugging Face's name of the use, for the model card
  std::string_view objective;  // what it is trained for, for the model card
  std::string_view endpoint;   // where it is served: "/answer"; empty: nowhere
  std::vector<HeadOutput> outputs;

  std::vector<TaskLoss> (*losses)(const HeadGraph& model);
  std::vector<graph::Value> (*logits)(const HeadGraph& model, graph::Value encoded);  // outputs
  std::vector<HeadCount> softmax_classes;  // of each term of the loss
  // Room for the labels of fine-tuning, where they are predictions (data/micro_batch.h): tags of
  // tokens, yes or no for each label of a sequence, right choices. Null: they are not, or, of
  // pre-training, options say how many.
  PredictionRoom prediction_room = nullptr;

  // Says whether it projects predictions onto the word embeddings, which are tied to it.
  bool predicts_words() const;
};

std::span<const HeadTraits> all_heads();
const HeadTraits& traits_of(HeadKind kind);
// The head that a class of transformers is read as; null: none of ours.
const HeadTraits* head_of_architecture(std::string_view architecture);

// Forward pass of training. Adds the inputs of the labels (data/micro_batch.h) and normalizers.
std::vector<TaskLoss> bert_for_training(graph::Graph& graph, const BertConfig& config,
                                        const BertHead& head, const BatchShape& shape);

// Forward pass of inference, without dropout: marks the outputs that the head's row lists.
void bert_for_inference(graph::Graph& graph, const BertConfig& config, const BertHead& head,
                        const BatchShape& shape);

// The most that the training loss, the sum of a head's terms, is expected to be before the first
// update. Each term is that of a softmax over C classes, whose logits have a variance of at most
// s^2 = H r^2: they are sums of H numbers of mean square 1 or less (LayerNorm, tanh), times weights
// of variance r^2 or less (initializer_range). By Jensen's inequality, and by the bound on the
// largest of C normal numbers, its loss is at most
//
//   ln C + min(s^2 / 2, s sqrt(2 ln C))
//
// C: vocab_size (mlm), 2 (nsp), max_position_embeddings (span), the number of labels (class, tag), or
// 2 (label: yes and no). With a label smoothing s the loss of classes and tags is at most
// 1 - s + s mean(w) / min(w) times that, w: the class weights that are not 0. Nothing for regression,
// whose loss depends on the scale of its labels, and for multiple choice, whose questions have as
// many choices as they like.
std::optional<double> untrained_loss(const BertConfig& config, const BertHead& head);

// The biases that Hugging Face's BERT has and this configuration turns off. A model without them is
// a model with zeros, so checkpoints store zeros for them: transformers then finds every key.
struct AbsentBias {
  std::string name;
  int64_t size = 0;
};
std::vector<AbsentBias> absent_biases(const BertConfig& config, HeadKind head);

}  // namespace cloze::models
