#include "serve/server_pages.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <regex>

#include "models/bert_heads.h"
#include "platform/files/file.h"

namespace cloze::serve {
namespace {

TEST(Page, IsTheFileAndFetchesNothingFromElsewhere) {
  EXPECT_EQ(page_response().body, platform::read_file(CLOZE_SOURCE_DIR "/src/serve/page.html"));
  EXPECT_EQ(docs_response().body, platform::read_file(CLOZE_SOURCE_DIR "/src/serve/docs.html"));
  for (const Response& response : {page_response(), docs_response()}) {
    EXPECT_FALSE(std::regex_search(response.body, std::regex("https?:|src=|<link|@import|url\\(")));
    // Text of a model or a client must never be read as markup.
    EXPECT_FALSE(
        std::regex_search(response.body, std::regex("innerHTML|insertAdjacent|document.write")));
  }
}

TEST(Page, HasAFormForEveryHead) {
  const std::string page = page_response().body;
  for (const models::HeadTraits& head : models::all_heads()) {
    const std::string_view path = head.endpoint.empty() ? "/similarity" : head.endpoint;
    EXPECT_NE(page.find(fmt::format("\"{}\": {{", path)), std::string::npos) << head.name;
  }
  EXPECT_NE(page.find("\"/search\": {"), std::string::npos);
}

// The server offers one that the model answers right, or none (page_example.h).
TEST(Page, TakesItsExampleFromTheModel) {
  const std::string page = page_response().body;
  EXPECT_NE(page.find("example = model.example;"), std::string::npos);
  EXPECT_NE(page.find("byId(\"example\").hidden = !example;"), std::string::npos);
}

}  // namespace
}  // namespace cloze::serve
