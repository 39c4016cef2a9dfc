// The f32 and bf16 forms of the reference kernels against their double form, over all kernel cases.
#include "backend/reference/backend.h"

#include <gtest/gtest.h>

#include "backend/testing/check_kernel.h"

namespace cloze::backend::reference {
namespace {

class ReferenceOperator : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(ReferenceOperator, IsWithinToleranceInEveryDtype) {
  EXPECT_EQ(testing::check_operator(backend(), *GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceOperator, ::testing::ValuesIn(operators()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::reference
