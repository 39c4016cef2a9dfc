// Puts a graph of ONNX together, node by node. Values are known by their names.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/onnx_file.h"

namespace cloze::onnx {

class GraphBuilder {
 public:
  // Names what follows after this module of the model, "bert.encoder.layer.0.attention.self".
  void enter(std::string_view module);

  // Adds a node and returns its output, whose name is that of the node: "/bert/pooler/dense/MatMul".
  std::string add(std::string_view op_type, std::vector<std::string> inputs,
                  formats::OnnxAttributes attributes = {});

  // Constants. The same one is stored once.
  std::string number(float value);                           // a scalar, f32
  std::string integer(int64_t value);                        // a scalar, i64
  std::string integers(const std::vector<int64_t>& values);  // [n] i64
  std::string tensor(formats::OnnxTensor tensor);            // by its name

  void add_input(formats::OnnxValue input);
  // The value that a node makes. In the graph it has the output's name; no other output is the same.
  void add_output(const std::string& value, formats::OnnxValue output);

  formats::OnnxGraph take() &&;

 private:
  formats::OnnxGraph graph_{.name = "main_graph"};
  std::string module_;                          // "/bert/pooler"
  std::map<std::string, int> uses_;             // of names of nodes
  std::set<std::string> tensors_;               // names of them
  std::map<std::string, std::string> outputs_;  // by the names of their values
};

}  // namespace cloze::onnx
