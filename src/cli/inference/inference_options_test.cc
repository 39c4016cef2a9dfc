#include "cli/inference/inference_options.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace cloze::cli {
namespace {

std::string error_of(const CompileFlags& flags) {
  try {
    compile_options(flags);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(CompileOptions, KnowTwoPrecisions) {
  EXPECT_EQ(compile_options({.precision = "f32"}).precision, DType::kF32);
  EXPECT_EQ(compile_options({.precision = "bf16"}).precision, DType::kBF16);
  EXPECT_EQ(error_of({.precision = "fp16"}), "--precision is fp16; choose f32 or bf16");
}

}  // namespace
}  // namespace cloze::cli
