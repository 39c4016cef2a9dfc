#include "backend/cuda/cublas_lt.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <type_traits>

namespace cloze::backend::cuda {
namespace {

constexpr const char* kFile = "libcublasLt.so.13";
constexpr const char* kOfCuda = "/usr/local/cuda/lib64/libcublasLt.so.13";
constexpr size_t kLeastVersion = 130000;  // 13.0

// The file in the folder of NVIDIA's wheels, which PyTorch brings, or an empty text. Starting python
// takes a moment.
std::string file_of_wheels() {
  constexpr const char* kCommand =
      "python3 -c \"import sys, glob; print(next((f for p in sys.path for f in "
      "glob.glob(p + '/nvidia/*/lib/libcublasLt.so.13')), ''))\" 2>/dev/null";
  FILE* pipe = popen(kCommand, "r");
  if (pipe == nullptr) return "";
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF && c != '\n'; c = std::fgetc(pipe)) {
    line += static_cast<char>(c);
  }
  pclose(pipe);
  return line;
}

std::string named_file(const std::string& given) {
  const char* const environment = std::getenv("CLOZE_CUBLASLT");
  return given.empty() && environment != nullptr ? environment : given;
}

void* opened(const std::string& path) {
  return path.empty() ? nullptr : dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

// The first of them that opens.
void* search(std::string& path) {
  for (const auto& find :
       {+[] { return std::string(kFile); }, +[] { return std::string(kOfCuda); }, file_of_wheels}) {
    path = find();
    if (void* const file = opened(path)) return file;
  }
  return nullptr;
}

std::string version_text(size_t version) {  // 130100 is 13.1
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100);
}

// Looks up all functions; the name of the first that is not there, or null.
const char* find_functions(void* file, CublasLt& library) {
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(file, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find(library.get_version, "cublasLtGetVersion");
  find(library.get_status_string, "cublasLtGetStatusString");
  find(library.create, "cublasLtCreate");
  find(library.matmul, "cublasLtMatmul");
  find(library.matmul_desc_create, "cublasLtMatmulDescCreate");
  find(library.matmul_desc_destroy, "cublasLtMatmulDescDestroy");
  find(library.matmul_desc_set_attribute, "cublasLtMatmulDescSetAttribute");
  find(library.matrix_layout_create, "cublasLtMatrixLayoutCreate");
  find(library.matrix_layout_destroy, "cublasLtMatrixLayoutDestroy");
  find(library.matrix_layout_set_attribute, "cublasLtMatrixLayoutSetAttribute");
  find(library.preference_create, "cublasLtMatmulPreferenceCreate");
  find(library.preference_destroy, "cublasLtMatmulPreferenceDestroy");
  find(library.preference_set_attribute, "cublasLtMatmulPreferenceSetAttribute");
  find(library.get_heuristic, "cublasLtMatmulAlgoGetHeuristic");
  return missing;
}

}  // namespace

std::string open_cublas_lt(const std::string& given, CublasLt& library) {
  library.path = named_file(given);
  const bool is_named = !library.path.empty();
  void* const file = is_named ? opened(library.path) : search(library.path);
  if (file == nullptr && is_named) return std::string("cuBLASLt was not opened: ") + dlerror();
  if (file == nullptr) {
    return std::string("cuBLASLt was not found: no ") + kFile + " where the loader looks, in " +
           kOfCuda + " or with python3's PyTorch";
  }
  if (const char* const missing = find_functions(file, library)) {
    return library.path + " has no " + missing + ", so it is not cuBLASLt 13";
  }
  if (library.get_version() >= kLeastVersion) return "";
  return library.path + " is cuBLASLt " + version_text(library.get_version()) +
         ", and 13.0 is the least";
}

const ProgramCublasLt& program_cublas_lt() {
  static const ProgramCublasLt opened = [] {
    ProgramCublasLt one;
    one.refusal = open_cublas_lt("", one.library);
    return one;
  }();
  return opened;
}

}  // namespace cloze::backend::cuda
