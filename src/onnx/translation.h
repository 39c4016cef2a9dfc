// A model's graph in operators of ONNX. There, sequences lie in a padded batch:
//
//   here                           there
//   tokens [T, H]                  [batch_size, sequence_length, H]
//   sequences [B, H]               [batch_size, H]
//   sequence_starts                attention_mask [batch_size, sequence_length]: 1 is a token, 0 padding
//   position_ids                   0, 1 ... by the place in the row
//   masked_positions               all tokens: a row of logits for each
//
// Optimisers of runtimes know the pieces of a BERT by their form, and join them to operators of their
// own: attention, the sum with its norm, GELU with its bias. They are written in the form that those
// of ONNX Runtime look for (onnxruntime/python/tools/transformers/fusion_*.py).
#pragma once

#include <functional>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "graph/graph.h"
#include "onnx/graph_builder.h"

namespace cloze::onnx {

// Writes the values of a parameter, by its name.
using ReadParameter = std::function<void(const std::string& name, std::span<float> values)>;

inline constexpr float kLowest = std::numeric_limits<float>::lowest();  // a masked score

class Translation {
 public:
  // With choices, a row of the model's inputs has several sequences.
  Translation(const graph::Graph& model, ReadParameter read, bool has_choices);

  // Translates what this value depends on and is not translated yet. Returns the value's name.
  std::string translated(graph::Value value);

  // For operators (operators.h).
  GraphBuilder& onnx() { return onnx_; }
  const graph::Graph& model() const { return model_; }
  // The name of an input of a node.
  std::string input(const graph::Node& node, size_t input);
  int64_t width(const graph::Node& node, size_t input) const;  // of its last axis
  bool is_input(const graph::Node& node, size_t input, std::string_view name) const;
  // A weight [out, in] of a product, as [in, out].
  std::string transposed(graph::Value weight);
  // The addend of scores: [batch_size, 1, 1, sequence_length], 0 or kLowest.
  const std::string& score_mask() const { return score_mask_; }
  // 1 for a token, 0 for padding: [batch_size, sequence_length, 1] f32.
  std::string token_mask();
  // The number of choices of a row: [1] i64.
  const std::string& num_choices() const { return num_choices_; }

  formats::OnnxGraph take() && { return std::move(onnx_).take(); }

 private:
  std::string batch_input(const char* name, bool has_choices);
  std::string make_score_mask();
  std::string parameter(graph::Value value);
  void translate(const graph::Node& node);

  const graph::Graph& model_;
  ReadParameter read_;
  GraphBuilder onnx_;
  std::map<graph::Value, std::string> names_;
  std::map<graph::Value, const graph::Node*> makers_;
  std::set<graph::Value> shared_;  // parameters that something else reads than one product
  std::string attention_mask_, score_mask_, num_choices_;
};

}  // namespace cloze::onnx
