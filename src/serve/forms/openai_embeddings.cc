#include "serve/forms/openai_embeddings.h"

#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <utility>

#include "checkpoints/sentence_folder.h"
#include "serve/forms/base64.h"
#include "serve/forms/embedding_request.h"
#include "serve/forms/truncation_fields.h"

namespace cloze::serve {
namespace {

using formats::Json;

static_assert(std::endian::native == std::endian::little,
              "the bytes of vectors are sent as they lie");

void append_embedding(std::span<const float> vector, bool is_base64, std::string& json) {
  if (is_base64) {
    json += '"' + base64(std::as_bytes(vector)) + '"';
  } else {
    append_vector(vector, json);
  }
}

void check_texts(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (text.empty()) refuse(Trouble::kInvalid, "\"input\" has an empty text; leave it out");
  }
}

Response reply_of(std::vector<Answer> answers, const VectorForm& form, bool is_base64,
                  const std::string& model) {
  std::string json = "{\"object\":\"list\",\"data\":[";
  int64_t tokens = 0;
  for (size_t i = 0; i < answers.size(); ++i) {
    tokens += answers[i].tokens;
    fmt::format_to(std::back_inserter(json),
                   "{}{{\"object\":\"embedding\",\"index\":{},\"embedding\":", i == 0 ? "" : ",",
                   i);
    append_embedding(vector_of(std::move(answers[i]), form), is_base64, json);
    json += '}';
  }
  fmt::format_to(std::back_inserter(json),
                 "],\"model\":{},\"usage\":{{\"prompt_tokens\":{},\"total_tokens\":{}}}}}",
                 formats::json_line(model), tokens, tokens);
  return json_text_response(std::move(json));
}

Question embeddings_question(const Body& body, const EndpointContext& context) {
  const VectorForm form{.dimensions = body.count("dimensions")};
  check_dimensions(form, context);
  const std::vector<std::string> texts = body.texts("input");
  check_texts(texts);
  Question question{
      .inputs = text_inputs(texts, context.model->pretrained().sentences.default_text()),
      .is_batch = body.is_list("input")};
  question.join = [form, is_base64 = body.text("encoding_format") == "base64", name = context.name,
                   truncates = context.truncates](std::vector<Output> outputs) {
    std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    return reply_of(std::move(answers), form, is_base64, name);
  };
  return question;
}

}  // namespace

Endpoint openai_embeddings(const EndpointContext& context) {
  const std::vector<BodyField> fields = {
      {"input", FieldKind::kTexts, "A text, or a list of texts; none may be empty", true},
      {"model", FieldKind::kText, "Any; the reply has the name of this one"},
      {"encoding_format",
       FieldKind::kChoice,
       "How a vector is written: a list, or the base64 of its f32 numbers",
       false,
       "float",
       {"float", "base64"}},
      {"dimensions", FieldKind::kCount, "The first so many numbers; all when left out"},
      {"user", FieldKind::kText, "Is not read"}};
  return {
      .summary = "Make vectors of texts, as OpenAI does",
      .reply =
          "{\"object\": \"list\", \"data\": [{\"object\", \"index\", \"embedding\"}], "
          "\"model\", \"usage\"}",
      .errors = ErrorForm::kOpenAi,
      .work = Work::kEmbed,
      .fields = fields,
      .example = Json::object({{"input", Json::array({"a text", "another"})}, {"model", "any"}}),
      .read = [context, fields](std::string_view text) {
        return embeddings_question(Body(text, fields, context.limits), context);
      }};
}

}  // namespace cloze::serve
