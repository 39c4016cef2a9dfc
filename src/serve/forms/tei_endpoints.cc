#include "serve/forms/tei_endpoints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "serve/forms/class_scores.h"
#include "serve/forms/number_text.h"
#include "serve/forms/truncation_fields.h"

namespace cloze::serve {
namespace {

using formats::Json;

// [{"score", "label"}] of every class, the best first.
std::string classes_of(const Answer& answer, const models::BertHead& head, bool is_raw) {
  const std::vector<float> scores = class_scores(answer.numbers, head, is_raw);
  std::vector<std::string> classes;
  for (const size_t c : best_first(scores)) {
    classes.push_back(fmt::format("{{\"score\":{},\"label\":{}}}", number_text(scores[c]),
                                  formats::json_line(head.labels[c])));
  }
  return fmt::format("[{}]", fmt::join(classes, ","));
}

Input input_of(const std::vector<std::string>& texts, const models::BertHead& head) {
  if (texts.empty() || texts.size() > 2) {
    refuse(Trouble::kInvalid, "an input has {} texts; give [text] or [text, text]", texts.size());
  }
  return {.first = texts[0],
          .second = texts.size() == 2 ? texts[1] : "",
          .candidates = std::ssize(head.labels)};
}

// A flat list is one pair.
std::vector<Input> inputs_of(const Json& sent, const models::BertHead& head) {
  if (sent.is_string()) return {input_of({sent.get<std::string>()}, head)};
  if (sent.front().is_string()) return {input_of(sent.get<std::vector<std::string>>(), head)};
  std::vector<Input> inputs;
  for (const Json& one : sent) {
    inputs.push_back(input_of(one.get<std::vector<std::string>>(), head));
  }
  return inputs;
}

Question predict_question(const Body& body, const EndpointContext& context) {
  const models::BertHead& head = context.head();
  const Json& sent = body.at("inputs");
  const bool is_batch = sent.is_array() && sent.front().is_array();
  Question question{.inputs = inputs_of(sent, head), .is_batch = is_batch};
  check_candidates(question.inputs, context.limits);
  const bool truncates = set_truncation(body, question.inputs);
  question.join = [model = context.model, is_batch, is_raw = body.flag("raw_scores"),
                   truncates](std::vector<Output> outputs) {
    const std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    std::vector<std::string> lists;
    for (const Answer& answer : answers) {
      lists.push_back(classes_of(answer, model->head(), is_raw));
    }
    const std::string all = fmt::format("{}", fmt::join(lists, ","));
    return json_text_response(is_batch ? "[" + all + "]" : all);
  };
  return question;
}

}  // namespace

Endpoint tei_predict(const EndpointContext& context) {
  std::vector<BodyField> fields = {
      {"inputs", FieldKind::kPairs, "A text, a pair, or a list of [text] and [text, text]", true},
      {"raw_scores", FieldKind::kSwitch, "Logits instead of probabilities", false, false}};
  std::ranges::move(truncation_fields(context.truncates), std::back_inserter(fields));
  return {
      .summary = "Classify texts or pairs of texts, as TEI does",
      .reply = "[{\"score\", \"label\"}], all classes, the best first; of a list, a list of these",
      .errors = ErrorForm::kTei,
      .work = Work::kPredict,
      .fields = fields,
      .example = {{"inputs", Json::array({Json::array({"a text"}), Json::array({"one", "two"})})}},
      .read = [context, fields](std::string_view text) {
        return predict_question(Body(text, fields, context.limits), context);
      }};
}

}  // namespace cloze::serve
