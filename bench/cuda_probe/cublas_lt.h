// cuBLASLt, opened when the program runs: what is built here starts without it.
#pragma once

#include <cublasLt.h>

#include <string>

namespace cloze::cuda_probe {

// The functions in use. The library stays open until the program ends.
class CublasLt {
 public:
  // Opens the given file or that of CLOZE_CUBLASLT. Without either: what the loader finds, the one in CUDA's folder, or
  // the one that came with python3's PyTorch. ProbeError names what was tried.
  explicit CublasLt(const std::string& given);
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  const std::string& path() const { return path_; }

  decltype(&::cublasLtGetVersion) get_version;
  decltype(&::cublasLtGetStatusString) get_status_string;
  decltype(&::cublasLtCreate) create;
  decltype(&::cublasLtMatmul) matmul;
  decltype(&::cublasLtMatmulDescCreate) matmul_desc_create;
  decltype(&::cublasLtMatmulDescDestroy) matmul_desc_destroy;
  decltype(&::cublasLtMatmulDescSetAttribute) matmul_desc_set_attribute;
  decltype(&::cublasLtMatrixLayoutCreate) matrix_layout_create;
  decltype(&::cublasLtMatrixLayoutDestroy) matrix_layout_destroy;
  decltype(&::cublasLtMatrixLayoutSetAttribute) matrix_layout_set_attribute;
  decltype(&::cublasLtMatmulPreferenceCreate) preference_create;
  decltype(&::cublasLtMatmulPreferenceDestroy) preference_destroy;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) preference_set_attribute;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) get_heuristic;

  // Throws ProbeError with the library's own word for the status.
  void check(cublasStatus_t status, const std::string& what) const;

 private:
  void open(const std::string& given);
  bool opens(const std::string& path);
  template <typename Function>
  void find(Function& function, const char* name);

  void* library_ = nullptr;
  std::string path_;
};

}  // namespace cloze::cuda_probe
