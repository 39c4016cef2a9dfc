#include "feed/step_inputs.h"

#include <gtest/gtest.h>

namespace cloze::feed {
namespace {

constexpr MicroBatchSize kFull{.tokens = 43, .sequences = 5, .predictions = 9};

TEST(MicroBatchSizes, AreTheFewestEighthsThatHoldAMicroBatch) {
  const auto eighths = [](int64_t of, int64_t count) { return (of * count + 7) / 8; };
  for (int64_t tokens = 1; tokens <= kFull.tokens; ++tokens) {
    for (int64_t predictions = 0; predictions <= kFull.predictions; ++predictions) {
      int64_t count = 1;
      while (eighths(kFull.tokens, count) < tokens ||
             eighths(kFull.predictions, count) < predictions) {
        ++count;
      }
      const MicroBatchSize expected{eighths(kFull.tokens, count), kFull.sequences,
                                    eighths(kFull.predictions, count)};
      EXPECT_EQ(eighths_for({tokens, 3, predictions}, kFull), expected)
          << tokens << " " << predictions;
    }
  }
}

}  // namespace
}  // namespace cloze::feed
