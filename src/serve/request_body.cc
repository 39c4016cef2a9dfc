#include "serve/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"

namespace cloze::serve {
namespace {

using formats::Json;

constexpr size_t kQuotedBytes = 40;  // of what a client sent, in an error

struct BadBody {
  int status = 400;
  std::string message;
};

template <typename... Args>
[[noreturn]] void refuse(int status, fmt::format_string<Args...> format, Args&&... args) {
  throw BadBody{status, fmt::format(format, std::forward<Args>(args)...)};
}

std::string fields_of(const Endpoint& endpoint) {
  std::string names = "\"" + endpoint.first_field + "\"";
  if (!endpoint.second_field.empty()) names += ", \"" + endpoint.second_field + "\"";
  if (!endpoint.list_field.empty()) names += ", \"" + endpoint.list_field + "\"";
  if (!endpoint.mode_field.empty()) names += ", \"" + endpoint.mode_field + "\"";
  if (endpoint.has_top_k) names += ", \"top_k\"";
  return names;
}

void check_names(const Json& object, const Endpoint& endpoint) {
  for (const auto& [name, value] : object.items()) {
    const bool is_known =
        name == endpoint.first_field || (name == endpoint.second_field && !name.empty()) ||
        (name == endpoint.list_field && !name.empty()) ||
        (name == endpoint.mode_field && !name.empty()) || (name == "top_k" && endpoint.has_top_k);
    if (!is_known) {
      refuse(400, "unknown field \"{}\"; {} takes {}", name.substr(0, kQuotedBytes), endpoint.path,
             fields_of(endpoint));
    }
  }
}

std::string text_of(const Json& value, const std::string& name, const Limits& limits) {
  if (!value.is_string()) {
    refuse(400, "\"{}\" is {}; give it a text in quotes", name, value.type_name());
  }
  auto text = value.get<std::string>();
  if (std::ssize(text) > limits.text_bytes) {
    refuse(413, "\"{}\" has {} bytes, more than {}; shorten it", name, text.size(),
           limits.text_bytes);
  }
  return text;
}

std::string text_field(const Json& object, const std::string& name, const Limits& limits) {
  const auto found = object.find(name);
  if (!found) refuse(400, "\"{}\" is missing; give it a text", name);
  return text_of(*found, name, limits);
}

std::vector<std::string> list_field(const Json& object, const std::string& name,
                                    const Limits& limits) {
  const auto found = object.find(name);
  if (!found || !found->is_array() || found->size() < 2) {
    refuse(400, "\"{}\" is {}; give it a list of two texts or more", name,
           !found              ? "missing"
           : found->is_array() ? "too short"
                               : found->type_name());
  }
  std::vector<std::string> list;
  for (const Json& one : *found) list.push_back(text_of(one, name + "[]", limits));
  return list;
}

int64_t top_k_of(const Json& object, const Limits& limits) {
  const auto found = object.find("top_k");
  if (!found) return std::min(Input{}.top_k, limits.top_k);
  const int64_t top_k = found->is_number_unsigned() ? found->get<int64_t>() : 0;
  const bool is_in_range = top_k >= 1 && top_k <= limits.top_k;
  if (!is_in_range) refuse(400, "\"top_k\" is not a whole number from 1 to {}", limits.top_k);
  return top_k;
}

std::string mode_of(const Json& object, const Endpoint& endpoint) {
  if (endpoint.mode_field.empty()) return "";
  const auto found = object.find(endpoint.mode_field);
  if (!found) return std::string(endpoint.modes.front());
  const std::string mode = found->is_string() ? found->get<std::string>() : "";
  if (std::ranges::find(endpoint.modes, mode) == endpoint.modes.end()) {
    refuse(400, "\"{}\" is not one of {}", endpoint.mode_field, fmt::join(endpoint.modes, ", "));
  }
  return mode;
}

Input input_of(const Json& object, const Endpoint& endpoint, const Limits& limits) {
  if (!object.is_object()) {
    refuse(400, "an input is {}; give an object with {}", object.type_name(), fields_of(endpoint));
  }
  check_names(object, endpoint);
  Input input{.first = text_field(object, endpoint.first_field, limits)};
  if (endpoint.requires_second ||
      (!endpoint.second_field.empty() && object.contains(endpoint.second_field))) {
    input.second = text_field(object, endpoint.second_field, limits);
  }
  if (!endpoint.list_field.empty()) {
    input.list = list_field(object, endpoint.list_field, limits);
  }
  input.mode = mode_of(object, endpoint);
  input.top_k = top_k_of(object, limits);
  input.candidates = endpoint.count_candidates(input);
  return input;
}

void check_candidates(std::span<const Input> inputs, const Endpoint& endpoint,
                      const Limits& limits) {
  int64_t candidates = 0;
  for (const Input& input : inputs) candidates += input.candidates;
  if (candidates <= limits.queue.batch_candidates) return;
  std::vector<std::string> advice;
  if (inputs.size() > 1) advice.emplace_back("send several requests");
  if (endpoint.has_top_k) advice.emplace_back("ask for a smaller top_k");
  refuse(413, "the reply would list {} candidates, more than {}; {}", candidates,
         limits.queue.batch_candidates, fmt::join(advice, ", or "));
}

RequestBody list_of(const Json& body, const Endpoint& endpoint, const Limits& limits) {
  const Json& list = body.at("inputs");
  if (body.size() != 1) {
    refuse(400, "\"inputs\" must be the only field; put the others into each input");
  }
  if (!list.is_array() || list.empty()) {
    refuse(400, "\"inputs\" must be a list of at least one input; give objects with {}",
           fields_of(endpoint));
  }
  if (std::ssize(list) > limits.inputs_per_request) {
    refuse(413, "\"inputs\" has {} entries, more than {}; send several requests", list.size(),
           limits.inputs_per_request);
  }
  RequestBody request{.is_list = true};
  for (const Json& object : list) {
    std::string& error = request.errors.emplace_back();
    try {
      request.inputs.push_back(input_of(object, endpoint, limits));
    } catch (const BadBody& bad) {
      error = bad.message;
    }
  }
  check_candidates(request.inputs, endpoint, limits);
  return request;
}

RequestBody body_of(std::string_view text, const Endpoint& endpoint, const Limits& limits) {
  const Result<Json> parsed = formats::parse_json(text);
  if (!parsed) {
    const formats::TextPosition at = formats::position_at(text, parsed.error().offset);
    refuse(400, "the body is not JSON: line {}, column {}: {}", at.line, at.column,
           parsed.error().message);
  }
  if (parsed->is_object() && parsed->contains("inputs")) {
    return list_of(*parsed, endpoint, limits);
  }
  RequestBody request{.inputs = {input_of(*parsed, endpoint, limits)}};
  check_candidates(request.inputs, endpoint, limits);
  return request;
}

}  // namespace

std::variant<RequestBody, Response> parse_request_body(std::string_view text,
                                                       const Endpoint& endpoint,
                                                       const Limits& limits) {
  try {
    return body_of(text, endpoint, limits);
  } catch (const BadBody& bad) {
    return error_response(bad.status, bad.message);
  }
}

}  // namespace cloze::serve
