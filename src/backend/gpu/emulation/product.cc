#include "backend/gpu/emulation/product.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/bfloat16.h"

namespace cloze::backend::gpu::emulation {
namespace {

const std::byte* begin_of(const Operand& operand, DType dtype) {
  return static_cast<const std::byte*>(operand.tensor) + operand.first * bytes_of(dtype);
}

bool is_inside(const Operand& operand, const StoredMatrix& matrix, int64_t count,
               const Place& place, Findings& findings) {
  if (operand.region == nullptr) {
    findings.add(FindingKind::kOutOfBounds, place, "a product of a tensor that was not given");
    return false;
  }
  const int64_t last = operand.first + matrix.extent(count) - 1;
  return operand.region->note_span(operand.first, last, place, findings);
}

struct Span {
  const std::byte* begin;
  const std::byte* end;
};

Span span_of(const Operand& operand, const StoredMatrix& matrix, int64_t count, DType dtype) {
  const std::byte* begin = begin_of(operand, dtype);
  return {begin, begin + matrix.extent(count) * bytes_of(dtype)};
}

bool share_memory(const Span& one, const Span& other) {
  return one.begin < other.end && other.begin < one.end;
}

bool may_run(const Product& product, const Operands& operands, const Place& place,
             Findings& findings) {
  const int64_t count = product.sizes.count;
  const StoredMatrix a = stored_a(product), b = stored_b(product), c = stored_c(product);
  const bool a_is_inside = is_inside(operands.a, a, count, place, findings);
  const bool b_is_inside = is_inside(operands.b, b, count, place, findings);
  const bool c_is_inside = is_inside(operands.c, c, count, place, findings);
  if (!a_is_inside || !b_is_inside || !c_is_inside) return false;
  const Span written = span_of(operands.c, c, count, product.result);
  if (share_memory(written, span_of(operands.a, a, count, product.operands)) ||
      share_memory(written, span_of(operands.b, b, count, product.operands))) {
    findings.add(FindingKind::kUnordered, place, "a product is written over what it reads");
    return false;
  }
  return true;
}

float load(const std::byte* elements, DType dtype, int64_t i) {
  if (dtype == DType::kF32) return reinterpret_cast<const float*>(elements)[i];
  return static_cast<float>(reinterpret_cast<const bfloat16*>(elements)[i]);
}

void store(std::byte* elements, DType dtype, int64_t i, float value) {
  if (dtype == DType::kF32) {
    reinterpret_cast<float*>(elements)[i] = value;
  } else {
    reinterpret_cast<bfloat16*>(elements)[i] = bfloat16(value);
  }
}

// [rows, columns] of matrix number `number`, without gaps.
std::vector<float> unpacked(const std::byte* elements, DType dtype, const MatrixLayout& layout,
                            int64_t rows, int64_t columns, int64_t number) {
  std::vector<float> values(static_cast<size_t>(rows * columns));
  float* next = values.data();
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t at = layout.is_transposed ? c * layout.stride + r : r * layout.stride + c;
      *next++ = load(elements, dtype, number * layout.batch_stride + at);
    }
  }
  return values;
}

void multiply_one(const Product& product, const Operands& operands, int64_t number) {
  const auto& [rows, columns, depth, count] = product.sizes;
  const DType dtype = product.operands;
  const auto a = unpacked(begin_of(operands.a, dtype), dtype, product.a, rows, depth, number);
  const auto b = unpacked(begin_of(operands.b, dtype), dtype, product.b, depth, columns, number);
  auto* const c = const_cast<std::byte*>(begin_of(operands.c, product.result));
  std::vector<float> sums(static_cast<size_t>(columns));
  for (int64_t r = 0; r < rows; ++r) {
    std::ranges::fill(sums, 0.0f);
    for (int64_t k = 0; k < depth; ++k) {
      const float factor = a[static_cast<size_t>(r * depth + k)];
      const float* const row = b.data() + k * columns;
      for (int64_t i = 0; i < columns; ++i) sums[static_cast<size_t>(i)] += factor * row[i];
    }
    const int64_t begin = number * product.c.batch_stride + r * product.c.stride;
    for (int64_t i = 0; i < columns; ++i) {
      const float before = product.accumulates ? load(c, product.result, begin + i) : 0.0f;
      store(c, product.result, begin + i, before + sums[static_cast<size_t>(i)]);
    }
  }
}

}  // namespace

void multiply(const Product& product, const Operands& operands, const Place& place,
              Findings& findings) {
  if (!may_run(product, operands, place, findings)) return;
  for (int64_t i = 0; i < product.sizes.count; ++i) multiply_one(product, operands, i);
}

}  // namespace cloze::backend::gpu::emulation
