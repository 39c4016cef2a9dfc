// ActivatedMatmul: a product by oneDNN (matmul.h), and GELU of it by our own vectors, for the rows
// of a part while they are in the cache. oneDNN would apply GELU too, but takes erf from a formula
// that is off by 1.5e-7 (Abramowitz, Stegun, 7.1.26), which is more than a result in f32 may be.
//
//   u = A B + bias      y = gelu(u)
#pragma once

#include <optional>

#include "backend/cpu/native/matmul.h"
#include "ops/gelu.h"

namespace cloze::backend::cpu {

struct ActivatedMatmulShape {
  MatmulShape product;  // with B in pairs; the result is u, in f32 where y has another dtype
  std::optional<ops::GeluForm> activation;  // none: u is all there is
  DType y_dtype = DType::kF32;
  bool keeps_u = true;
};

class ActivatedMatmul {
 public:
  explicit ActivatedMatmul(const ActivatedMatmulShape& shape);

  bool is_activated() const { return shape_.activation.has_value(); }
  size_t scratch_bytes() const { return product_.scratch_bytes() + u_bytes() * threads(); }
  std::vector<KeptMemory> kept_memory() const { return product_.kept_memory(); }
  // call.c: u, where it is kept; y may be u if it has the same dtype. Without an activation y is
  // not used.
  void run(const MatmulCall& call, void* y);

 private:
  size_t threads() const { return static_cast<size_t>(shape_.product.num_threads); }
  size_t u_bytes() const;  // of a part that is not kept
  void run_part(int64_t part, int thread, const MatmulCall& call, void* y);

  ActivatedMatmulShape shape_;
  Matmul product_;
};

}  // namespace cloze::backend::cpu
