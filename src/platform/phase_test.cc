#include "platform/phase.h"

#include <gtest/gtest.h>

#include <string>

namespace cloze::platform {
namespace {

TEST(Phase, SaysWhatTheProcessDoesAndThatItGoesOn) {
  EXPECT_EQ(current_phase().name, std::string("starting"));
  enter_step(3);
  enter_phase("computing");
  const Phase before = current_phase();
  EXPECT_EQ(before.name, std::string("computing"));
  EXPECT_EQ(before.step, 3);
  EXPECT_FALSE(before.waits_for_others);
  enter_wait("summing gradients");
  EXPECT_TRUE(current_phase().waits_for_others);
  EXPECT_EQ(current_phase().entered, before.entered + 1);
}

}  // namespace
}  // namespace cloze::platform
