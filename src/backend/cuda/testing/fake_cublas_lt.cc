// A library with the functions of cuBLASLt that we use (cublas_lt.h), written from its header's description and computed in
// double on the host. What nobody knows of the real one is set by the environment:
//   FAKE_GELU     erf or tanh
//   FAKE_BGRADB   overwrites or adds
//   FAKE_BIAS     exact, or rounded: an f32 bias counts as bf16
//   FAKE_VERSION  as cublasLtGetVersion gives it
//   FAKE_REFUSES  gelu_aux, f32_bias, bgradb or pointer_arrays: what it has no way to compute
// Products of more than kMostWork multiplications are not computed.
#include <cublasLt.h>
#include <cuda_bf16.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

constexpr int64_t kMostWork = int64_t{1} << 26;

struct Layout {
  cudaDataType_t type;
  int64_t rows, columns, stride;
  int32_t batch = 1;
  uint32_t mode = CUBLASLT_BATCH_MODE_STRIDED;
  int64_t batch_stride = 0;

  int64_t bytes() const { return type == CUDA_R_32F ? 4 : 2; }
};

struct Description {
  int32_t transposes_a = 0, transposes_b = 0, bias_type = -1;
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  void* bias = nullptr;
  void* auxiliary = nullptr;
  int64_t bias_stride = 0, auxiliary_stride = 0;
};

// Alignments of A, B, C and D, as the caller promised when it asked for an algorithm, which holds them; 1: nothing was said.
struct Alignments {
  uint32_t a = 1, b = 1, c = 1, d = 1;
};

bool is_aligned(const void* address, uint32_t alignment) {
  return reinterpret_cast<uintptr_t>(address) % alignment == 0;
}

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

double load(const void* values, cudaDataType_t type, int64_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(values)[i];
  return __bfloat162float(static_cast<const __nv_bfloat16*>(values)[i]);
}

void store(void* values, cudaDataType_t type, int64_t i, double value) {
  if (type == CUDA_R_32F)
    static_cast<float*>(values)[i] = static_cast<float>(value);
  else
    static_cast<__nv_bfloat16*>(values)[i] = __float2bfloat16(static_cast<float>(value));
}

double gelu(double x) {
  static const bool is_exact = setting("FAKE_GELU") == "erf";
  if (is_exact) return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
}

bool has_gelu(uint32_t epilogue) {
  return epilogue == CUBLASLT_EPILOGUE_GELU || epilogue == CUBLASLT_EPILOGUE_GELU_BIAS ||
         epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS;
}

cudaDataType_t bias_type(const Description& description, const Layout& d) {
  return description.bias_type < 0 ? d.type : static_cast<cudaDataType_t>(description.bias_type);
}

// Row and column of op(X).
double element(const void* values, const Layout& layout, bool is_transposed, int64_t row,
               int64_t column) {
  return load(values, layout.type,
              is_transposed ? column + row * layout.stride : row + column * layout.stride);
}

struct Product {
  const Description& description;
  const Layout &a_layout, &b_layout, &d_layout;
  const void *a, *b;
  void *d, *bias;
  double beta;
};

double finished(const Product& p, int64_t row, int64_t place, double value) {
  const auto epilogue = p.description.epilogue;
  if (p.bias != nullptr && epilogue != CUBLASLT_EPILOGUE_BGRADB) {
    double own = load(p.bias, bias_type(p.description, p.d_layout), row);
    static const bool is_rounded = setting("FAKE_BIAS") == "rounded";
    if (is_rounded) own = __bfloat162float(__float2bfloat16(static_cast<float>(own)));
    value += own;
  }
  if (p.description.auxiliary != nullptr)
    store(p.description.auxiliary, p.d_layout.type, place, value);
  return has_gelu(epilogue) ? gelu(value) : value;
}

void multiply(const Product& p) {
  const int64_t depth = p.description.transposes_a ? p.a_layout.rows : p.a_layout.columns;
  if (p.d_layout.rows * p.d_layout.columns * depth > kMostWork) return;
  for (int64_t column = 0; column < p.d_layout.columns; ++column) {
    double of_bias = 0;
    for (int64_t k = 0; k < depth; ++k)
      of_bias += element(p.b, p.b_layout, p.description.transposes_b, k, column);
    for (int64_t row = 0; row < p.d_layout.rows; ++row) {
      const int64_t place = row + column * p.d_layout.stride;
      double sum = p.beta == 0 ? 0 : p.beta * load(p.d, p.d_layout.type, place);
      for (int64_t k = 0; k < depth; ++k) {
        sum += element(p.a, p.a_layout, p.description.transposes_a, row, k) *
               element(p.b, p.b_layout, p.description.transposes_b, k, column);
      }
      store(p.d, p.d_layout.type, place, finished(p, row, place, sum));
    }
    if (p.description.epilogue == CUBLASLT_EPILOGUE_BGRADB) {
      const auto type = bias_type(p.description, p.d_layout);
      const double before = setting("FAKE_BGRADB") == "adds" ? load(p.bias, type, column) : 0;
      store(p.bias, type, column, before + of_bias);
    }
  }
}

bool refuses(const Description& description, const Layout& d) {
  const auto what = setting("FAKE_REFUSES");
  return (what == "gelu_aux" && description.epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS) ||
         (what == "f32_bias" && description.bias != nullptr &&
          bias_type(description, d) != d.type) ||
         (what == "bgradb" && description.epilogue == CUBLASLT_EPILOGUE_BGRADB) ||
         (what == "pointer_arrays" && d.mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY);
}

template <typename Member>
cublasStatus_t take(Member& member, const void* value, size_t bytes) {
  if (bytes != sizeof member) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&member, value, bytes);
  return CUBLAS_STATUS_SUCCESS;
}

const Layout& layout_of(cublasLtMatrixLayout_t layout) {
  return *reinterpret_cast<const Layout*>(layout);
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() {
  const auto version = setting("FAKE_VERSION");
  return version.empty() ? 130000 : std::stoul(version);
}
const char* cublasLtGetStatusString(cublasStatus_t) { return "CUBLAS_STATUS_NOT_SUPPORTED"; }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute,
                                        cudaDataType_t scale) {
  if (compute != CUBLAS_COMPUTE_32F || scale != CUDA_R_32F) return CUBLAS_STATUS_NOT_SUPPORTED;
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Description);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete reinterpret_cast<Description*>(description);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t made,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t bytes) {
  auto& description = *reinterpret_cast<Description*>(made);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      return take(description.transposes_a, value, bytes);
    case CUBLASLT_MATMUL_DESC_TRANSB:
      return take(description.transposes_b, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return take(description.epilogue, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      return take(description.bias, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      return take(description.bias_type, value, bytes);
    case CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE:
      return take(description.bias_stride, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      return take(description.auxiliary, value, bytes);
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      return take(description.auxiliary_stride, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t stride) {
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{type, static_cast<int64_t>(rows), static_cast<int64_t>(columns), stride});
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete reinterpret_cast<Layout*>(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t made,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t bytes) {
  auto& layout = *reinterpret_cast<Layout*>(made);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return take(layout.batch, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_MODE:
      return take(layout.mode, value, bytes);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return take(layout.batch_stride, value, bytes);
    default:
      return CUBLAS_STATUS_NOT_SUPPORTED;
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = reinterpret_cast<cublasLtMatmulPreference_t>(new Alignments);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete reinterpret_cast<Alignments*>(preference);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t made,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t bytes) {
  auto& alignments = *reinterpret_cast<Alignments*>(made);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
      return take(alignments.a, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
      return take(alignments.b, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
      return take(alignments.c, value, bytes);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return take(alignments.d, value, bytes);
    default:
      return CUBLAS_STATUS_SUCCESS;
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int most,
                                              cublasLtMatmulHeuristicResult_t found[], int* count) {
  if (refuses(*reinterpret_cast<Description*>(description), layout_of(d)))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  *count = std::min(most, 2);
  for (int i = 0; i < *count; ++i) {
    found[i].state = CUBLAS_STATUS_SUCCESS;
    std::memcpy(&found[i].algo, reinterpret_cast<const Alignments*>(preference),
                sizeof(Alignments));
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t made, const void*,
                              const void* a, cublasLtMatrixLayout_t a_layout, const void* b,
                              cublasLtMatrixLayout_t b_layout, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t d_layout,
                              const cublasLtMatmulAlgo_t* algorithm, void*, size_t, cudaStream_t) {
  const auto& asked = *reinterpret_cast<const Alignments*>(algorithm);
  if (!is_aligned(a, asked.a) || !is_aligned(b, asked.b) || !is_aligned(c, asked.c) ||
      !is_aligned(d, asked.d)) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  const auto& description = *reinterpret_cast<Description*>(made);
  const auto& layout = layout_of(d_layout);
  const bool has_arrays = layout.mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY;
  for (int i = 0; i < layout.batch; ++i) {
    const auto of_batch = [&](const void* given, cublasLtMatrixLayout_t matrix) -> const void* {
      if (has_arrays) return static_cast<void* const*>(given)[i];
      return static_cast<const char*>(given) +
             i * layout_of(matrix).batch_stride * layout_of(matrix).bytes();
    };
    auto* bias = static_cast<char*>(description.bias);
    if (bias != nullptr)
      bias += i * description.bias_stride * (bias_type(description, layout) == CUDA_R_32F ? 4 : 2);
    multiply({description, layout_of(a_layout), layout_of(b_layout), layout, of_batch(a, a_layout),
              of_batch(b, b_layout), const_cast<void*>(of_batch(d, d_layout)), bias,
              *static_cast<const float*>(beta)});
  }
  return CUBLAS_STATUS_SUCCESS;
}

}  // extern "C"
