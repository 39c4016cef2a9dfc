// A model as a file of ONNX: a graph of operators (opset 17) with its weights, in the wire form of
// protocol buffers (wire_message.h).
//
//   ModelProto      1 ir_version = 8 | 2 producer_name | 7 graph | 8 opset_import
//   GraphProto      1 node, each | 2 name | 5 initializer, each | 11 input, each | 12 output, each
//   NodeProto       1 input, each | 2 output | 3 name | 4 op_type | 5 attribute, each
//   AttributeProto  1 name | 2 f | 3 i | 8 ints, each | 20 type: 1 f, 2 i, 7 ints
//   TensorProto     1 dims, each | 2 data_type: 1 f32, 7 i64 | 8 name | 9 raw_data, or
//                   13 external_data: location, offset, length | 14 data_location = 1
//   ValueInfoProto  1 name | 2 type { 1 tensor_type { 1 elem_type | 2 shape { 1 dim, each { 1 number
//                   or 2 name } } } }
//
// A message of protocol buffers has less than 2 GiB. The weights of a larger model lie one after the
// other in a second file, NAME.onnx_data beside NAME.onnx, each from a whole page on.
//
// Source: github.com/onnx/onnx onnx/onnx.proto (its field numbers), docs/ExternalData.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/shape.h"

namespace cloze::formats {

using OnnxAttribute = std::variant<float, int64_t, std::vector<int64_t>>;  // a float is not 0
using OnnxAttributes = std::vector<std::pair<std::string, OnnxAttribute>>;

// One operator, applied to values. A value has a name, and one node, tensor or input makes it.
struct OnnxNode {
  std::string name;
  std::string op_type;
  std::vector<std::string> inputs;
  std::string output;
  OnnxAttributes attributes = {};
};

// A constant: a weight, or a number that an operator takes as an input.
struct OnnxTensor {
  std::string name;
  DType dtype = DType::kF32;  // or kI64
  Shape shape;
  std::function<void(std::span<std::byte> bytes)> read;  // writes all of its bytes, row-major
};

// An axis of a length, or of a name where the length is the caller's.
struct OnnxAxis {
  std::string name = {};
  int64_t length = 0;
};

// An input or an output.
struct OnnxValue {
  std::string name;
  DType dtype = DType::kF32;
  std::vector<OnnxAxis> axes = {};
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxNode> nodes;  // each after those that make its inputs
  std::vector<OnnxTensor> tensors;
  std::vector<OnnxValue> inputs, outputs;
};

inline constexpr int64_t kOnnxOpset = 17;
inline constexpr uint64_t kLargestMessage = std::numeric_limits<int32_t>::max();  // bytes

// Writes each file whole or not at all, NAME.onnx_data first. Beside the file's text, memory holds one
// tensor at a time. Returns the paths, that of the model first. A model of more than `most_bytes` has
// its weights in a file of their own.
std::vector<std::filesystem::path> write_onnx(const std::filesystem::path& path,
                                              const OnnxGraph& graph,
                                              uint64_t most_bytes = kLargestMessage);

}  // namespace cloze::formats
