// cuBLASLt as the program has it (backend/cuda/cublas_lt.h); what it refuses is a ProbeError.
#pragma once

#include <string>

#include "backend/cuda/cublas_lt.h"

namespace cloze::cuda_probe {

struct CublasLt : backend::cuda::CublasLt {
  // Opens the given file, or what the program would open. ProbeError when it cannot be used.
  explicit CublasLt(const std::string& given);
  CublasLt(const CublasLt&) = delete;
  CublasLt& operator=(const CublasLt&) = delete;

  // Throws ProbeError with the library's own word for the status.
  void check(cublasStatus_t status, const std::string& what) const;
};

}  // namespace cloze::cuda_probe
