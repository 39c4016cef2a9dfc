#include "serve/request_refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/whole_number.h"
#include "serve/access_key.h"
#include "text/ascii.h"

namespace cloze::serve {
namespace {

// An error of the header, with HTTP's status.
struct Refusal {
  int status = 400;
  std::string message;
  std::vector<std::pair<std::string, std::string>> fields = {};
};

constexpr size_t kQuotedHeadBytes = 60;  // of what a client sent, in an error

// A name of this machine, with or without a port. A foreign page whose name was made to resolve to
// this machine sends its own name, and gets nothing.
bool is_loopback_name(std::string_view host) {
  const size_t colon = host.rfind(':');
  const bool has_port = colon != std::string_view::npos && host.find(']', colon) == host.npos;
  const std::string name = text::lower_ascii(has_port ? host.substr(0, colon) : host);
  const bool is_number = name.find_first_not_of("0123456789.") == std::string::npos;
  return name == "localhost" || name == "[::1]" || (is_number && name.starts_with("127."));
}

// "application/json; charset=utf-8" → "application/json"
std::string media_type(std::string_view content_type) {
  return text::lower_ascii(text::trim_ascii(content_type.substr(0, content_type.find(';'))));
}

// A name with a blank before its colon would be read by a proxy, and not here: RFC 9112, 5.1.
std::optional<Refusal> refuse_names(const RequestHead& head) {
  for (const auto& [name, value] : head.fields) {
    if (is_token(name)) continue;
    return Refusal{
        400, fmt::format(
                 "\"{}\" cannot be the name of a header field; use letters, digits and -, and put "
                 "the colon directly after them",
                 std::string_view(name).substr(0, kQuotedHeadBytes))};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_host(const RequestHead& head) {
  const std::string_view named = head.field("Host").value_or("localhost");
  const std::string_view addressed = head.authority ? *head.authority : named;
  for (const std::string_view host : {named, addressed}) {
    if (is_loopback_name(host)) continue;
    return Refusal{421, fmt::format("Host \"{}\" is not this machine; use localhost or 127.0.0.1",
                                    host.substr(0, kQuotedHeadBytes))};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_header(const RequestHead& head, const RefusalRules& rules) {
  if (head.bytes > rules.limits.header_bytes) {
    return Refusal{
        431, fmt::format("the request line and header have {} bytes, more than {}; shorten them",
                         head.bytes, rules.limits.header_bytes)};
  }
  if (std::optional<Refusal> refused = refuse_names(head)) return refused;
  if (head.version == "HTTP/1.1" && head.count("Host") != 1) {
    return Refusal{400, "there must be exactly one Host field in the header; send one"};
  }
  return rules.is_loopback ? refuse_host(head) : std::nullopt;
}

std::string paths_of(const std::vector<Endpoint>& endpoints, bool takes_body) {
  std::string paths;
  for (const Endpoint& endpoint : endpoints) {
    if (endpoint.takes_body() == takes_body) paths += " " + endpoint.path;
  }
  return paths;
}

Refusal unknown_path(const std::string& path, const std::vector<Endpoint>& endpoints,
                     const RefusalRules& rules) {
  const std::string offered = paths_of(endpoints, /*takes_body=*/true);
  if (std::ranges::count(rules.paths_of_other_models, path) > 0) {
    return {404, fmt::format("this model does not answer {}; it answers{}", path, offered)};
  }
  return {404, fmt::format("there is nothing at {}; there is{} and{}",
                           std::string_view(path).substr(0, kQuotedHeadBytes), offered,
                           paths_of(endpoints, /*takes_body=*/false))};
}

std::optional<Refusal> refuse_method(const RequestHead& head, const Endpoint& endpoint) {
  const bool is_allowed =
      endpoint.takes_body() ? head.method == "POST" : head.method == "GET" || head.method == "HEAD";
  if (is_allowed) return std::nullopt;
  return Refusal{
      405,
      fmt::format("{} does not take {}; use {}", head.path,
                  std::string_view(head.method).substr(0, kQuotedHeadBytes), endpoint.methods()),
      {{"Allow", std::string(endpoint.methods())}}};
}

std::optional<Refusal> refuse_key(const RequestHead& head, const Endpoint& endpoint,
                                  const std::string& key) {
  if (key.empty() || endpoint.is_public || has_key(head, key)) return std::nullopt;
  return Refusal{401,
                 "the server's key is missing or wrong; send Authorization: Bearer KEY",
                 {{"WWW-Authenticate", "Bearer"}}};
}

std::optional<Refusal> refuse_body(const RequestHead& head, const Limits& limits) {
  const std::optional<std::string_view> length_text = head.field("Content-Length");
  const std::optional<int64_t> length = parse_length(length_text.value_or("0"));
  const bool is_chunked = head.field("Transfer-Encoding").has_value();
  if (!length || head.count("Content-Length") > 1) {
    return Refusal{400, "Content-Length is not a single whole number"};
  }
  if (head.method != "POST") {
    const bool has_body = is_chunked || *length != 0;
    if (has_body) return Refusal{413, fmt::format("{} takes no body", head.method)};
    return std::nullopt;
  }
  if (is_chunked || !length_text) {
    return Refusal{411, "the body's length is not given; send Content-Length"};
  }
  if (*length > limits.body_bytes) {
    return Refusal{413, fmt::format("the body has {} bytes, more than {}; send less", *length,
                                    limits.body_bytes)};
  }
  if (media_type(head.field("Content-Type").value_or("")) != "application/json") {
    return Refusal{415, "the body must be JSON; send Content-Type: application/json"};
  }
  return std::nullopt;
}

std::optional<Refusal> refuse(const RequestHead& head, const std::vector<Endpoint>& endpoints,
                              const Endpoint* endpoint, const RefusalRules& rules) {
  std::optional<Refusal> refused = refuse_header(head, rules);
  if (!refused && endpoint == nullptr) refused = unknown_path(head.path, endpoints, rules);
  if (!refused) refused = refuse_method(head, *endpoint);
  if (!refused) refused = refuse_key(head, *endpoint, rules.key);
  return refused ? refused : refuse_body(head, rules.limits);
}

}  // namespace

std::optional<int64_t> parse_length(std::string_view text) {
  return text.starts_with('-') ? std::nullopt : number_in<int64_t>(text);
}

std::optional<Response> refusal_of(const RequestHead& head, const std::vector<Endpoint>& endpoints,
                                   const RefusalRules& rules) {
  const Endpoint* const endpoint = find_endpoint(endpoints, head.path, head.method);
  const std::optional<Refusal> refused = refuse(head, endpoints, endpoint, rules);
  if (!refused) return std::nullopt;
  const ErrorForm form = endpoint == nullptr ? ErrorForm::kOwn : endpoint->errors;
  Response response = error_response(form, refused->status, refused->message);
  response.fields.insert(response.fields.end(), refused->fields.begin(), refused->fields.end());
  response.closes_connection = true;
  return response;
}

}  // namespace cloze::serve
