#include "serve/http_message.h"

#include <gtest/gtest.h>

namespace cloze::serve {
namespace {

TEST(RequestHead, FindsFieldsInAnyCase) {
  const RequestHead head{.fields = {{"hOST", "a"}, {"X", "1"}, {"host", "b"}}};
  EXPECT_EQ(head.field("Host"), "a");
  EXPECT_EQ(head.count("HOST"), 2);
  EXPECT_EQ(head.field("Y"), std::nullopt);
}

TEST(Response, ErrorsAreJsonWhateverTheyQuote) {
  const Response response = error_response(400, "no \"\xff\" here\n");
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.content_type, "application/json");
  EXPECT_EQ(response.body, "{\"error\":\"no \\\"\xEF\xBF\xBD\\\" here\\n\"}\n");
}

TEST(Response, AsAWholeMessage) {
  EXPECT_EQ(closing_message({.status = 408, .body = "{}\n", .fields = {{"A", "b"}}}),
            "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\n"
            "Content-Length: 3\r\nConnection: close\r\nA: b\r\n\r\n{}\n");
}

}  // namespace
}  // namespace cloze::serve
