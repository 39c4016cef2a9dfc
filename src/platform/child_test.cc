#include "platform/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

namespace cloze::platform {
namespace {

TEST(ChildTest, BytesComeBack) {
  const std::string many(1 << 20, 'x');
  const auto bytes = bytes_from_child([&] { return many; }, 10);
  ASSERT_TRUE(bytes) << bytes.error().message;
  EXPECT_EQ(*bytes, many);
  EXPECT_EQ(*bytes_from_child([] { return std::string(); }, 10), "");
}

TEST(ChildTest, WhateverHappensIsAnError) {
  const auto thrown =
      bytes_from_child([]() -> std::string { throw std::runtime_error("no luck"); }, 10);
  ASSERT_FALSE(thrown);
  EXPECT_EQ(thrown.error().message, "no luck");

  const auto killed = bytes_from_child(
      []() -> std::string {
        ::raise(SIGFPE);
        return "";
      },
      10);
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().message, "ended by signal 8 (Floating point exception)");

  const auto left = bytes_from_child([]() -> std::string { ::_exit(3); }, 10);
  ASSERT_FALSE(left);
  EXPECT_EQ(left.error().message, "ended with status 3");

  const auto endless = bytes_from_child(
      []() -> std::string {
        while (true) ::pause();
      },
      1);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().message, "took longer than 1 s");
}

}  // namespace
}  // namespace cloze::platform
