// cuBLASLt, opened when it is needed: a program that is built here starts without it.
#pragma once

#include <cublasLt.h>

#include <string>

namespace cloze::backend::cuda {

// The functions in use, and the file that has them. It stays open until the program ends.
struct CublasLt {
  std::string path;

  decltype(&::cublasLtGetVersion) get_version = nullptr;
  decltype(&::cublasLtGetStatusString) get_status_string = nullptr;
  decltype(&::cublasLtCreate) create = nullptr;
  decltype(&::cublasLtMatmul) matmul = nullptr;
  decltype(&::cublasLtMatmulDescCreate) matmul_desc_create = nullptr;
  decltype(&::cublasLtMatmulDescDestroy) matmul_desc_destroy = nullptr;
  decltype(&::cublasLtMatmulDescSetAttribute) matmul_desc_set_attribute = nullptr;
  decltype(&::cublasLtMatrixLayoutCreate) matrix_layout_create = nullptr;
  decltype(&::cublasLtMatrixLayoutDestroy) matrix_layout_destroy = nullptr;
  decltype(&::cublasLtMatrixLayoutSetAttribute) matrix_layout_set_attribute = nullptr;
  decltype(&::cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&::cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&::cublasLtMatmulPreferenceSetAttribute) preference_set_attribute = nullptr;
  decltype(&::cublasLtMatmulAlgoGetHeuristic) get_heuristic = nullptr;
};

// Opens the given file, or else that of the environment variable CLOZE_CUBLASLT. Without either: what
// the loader finds, the one in CUDA's folder, or the one that came with python3's PyTorch, in this
// order. Returns why it cannot be used, with what was tried; empty: it can.
std::string open_cublas_lt(const std::string& given, CublasLt& library);
// The library that the program computes with, opened by the first call; why it cannot be used, or an
// empty text.
struct ProgramCublasLt {
  CublasLt library;
  std::string refusal;
};
const ProgramCublasLt& program_cublas_lt();
// The next step where it cannot.
inline constexpr const char* kCublasLtAdvice =
    "name the file of cuBLASLt 13 in the environment variable CLOZE_CUBLASLT";

}  // namespace cloze::backend::cuda
