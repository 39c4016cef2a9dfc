// Products (backend/gpu/product.h) by cuBLASLt.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "backend/cuda/cublas_lt.h"
#include "backend/gpu/product.h"

namespace cloze::backend::cuda {

// A product as cuBLASLt takes it, whose matrices are column-major: D = op(A) op(B). A row-major
// matrix is the column-major one of its transpose, and C^T = B^T A^T: so its A is our B, its B our A,
// and its D our C.
struct ColumnMajorMatrix {
  DType dtype = DType::kF32;
  int64_t rows = 0, columns = 0;
  int64_t stride = 0;  // from one column to the next
  int64_t count = 1, batch_stride = 0;
};
struct ColumnMajorProduct {
  bool transposes_a = false, transposes_b = false;
  ColumnMajorMatrix a, b, d;
};
ColumnMajorProduct column_major(const gpu::Product& product);

// The library of program_cublas_lt(). EnvironmentError when it cannot be used.
const CublasLt& cublas_lt();

// The products of one card. The library is asked once how to compute a product of these sizes, whose
// matrices are aligned like this, and its first answer is kept: so the same product gives the same
// bytes in every run. Several threads may use it.
class Products {
 public:
  // The library outlives it. EnvironmentError when the library cannot be used with the card.
  explicit Products(const CublasLt& library);
  ~Products();

  // EnvironmentError when the library has no way to compute it. The workspace has
  // gpu::kCardProductBytes.
  void run(const gpu::Product& product, const gpu::ProductAddresses& addresses, void* workspace,
           cudaStream_t stream);

 private:
  class Prepared;
  // The largest power of two, up to 256, that A, B and C are aligned to.
  using Alignments = std::array<uint32_t, 3>;

  const Prepared& prepared(const gpu::Product& product, const Alignments& alignments);

  const CublasLt& library_;
  cublasLtHandle_t handle_ = nullptr;
  std::mutex mutex_;
  std::map<std::pair<gpu::Product, Alignments>, std::unique_ptr<Prepared>> prepared_;
};

}  // namespace cloze::backend::cuda
