#include "serve/model_endpoints.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

#include "base/error.h"
#include "serve/endpoint_table.h"
#include "serve/forms/embedding_request.h"
#include "serve/page_example.h"
#include "tasks/mask_filler.h"
#include "tasks/squad/question_answerer.h"
#include "tasks/tagging/text_tagger.h"
#include "tasks/text_chooser.h"
#include "tasks/text_classifier.h"
#include "tasks/text_embedder.h"

namespace cloze::serve {
namespace {

using formats::Json;

// The candidates of a blank are the first in an order over the whole vocabulary, which their
// probabilities refer to: they are listed for the largest top_k of all requests, and cut for each.
int64_t largest_top_k(std::span<const Input> inputs) {
  int64_t largest = 1;
  for (const Input& input : inputs) largest = std::max(largest, input.top_k);
  return largest;
}

template <typename T>
std::span<const T> at_most(const std::vector<T>& list, int64_t count) {
  return std::span(list).first(std::min<size_t>(list.size(), static_cast<size_t>(count)));
}

tasks::CutSide cut_side(const Input& input) {
  return input.cuts_start ? tasks::CutSide::kStart : tasks::CutSide::kEnd;
}

std::vector<Json> fill(tasks::MaskFiller& filler, std::span<const Input> inputs) {
  std::vector<std::string> texts;
  for (const Input& input : inputs) texts.push_back(input.first);
  std::vector<Json> outputs(inputs.size(), {{"blanks", Json::array()}});
  const tasks::FilledTexts filled = filler.fill(texts, largest_top_k(inputs));
  for (const tasks::Blank& blank : filled.blanks) {
    Json candidates = Json::array();
    for (const auto& candidate : at_most(blank.candidates, inputs[blank.text].top_k)) {
      candidates.push_back({{"token", candidate.token}, {"probability", candidate.probability}});
    }
    outputs[blank.text]["blanks"].push_back(
        {{"start", blank.start}, {"end", blank.end}, {"candidates", std::move(candidates)}});
  }
  for (size_t i = 0; i < outputs.size(); ++i) tasks::add_unknown(outputs[i], filled.unknown[i]);
  return outputs;
}

std::vector<Json> answer(tasks::QuestionAnswerer& answerer, std::span<const Input> inputs,
                         const ServingOptions& options) {
  std::vector<tasks::QuestionAndContext> questions;
  for (const Input& input : inputs) {
    questions.push_back({input.first, input.second, input.top_k});
  }
  std::vector<Json> outputs;
  for (const tasks::Answers& answers :
       answerer.answer(questions, {.may_have_no_answer = options.may_have_no_answer})) {
    outputs.push_back(tasks::answers_json(answers));
  }
  return outputs;
}

std::vector<Answer> classify(tasks::TextClassifier& classifier, std::span<const Input> inputs) {
  std::vector<tasks::TextAndPair> texts;
  for (const Input& input : inputs) texts.push_back({input.first, input.second, cut_side(input)});
  std::vector<Answer> answers;
  for (tasks::Classification& one : classifier.classify(texts)) {
    formats::Json value = tasks::classification_json(one, classifier.head());
    answers.push_back({.value = std::move(value),
                       .numbers = std::move(one.logits),
                       .tokens = one.tokens,
                       .text = one.texts,
                       .token_seconds = one.token_seconds});
  }
  return answers;
}

// Vectors as the layers give them; each request cuts and normalises its own (embedding_request.h).
// Inputs of one mode that are cut on one side are read together.
std::vector<Answer> embed(tasks::TextEmbedder& embedder, std::span<const Input> inputs) {
  std::map<std::pair<bool, tasks::CutSide>, std::vector<size_t>> groups;
  for (size_t i = 0; i < inputs.size(); ++i) {
    groups[{inputs[i].mode == kTokenVectors, cut_side(inputs[i])}].push_back(i);
  }
  std::vector<Answer> answers(inputs.size());
  for (const auto& [kind, places] : groups) {
    std::vector<std::string> texts;
    for (const size_t place : places) texts.push_back(inputs[place].first);
    const auto [is_of_tokens, side] = kind;
    const tasks::EmbeddingOptions options{.prompt = "", .is_normalized = false, .cut_side = side};
    auto made =
        is_of_tokens ? embedder.embed_tokens(texts, options) : embedder.embed(texts, options);
    for (size_t i = 0; i < places.size(); ++i) {
      answers[places[i]] = {.numbers = std::move(made[i].values),
                            .tokens = made[i].tokens,
                            .text = made[i].text,
                            .token_seconds = made[i].token_seconds};
    }
  }
  return answers;
}

std::vector<Json> choose(tasks::TextChooser& chooser, std::span<const Input> inputs) {
  std::vector<tasks::TextAndChoices> texts;
  for (const Input& input : inputs) texts.push_back({input.first, input.second, input.list});
  std::vector<Json> outputs;
  for (const tasks::Choice& one : chooser.choose(texts)) outputs.push_back(tasks::choice_json(one));
  return outputs;
}

// Inputs of one aggregation are tagged together.
std::vector<Json> tag(tasks::TextTagger& tagger, std::span<const Input> inputs) {
  std::vector<Json> outputs(inputs.size());
  for (const std::string_view name : tasks::kTagAggregations) {
    std::vector<std::string> texts;
    std::vector<size_t> places;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].mode != name) continue;
      texts.push_back(inputs[i].first);
      places.push_back(i);
    }
    const auto tags = tagger.tag(texts, *tasks::tag_aggregation(name));
    for (size_t i = 0; i < places.size(); ++i) outputs[places[i]] = tasks::text_tags_json(tags[i]);
  }
  return outputs;
}

using SharedModel = std::shared_ptr<const inference::PackedModel>;

HeadService filling(const SharedModel& model, const ServingOptions& options) {
  return {.form = {.first_field = "text",
                   .has_top_k = true,
                   .count_candidates =
                       [](const Input& input) {
                         return tasks::count_blanks(input.first) * input.top_k;
                       }},
          .handler = [filler = std::make_shared<tasks::MaskFiller>(model, options.num_threads)](
                         auto inputs) { return answers_of(fill(*filler, inputs)); }};
}

HeadService answering(const SharedModel& model, const ServingOptions& options) {
  return {
      .form = {.first_field = "question",
               .second_field = "context",
               .requires_second = true,
               .has_top_k = true},
      .handler = [answerer = std::make_shared<tasks::QuestionAnswerer>(model, options.num_threads),
                  options](auto inputs) { return answers_of(answer(*answerer, inputs, options)); }};
}

HeadService classifying(const SharedModel& model, const ServingOptions& options) {
  return {.form = {.first_field = "text",
                   .second_field = "text_pair",
                   .count_candidates = [classes = std::ssize(model->head().labels)](
                                           const Input&) { return classes; }},
          .handler = [classifier = std::make_shared<tasks::TextClassifier>(
                          model, options.num_threads, options.threshold)](auto inputs) {
            return classify(*classifier, inputs);
          }};
}

HeadService choosing(const SharedModel& model, const ServingOptions& options) {
  return {.form = {.first_field = "text",
                   .second_field = "text_pair",
                   .list_field = "choices",
                   .count_candidates = [](const Input& input) { return std::ssize(input.list); }},
          .handler = [chooser = std::make_shared<tasks::TextChooser>(model, options.num_threads)](
                         auto inputs) { return answers_of(choose(*chooser, inputs)); }};
}

HeadService tagging(const SharedModel& model, const ServingOptions& options) {
  return {.form = {.first_field = "text",
                   .mode_field = "aggregation",
                   .modes = tasks::kTagAggregations,
                   // Hardly a text has more words.
                   .count_candidates = [](const Input& input) { return (input.bytes() + 1) / 2; }},
          .handler = [tagger = std::make_shared<tasks::TextTagger>(model, options.num_threads)](
                         auto inputs) { return answers_of(tag(*tagger, inputs)); }};
}

HeadService embedding(const SharedModel& model, const ServingOptions& options) {
  return {.handler = [embedder = std::make_shared<tasks::TextEmbedder>(model, options.num_threads)](
                         auto inputs) { return embed(*embedder, inputs); }};
}

// The row of a head; the path of its endpoint is in models/bert_heads.cc.
struct HeadRow {
  models::HeadKind head;
  HeadService (*make)(const SharedModel& model, const ServingOptions& options);
};
constexpr HeadRow kHeads[] = {
    {models::HeadKind::kPretraining, filling},
    {models::HeadKind::kQuestionAnswering, answering},
    {models::HeadKind::kSequenceClassification, classifying},
    {models::HeadKind::kMultipleChoice, choosing},
    {models::HeadKind::kTokenClassification, tagging},
    {models::HeadKind::kEmbedding, embedding},
};

HeadService service_of(const SharedModel& model, const ServingOptions& options) {
  const models::HeadTraits& head = model->head().traits();
  const auto* row = std::ranges::find(kHeads, head.kind, &HeadRow::head);
  CLOZE_CHECK(row != std::end(kHeads), "no endpoint for {}", head.name);
  HeadService made = row->make(model, options);
  made.form.path = head.endpoint;
  return made;
}

// The name of its file or folder, without the folders above, which are not for everyone to see. A
// checkpoint is called by its run as well: "run/checkpoint-10".
std::string name_of(const std::filesystem::path& path) {
  const std::filesystem::path whole = std::filesystem::weakly_canonical(path);
  const std::string name = whole.filename().string();
  const std::string run = whole.parent_path().filename().string();
  return name.starts_with("checkpoint-") && !run.empty() ? run + "/" + name : name;
}

Json describe(const inference::PretrainedModel& model, const std::string& name) {
  const models::BertConfig& config = model.config;
  Json description = {{"name", name.empty() ? name_of(model.path) : name},
                      {"head", model.head.traits().name},
                      {"layers", config.num_hidden_layers},
                      {"hidden_size", config.hidden_size},
                      {"attention_heads", config.num_attention_heads},
                      {"positions", config.max_position_embeddings},
                      {"vocabulary", model.tokenizer.vocabulary().size()}};
  if (model.head.traits().has_labels) description["labels"] = model.head.labels;
  return description;
}

void check_documents(const tasks::TextCollection& documents,
                     const inference::PretrainedModel& model) {
  model.require_head(models::HeadKind::kEmbedding);
  const int64_t most = model.head.embedding.dimensions(model.config.hidden_size);
  if (documents.dimensions() <= most) return;
  throw_user_error(
      "the texts' vectors have {} numbers, and the model's {}; make them with this model",
      documents.dimensions(), most);
}

}  // namespace

ServedModel serve_model(const SharedModel& model, const ServingOptions& options,
                        const Limits& limits) {
  if (options.may_have_no_answer) {
    model->pretrained().require_head(models::HeadKind::kQuestionAnswering);
  }
  if (options.threshold) {
    model->pretrained().require_head(models::HeadKind::kSequenceClassification);
  }
  if (options.documents) check_documents(*options.documents, model->pretrained());
  HeadService head = service_of(model, options);
  Json description = describe(model->pretrained(), options.model_name);
  const bool has_own_form = !head.form.path.empty();
  const auto example = has_own_form ? page_example(head, model->pretrained().path) : std::nullopt;
  if (example) description["example"] = *example;
  const EndpointContext context{.model = model,
                                .name = description["name"].get<std::string>(),
                                .limits = limits,
                                .truncates = options.auto_truncate,
                                .threads = options.num_threads,
                                .documents = options.documents};
  std::vector<std::string> page_paths;
  if (options.documents) page_paths.emplace_back("/search");
  page_paths.push_back(has_own_form ? head.form.path : "/similarity");
  return {.description = std::move(description),
          .endpoints = model_endpoints(head.form, context),
          .page_paths = std::move(page_paths),
          .head = std::move(head),
          .paths_of_other_models = paths_of_other_models(context)};
}

}  // namespace cloze::serve
