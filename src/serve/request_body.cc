#include "serve/request_body.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "formats/json.h"
#include "serve/body_field.h"
#include "serve/failure.h"

namespace cloze::serve {
namespace {

using formats::Json;

constexpr size_t kQuotedNameBytes = 40;  // of what a client sent, in an error

std::string field_names(const OwnForm& form) {
  std::string names = "\"" + form.first_field + "\"";
  if (!form.second_field.empty()) names += ", \"" + form.second_field + "\"";
  if (!form.list_field.empty()) names += ", \"" + form.list_field + "\"";
  if (!form.mode_field.empty()) names += ", \"" + form.mode_field + "\"";
  if (form.has_top_k) names += ", \"top_k\"";
  return names;
}

void check_names(const Json& object, const OwnForm& form) {
  for (const auto& [name, value] : object.items()) {
    const bool is_known =
        name == form.first_field || (name == form.second_field && !name.empty()) ||
        (name == form.list_field && !name.empty()) || (name == form.mode_field && !name.empty()) ||
        (name == "top_k" && form.has_top_k);
    if (!is_known) {
      refuse(Trouble::kInvalid, "unknown field \"{}\"; {} takes {}",
             name.substr(0, kQuotedNameBytes), form.path, field_names(form));
    }
  }
}

std::string text_field(const Json& object, const std::string& name, const Limits& limits) {
  const auto found = object.find(name);
  if (!found) refuse(Trouble::kInvalid, "\"{}\" is missing; give it a text", name);
  return body_text(*found, name, limits);
}

std::vector<std::string> list_field(const Json& object, const std::string& name,
                                    const Limits& limits) {
  const auto found = object.find(name);
  if (!found || !found->is_array() || found->size() < 2) {
    refuse(Trouble::kInvalid, "\"{}\" is {}; give it a list of two texts or more", name,
           !found              ? "missing"
           : found->is_array() ? "too short"
                               : found->type_name());
  }
  std::vector<std::string> list;
  for (const Json& one : *found) list.push_back(body_text(one, name + "[]", limits));
  return list;
}

int64_t top_k_of(const Json& object, const Limits& limits) {
  const auto found = object.find("top_k");
  if (!found) return std::min(Input{}.top_k, limits.top_k);
  const int64_t top_k = found->is_number_unsigned() ? found->get<int64_t>() : 0;
  const bool is_in_range = top_k >= 1 && top_k <= limits.top_k;
  if (!is_in_range)
    refuse(Trouble::kInvalid, "\"top_k\" is not a whole number from 1 to {}", limits.top_k);
  return top_k;
}

std::string mode_of(const Json& object, const OwnForm& form) {
  if (form.mode_field.empty()) return "";
  const auto found = object.find(form.mode_field);
  if (!found) return std::string(form.modes.front());
  const std::string mode = found->is_string() ? found->get<std::string>() : "";
  if (std::ranges::find(form.modes, mode) == form.modes.end()) {
    refuse(Trouble::kInvalid, "\"{}\" is not one of {}", form.mode_field,
           fmt::join(form.modes, ", "));
  }
  return mode;
}

Input input_of(const Json& object, const OwnForm& form, const Limits& limits) {
  if (!object.is_object()) {
    refuse(Trouble::kInvalid, "an input is {}; give an object with {}", object.type_name(),
           field_names(form));
  }
  check_names(object, form);
  Input input{.first = text_field(object, form.first_field, limits)};
  if (form.requires_second || (!form.second_field.empty() && object.contains(form.second_field))) {
    input.second = text_field(object, form.second_field, limits);
  }
  if (!form.list_field.empty()) {
    input.list = list_field(object, form.list_field, limits);
  }
  input.mode = mode_of(object, form);
  input.top_k = top_k_of(object, limits);
  input.candidates = form.count_candidates(input);
  return input;
}

void check_candidates(std::span<const Input> inputs, const OwnForm& form, const Limits& limits) {
  int64_t candidates = 0;
  for (const Input& input : inputs) candidates += input.candidates;
  if (candidates <= limits.queue.batch_candidates) return;
  std::vector<std::string> advice;
  if (inputs.size() > 1) advice.emplace_back("send several requests");
  if (form.has_top_k) advice.emplace_back("ask for a smaller top_k");
  refuse(Trouble::kTooLarge, "the reply would list {} candidates, more than {}; {}", candidates,
         limits.queue.batch_candidates, fmt::join(advice, ", or "));
}

RequestBody list_of(const Json& body, const OwnForm& form, const Limits& limits) {
  const Json& list = body.at("inputs");
  if (body.size() != 1) {
    refuse(Trouble::kInvalid, "\"inputs\" must be the only field; put the others into each input");
  }
  if (!list.is_array() || list.empty()) {
    refuse(Trouble::kInvalid,
           "\"inputs\" must be a list of at least one input; give objects with {}",
           field_names(form));
  }
  if (std::ssize(list) > limits.inputs_per_request) {
    refuse(Trouble::kTooLarge, "\"inputs\" has {} entries, more than {}; send several requests",
           list.size(), limits.inputs_per_request);
  }
  RequestBody request{.is_list = true};
  for (const Json& object : list) {
    std::string& error = request.errors.emplace_back();
    try {
      request.inputs.push_back(input_of(object, form, limits));
    } catch (const Failure& bad) {
      error = bad.message;
    }
  }
  check_candidates(request.inputs, form, limits);
  return request;
}

}  // namespace

RequestBody parse_request_body(std::string_view text, const OwnForm& form, const Limits& limits) {
  const Json body = json_body(text);
  if (body.is_object() && body.contains("inputs")) return list_of(body, form, limits);
  RequestBody request{.inputs = {input_of(body, form, limits)}};
  check_candidates(request.inputs, form, limits);
  return request;
}

}  // namespace cloze::serve
