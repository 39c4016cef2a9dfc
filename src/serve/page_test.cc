#include "serve/service.h"

#include <gtest/gtest.h>

#include <regex>

#include "platform/files/file.h"

namespace cloze::serve {
namespace {

TEST(Page, IsTheFileAndFetchesNothingFromElsewhere) {
  const Response response = page_response();
  EXPECT_EQ(response.body, platform::read_file(CLOZE_SOURCE_DIR "/src/serve/page.html"));
  EXPECT_FALSE(std::regex_search(response.body, std::regex("https?:|src=|<link|@import|url\\(")));
  // Text of a model or a client must never be read as markup.
  EXPECT_FALSE(
      std::regex_search(response.body, std::regex("innerHTML|insertAdjacent|document.write")));
}

TEST(Page, HasAnExampleForEveryModel) {
  const std::string page = page_response().body;
  const std::regex task(R"re("/(answer|classify|fill)": \{[^;]*?example: \{)re");
  const auto tasks = std::sregex_iterator(page.begin(), page.end(), task);
  EXPECT_EQ(std::distance(tasks, std::sregex_iterator()), 3);
}

}  // namespace
}  // namespace cloze::serve
