#include "cublas_lt.h"

#include "device.h"

namespace cloze::cuda_probe {

CublasLt::CublasLt(const std::string& given) {
  const auto why = open_cublas_lt(given, *this);
  if (!why.empty()) throw ProbeError(why + "; " + backend::cuda::kCublasLtAdvice);
}

void CublasLt::check(cublasStatus_t status, const std::string& what) const {
  if (status != CUBLAS_STATUS_SUCCESS) throw ProbeError(what + ": " + get_status_string(status));
}

}  // namespace cloze::cuda_probe
