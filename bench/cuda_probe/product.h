// One product by cuBLASLt: D = op(A) op(B) + beta C, column-major, C in D's place, with an epilogue.
// Sums are f32; A and B are bf16.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "cublas_lt.h"
#include "device.h"

namespace cloze::cuda_probe {

struct ProductShape {
  int64_t rows = 0;     // of D [rows, columns]
  int64_t columns = 0;
  int64_t depth = 0;    // op(A) [rows, depth], op(B) [depth, columns]
  bool transposes_a = false;
  bool transposes_b = false;

  double flops() const { return 2.0 * rows * columns * depth; }
};

struct ProductOptions {
  cudaDataType_t d_type = CUDA_R_16BF;
  float beta = 0;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;         // [rows], or the gradient of BGRADB [columns]
  int bias_type = -1;           // a cudaDataType_t; -1: that of D
  void* auxiliary = nullptr;    // [rows, columns] in D's type: what an epilogue with AUX keeps
  int batch = 1;                // more than one: A, B and D are arrays of pointers, in the card's memory
  int64_t bias_stride = 0;      // from one bias of a batch to the next
};

struct Operands {
  const void* a;
  const void* b;
  void* d;
};

// A product that the library has ways to compute. It owns the library's descriptions and the workspace.
class Product {
  using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, decltype(&::cublasLtMatrixLayoutDestroy)>;
  using Description = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, decltype(&::cublasLtMatmulDescDestroy)>;

 public:
  static constexpr size_t kWorkspaceBytes = size_t{32} << 20;

  // ProbeError where the library has no way.
  Product(const CublasLt& library, const ProductShape& shape, const ProductOptions& options);

  // The ways, in the order of the library's guess; 8 at most.
  size_t candidates() const { return candidates_.size(); }
  void run(const Operands& operands, size_t candidate = 0) const;

 private:
  Layout make_layout(cudaDataType_t type, int64_t rows, int64_t columns) const;
  template <typename T>
  void set(cublasLtMatmulDescAttributes_t attribute, const T& value);
  void describe();
  void ask();

  const CublasLt& library_;
  ProductShape shape_;
  ProductOptions options_;
  cublasLtHandle_t handle_ = nullptr;
  Description description_;
  Layout a_, b_, d_;
  std::vector<cublasLtMatmulAlgo_t> candidates_;
  Memory workspace_;
};

}  // namespace cloze::cuda_probe
