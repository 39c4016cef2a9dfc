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
  for (const auto& names : {device_names(), test_device_names()}) {
    for (const std::string& name : names) EXPECT_EQ(device_named(name).name(), name);
  }
}

TEST(Devices, OthersAreRefused) {
  EXPECT_EQ(refusal("gpu"), "unknown device gpu; choose cpu");
  EXPECT_EQ(refusal("gpu:1"), "unknown device gpu:1; choose cpu");
  EXPECT_EQ(refusal("cpu:1"), "there is only one device cpu: give cpu, not cpu:1");
}

}  // namespace
}  // namespace cloze::engine
