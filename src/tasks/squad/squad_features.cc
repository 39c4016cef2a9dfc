#include "tasks/squad/squad_features.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "base/error.h"
#include "platform/parallel_for.h"
#include "tasks/token_windows.h"

namespace cloze::tasks {
namespace {

void check(const char* name, int64_t value, int64_t smallest) {
  if (value < smallest || value > std::numeric_limits<int32_t>::max()) {
    throw_user_error("{} is {}; it must be from {} to {}", name, value, smallest,
                     std::numeric_limits<int32_t>::max());
  }
}

class FeatureMaker {
 public:
  FeatureMaker(const SquadData& data, const text::Tokenizer& tokenizer,
               const SquadFeatureOptions& options)
      : data_(data), tokenizer_(tokenizer), options_(options) {
    check("max_seq_length", options.max_sequence_length, data::kPairBorders + 1);
    check("doc_stride", options.document_stride, 1);
    check("max_query_length", options.max_query_length, 0);
  }

  SquadFeatures make() {
    features_.style = options_.style;
    features_.borders = {tokenizer_.vocabulary().cls_id(), tokenizer_.vocabulary().sep_id()};
    tokenize();
    for (size_t question = 0; question < data_.questions.size(); ++question) {
      features_.first_window.push_back(features_.windows.size());
      add_question(static_cast<uint32_t>(question));
    }
    features_.first_window.push_back(features_.windows.size());
    return std::move(features_);
  }

 private:
  bool is_google() const { return options_.style == SquadStyle::kGoogle; }

  void tokenize() {
    features_.contexts.resize(data_.contexts.size());
    features_.questions.resize(data_.questions.size());
    features_.question_tokens.resize(data_.questions.size());
    answers_.resize(data_.questions.size());
    for_each_of(data_.contexts, [&](size_t i) {
      features_.contexts[i] = tokenized_context(data_.contexts[i], tokenizer_, options_.style);
    });
    for_each_of(data_.questions, [&](size_t i) {
      take_question(i);
      if (options_.with_labels) answers_[i] = answer_of(data_.questions[i]);
    });
  }

  template <typename Items, typename Body>
  void for_each_of(const Items& items, Body body) {
    platform::parallel_for(std::ssize(items), options_.threads,
                           [&](int64_t i) { body(static_cast<size_t>(i)); });
  }

  void take_question(size_t i) {
    std::vector<int32_t>& ids = features_.questions[i];
    tokenizer_.append_ids(data_.questions[i].question, ids);
    features_.question_tokens[i] = std::ssize(ids);
    const auto limit = static_cast<size_t>(options_.max_query_length);
    if (is_google() && ids.size() > limit) {
      ids.resize(limit);
      ids.shrink_to_fit();
    }
  }

  PlacedAnswer answer_of(const SquadQuestion& question) const {
    if (question.is_impossible) return {};
    if (!question.has_answers()) {
      throw_data_error(
          "question {} has no answers and is not marked is_impossible; leave it out of the "
          "training file",
          question.id);
    }
    const std::string& text = data_.contexts[question.context];
    const SquadContext& context = features_.contexts[question.context];
    const SquadAnswer& answer = question.answers.front();
    return is_google() ? placed_by_words(text, context, answer, tokenizer_)
                       : placed_by_offsets(text, context, answer);
  }

  void add_question(uint32_t question) {
    const PlacedAnswer& answer = answers_[question];
    if (answer.is_misplaced) {
      features_.misplaced.push_back(question);
      if (is_google()) return;
    }
    const SquadContext& context = features_.contexts[data_.questions[question].context];
    const auto num_tokens = static_cast<uint32_t>(context.ids.size());
    for (const TokenWindow& window : token_windows(num_tokens, rule_of(question, num_tokens))) {
      add_window(question, window, answer.tokens);
    }
    if (num_tokens == 0 && !is_google()) add_window(question, {}, std::nullopt);
  }

  TokenWindowRule rule_of(uint32_t question, uint32_t num_tokens) const {
    const int64_t query = std::ssize(features_.questions[question]);
    const int64_t room = options_.max_sequence_length - query - data::kPairBorders;
    const int64_t stride = options_.document_stride;
    if (room < 1) {
      throw_user_error(
          "max_seq_length {} leaves no room for the context of question {}: the question takes {} "
          "tokens, and the special ones are {}; raise it{}",
          options_.max_sequence_length, data_.questions[question].id, query, data::kPairBorders,
          is_google() ? fmt::format(", or lower max_query_length ({})", options_.max_query_length)
                      : "");
    }
    if (is_google()) {
      return {static_cast<uint32_t>(room), static_cast<uint32_t>(std::min(room, stride))};
    }
    if (num_tokens <= room) return {static_cast<uint32_t>(room), static_cast<uint32_t>(room)};
    if (stride >= room) {
      throw_user_error(
          "question {} has {} tokens, which leaves its context windows of {}: they cannot overlap "
          "by doc_stride {} tokens; raise max_seq_length ({}), or lower doc_stride",
          data_.questions[question].id, query, room, stride, options_.max_sequence_length);
    }
    return {static_cast<uint32_t>(room), static_cast<uint32_t>(room - stride)};
  }

  void add_window(uint32_t question, const TokenWindow& tokens,
                  const std::optional<TokenSpan>& answer) {
    SquadWindow window{.question = question,
                       .begin = tokens.begin,
                       .end = tokens.end,
                       .best_begin = is_google() ? tokens.best_begin : tokens.begin,
                       .best_end = is_google() ? tokens.best_end : tokens.end};
    if (options_.with_labels) {
      const bool is_here = answer && answer->first >= tokens.begin && answer->last < tokens.end;
      const uint32_t shift = features_.context_position(question) - tokens.begin;
      window.start_position = is_here ? static_cast<int32_t>(answer->first + shift) : 0;
      window.end_position = is_here ? static_cast<int32_t>(answer->last + shift) : 0;
    }
    features_.windows.push_back(window);
  }

  const SquadData& data_;
  const text::Tokenizer& tokenizer_;
  const SquadFeatureOptions& options_;
  SquadFeatures features_;
  std::vector<PlacedAnswer> answers_;
};

}  // namespace

SquadFeatures make_squad_features(const SquadData& data, const text::Tokenizer& tokenizer,
                                  const SquadFeatureOptions& options) {
  return FeatureMaker(data, tokenizer, options).make();
}

data::Sample squad_sample(const SquadData& data, const SquadFeatures& features,
                          const SquadWindow& window) {
  const SquadContext& context = features.contexts[data.questions[window.question].context];
  const auto tokens = std::span(context.ids).subspan(window.begin, window.end - window.begin);
  data::Sample sample =
      data::sequence_of(features.questions[window.question], tokens, features.borders);
  sample.start_position = window.start_position;
  sample.end_position = window.end_position;
  return sample;
}

}  // namespace cloze::tasks
