#include "backend/testing/tensor.h"

#include <cmath>
#include <cstring>
#include <numbers>

#include "base/bfloat16.h"
#include "base/error.h"
#include "base/float16.h"

namespace cloze::backend::testing {
namespace {

template <typename T>
void write_one(double value, size_t i, void* memory) {
  static_cast<T*>(memory)[i] = T(value);
}

}  // namespace

Tensor zeros(graph::TensorType type) {
  const auto elements = static_cast<size_t>(type.shape.elements());
  return {std::move(type), std::vector<double>(elements)};
}

Tensor floats(Shape shape, std::vector<double> values) {
  Tensor tensor{{DType::kF32, std::move(shape)}, std::move(values)};
  CLOZE_CHECK(static_cast<int64_t>(tensor.values.size()) == tensor.type.shape.elements(),
              "{} values for {}", tensor.values.size(), tensor.type.to_string());
  round_to_type(tensor);
  return tensor;
}

Tensor integers(Shape shape, std::vector<double> values) {
  Tensor tensor = floats(std::move(shape), std::move(values));
  tensor.type.dtype = DType::kI32;
  return tensor;
}

double rounded(DType dtype, double value) {
  switch (dtype) {
    case DType::kF32:
      return static_cast<float>(value);
    case DType::kBF16:
      return static_cast<float>(bfloat16(static_cast<float>(value)));
    case DType::kF16:
      return static_cast<float>(float16(static_cast<float>(value)));
    default:
      return value;
  }
}

void round_to_type(Tensor& tensor) {
  for (double& value : tensor.values) value = rounded(tensor.type.dtype, value);
}

void write_bytes(const Tensor& tensor, void* memory) {
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    const double value = tensor.values[i];
    switch (tensor.type.dtype) {
      case DType::kF32:
        write_one<float>(value, i, memory);
        break;
      case DType::kBF16:
        static_cast<bfloat16*>(memory)[i] = bfloat16(static_cast<float>(value));
        break;
      case DType::kF16:
        static_cast<float16*>(memory)[i] = float16(static_cast<float>(value));
        break;
      case DType::kF64:
        write_one<double>(value, i, memory);
        break;
      case DType::kI32:
        write_one<int32_t>(value, i, memory);
        break;
      default:
        throw InternalError("a test tensor of a dtype that no kernel takes");
    }
  }
}

Tensor read_bytes(const graph::TensorType& type, const void* memory) {
  Tensor tensor = zeros(type);
  for (size_t i = 0; i < tensor.values.size(); ++i) {
    double& value = tensor.values[i];
    switch (type.dtype) {
      case DType::kF32:
        value = static_cast<const float*>(memory)[i];
        break;
      case DType::kBF16:
        value = static_cast<float>(static_cast<const bfloat16*>(memory)[i]);
        break;
      case DType::kF16:
        value = static_cast<float>(static_cast<const float16*>(memory)[i]);
        break;
      case DType::kF64:
        value = static_cast<const double*>(memory)[i];
        break;
      case DType::kI32:
        value = static_cast<const int32_t*>(memory)[i];
        break;
      default:
        throw InternalError("a test tensor of a dtype that no kernel takes");
    }
  }
  return tensor;
}

graph::TensorType in_double(graph::TensorType type) {
  if (is_floating(type.dtype)) type.dtype = DType::kF64;
  return type;
}

Tensor in_double(Tensor tensor) {
  tensor.type = in_double(tensor.type);
  return tensor;
}

// Box and Muller; 1 - u keeps the logarithm finite.
double Random::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - stream_.uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * stream_.uniform());
}

void fill_normal(Tensor& tensor, Random& random, double deviation) {
  for (double& value : tensor.values) value = deviation * random.normal();
  round_to_type(tensor);
}

void fill_below(Tensor& tensor, Random& random, int64_t bound) {
  for (double& value : tensor.values) value = static_cast<double>(random.below(bound));
}

}  // namespace cloze::backend::testing
