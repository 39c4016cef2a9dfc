// ActivatedMatmul: a product by oneDNN (matmul.h), and GELU of it by our own vectors, for a few
// hundred rows at a time while they are in the cache. oneDNN would apply GELU too, but takes erf
// from a formula that is off by 1.5e-7 (Abramowitz, Stegun, 7.1.26), which is more than a result
// in f32 may be.
//
//   u = A B + bias      y = gelu(u)
#pragma once

#include <optional>

#include "backend/cpu/native/matmul.h"
#include "ops/gelu.h"

namespace cloze::backend::cpu {

struct ActivatedMatmulShape {
  MatmulShape product;  // A is not transposed; the result is u, of f32 where y is not of its dtype
  std::optional<ops::GeluForm> activation;  // none: u is all there is
  DType y_dtype = DType::kF32;
  bool keeps_u = true;  // all its rows; else those at hand, each time in the same place
};

class ActivatedMatmul {
 public:
  // At a time: u of these is in the second cache until it is activated.
  static constexpr int64_t kMostRows = 512;

  explicit ActivatedMatmul(const ActivatedMatmulShape& shape);

  size_t packed_bytes() const { return product_.packed_bytes(); }
  size_t scratch_bytes() const { return product_.scratch_bytes(); }
  size_t u_bytes() const;
  std::vector<KeptMemory> kept_memory() const { return product_.kept_memory(); }
  const void* pack(const void* b, void* packed) { return product_.pack(b, packed); }
  // call.c: u, u_bytes(). y may be u, where it has the same dtype and is kept.
  void run(const MatmulCall& call, void* y);

 private:
  ActivatedMatmulShape shape_;
  int64_t rows_;  // at a time
  Matmul product_;
};

}  // namespace cloze::backend::cpu
