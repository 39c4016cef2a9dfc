#include "serve/own_endpoint.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "serve/request_body.h"

namespace cloze::serve {
namespace {

using formats::Json;

Json json_of(Output output) {
  if (output.is_models_fault) return {{"error", model_failed(output.error)}};
  if (!output.error.empty()) return {{"error", std::move(output.error)}};
  return std::move(output.answer.value);
}

// Every reply says whose it is.
Response reply_of(Json reply, const std::string& model_name) {
  reply["model"] = model_name;
  return json_response(reply);
}

Response list_response(std::vector<Output> outputs, const std::vector<std::string>& errors,
                       const std::string& model_name) {
  const bool has_failed = std::ranges::any_of(outputs, &Output::is_models_fault);
  Json list = Json::array();
  auto next = outputs.begin();
  for (const std::string& error : errors) {
    list.push_back(error.empty() ? json_of(std::move(*next++)) : json_of(Output{.error = error}));
  }
  Response response = reply_of({{"outputs", std::move(list)}}, model_name);
  if (has_failed) response.status = 500;
  return response;
}

// The form of the request says that of the answer.
Question question_of(RequestBody asked, const std::string& model_name) {
  Question question{.inputs = std::move(asked.inputs), .is_batch = asked.is_list};
  if (asked.is_list) {
    question.join = [errors = std::move(asked.errors), model_name](std::vector<Output> outputs) {
      return list_response(std::move(outputs), errors, model_name);
    };
  } else {
    question.join = [model_name](std::vector<Output> outputs) {
      return reply_of(std::move(all_answers(std::move(outputs))[0].value), model_name);
    };
  }
  return question;
}

std::vector<BodyField> fields_of(const OwnForm& form) {
  std::vector<BodyField> fields = {
      {form.first_field, FieldKind::kText, "The text; there must be one unless there are inputs"}};
  if (!form.second_field.empty()) {
    fields.push_back({form.second_field, FieldKind::kText,
                      form.requires_second ? "The second text, likewise" : "A second text"});
  }
  if (!form.list_field.empty()) {
    fields.push_back({form.list_field, FieldKind::kTextList, "Two texts or more, likewise"});
  }
  if (!form.mode_field.empty()) {
    fields.push_back({form.mode_field,
                      FieldKind::kChoice,
                      "What becomes of a word's tokens",
                      false,
                      form.modes.front(),
                      {form.modes.begin(), form.modes.end()}});
  }
  if (form.has_top_k) {
    fields.push_back({"top_k", FieldKind::kCount, "How many are listed", false, Input{}.top_k});
  }
  fields.push_back({"inputs", FieldKind::kInputs,
                    "Several inputs, each an object with these fields; then the only field"});
  return fields;
}

}  // namespace

Endpoint own_endpoint(const OwnForm& form, const std::string& model_name, const Limits& limits) {
  return {.path = form.path,
          .work = Work::kPredict,
          .fields = fields_of(form),
          .read = [form, model_name, limits](std::string_view body) {
            return question_of(parse_request_body(body, form, limits), model_name);
          }};
}

}  // namespace cloze::serve
