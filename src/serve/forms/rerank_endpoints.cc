#include "serve/forms/rerank_endpoints.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "serve/forms/class_scores.h"
#include "serve/forms/number_text.h"
#include "serve/forms/truncation_fields.h"

namespace cloze::serve {
namespace {

using formats::Json;

std::string quoted(const std::string& text) { return formats::json_line(text); }

std::vector<Input> pairs_of(const std::string& query, const std::vector<std::string>& texts) {
  std::vector<Input> inputs;
  for (const std::string& text : texts) inputs.push_back({.first = query, .second = text});
  return inputs;
}

// The one score of each text.
std::vector<float> scores_of(std::span<const Answer> answers, const models::BertHead& head,
                             bool is_raw) {
  std::vector<float> scores;
  for (const Answer& answer : answers) {
    scores.push_back(class_scores(answer.numbers, head, is_raw)[0]);
  }
  return scores;
}

Question tei_question(const Body& body, const EndpointContext& context) {
  std::vector<std::string> texts = body.texts("texts");
  Question question{.inputs = pairs_of(body.text("query"), texts), .is_batch = true};
  if (!body.flag("return_text")) texts.clear();
  const bool truncates = set_truncation(body, question.inputs);
  question.join = [model = context.model, texts = std::move(texts),
                   is_raw = body.flag("raw_scores"), truncates](std::vector<Output> outputs) {
    const std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    const std::vector<float> scores = scores_of(answers, model->head(), is_raw);
    std::vector<std::string> ranks;
    for (const size_t i : best_first(scores)) {
      ranks.push_back(fmt::format("{{\"index\":{},\"score\":{}{}}}", i, number_text(scores[i]),
                                  texts.empty() ? "" : ",\"text\":" + quoted(texts[i])));
    }
    return json_text_response(fmt::format("[{}]", fmt::join(ranks, ",")));
  };
  return question;
}

Question jina_question(const Body& body, const EndpointContext& context) {
  std::vector<std::string> texts = body.texts("documents");
  Question question{.inputs = pairs_of(body.text("query"), texts), .is_batch = true};
  const auto most = static_cast<size_t>(body.count("top_n").value_or(std::ssize(texts)));
  if (!body.flag("return_documents")) texts.clear();
  question.join = [context, texts = std::move(texts), most,
                   truncates = context.truncates](std::vector<Output> outputs) {
    const std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    const std::vector<float> scores = scores_of(answers, context.head(), /*is_raw=*/false);
    int64_t tokens = 0;
    for (const Answer& answer : answers) tokens += answer.tokens;
    std::vector<std::string> results;
    for (const size_t i : best_first(scores)) {
      if (results.size() == most) break;
      results.push_back(
          fmt::format("{{\"index\":{},\"relevance_score\":{}{}}}", i, number_text(scores[i]),
                      texts.empty() ? "" : ",\"document\":{\"text\":" + quoted(texts[i]) + "}"));
    }
    return json_text_response(
        fmt::format("{{\"model\":{},\"results\":[{}],\"usage\":{{\"total_tokens\":{}}}}}",
                    quoted(context.name), fmt::join(results, ","), tokens));
  };
  return question;
}

}  // namespace

Endpoint tei_rerank(const EndpointContext& context) {
  std::vector<BodyField> fields = {
      {"query", FieldKind::kText, "What is looked for", true},
      {"texts", FieldKind::kTextList, "The texts to order", true},
      {"raw_scores", FieldKind::kSwitch, "Logits instead of values from 0 to 1", false, false},
      {"return_text", FieldKind::kSwitch, "Whether the reply has the texts", false, false}};
  std::ranges::move(truncation_fields(context.truncates), std::back_inserter(fields));
  return {.summary = "Order texts by how well they answer a query, as TEI does",
          .reply = "[{\"index\", \"score\"}], the best first",
          .errors = ErrorForm::kTei,
          .work = Work::kPredict,
          .fields = fields,
          .example = {{"query", "a question"}, {"texts", Json::array({"one", "two"})}},
          .read = [context, fields](std::string_view text) {
            return tei_question(Body(text, fields, context.limits), context);
          }};
}

Endpoint jina_rerank(const EndpointContext& context) {
  const std::vector<BodyField> fields = {
      {"model", FieldKind::kText, "Any; the reply has the name of this one"},
      {"query", FieldKind::kText, "What is looked for", true},
      {"documents", FieldKind::kDocuments, "The texts to order", true},
      {"top_n", FieldKind::kCount, "How many of the best are listed; all when left out"},
      {"return_documents", FieldKind::kSwitch, "Whether the reply has the texts", false, false}};
  return {.summary = "Order texts by how well they answer a query, as Jina and Cohere do",
          .reply = "{\"model\", \"results\": [{\"index\", \"relevance_score\"}], \"usage\"}",
          .errors = ErrorForm::kOpenAi,
          .work = Work::kPredict,
          .fields = fields,
          .example = {{"query", "a question"}, {"documents", Json::array({"one", "two"})}},
          .read = [context, fields](std::string_view text) {
            return jina_question(Body(text, fields, context.limits), context);
          }};
}

}  // namespace cloze::serve
