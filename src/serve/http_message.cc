#include "serve/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "formats/json.h"
#include "text/ascii.h"

namespace cloze::serve {
namespace {

bool is_named(const std::pair<std::string, std::string>& field, std::string_view name) {
  return text::lower_ascii(field.first) == text::lower_ascii(name);
}

struct Phrase {
  int status;
  std::string_view text;
};

// RFC 9110, section 15; 431: RFC 6585.
constexpr std::array kPhrases = {
    Phrase{200, "OK"},
    Phrase{400, "Bad Request"},
    Phrase{404, "Not Found"},
    Phrase{405, "Method Not Allowed"},
    Phrase{408, "Request Timeout"},
    Phrase{411, "Length Required"},
    Phrase{413, "Content Too Large"},
    Phrase{415, "Unsupported Media Type"},
    Phrase{421, "Misdirected Request"},
    Phrase{431, "Request Header Fields Too Large"},
    Phrase{500, "Internal Server Error"},
    Phrase{503, "Service Unavailable"},
    Phrase{504, "Gateway Timeout"},
};

}  // namespace

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

Response json_response(const nlohmann::ordered_json& value) {
  return {.body = formats::json_line(value) + "\n"};
}

Response error_response(int status, std::string_view message) {
  Response response = json_response({{"error", message}});
  response.status = status;
  return response;
}

std::string_view reason_phrase(int status) {
  const auto* found = std::find_if(kPhrases.begin(), kPhrases.end(),
                                   [&](const Phrase& phrase) { return phrase.status == status; });
  return found == kPhrases.end() ? "Unknown" : found->text;
}

std::string closing_message(const Response& response) {
  std::string message = fmt::format(
      "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nConnection: close\r\n",
      response.status, reason_phrase(response.status), response.content_type, response.body.size());
  for (const auto& [name, value] : response.fields) message += name + ": " + value + "\r\n";
  return message + "\r\n" + response.body;
}

}  // namespace cloze::serve
