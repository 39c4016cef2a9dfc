#include "checkpoints/tensor_editing.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"
#include "checkpoints/tensor_names.h"

namespace cloze::checkpoints {
namespace {

using formats::TensorView;

constexpr std::string_view kWordTable = "bert.embeddings.word_embeddings.weight";
constexpr std::string_view kPerWord[] = {kWordTable, "cls.predictions.bias",
                                         "cls.predictions.decoder.weight",
                                         "cls.predictions.decoder.bias"};

// Calls visit(T()) for the type T of a floating dtype.
template <typename Visit>
auto with_floating(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kF32:
      return visit(float());
    case DType::kF64:
      return visit(double());
    case DType::kBF16:
      return visit(bfloat16());
    case DType::kF16:
      return visit(float16());
    default:
      throw InternalError("a value of an integer tensor was asked for or stored");
  }
}

template <typename T>
using Exact = std::conditional_t<std::is_same_v<T, double>, double, float>;

double value_of(DType dtype, const std::byte* bytes) {
  return with_floating(dtype, [&]<typename T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(static_cast<Exact<T>>(value));
  });
}

void store_value(double value, DType dtype, std::byte* bytes) {
  with_floating(dtype, [&]<typename T>(T) {
    const T stored(static_cast<Exact<T>>(value));
    std::memcpy(bytes, &stored, sizeof stored);
  });
}

// Appends the mean of the rows until there are `rows` of them.
void append_mean_rows(TensorView& tensor, int64_t rows, TensorStorage& storage) {
  const auto width = static_cast<size_t>(bytes_of(tensor.dtype));
  const int64_t known = tensor.shape[0];
  const int64_t columns = tensor.shape.elements() / known;
  const auto at = [&](int64_t row, int64_t column) {
    return static_cast<size_t>(row * columns + column) * width;
  };
  auto& bytes = storage.emplace_back(at(rows, 0));
  std::ranges::copy(tensor.bytes, bytes.begin());
  for (int64_t column = 0; column < columns; ++column) {
    double sum = 0;
    for (int64_t row = 0; row < known; ++row) {
      sum += value_of(tensor.dtype, &tensor.bytes[at(row, column)]);
    }
    for (int64_t row = known; row < rows; ++row) {
      store_value(sum / static_cast<double>(known), tensor.dtype, &bytes[at(row, column)]);
    }
  }
  tensor.bytes = bytes;
}

}  // namespace

void convert_precision(TensorView& tensor, DType dtype, TensorStorage& storage) {
  if (!is_floating(tensor.dtype) || tensor.dtype == dtype) return;
  const auto from = static_cast<size_t>(bytes_of(tensor.dtype));
  const auto to = static_cast<size_t>(bytes_of(dtype));
  auto& bytes = storage.emplace_back(tensor.bytes.size() / from * to);
  for (size_t i = 0; i < bytes.size() / to; ++i) {
    const double value = value_of(tensor.dtype, &tensor.bytes[i * from]);
    store_value(value, dtype, &bytes[i * to]);
    if (std::isfinite(value) && !std::isfinite(value_of(dtype, &bytes[i * to]))) {
      throw_user_error("tensor {} holds {}, too large for {}; keep --precision 32", tensor.name,
                       value, name_of(dtype));
    }
  }
  tensor.dtype = dtype;
  tensor.bytes = bytes;
}

void resize_vocabulary(std::vector<TensorView>& tensors, int64_t rows, TensorStorage& storage) {
  const int64_t known = vocabulary_rows(tensors);
  for (TensorView& tensor : tensors) {
    if (std::ranges::find(kPerWord, full_name(tensor.name)) == std::end(kPerWord)) continue;
    if (tensor.shape.rank() < 1 || tensor.shape[0] != known || !is_floating(tensor.dtype)) {
      throw_data_error("tensor {} is {} {}, the word table has {} rows", tensor.name,
                       name_of(tensor.dtype), tensor.shape.to_string(), known);
    }
    std::vector<int64_t> dims = tensor.shape.dims();
    if (rows > known) append_mean_rows(tensor, rows, storage);
    tensor.bytes =
        tensor.bytes.first(tensor.bytes.size() / static_cast<size_t>(std::max(known, rows)) *
                           static_cast<size_t>(rows));
    dims[0] = rows;
    tensor.shape = Shape(std::move(dims));
  }
}

bool is_all_zeros(const TensorView& tensor) {
  return std::ranges::all_of(tensor.bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

bool is_convolution_bias(std::string_view name) {
  return name.ends_with(".convolution.groupconv.bias");
}

ConvolutionBiases take_zero_convolution_biases(std::vector<TensorView>& tensors) {
  ConvolutionBiases biases{.are_zeros = true};
  for (const TensorView& tensor : tensors) {
    if (!is_convolution_bias(tensor.name)) continue;
    biases.names.push_back(tensor.name);
    biases.are_zeros &= is_all_zeros(tensor);
  }
  if (biases.are_zeros) {
    std::erase_if(tensors,
                  [](const TensorView& tensor) { return is_convolution_bias(tensor.name); });
  }
  return biases;
}

int64_t vocabulary_rows(const std::vector<TensorView>& tensors) {
  const auto table = std::ranges::find_if(tensors, [](const TensorView& tensor) {
    return full_name(tensor.name) == kWordTable && tensor.shape.rank() == 2;
  });
  return table == tensors.end() ? 0 : table->shape[0];
}

}  // namespace cloze::checkpoints
