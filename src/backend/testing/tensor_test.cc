#include "backend/testing/tensor.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

namespace cloze::backend::testing {
namespace {

TEST(Tensor, BytesRoundTripInEveryDtype) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64, DType::kI32}) {
    const Tensor tensor{{dtype, {3}}, {-5.0, 0.0, 96.0}};
    std::array<double, 3> memory;
    write_bytes(tensor, memory.data());
    EXPECT_EQ(read_bytes(tensor.type, memory.data()).values, tensor.values) << name_of(dtype);
  }
}

TEST(Tensor, NumbersAreThoseTheKernelSees) {
  EXPECT_EQ(floats({1}, {0.1}).values[0], static_cast<double>(0.1f));
  EXPECT_EQ(rounded(DType::kBF16, 1.0 + 0x1p-9), 1.0);
  EXPECT_EQ(rounded(DType::kF16, 1.0 + 0x1p-12), 1.0);
  EXPECT_EQ(rounded(DType::kF16, 65520.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(in_double(floats({1}, {0.1})).type.dtype, DType::kF64);
  EXPECT_EQ(in_double(integers({1}, {3.0})).type.dtype, DType::kI32);
}

TEST(Tensor, NormalNumbersHaveMeanZeroAndVarianceOne) {
  constexpr int64_t kCount = 10000;
  Tensor tensor = zeros({DType::kF32, {kCount}});
  Random random(3);
  fill_normal(tensor, random);
  double sum = 0.0;
  double squares = 0.0;
  for (const double value : tensor.values) {
    sum += value;
    squares += value * value;
  }
  const double deviation = std::sqrt(1.0 / kCount);
  EXPECT_NEAR(sum / kCount, 0.0, 4.0 * deviation);
  EXPECT_NEAR(squares / kCount, 1.0, 4.0 * std::sqrt(2.0) * deviation);
}

}  // namespace
}  // namespace cloze::backend::testing
