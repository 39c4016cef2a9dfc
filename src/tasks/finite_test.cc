#include "tasks/logits.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace cloze::tasks {
namespace {

TEST(RequireFinite, NamesWhoseLogitsAreNot) {
  require_finite(std::vector<float>{-3e38f, 0, 3e38f}, "a text");
  for (const float bad :
       {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    try {
      require_finite(std::vector<float>{0, bad}, "a text");
      ADD_FAILURE() << bad;
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(),
                   "the model's logits for a text are not finite numbers; has its training "
                   "diverged?");
    }
  }
}

}  // namespace
}  // namespace cloze::tasks
