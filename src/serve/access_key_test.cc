#include "serve/access_key.h"

#include <gtest/gtest.h>

namespace cloze::serve {
namespace {

TEST(AccessKey, IsTheWholeKeyAndNothingElse) {
  const auto has = [](const std::string& value) {
    return has_key({.fields = {{"authorization", value}}}, "secret");
  };
  EXPECT_TRUE(has("Bearer secret"));
  EXPECT_TRUE(has("bearer  secret "));
  for (const std::string value : {"", "Bearer", "Bearer ", "secret", "Basic secret", "Bearer secre",
                                  "Bearer secrets", "Bearer secretsecret", "Bearer Secret"}) {
    EXPECT_FALSE(has(value)) << value;
  }
  EXPECT_FALSE(has_key({}, "secret"));
  EXPECT_FALSE(
      has_key({.fields = {{"Authorization", "Bearer secret"}, {"Authorization", "Bearer secret"}}},
              "secret"));
}

}  // namespace
}  // namespace cloze::serve
