// A request and a reply as the service sees them, whatever carried them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "formats/json.h"

namespace cloze::serve {

// The part of a request that is known before the body has come.
struct RequestHead {
  std::string method;
  std::string path;                      // without the query
  std::optional<std::string> authority;  // of a target "http://authority/path"
  std::string version = "HTTP/1.1";
  std::vector<std::pair<std::string, std::string>> fields;
  int64_t bytes = 0;  // of the request line and the fields

  // Takes "/path", or what a proxy is sent: "http://authority/path".
  void set_target(std::string_view target);
  // Value of the first field of that name, in any case of letters.
  std::optional<std::string_view> field(std::string_view name) const;
  int64_t count(std::string_view name) const;
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::vector<std::pair<std::string, std::string>> fields = {};
  bool closes_connection = false;
};

// Says whether it may be the name of a field: RFC 9110, section 5.6.2.
bool is_token(std::string_view name);

Response json_response(const formats::Json& value);
// A reply whose text is JSON already.
Response json_text_response(std::string json);
// {"error": message}
Response error_response(int status, std::string_view message);
// The same with status 503, and when to try again.
Response retry_later(std::string_view message);
// The same reply, and the connection ends with it.
Response closing(Response response);

// The whole message as it goes over the wire, closing the connection.
std::string closing_message(const Response& response);

}  // namespace cloze::serve
