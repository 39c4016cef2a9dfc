#include "backend/cpu/native/activated_matmul.h"

#include <algorithm>

#include "backend/cpu/elementwise.h"
#include "backend/cpu/parallel.h"
#include "base/error.h"

namespace cloze::backend::cpu {
namespace {

int64_t rows_of(const ActivatedMatmulShape& shape) {
  const int64_t m = shape.product.m;
  return shape.activation ? divide_up(m, divide_up(m, ActivatedMatmul::kMostRows)) : m;
}

MatmulShape with_rows(MatmulShape product, int64_t rows) {
  product.m = rows;
  return product;
}

}  // namespace

ActivatedMatmul::ActivatedMatmul(const ActivatedMatmulShape& shape)
    : shape_(shape), rows_(rows_of(shape)), product_(with_rows(shape.product, rows_)) {
  CLOZE_CHECK(!shape.product.a_is_transposed && !shape.product.accumulates,
              "an activated product starts from rows and from nothing");
}

size_t ActivatedMatmul::u_bytes() const {
  const int64_t rows = shape_.keeps_u ? shape_.product.m : rows_;
  return static_cast<size_t>(rows * shape_.product.n * bytes_of(shape_.product.result_dtype));
}

// The last rows are as many as the others, so that one product serves: some of them come twice,
// and are the same both times.
void ActivatedMatmul::run(const MatmulCall& call, void* y) {
  const MatmulShape& product = shape_.product;
  for (int64_t begin = 0; begin < product.m; begin += rows_) {
    const int64_t row = std::min(begin, product.m - rows_);
    MatmulCall part = call;
    part.a =
        static_cast<const char*>(call.a) + row * product.depth * bytes_of(product.operand_dtype);
    if (shape_.keeps_u) {
      part.c = static_cast<char*>(call.c) + row * product.n * bytes_of(product.result_dtype);
    }
    product_.run(part);
    if (!shape_.activation) continue;
    gelu_in_parts({*shape_.activation, product.result_dtype, shape_.y_dtype, rows_ * product.n},
                  product.num_threads, part.c,
                  static_cast<char*>(y) + row * product.n * bytes_of(shape_.y_dtype));
  }
}

}  // namespace cloze::backend::cpu
