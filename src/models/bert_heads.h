// The heads on BERT's encoder: what is computed from its hidden states, to train and to infer.
// Parameter names are Hugging Face's.
//
//   pre-training              cls.predictions (tied projection), bert.pooler, cls.seq_relationship
//   question answering        qa_outputs: [T, H] -> [T, 2], where an answer begins and ends
//   sequence classification   bert.pooler, dropout, classifier: [B, H] -> [B, C]; C = 1: a number
//
// Sources: transformers modeling_bert.py; google-research/bert run_squad.py, run_classifier.py.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "models/bert.h"
#include "models/bert_config.h"

namespace cloze::models {

enum class HeadKind { kPretraining, kQuestionAnswering, kSequenceClassification };

// The average that is the loss of the masked language model: over the predictions of the step, or
// first over those of each sequence and then over the sequences (loss_averaging_basis in
// Graphcore's MLPerf programs).
enum class LossBasis { kPerToken, kPerSequence };

struct BertHead {
  HeadKind kind = HeadKind::kPretraining;
  LossBasis loss_basis = LossBasis::kPerToken;  // of pre-training
  // Classes of sequence classification, in the order of the logits; one: regression.
  std::vector<std::string> labels = {};
  double classifier_dropout = 0.1;
  std::string task = {};  // what the classifier was fine-tuned on, "MRPC"; empty: not known

  bool is_regression() const { return labels.size() == 1; }
};

// "BertForPreTraining" and so on: transformers' class for the head; with "Group" in front it is
// that of Optimum-Graphcore's GroupBERT.
std::string_view architecture_of(HeadKind kind);

// One term of what is minimised, normalised by the totals of the step through its input
// NAME_normalizer [1]; mlm per sequence through prediction_weights [P] (data/micro_batch.h).
struct TaskLoss {
  std::string name;             // "mlm", "nsp", "span", "class", "score"
  graph::Value loss;            // [1] f32
  graph::Value correct;         // [1] f32; invalid where right and wrong mean nothing
  bool per_prediction = false;  // normalised by predictions, not by sequences
};

// Forward pass of training. Adds the inputs of the labels (data/micro_batch.h) and normalizers.
std::vector<TaskLoss> bert_for_training(graph::Graph& graph, const BertConfig& config,
                                        const BertHead& head, const BatchShape& shape);

// Forward pass of inference: marks the outputs prediction_logits [P, V] and
// seq_relationship_logits [B, 2], or span_logits [T, 2], or class_logits [B, C]. Dropout is left
// out.
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
// C: vocab_size (mlm), 2 (nsp), max_position_embeddings (span), or the number of labels (class).
// Nothing for regression, whose loss depends on the scale of its labels.
std::optional<double> untrained_loss(const BertConfig& config, const BertHead& head);

// The biases that Hugging Face's BERT has and this configuration turns off. A model without them is
// a model with zeros, so checkpoints store zeros for them: transformers then finds every key.
struct AbsentBias {
  std::string name;
  int64_t size = 0;
};
std::vector<AbsentBias> absent_biases(const BertConfig& config, HeadKind head);

}  // namespace cloze::models
