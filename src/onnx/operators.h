// Operators of a model (ops/) in operators of ONNX: one function for each, and a table.
#pragma once

#include <string>

#include "graph/graph.h"
#include "onnx/translation.h"

namespace cloze::onnx {

// Adds a node's operators and returns the name of its first output.
using TranslateOperator = std::string (*)(Translation& to, const graph::Node& node);

// InternalError for an operator that no exported model has.
TranslateOperator translation_of(const graph::OpDefinition& op);

// Translate the operators that make vectors of texts (vector_operators.cc).
std::string pool_sequences(Translation& to, const graph::Node& node);
std::string normalize_rows(Translation& to, const graph::Node& node);

}  // namespace cloze::onnx
