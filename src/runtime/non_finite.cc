#include "runtime/non_finite.h"

#include <algorithm>
#include <cmath>

#include "base/bfloat16.h"
#include "base/float16.h"

namespace cloze::runtime {
namespace {

template <typename T>
std::optional<NonFiniteElement> find_in(std::span<const std::byte> tensor) {
  const std::span<const T> values{reinterpret_cast<const T*>(tensor.data()),
                                  tensor.size() / sizeof(T)};
  const auto found = std::find_if(values.begin(), values.end(), [](T value) {
    return !std::isfinite(static_cast<float>(value));
  });
  if (found == values.end()) return std::nullopt;
  return NonFiniteElement{found - values.begin(), static_cast<float>(*found)};
}

}  // namespace

std::optional<NonFiniteElement> find_non_finite(std::span<const std::byte> tensor, DType dtype) {
  if (dtype == DType::kF32) return find_in<float>(tensor);
  if (dtype == DType::kBF16) return find_in<bfloat16>(tensor);
  if (dtype == DType::kF16) return find_in<float16>(tensor);
  return std::nullopt;
}

}  // namespace cloze::runtime
