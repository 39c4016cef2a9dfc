#include "backend/cpu/native/activated_matmul.h"

#include "backend/cpu/elementwise.h"
#include "backend/cpu/storage.h"
#include "backend/cpu/workspace.h"
#include "base/bfloat16.h"

namespace cloze::backend::cpu {

ActivatedMatmul::ActivatedMatmul(const ActivatedMatmulShape& shape)
    : shape_(shape), product_(shape.product) {}

size_t ActivatedMatmul::u_bytes() const {
  if (shape_.keeps_u) return 0;
  return whole_lines(static_cast<size_t>(product_.most_rows() * shape_.product.n *
                                         bytes_of(shape_.product.result_dtype)));
}

void ActivatedMatmul::run(const MatmulCall& call, void* y) {
  for_each_item(product_.num_parts(), shape_.product.num_threads,
                [&](int64_t part, int thread) { run_part(part, thread, call, y); });
}

void ActivatedMatmul::run_part(int64_t part, int thread, const MatmulCall& call, void* y) {
  const MatmulShape& product = shape_.product;
  const Part rows = product_.rows(part);
  MatmulCall of_part = call;
  of_part.a = static_cast<const bfloat16*>(call.a) + rows.begin * product.depth;
  of_part.c = shape_.keeps_u ? element(call.c, product.result_dtype, rows.begin * product.n)
                             : static_cast<char*>(call.scratch) + product_.scratch_bytes() +
                                   static_cast<size_t>(thread) * u_bytes();
  product_.run_part(part, thread, of_part);
  if (!shape_.activation) return;
  gelu_of_run({*shape_.activation, product.result_dtype, shape_.y_dtype, rows.size() * product.n},
              of_part.c, element(y, shape_.y_dtype, rows.begin * product.n));
}

}  // namespace cloze::backend::cpu
