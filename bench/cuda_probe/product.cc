#include "product.h"

namespace cloze::cuda_probe {
namespace {

constexpr int kMostCandidates = 8;

// One handle serves all products: the library keeps what it has loaded with it.
cublasLtHandle_t shared_handle(const CublasLt& library) {
  static const cublasLtHandle_t handle = [&library] {
    cublasLtHandle_t made = nullptr;
    library.check(library.create(&made), "cublasLtCreate");
    return made;
  }();
  return handle;
}

}  // namespace

Product::Product(const CublasLt& library, const ProductShape& shape, const ProductOptions& options)
    : library_(library),
      shape_(shape),
      options_(options),
      handle_(shared_handle(library)),
      description_(nullptr, library.matmul_desc_destroy),
      a_(shape.transposes_a ? make_layout(CUDA_R_16BF, shape.depth, shape.rows)
                            : make_layout(CUDA_R_16BF, shape.rows, shape.depth)),
      b_(shape.transposes_b ? make_layout(CUDA_R_16BF, shape.columns, shape.depth)
                            : make_layout(CUDA_R_16BF, shape.depth, shape.columns)),
      d_(make_layout(options.d_type, shape.rows, shape.columns)),
      workspace_(kWorkspaceBytes) {
  describe();
  ask();
}

Product::Layout Product::make_layout(cudaDataType_t type, int64_t rows, int64_t columns) const {
  cublasLtMatrixLayout_t made = nullptr;
  library_.check(library_.matrix_layout_create(&made, type, rows, columns, rows), "a layout");
  Layout layout(made, library_.matrix_layout_destroy);
  if (options_.batch > 1) {
    const int32_t count = options_.batch;
    const uint32_t mode = CUBLASLT_BATCH_MODE_POINTER_ARRAY;
    library_.check(library_.matrix_layout_set_attribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count, sizeof count),
                   "a batch");
    library_.check(library_.matrix_layout_set_attribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, &mode, sizeof mode),
                   "an array of pointers");
  }
  return layout;
}

template <typename T>
void Product::set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
  library_.check(library_.matmul_desc_set_attribute(description_.get(), attribute, &value, sizeof value), "a product's attribute");
}

void Product::describe() {
  cublasLtMatmulDesc_t made = nullptr;
  library_.check(library_.matmul_desc_create(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product");
  description_.reset(made);
  set(CUBLASLT_MATMUL_DESC_TRANSA, static_cast<int32_t>(shape_.transposes_a ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(CUBLASLT_MATMUL_DESC_TRANSB, static_cast<int32_t>(shape_.transposes_b ? CUBLAS_OP_T : CUBLAS_OP_N));
  set(CUBLASLT_MATMUL_DESC_EPILOGUE, static_cast<uint32_t>(options_.epilogue));
  if (options_.bias != nullptr) {
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, options_.bias);
    if (options_.bias_type >= 0) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, static_cast<int32_t>(options_.bias_type));
    if (options_.bias_stride != 0) set(CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, options_.bias_stride);
  }
  if (options_.auxiliary != nullptr) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, options_.auxiliary);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, shape_.rows);
  }
}

void Product::ask() {
  cublasLtMatmulPreference_t preference = nullptr;
  library_.check(library_.preference_create(&preference), "a preference");
  const uint64_t workspace = kWorkspaceBytes;
  library_.check(library_.preference_set_attribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &workspace,
                                                   sizeof workspace),
                 "the workspace's size");
  cublasLtMatmulHeuristicResult_t found[kMostCandidates] = {};
  int count = 0;
  const auto status = library_.get_heuristic(handle_, description_.get(), a_.get(), b_.get(), d_.get(), d_.get(), preference,
                                             kMostCandidates, found, &count);
  library_.preference_destroy(preference);
  library_.check(status, "cuBLASLt has no way to compute this");
  for (int i = 0; i < count; ++i) {
    if (found[i].state == CUBLAS_STATUS_SUCCESS) candidates_.push_back(found[i].algo);
  }
  if (candidates_.empty()) throw ProbeError("cuBLASLt has no way to compute this: no candidate");
}

void Product::run(const Operands& operands, size_t candidate) const {
  const float alpha = 1;
  library_.check(library_.matmul(handle_, description_.get(), &alpha, operands.a, a_.get(), operands.b, b_.get(), &options_.beta,
                                 operands.d, d_.get(), operands.d, d_.get(), &candidates_[candidate], workspace_.data(),
                                 kWorkspaceBytes, nullptr),
                 "cublasLtMatmul");
}

}  // namespace cloze::cuda_probe
