#include "formats/onnx_file.h"

#include <bit>
#include <string_view>

#include "base/division.h"
#include "base/error.h"
#include "formats/wire_message.h"
#include "platform/files/atomic_file.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "weights are written as they are");

constexpr uint64_t kFormVersion = 8;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kSmallBytes = 1024;  // what has fewer stays in the model's own file

enum ModelField : uint64_t { kFormVersionField = 1, kProducer, kGraph = 7, kOpset };
enum GraphField : uint64_t { kNode = 1, kGraphName, kTensor = 5, kInput = 11, kOutput };
enum NodeField : uint64_t { kNodeInput = 1, kNodeOutput, kNodeName, kOperator, kAttribute };
enum AttributeField : uint64_t { kAttributeName = 1, kFloat, kInt, kInts = 8, kAttributeType = 20 };
enum TensorField : uint64_t {
  kDims = 1,
  kDataType,
  kTensorName = 8,
  kRawData,
  kExternalData = 13,
  kDataLocation
};

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

uint64_t type_code(DType dtype) {
  CLOZE_CHECK(dtype == DType::kF32 || dtype == DType::kI64, "{} is not written", name_of(dtype));
  return dtype == DType::kF32 ? 1 : 7;
}

uint64_t whole_pages(uint64_t bytes) { return round_up(bytes, kPageBytes); }

uint64_t bytes_in(const OnnxTensor& tensor) {
  return bits(tensor.shape.elements() * bytes_of(tensor.dtype));
}

// Appends the value of an attribute, and its type.
struct AttributeWriter {
  std::string& text;

  void operator()(float value) const {
    CLOZE_CHECK(value != 0, "an attribute of 0 would be left out");
    append_four_bytes(kFloat, std::bit_cast<uint32_t>(value), text);
    append_varint(kAttributeType, 1, text);
  }
  void operator()(int64_t value) const {
    append_element(kInt, bits(value), text);
    append_varint(kAttributeType, 2, text);
  }
  void operator()(const std::vector<int64_t>& values) const {
    for (const int64_t value : values) append_element(kInts, bits(value), text);
    append_varint(kAttributeType, 7, text);
  }
};

std::string text_of(const OnnxNode& node) {
  std::string text;
  for (const std::string& input : node.inputs) append_bytes(kNodeInput, input, text);
  append_bytes(kNodeOutput, node.output, text);
  append_bytes(kNodeName, node.name, text);
  append_bytes(kOperator, node.op_type, text);
  for (const auto& [name, value] : node.attributes) {
    std::string attribute;
    append_bytes(kAttributeName, name, attribute);
    std::visit(AttributeWriter{attribute}, value);
    append_bytes(kAttribute, attribute, text);
  }
  return text;
}

std::string text_of(const OnnxValue& value) {
  std::string shape;
  for (const OnnxAxis& axis : value.axes) {
    std::string dim;
    axis.name.empty() ? append_element(1, bits(axis.length), dim) : append_bytes(2, axis.name, dim);
    append_bytes(1, dim, shape);
  }
  std::string tensor, type, text;
  append_varint(1, type_code(value.dtype), tensor);
  append_bytes(2, shape, tensor);
  append_bytes(1, tensor, type);
  append_bytes(1, value.name, text);
  append_bytes(2, type, text);
  return text;
}

// The file of the weights, if there is one, and what of it is taken.
struct DataFile {
  std::string name;  // "": there is none
  uint64_t bytes = 0;

  bool holds(const OnnxTensor& tensor) const {
    return !name.empty() && bytes_in(tensor) >= kSmallBytes;
  }
};

void append_entry(std::string_view key, std::string_view value, std::string& text) {
  std::string entry;
  append_bytes(1, key, entry);
  append_bytes(2, value, entry);
  append_bytes(kExternalData, entry, text);
}

// A tensor's place in the file of the weights, which grows by it.
std::string place_of(const OnnxTensor& tensor, DataFile& data) {
  data.bytes = whole_pages(data.bytes);
  std::string text;
  append_entry("location", data.name, text);
  append_entry("offset", std::to_string(data.bytes), text);
  append_entry("length", std::to_string(bytes_in(tensor)), text);
  append_varint(kDataLocation, 1, text);
  data.bytes += bytes_in(tensor);
  return text;
}

// The field of a tensor up to its bytes, which follow unless they are elsewhere.
std::string start_of(const OnnxTensor& tensor, DataFile& data) {
  std::string fields;
  for (const int64_t dim : tensor.shape.dims()) append_element(kDims, bits(dim), fields);
  append_varint(kDataType, type_code(tensor.dtype), fields);
  append_bytes(kTensorName, tensor.name, fields);
  const bool is_elsewhere = data.holds(tensor);
  is_elsewhere ? void(fields += place_of(tensor, data))
               : append_start(kRawData, bytes_in(tensor), fields);
  std::string text;
  append_start(kTensor, fields.size() + (is_elsewhere ? 0 : bytes_in(tensor)), text);
  return text + fields;
}

// A model as it lies in its file: texts with the tensors' bytes between them.
class Layout {
 public:
  Layout(const OnnxGraph& graph, std::string data_file)
      : graph_(graph), data_{.name = std::move(data_file)} {
    for (const OnnxNode& node : graph.nodes) append_bytes(kNode, text_of(node), before_);
    append_bytes(kGraphName, graph.name, before_);
    for (const OnnxTensor& tensor : graph.tensors) starts_.push_back(start_of(tensor, data_));
    for (const OnnxValue& input : graph.inputs) append_bytes(kInput, text_of(input), after_);
    for (const OnnxValue& output : graph.outputs) append_bytes(kOutput, text_of(output), after_);
    begin_model();
  }

  uint64_t bytes() const { return header_.size() + graph_bytes() + opset_.size(); }

  void write_model(const fs::path& path) const {
    platform::AtomicFile file(path);
    file.write(header_);
    file.write(before_);
    for (size_t i = 0; i < starts_.size(); ++i) {
      file.write(starts_[i]);
      if (!data_.holds(graph_.tensors[i])) write_tensor(graph_.tensors[i], file);
    }
    file.write(after_);
    file.write(opset_);
    file.commit();
  }

  void write_data(const fs::path& path) const {
    platform::AtomicFile file(path);
    uint64_t written = 0;
    for (const OnnxTensor& tensor : graph_.tensors) {
      if (!data_.holds(tensor)) continue;
      file.write(std::string(whole_pages(written) - written, '\0'));
      write_tensor(tensor, file);
      written = whole_pages(written) + bytes_in(tensor);
    }
    CLOZE_CHECK(written == data_.bytes, "{} bytes, not {}", written, data_.bytes);
    file.commit();
  }

 private:
  uint64_t graph_bytes() const {
    uint64_t bytes = before_.size() + after_.size();
    for (size_t i = 0; i < starts_.size(); ++i) {
      const OnnxTensor& tensor = graph_.tensors[i];
      bytes += starts_[i].size() + (data_.holds(tensor) ? 0 : bytes_in(tensor));
    }
    return bytes;
  }

  void begin_model() {
    append_varint(kFormVersionField, kFormVersion, header_);
    append_bytes(kProducer, "cloze", header_);
    append_start(kGraph, graph_bytes(), header_);
    std::string opset;
    append_varint(2, bits(kOnnxOpset), opset);
    append_bytes(kOpset, opset, opset_);
  }

  static void write_tensor(const OnnxTensor& tensor, platform::AtomicFile& file) {
    std::vector<std::byte> bytes(bytes_in(tensor));
    tensor.read(bytes);
    file.write(bytes.data(), bytes.size());
  }

  const OnnxGraph& graph_;
  DataFile data_;
  std::string header_, before_, after_, opset_;
  std::vector<std::string> starts_;  // of the tensors
};

}  // namespace

std::vector<fs::path> write_onnx(const fs::path& path, const OnnxGraph& graph,
                                 uint64_t most_bytes) {
  const Layout whole(graph, "");
  if (whole.bytes() <= most_bytes) {
    whole.write_model(path);
    return {path};
  }
  fs::path data = path;
  data += "_data";
  const Layout divided(graph, data.filename().string());
  divided.write_data(data);
  divided.write_model(path);
  return {path, data};
}

}  // namespace cloze::formats
