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

TEST(RequestHead, TakesATargetApart) {
  struct Case {
    const char *target, *path;
    std::optional<std::string> authority;
  };
  for (const Case& one : {Case{"/health", "/health", std::nullopt},
                          Case{"http://localhost:80/a/b", "/a/b", "localhost:80"},
                          Case{"HTTP://[::1]", "/", "[::1]"}, Case{"http:///a", "/a", ""},
                          Case{"https://localhost/a", "https://localhost/a", std::nullopt},
                          Case{"http:/", "http:/", std::nullopt}}) {
    RequestHead head;
    head.set_target(one.target);
    EXPECT_EQ(head.path, one.path);
    EXPECT_EQ(head.authority, one.authority) << one.target;
  }
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
