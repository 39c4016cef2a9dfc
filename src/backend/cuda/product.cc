#include "backend/cuda/product.h"

#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/error.h"

namespace cloze::backend::cuda {
namespace {

// Algorithms may ask for it; memory that is aligned better gains nothing.
constexpr uint32_t kMostAlignment = 256;

void check(const CublasLt& library, cublasStatus_t status, std::string_view what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw_environment_error("cuBLASLt ({}), {}: {}", library.path, what,
                          library.get_status_string(status));
}

cudaDataType_t type_of(DType dtype) { return dtype == DType::kBF16 ? CUDA_R_16BF : CUDA_R_32F; }

ColumnMajorMatrix column_major(const gpu::StoredMatrix& stored, DType dtype, int64_t count) {
  return {.dtype = dtype,
          .rows = stored.columns,
          .columns = stored.rows,
          .stride = stored.layout.stride,
          .count = count,
          .batch_stride = stored.layout.batch_stride};
}

uint32_t alignment_of(const void* address) {
  const auto number = reinterpret_cast<uintptr_t>(address) | kMostAlignment;
  return static_cast<uint32_t>(number & -number);  // its lowest bit
}

std::string describe(const gpu::Product& product) {
  const auto& [rows, columns, depth, count] = product.sizes;
  const auto stored = [](const gpu::MatrixLayout& layout) {
    return layout.is_transposed ? ", stored as its transpose" : "";
  };
  return fmt::format("{} of {} [{}, {}]{} by [{}, {}]{}, to {}",
                     count == 1 ? "the product" : fmt::format("{} products", count),
                     name_of(product.operands), rows, depth, stored(product.a), depth, columns,
                     stored(product.b), name_of(product.result));
}

}  // namespace

ColumnMajorProduct column_major(const gpu::Product& product) {
  const int64_t count = product.sizes.count;
  return {.transposes_a = product.b.is_transposed,
          .transposes_b = product.a.is_transposed,
          .a = column_major(stored_b(product), product.operands, count),
          .b = column_major(stored_a(product), product.operands, count),
          .d = column_major(stored_c(product), product.result, count)};
}

const CublasLt& cublas_lt() {
  const auto& [library, refusal] = program_cublas_lt();
  if (!refusal.empty()) throw_environment_error("{}; {}", refusal, kCublasLtAdvice);
  return library;
}

// The library's descriptions of a product, and how it is computed.
class Products::Prepared {
  using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>,
                                 decltype(&::cublasLtMatrixLayoutDestroy)>;
  using Description = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>,
                                      decltype(&::cublasLtMatmulDescDestroy)>;
  using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                                     decltype(&::cublasLtMatmulPreferenceDestroy)>;

 public:
  Prepared(const CublasLt& library, cublasLtHandle_t handle, const gpu::Product& product,
           const Alignments& alignments)
      : library_(library),
        handle_(handle),
        name_(describe(product)),
        beta_(product.accumulates ? 1.0f : 0.0f),
        description_(make_description(column_major(product))),
        a_(make_layout(column_major(product).a)),
        b_(make_layout(column_major(product).b)),
        d_(make_layout(column_major(product).d)) {
    choose_algorithm(alignments);
  }

  void run(const gpu::ProductAddresses& addresses, void* workspace, cudaStream_t stream) const {
    const float alpha = 1.0f;
    require(library_.matmul(handle_, description_.get(), &alpha, addresses.b, a_.get(), addresses.a,
                            b_.get(), &beta_, addresses.c, d_.get(), addresses.c, d_.get(),
                            &algorithm_, workspace, gpu::kCardProductBytes, stream));
  }

 private:
  void require(cublasStatus_t status) const { check(library_, status, name_); }

  Description make_description(const ColumnMajorProduct& product) const {
    cublasLtMatmulDesc_t made = nullptr;
    require(library_.matmul_desc_create(&made, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    Description description(made, library_.matmul_desc_destroy);
    const auto set = [&](cublasLtMatmulDescAttributes_t attribute, bool transposes) {
      const int32_t value = transposes ? CUBLAS_OP_T : CUBLAS_OP_N;
      require(library_.matmul_desc_set_attribute(made, attribute, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_DESC_TRANSA, product.transposes_a);
    set(CUBLASLT_MATMUL_DESC_TRANSB, product.transposes_b);
    return description;
  }

  Layout make_layout(const ColumnMajorMatrix& matrix) const {
    cublasLtMatrixLayout_t made = nullptr;
    require(library_.matrix_layout_create(&made, type_of(matrix.dtype),
                                          static_cast<uint64_t>(matrix.rows),
                                          static_cast<uint64_t>(matrix.columns), matrix.stride));
    Layout layout(made, library_.matrix_layout_destroy);
    if (matrix.count == 1) return layout;
    const auto count = static_cast<int32_t>(matrix.count);
    require(library_.matrix_layout_set_attribute(made, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                                 sizeof count));
    require(library_.matrix_layout_set_attribute(made, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                                 &matrix.batch_stride, sizeof matrix.batch_stride));
    return layout;
  }

  // `alignments` are those of our A, B and C.
  Preference make_preference(const Alignments& alignments) const {
    cublasLtMatmulPreference_t made = nullptr;
    require(library_.preference_create(&made));
    Preference preference(made, library_.preference_destroy);
    const auto set = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
      require(library_.preference_set_attribute(made, attribute, &value, sizeof value));
    };
    set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, uint64_t{gpu::kCardProductBytes});
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignments[1]);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignments[0]);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignments[2]);
    set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignments[2]);
    return preference;
  }

  void choose_algorithm(const Alignments& alignments) {
    const Preference preference = make_preference(alignments);
    cublasLtMatmulHeuristicResult_t found = {};
    int count = 0;
    require(library_.get_heuristic(handle_, description_.get(), a_.get(), b_.get(), d_.get(),
                                   d_.get(), preference.get(), 1, &found, &count));
    require(count > 0 ? found.state : CUBLAS_STATUS_NOT_SUPPORTED);
    algorithm_ = found.algo;
  }

  const CublasLt& library_;
  cublasLtHandle_t handle_;
  std::string name_;
  float beta_;
  Description description_;
  Layout a_, b_, d_;
  cublasLtMatmulAlgo_t algorithm_ = {};
};

Products::Products(const CublasLt& library) : library_(library) {
  check(library_, library_.create(&handle_), "cublasLtCreate");
}

// The library's handle is left to the end of the process, as its functions are.
Products::~Products() = default;

void Products::run(const gpu::Product& product, const gpu::ProductAddresses& addresses,
                   void* workspace, cudaStream_t stream) {
  const Alignments alignments{alignment_of(addresses.a), alignment_of(addresses.b),
                              alignment_of(addresses.c)};
  prepared(product, alignments).run(addresses, workspace, stream);
}

const Products::Prepared& Products::prepared(const gpu::Product& product,
                                             const Alignments& alignments) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Prepared>& one = prepared_[{product, alignments}];
  if (one == nullptr) one = std::make_unique<Prepared>(library_, handle_, product, alignments);
  return *one;
}

}  // namespace cloze::backend::cuda
