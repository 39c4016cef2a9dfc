#include "serve/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "formats/json.h"
#include "text/ascii.h"

namespace cloze::serve {
namespace {

bool is_named(const std::pair<std::string, std::string>& field, std::string_view name) {
  return text::lower_ascii(field.first) == text::lower_ascii(name);
}

// Reason phrases of the status codes that the service uses. RFC 9110, section 15; 431: RFC 6585.
std::string_view reason_phrase(int status) {
  static const std::map<int, std::string_view> phrases = {
      {200, "OK"},
      {400, "Bad Request"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {408, "Request Timeout"},
      {411, "Length Required"},
      {413, "Content Too Large"},
      {415, "Unsupported Media Type"},
      {421, "Misdirected Request"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
  };
  const auto found = phrases.find(status);
  return found == phrases.end() ? "Unknown" : found->second;
}

}  // namespace

void RequestHead::set_target(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  path = target;
  if (text::lower_ascii(target.substr(0, kScheme.size())) != kScheme) return;
  target.remove_prefix(kScheme.size());
  const size_t end = std::min(target.find('/'), target.size());
  authority = target.substr(0, end);
  path = end == target.size() ? "/" : target.substr(end);
}

std::optional<std::string_view> RequestHead::field(std::string_view name) const {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const auto& field) { return is_named(field, name); });
  if (found == fields.end()) return std::nullopt;
  return found->second;
}

int64_t RequestHead::count(std::string_view name) const {
  return std::count_if(fields.begin(), fields.end(),
                       [&](const auto& field) { return is_named(field, name); });
}

bool is_token(std::string_view name) {
  constexpr std::string_view kTokenBytes =
      "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !name.empty() && name.find_first_not_of(kTokenBytes) == name.npos;
}

Response json_response(const formats::Json& value) {
  return {.body = formats::json_line(value) + "\n"};
}

Response json_text_response(std::string json) { return {.body = std::move(json) + "\n"}; }

Response error_response(int status, std::string_view message) {
  Response response = json_response({{"error", message}});
  response.status = status;
  return response;
}

Response retry_later(std::string_view message) {
  Response response = error_response(503, message);
  response.fields.push_back({"Retry-After", "1"});
  return response;
}

Response closing(Response response) {
  response.closes_connection = true;
  return response;
}

std::string closing_message(const Response& response) {
  std::string message = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
      response.status, reason_phrase(response.status), response.content_type, response.body.size());
  for (const auto& [name, value] : response.fields) message += name + ": " + value + "\r\n";
  return message + "\r\n" + response.body;
}

}  // namespace cloze::serve
