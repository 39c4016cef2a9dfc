#include "backend/cuda/cublas_lt.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cloze::backend::cuda {
namespace {

std::string why_not(const std::string& given) {
  CublasLt library;
  return open_cublas_lt(given, library);
}

TEST(CublasLt, SaysWhatIsWrongWithAFile) {
  EXPECT_TRUE(why_not("/nowhere/lib.so").starts_with("cuBLASLt was not opened: /nowhere/lib.so: "));
  EXPECT_EQ(why_not("libm.so.6"), "libm.so.6 has no cublasLtGetVersion, so it is not cuBLASLt 13");
  const std::string fake = CLOZE_FAKE_CUBLAS_LT;
  EXPECT_EQ(why_not(fake), "");
  setenv("FAKE_VERSION", "120402", 1);
  EXPECT_EQ(why_not(fake), fake + " is cuBLASLt 12.4, and 13.0 is the least");
  unsetenv("FAKE_VERSION");
}

TEST(CublasLt, TakesTheFileOfTheEnvironmentUnlessOneIsGiven) {
  setenv("CLOZE_CUBLASLT", "/nowhere/named.so", 1);
  EXPECT_TRUE(why_not("").starts_with("cuBLASLt was not opened: /nowhere/named.so: "));
  EXPECT_EQ(why_not(CLOZE_FAKE_CUBLAS_LT), "");
  unsetenv("CLOZE_CUBLASLT");
}

}  // namespace
}  // namespace cloze::backend::cuda
