#include "cublas_lt.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "device.h"

namespace cloze::cuda_probe {
namespace {

constexpr const char* kLibrary = "libcublasLt.so.13";

// The file in the folder of NVIDIA's wheels, which PyTorch brings, or an empty text. Starting python takes a moment.
std::string library_of_wheels() {
  constexpr const char* kCommand =
      "python3 -c \"import sys, glob; print(next((f for p in sys.path for f in "
      "glob.glob(p + '/nvidia/*/lib/libcublasLt.so.13')), ''))\" 2>/dev/null";
  FILE* pipe = popen(kCommand, "r");
  if (pipe == nullptr) return "";
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) line += static_cast<char>(c);
  pclose(pipe);
  return line;
}

std::string named_library(const std::string& given) {
  const char* environment = std::getenv("CLOZE_CUBLASLT");
  return given.empty() && environment != nullptr ? environment : given;
}

}  // namespace

CublasLt::CublasLt(const std::string& given) {
  open(given);
  find(get_version, "cublasLtGetVersion");
  find(get_status_string, "cublasLtGetStatusString");
  find(create, "cublasLtCreate");
  find(matmul, "cublasLtMatmul");
  find(matmul_desc_create, "cublasLtMatmulDescCreate");
  find(matmul_desc_destroy, "cublasLtMatmulDescDestroy");
  find(matmul_desc_set_attribute, "cublasLtMatmulDescSetAttribute");
  find(matrix_layout_create, "cublasLtMatrixLayoutCreate");
  find(matrix_layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(matrix_layout_set_attribute, "cublasLtMatrixLayoutSetAttribute");
  find(preference_create, "cublasLtMatmulPreferenceCreate");
  find(preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute");
  find(get_heuristic, "cublasLtMatmulAlgoGetHeuristic");
}

void CublasLt::open(const std::string& given) {
  const auto named = named_library(given);
  if (!named.empty()) {
    if (!opens(named)) throw ProbeError("cuBLASLt was not opened: " + std::string(dlerror()));
    return;
  }
  const auto in_cuda = std::string("/usr/local/cuda/lib64/") + kLibrary;
  if (opens(kLibrary) || opens(in_cuda) || opens(library_of_wheels())) return;
  throw ProbeError(std::string("cuBLASLt was not found: no ") + kLibrary + " where the loader looks, in " + in_cuda +
                   " or with python3's PyTorch; name the file with --cublaslt");
}

bool CublasLt::opens(const std::string& path) {
  path_ = path;
  library_ = path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  return library_ != nullptr;
}

template <typename Function>
void CublasLt::find(Function& function, const char* name) {
  function = reinterpret_cast<Function>(dlsym(library_, name));
  if (function == nullptr) throw ProbeError(path_ + " has no " + name + "; it is not cuBLASLt 13");
}

void CublasLt::check(cublasStatus_t status, const std::string& what) const {
  if (status != CUBLAS_STATUS_SUCCESS) throw ProbeError(what + ": " + get_status_string(status));
}

}  // namespace cloze::cuda_probe
