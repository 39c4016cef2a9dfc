#include "platform/process.h"

#include <gtest/gtest.h>

namespace cloze::platform {
namespace {

TEST(Process, HasANameAndANumber) {
  EXPECT_FALSE(host_name().empty());
  EXPECT_GT(process_id(), 0);
}

}  // namespace
}  // namespace cloze::platform
