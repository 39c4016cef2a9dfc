// BERT as a graph: the encoder, and the two heads of pre-training. Parameter names are Hugging
// Face's.
//
// Inputs of the graph (T token slots, B sequences, P predictions; unused ones as data/micro_batch.h
// says). Their names are the members' names:
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "models/bert_config.h"
#include "ops/dropout.h"
#include "ops/vocabulary_loss.h"

namespace cloze::models {

// Capacities of one micro-batch.
struct BatchShape {
  int64_t tokens = 0;       // T
  int64_t sequences = 0;    // B
  int64_t predictions = 0;  // P
};

struct BertInputs {
  graph::Value input_ids;         // [T] i32
  graph::Value token_type_ids;    // [T] i32
  graph::Value position_ids;      // [T] i32
  graph::Value sample_ids;        // [T] i32
  graph::Value sequence_starts;   // [B+1] i32
  graph::Value first_tokens;      // [B] i32
  graph::Value masked_positions;  // [P] i32
  graph::Value random_key;        // [2] i32: seed, step
};
BertInputs add_bert_inputs(graph::Graph& graph, const BatchShape& shape);

// Embeddings and encoder: [T, H]. Parameters under "bert.".
graph::Value bert_encoder(graph::Graph& graph, const BertConfig& config, const BertInputs& inputs);

// The hidden states that the vocabulary projection reads, [P, H], and that projection's parameters.
struct MaskedLanguageModel {
  graph::Value hidden;  // [P, H]
  graph::Value table;   // [V, H]: the word embeddings, tied
  graph::Value bias;    // [V], may be invalid
};
MaskedLanguageModel masked_language_model(graph::Graph& graph, const BertConfig& config,
                                          graph::Value encoded, graph::Value masked_positions);

// tanh(W h[CLS]) [B, H] -> logits [B, 2]; class 0: the second sentence really follows.
graph::Value next_sentence_logits(graph::Graph& graph, const BertConfig& config,
                                  graph::Value encoded, graph::Value first_tokens);

// Forward pass of pre-training. Adds the inputs masked_labels [P], next_sentence_labels [B] (i32),
// mlm_normalizer and nsp_normalizer [1] f32 (1 / totals of the whole step).
struct PretrainingOutputs {
  ops::LossOutputs mlm;
  ops::LossOutputs nsp;
};
PretrainingOutputs bert_for_pretraining(graph::Graph& graph, const BertConfig& config,
                                        const BatchShape& shape);

// Forward pass of inference: marks the outputs prediction_logits [P, V] and
// seq_relationship_logits [B, 2]. Dropout is left out.
void bert_for_inference(graph::Graph& graph, const BertConfig& config, const BatchShape& shape);

// The biases that Hugging Face's BERT has and this configuration turns off. A model without them is
// a model with zeros, so checkpoints store zeros for them: transformers then finds every key.
struct AbsentBias {
  std::string name;
  int64_t size = 0;
};
std::vector<AbsentBias> absent_biases(const BertConfig& config);

}  // namespace cloze::models
