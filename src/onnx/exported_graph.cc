#include "onnx/exported_graph.h"

#include "ops/pooling.h"

namespace cloze::onnx {
namespace {

using graph::Graph;
using graph::Value;
using models::HeadKind;
using models::OutputRows;

// Sizes that suit any head: what is exported has none.
constexpr models::BatchShape kSomeShape{.tokens = 2, .sequences = 1, .predictions = 1};

std::vector<ExportedOutput> outputs_of(const Graph& graph, const ExportedModel& model) {
  std::vector<ExportedOutput> outputs;
  for (const models::HeadOutput& output : model.head.traits().outputs) {
    outputs.push_back({.value = *graph.find(output.name),
                       .rows = output.rows,
                       .names = {output.exported.begin(), output.exported.end()}});
  }
  return outputs;
}

// Takes the outputs of an encoder, vectors and hidden states, for those of the model.
void choose_encoder_outputs(Graph& graph, const ExportedModel& model,
                            std::vector<ExportedOutput>& outputs) {
  ExportedOutput vectors = outputs.at(0);
  outputs.erase(outputs.begin());
  if (model.makes_vectors) {
    if (model.head.embedding.is_normalized) {
      vectors.value = ops::normalize_rows(graph, vectors.value);
    }
    outputs.push_back(vectors);
  } else if (model.has_pooler) {
    const models::BertInputs inputs{.first_tokens = *graph.find("first_tokens")};
    outputs.push_back({.value = bert_pooler(graph, model.config, inputs, outputs.at(0).value),
                       .rows = OutputRows::kSequences,
                       .names = {"pooler_output"}});
  }
}

}  // namespace

ExportedGraph exported_graph(const ExportedModel& model) {
  ExportedGraph made;
  models::bert_for_inference(made.graph, model.config, model.head, kSomeShape);
  made.outputs = outputs_of(made.graph, model);
  if (model.head.kind == HeadKind::kEmbedding) {
    choose_encoder_outputs(made.graph, model, made.outputs);
  } else if (model.head.traits().predicts_words() && !model.has_next_sentence) {
    made.outputs.resize(1);
    made.outputs.front().names = {"logits"};
  }
  return made;
}

}  // namespace cloze::onnx
