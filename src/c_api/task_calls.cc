// The tasks of cloze_runtime.h: texts of a caller into a task of src/tasks, its answers into rows.
#include <algorithm>
#include <functional>
#include <numeric>

#include "c_api/handles.h"
#include "c_api/result.h"
#include "tasks/mask_filler.h"
#include "tasks/squad/question_answerer.h"
#include "tasks/tagging/text_tagger.h"
#include "tasks/text_chooser.h"
#include "tasks/text_classifier.h"
#include "tasks/text_embedder.h"

namespace {

using namespace cloze;
using namespace cloze::c_api;

cloze_client& opened_client(cloze_client* client) {
  return opened(client, "client", "cloze_client_open");
}

void check_top_k(std::string_view function, int64_t top_k) {
  if (top_k >= 1) return;
  throw_user_error("{} got top_k {}; give 1 or more", function, top_k);
}

// A row for each answer of a task, in their order.
template <class Answer>
cloze_result* result_of(std::string_view function, const std::vector<Answer>& answers,
                        const std::function<ResultRow(const Answer&)>& row_of) {
  auto result = std::make_unique<cloze_result>(cloze_result{.function = function});
  for (const Answer& answer : answers) {
    result->rows.push_back(row_of(answer));
    result->rows.back().input = std::ssize(result->rows) - 1;
  }
  return result.release();
}

ResultRow row_of_classes(const tasks::Classification& one, const models::BertHead& head) {
  ResultRow row{.holding = one.num_holding, .tokens = one.unknown, .cut = one.texts};
  for (const tasks::ClassProbability& each : one.classes) {
    ResultItem& item = row.items.emplace_back();
    item.probability = each.value;
    item.label = each.label;
    item.number = std::ranges::find(head.labels, each.label) - head.labels.begin();
  }
  return row;
}

ResultRow row_of_tags(const tasks::TextTags& one) {
  ResultRow row{.tokens = one.unknown};
  for (const tasks::TextTag& each : one.tags) {
    ResultItem& item = row.items.emplace_back();
    item.probability = each.probability;
    item.label = each.tag;
    item.text = each.text;
    item.bytes = each.bytes;
  }
  return row;
}

ResultRow row_of_answers(const tasks::Answers& one) {
  ResultRow row{.tokens = one.unknown, .cut = one.question};
  for (const tasks::Answer& each : one.answers) {
    ResultItem& item = row.items.emplace_back();
    item.probability = each.probability;
    item.text = each.text;
    item.bytes = each.bytes;
  }
  return row;
}

ResultRow row_of_blank(const tasks::Blank& blank, const tasks::UnknownTokens& unknown) {
  ResultRow row{.input = static_cast<int64_t>(blank.text), .tokens = unknown};
  for (const tasks::Candidate& each : blank.candidates) {
    ResultItem& item = row.items.emplace_back();
    item.probability = each.probability;
    item.text = each.token;
    item.number = each.id;
    item.bytes = blank.bytes;
  }
  return row;
}

ResultRow row_of_choices(const tasks::Choice& one) {
  ResultRow row{.tokens = one.unknown, .cut = one.texts};
  std::vector<int64_t> order(one.probabilities.size());
  std::iota(order.begin(), order.end(), int64_t{0});
  const auto probability_of = [&](int64_t i) { return one.probabilities[static_cast<size_t>(i)]; };
  std::ranges::stable_sort(order, std::greater(), probability_of);
  for (const int64_t number : order) {
    ResultItem& item = row.items.emplace_back();
    item.probability = probability_of(number);
    item.number = number;
  }
  return row;
}

std::vector<tasks::TextAndPair> texts_and_pairs(const cloze_text* texts, const cloze_text* pairs,
                                                int64_t count) {
  std::vector<std::string> first = texts_of(texts, "text", count);
  std::vector<std::string> second = pairs_of(pairs, count);
  std::vector<tasks::TextAndPair> all;
  for (size_t i = 0; i < first.size(); ++i) {
    all.push_back({.text = std::move(first[i]), .pair = std::move(second[i])});
  }
  return all;
}

tasks::TagAggregation aggregation_named(const char* name) {
  if (name == nullptr) return tasks::TagAggregation::kFirst;
  if (const auto known = tasks::tag_aggregation(name)) return *known;
  throw_user_error("aggregation {}; known are {}", name, fmt::join(tasks::kTagAggregations, ", "));
}

// The number of all choices, once each text is known to have a number of them that can be.
int64_t sum_of(const int64_t* num_choices, int64_t count) {
  if (num_choices == nullptr) throw_user_error("cloze_choose got no numbers of choices");
  int64_t sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    check_count("cloze_choose", fmt::format("choices of text {}", i), num_choices[i]);
    sum += num_choices[i];
  }
  return sum;
}

std::vector<tasks::TextAndChoices> texts_and_choices(const cloze_text* texts,
                                                     const cloze_text* pairs,
                                                     const cloze_text* choices,
                                                     const int64_t* num_choices, int64_t count) {
  std::vector<tasks::TextAndPair> first = texts_and_pairs(texts, pairs, count);
  const std::vector<std::string> second = texts_of(choices, "choice", sum_of(num_choices, count));
  std::vector<tasks::TextAndChoices> all;
  auto next = second.begin();
  for (int64_t i = 0; i < count; ++i) {
    tasks::TextAndPair& one = first[static_cast<size_t>(i)];
    all.push_back({.text = std::move(one.text),
                   .pair = std::move(one.pair),
                   .choices = {next, next + num_choices[i]}});
    next += num_choices[i];
  }
  return all;
}

cloze_result* classify(cloze_client& client, const std::vector<tasks::TextAndPair>& texts) {
  auto& task = client.task_as<tasks::TextClassifier>();
  return result_of<tasks::Classification>(
      "cloze_classify", task.classify(texts),
      [&](const tasks::Classification& one) { return row_of_classes(one, task.head()); });
}

cloze_result* answer(cloze_client& client, const std::vector<tasks::QuestionAndContext>& questions,
                     const tasks::AnswerOptions& options) {
  auto& task = client.task_as<tasks::QuestionAnswerer>();
  return result_of<tasks::Answers>("cloze_answer", task.answer(questions, options), row_of_answers);
}

cloze_result* fill(cloze_client& client, const std::vector<std::string>& texts, int64_t top_k) {
  const tasks::FilledTexts filled = client.task_as<tasks::MaskFiller>().fill(texts, top_k);
  auto result = std::make_unique<cloze_result>(cloze_result{.function = "cloze_fill"});
  for (const tasks::Blank& blank : filled.blanks) {
    result->rows.push_back(row_of_blank(blank, filled.unknown[blank.text]));
  }
  return result.release();
}

}  // namespace

cloze_result* cloze_classify(cloze_client* client, const cloze_text* texts, const cloze_text* pairs,
                             int64_t count) {
  return guarded<cloze_result*>(nullptr, [&] {
    cloze_client& own = opened_client(client);
    check_count("cloze_classify", "texts", count);
    return classify(own, texts_and_pairs(texts, pairs, count));
  });
}

cloze_result* cloze_tag(cloze_client* client, const cloze_text* texts, int64_t count,
                        const char* aggregation) {
  return guarded<cloze_result*>(nullptr, [&] {
    cloze_client& own = opened_client(client);
    check_count("cloze_tag", "texts", count);
    const tasks::TagAggregation how = aggregation_named(aggregation);
    const std::vector<std::string> copies = texts_of(texts, "text", count);
    return result_of<tasks::TextTags>(
        "cloze_tag", own.task_as<tasks::TextTagger>().tag(copies, how), row_of_tags);
  });
}

cloze_result* cloze_answer(cloze_client* client, const cloze_text* questions,
                           const cloze_text* contexts, int64_t count, int64_t top_k,
                           int64_t max_answer_tokens, int flags) {
  return guarded<cloze_result*>(nullptr, [&] {
    cloze_client& own = opened_client(client);
    check_count("cloze_answer", "questions", count);
    check_top_k("cloze_answer", top_k);
    check_flags("cloze_answer", flags, CLOZE_MAY_HAVE_NO_ANSWER);
    if (max_answer_tokens < 0) {
      throw_user_error("cloze_answer got max_answer_tokens {}; give 1 or more, or 0 for {}",
                       max_answer_tokens, tasks::AnswerOptions().max_answer_length);
    }
    std::vector<std::string> first = texts_of(questions, "question", count);
    std::vector<std::string> second = texts_of(contexts, "context", count);
    std::vector<tasks::QuestionAndContext> all;
    for (size_t i = 0; i < first.size(); ++i) {
      all.push_back({std::move(first[i]), std::move(second[i]), top_k});
    }
    tasks::AnswerOptions options{.may_have_no_answer = flags == CLOZE_MAY_HAVE_NO_ANSWER};
    if (max_answer_tokens > 0) options.max_answer_length = max_answer_tokens;
    return answer(own, all, options);
  });
}

cloze_result* cloze_fill(cloze_client* client, const cloze_text* texts, int64_t count,
                         int64_t top_k) {
  return guarded<cloze_result*>(nullptr, [&] {
    cloze_client& own = opened_client(client);
    check_count("cloze_fill", "texts", count);
    check_top_k("cloze_fill", top_k);
    return fill(own, texts_of(texts, "text", count), top_k);
  });
}

cloze_result* cloze_choose(cloze_client* client, const cloze_text* texts, const cloze_text* pairs,
                           const cloze_text* choices, const int64_t* num_choices, int64_t count) {
  return guarded<cloze_result*>(nullptr, [&] {
    cloze_client& own = opened_client(client);
    check_count("cloze_choose", "texts", count);
    const auto all = texts_and_choices(texts, pairs, choices, num_choices, count);
    return result_of<tasks::Choice>("cloze_choose", own.task_as<tasks::TextChooser>().choose(all),
                                    row_of_choices);
  });
}

int64_t cloze_model_dimensions(const cloze_model* model) {
  return guarded<int64_t>(-1, [&] {
    const inference::PackedModel& own = *opened(model, "model", "cloze_model_open").packed;
    const auto& head = own.pretrained().require_head(models::HeadKind::kEmbedding);
    return head.embedding.dimensions(own.config().hidden_size);
  });
}

int cloze_embed(cloze_client* client, const cloze_text* texts, int64_t count, const char* prompt,
                int64_t dimensions, float* vectors) {
  return guarded(-1, [&] {
    cloze_client& own = opened_client(client);
    check_count("cloze_embed", "texts", count);
    if (vectors == nullptr) throw_user_error("cloze_embed got no room for vectors");
    tasks::EmbeddingOptions options;
    if (prompt != nullptr) options.prompt = prompt;
    if (dimensions != 0) options.dimensions = dimensions;
    const std::vector<std::string> copies = texts_of(texts, "text", count);
    for (const auto& one : own.task_as<tasks::TextEmbedder>().embed(copies, options)) {
      vectors = std::ranges::copy(one.values, vectors).out;
    }
    return 0;
  });
}
