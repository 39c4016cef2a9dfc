// The graph of a model that is to be exported: its forward pass, and what other programs are given of
// it, under the names that transformers' and sentence-transformers' exports have:
//
//   pre-training              prediction_logits, seq_relationship_logits
//   masked language model     logits: BertForMaskedLM, or a model without next sentences
//   question answering        start_logits, end_logits
//   classes, numbers, tags    logits
//   multiple choice           logits [batch_size, num_choices]
//   encoder                   last_hidden_state, pooler_output if it has a pooler
//   encoder with pooling      last_hidden_state, sentence_embedding
//
// Programs that pool by themselves find last_hidden_state first.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"

namespace cloze::onnx {

// A model, and what of it is exported.
struct ExportedModel {
  models::BertConfig config;
  models::BertHead head;
  bool has_next_sentence = false;  // of pre-training
  bool makes_vectors = false;      // an encoder; else it gives what its pooler does
  bool has_pooler = false;         // an encoder

  bool has_choices() const { return head.kind == models::HeadKind::kMultipleChoice; }
};

struct ExportedOutput {
  graph::Value value;
  models::OutputRows rows = models::OutputRows::kTokens;
  std::vector<std::string> names;  // several: of its columns
};

struct ExportedGraph {
  graph::Graph graph;
  std::vector<ExportedOutput> outputs;
};

ExportedGraph exported_graph(const ExportedModel& model);

}  // namespace cloze::onnx
