#include "serve/search_endpoint.h"

#include <algorithm>
#include <utility>

#include "checkpoints/sentence_folder.h"
#include "serve/forms/embedding_request.h"
#include "serve/forms/prompt_field.h"

namespace cloze::serve {
namespace {

using formats::Json;

int64_t count_of(const Body& body, const EndpointContext& context) {
  const int64_t count = *body.count("top_k");
  if (count > context.limits.top_k) {
    refuse(Trouble::kInvalid, "\"top_k\" is {}; it may be 1 to {}", count, context.limits.top_k);
  }
  return count;
}

Response results_of(const Answer& answer, int64_t count, const EndpointContext& context) {
  const tasks::TextCollection& texts = *context.documents;
  Json results = Json::array();
  const VectorForm form{.dimensions = texts.dimensions()};
  for (const tasks::FoundText& found : texts.nearest(vector_of(answer, form), count)) {
    results.push_back(Json::object(
        {{"index", found.index}, {"score", found.cosine}, {"text", texts.text(found.index)}}));
  }
  Json reply = Json::object({{"results", std::move(results)}, {"model", context.name}});
  tasks::add_truncation(reply, answer.text);
  return json_response(reply);
}

Question search_question(const Body& body, const EndpointContext& context) {
  const std::string prompt =
      prompt_of(body, *context.model, context.model->pretrained().sentences.default_text());
  Question question{.inputs = text_inputs({body.text("query")}, prompt)};
  question.join = [count = count_of(body, context), context](std::vector<Output> outputs) {
    return results_of(all_answers(std::move(outputs)).front(), count, context);
  };
  return question;
}

}  // namespace

Endpoint search_endpoint(const EndpointContext& context) {
  const std::vector<BodyField> fields = {{"query", FieldKind::kText, "What is looked for", true},
                                         {"top_k", FieldKind::kCount, "How many texts are listed",
                                          false, std::min(Input{}.top_k, context.limits.top_k)},
                                         prompt_field()};
  return {.summary = "Find the texts of this server whose vectors are nearest to the query's",
          .reply = "{\"results\": [{\"index\", \"score\", \"text\"}], \"model\"}, the best first",
          .work = Work::kEmbed,
          .fields = fields,
          .example = {{"query", "a question"}, {"top_k", 3}},
          .read = [context, fields](std::string_view text) {
            return search_question(Body(text, fields, context.limits), context);
          }};
}

}  // namespace cloze::serve
