// BERT's or GroupBERT's encoder as a graph; what is built on it is in models/bert_heads.h.
// Parameter names are those of Hugging Face's and Optimum-Graphcore's classes.
//
// Inputs of the graph (T token slots, B sequences, P predictions; unused ones as data/micro_batch.h
// says). Their names are the members' names:
#pragma once

#include "graph/graph.h"
#include "models/bert_config.h"
#include "ops/dropout.h"
#include "ops/gelu.h"

namespace cloze::models {

// Capacities of one micro-batch.
struct BatchShape {
  int64_t tokens = 0;       // T
  int64_t sequences = 0;    // B
  int64_t predictions = 0;  // P

  bool operator==(const BatchShape&) const = default;
};

// The key of dropout, which a training step writes.
inline constexpr const char* kRandomKey = "random_key";

struct BertInputs {
  graph::Value input_ids;        // [T] i32
  graph::Value token_type_ids;   // [T] i32
  graph::Value position_ids;     // [T] i32
  graph::Value sample_ids;       // [T] i32
  graph::Value sequence_starts;  // [B+1] i32
  graph::Value first_tokens;     // [B] i32
  graph::Value random_key;       // [2] i32: seed, step
};
ops::GeluForm gelu_form(Activation activation);

BertInputs add_bert_inputs(graph::Graph& graph, const BatchShape& shape);

// Embeddings and encoder: [T, H]. Parameters under "bert.".
graph::Value bert_encoder(graph::Graph& graph, const BertConfig& config, const BertInputs& inputs);

// tanh(W h[CLS] + b) of its hidden states: [T, H] -> [B, H]. Parameters under "bert.pooler.dense".
graph::Value bert_pooler(graph::Graph& graph, const BertConfig& config, const BertInputs& inputs,
                         graph::Value hidden);

}  // namespace cloze::models
