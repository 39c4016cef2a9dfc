#include "backend/testing/tensor.h"

#include <cmath>
#include <numbers>

#include "backend/reference/call.h"
#include "base/error.h"

namespace cloze::backend::testing {
namespace {

// visit(T()) for the type T that stores this dtype.
template <typename Visit>
void visit_type(DType dtype, const Visit& visit) {
  switch (dtype) {
    case DType::kF32:
      return visit(float());
    case DType::kBF16:
      return visit(bfloat16());
    case DType::kF16:
      return visit(float16());
    case DType::kF64:
      return visit(double());
    case DType::kI32:
      return visit(int32_t());
    default:
      throw InternalError("a test tensor of a dtype that no kernel takes");
  }
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
  visit_type(tensor.type.dtype, [&]<typename T>(T) {
    for (size_t i = 0; i < tensor.values.size(); ++i) {
      static_cast<T*>(memory)[i] = reference::store<T>(tensor.values[i]);
    }
  });
}

Tensor read_bytes(const graph::TensorType& type, const void* memory) {
  Tensor tensor = zeros(type);
  visit_type(type.dtype, [&]<typename T>(T) {
    for (size_t i = 0; i < tensor.values.size(); ++i) {
      tensor.values[i] = reference::load(static_cast<const T*>(memory)[i]);
    }
  });
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
