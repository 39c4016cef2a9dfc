#include "serve/forms/embedding_endpoints.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "checkpoints/sentence_folder.h"
#include "serve/forms/class_scores.h"
#include "serve/forms/embedding_request.h"
#include "serve/forms/number_text.h"
#include "serve/forms/prompt_field.h"
#include "serve/forms/truncation_fields.h"
#include "tasks/text_embedder.h"

namespace cloze::serve {
namespace {

using formats::Json;

const std::string& default_prompt(const EndpointContext& context) {
  return context.model->pretrained().sentences.default_text();
}

std::vector<BodyField> with_text_fields(std::vector<BodyField> fields,
                                        const EndpointContext& context) {
  fields.push_back(prompt_field());
  std::ranges::move(truncation_fields(context.truncates), std::back_inserter(fields));
  return fields;
}

BodyField inputs_field() {
  return {"inputs", FieldKind::kTexts, "A text, or a list of texts", true};
}

Question embed_question(const Body& body, const EndpointContext& context) {
  const VectorForm form{.dimensions = body.count("dimensions"),
                        .is_normalized = body.flag("normalize")};
  check_dimensions(form, context);
  const std::string prompt = prompt_of(body, *context.model, default_prompt(context));
  Question question{.inputs = text_inputs(body.texts("inputs"), prompt),
                    .is_batch = body.is_list("inputs")};
  const bool truncates = set_truncation(body, question.inputs);
  question.join = [form, truncates](std::vector<Output> outputs) {
    std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    std::string json;
    for (Answer& answer : answers) {
      json += json.empty() ? '[' : ',';
      append_vector(vector_of(std::move(answer), form), json);
    }
    return json_text_response(json + "]");
  };
  return question;
}

// A token is a character of a text or more, and two are special.
void count_tokens(std::vector<Input>& inputs, const inference::PackedModel& model) {
  const int64_t most =
      model.pretrained().sentences.max_length.value_or(model.config().max_position_embeddings);
  for (Input& input : inputs) input.candidates = std::min(input.bytes() + 2, most);
}

Question embed_all_question(const Body& body, const EndpointContext& context) {
  const std::string prompt = prompt_of(body, *context.model, default_prompt(context));
  Question question{.inputs = text_inputs(body.texts("inputs"), prompt),
                    .is_batch = body.is_list("inputs")};
  for (Input& input : question.inputs) input.mode = kTokenVectors;
  count_tokens(question.inputs, *context.model);
  check_candidates(question.inputs, context.limits);
  const bool truncates = set_truncation(body, question.inputs);
  question.join = [truncates](std::vector<Output> outputs) {
    const std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    std::string json;
    for (const Answer& answer : answers) {
      json += json.empty() ? "[" : ",";
      const size_t width = answer.numbers.size() / static_cast<size_t>(answer.tokens);
      for (size_t at = 0; at < answer.numbers.size(); at += width) {
        json += at == 0 ? '[' : ',';
        append_vector(std::span(answer.numbers).subspan(at, width), json);
      }
      json += ']';
    }
    return json_text_response(json + "]");
  };
  return question;
}

const std::vector<BodyField>& similarity_inputs() {
  static const std::vector<BodyField> fields = {
      {"source_sentence", FieldKind::kText, "The text that the others are compared with", true},
      {"sentences", FieldKind::kTextList, "The other texts", true}};
  return fields;
}

Question similarity_question(const Body& body, const EndpointContext& context) {
  const Body inputs(body.at("inputs"), similarity_inputs(), context.limits);
  const Body parameters(body.at("parameters"), with_text_fields({}, context), context.limits);
  std::vector<std::string> texts = inputs.texts("sentences");
  texts.insert(texts.begin(), inputs.text("source_sentence"));
  if (std::ssize(texts) > context.limits.inputs_per_request) {
    refuse(Trouble::kTooLarge, "there are {} texts, more than {}; send several requests",
           texts.size(), context.limits.inputs_per_request);
  }
  const std::string prompt = prompt_of(parameters, *context.model, default_prompt(context));
  Question question{.inputs = text_inputs(texts, prompt), .is_batch = true};
  const bool truncates = set_truncation(parameters, question.inputs);
  question.join = [truncates](std::vector<Output> outputs) {
    const std::vector<Answer> answers = all_answers(std::move(outputs));
    if (!truncates) require_whole(answers);
    const auto cosine = tasks::similarity_named("cosine");
    std::vector<float> cosines;
    for (const Answer& answer : std::span(answers).subspan(1)) {
      cosines.push_back(static_cast<float>(cosine(answers[0].numbers, answer.numbers)));
    }
    std::string json;
    append_vector(cosines, json);
    return json_text_response(std::move(json));
  };
  return question;
}

}  // namespace

Endpoint tei_embed(const EndpointContext& context) {
  const std::vector<BodyField> fields = with_text_fields(
      {inputs_field(),
       {"normalize", FieldKind::kSwitch, "Whether vectors have the length 1", false, true},
       {"dimensions", FieldKind::kCount, "The first so many numbers; all when left out"}},
      context);
  return {.summary = "Make vectors of texts, as TEI does",
          .reply = "A list of vectors, also for one text",
          .errors = ErrorForm::kTei,
          .work = Work::kEmbed,
          .fields = fields,
          .example = {{"inputs", Json::array({"a text", "another"})}},
          .read = [context, fields](std::string_view text) {
            return embed_question(Body(text, fields, context.limits), context);
          }};
}

Endpoint tei_embed_all(const EndpointContext& context) {
  const std::vector<BodyField> fields = with_text_fields({inputs_field()}, context);
  return {.summary = "Make a vector of each token of texts, as TEI does",
          .reply = "For each text a list of vectors, those of special tokens included",
          .errors = ErrorForm::kTei,
          .work = Work::kEmbed,
          .fields = fields,
          .example = {{"inputs", "a text"}},
          .read = [context, fields](std::string_view text) {
            return embed_all_question(Body(text, fields, context.limits), context);
          }};
}

Endpoint tei_vectors(const EndpointContext& context) {
  Endpoint endpoint = tei_embed(context);
  endpoint.summary = "Do as /similarity does where inputs are an object, else as /embed";
  endpoint.read = [embed = endpoint.read,
                   similarity = tei_similarity(context).read](std::string_view text) {
    const Json body = json_body(text);
    const Json* const inputs = body.find("inputs");
    return inputs != nullptr && inputs->is_object() ? similarity(text) : embed(text);
  };
  return endpoint;
}

Endpoint tei_similarity(const EndpointContext& context) {
  const std::vector<BodyField> fields = {
      {"inputs", FieldKind::kObject, "{\"source_sentence\": a text, \"sentences\": texts}", true},
      {"parameters", FieldKind::kObject,
       "{\"prompt_name\", \"truncate\", \"truncation_direction\"}, as of /embed", false,
       Json::object()}};
  return {.summary = "Compare a text with others, as TEI does",
          .reply = "A list of cosines",
          .errors = ErrorForm::kTei,
          .work = Work::kEmbed,
          .fields = fields,
          .example = Json::object(
              {{"inputs", Json::object({{"source_sentence", "a text"},
                                        {"sentences", Json::array({"one", "another"})}})}}),
          .read = [context, fields](std::string_view text) {
            return similarity_question(Body(text, fields, context.limits), context);
          }};
}

}  // namespace cloze::serve
