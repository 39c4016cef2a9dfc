// Compute copies: what a program reads in a parameter's stead, made anew from it in the refresh
// phase, whenever parameters have changed. Each parameter has one, however many nodes read it.
#pragma once

#include <any>
#include <string>
#include <unordered_map>

#include "graph/graph.h"

namespace cloze::passes {

class ComputeCopies {
 public:
  // A copy is `op`(parameter; attributes), and its name the parameter's after `prefix`.
  ComputeCopies(graph::Graph& graph, const graph::OpDefinition& op, std::any attributes,
                std::string prefix)
      : graph_(graph), op_(op), attributes_(std::move(attributes)), prefix_(std::move(prefix)) {}

  graph::Value of(graph::Value parameter);

 private:
  graph::Graph& graph_;
  const graph::OpDefinition& op_;
  std::any attributes_;
  std::string prefix_;
  std::unordered_map<int32_t, graph::Value> copies_;
};

}  // namespace cloze::passes
