#include "engine/devices.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace cloze::engine {
namespace {

std::string refusal(std::string_view name) {
  try {
    device_named(name);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Devices, AreCalledByTheirNames) {
  EXPECT_EQ(device_named("cpu").name(), "cpu");
  for (const std::string& name : test_device_names()) EXPECT_EQ(device_named(name).name(), name);
}

TEST(Devices, OthersAreRefused) {
  EXPECT_EQ(refusal("gpu"), "unknown device gpu; choose cpu, cuda");
  EXPECT_EQ(refusal("gpu:1"), "unknown device gpu:1; choose cpu, cuda");
  EXPECT_EQ(refusal("cpu:1"), "there is only one device cpu: give cpu, not cpu:1");
}

// tests/cuda_test.py says what is said where there is none.
TEST(Devices, ACardIsUsedOrSaidWhyNot) {
  const bool has_card = cards().refusal.empty();
  EXPECT_EQ(has_card, cards().can_be_used());
  EXPECT_EQ(has_card, cards().advice.empty());
  if (has_card) {
    EXPECT_EQ(device_named("cuda").name(), "cuda");
  } else {
    EXPECT_ANY_THROW(device_named("cuda"));
  }
}

}  // namespace
}  // namespace cloze::engine
