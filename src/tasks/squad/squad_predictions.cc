#include "tasks/squad/squad_predictions.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"
#include "platform/parallel_for.h"
#include "tasks/decoded_length.h"
#include "tasks/logits.h"
#include "tasks/squad/answer_text.h"
#include "text/word_borders.h"

namespace cloze::tasks {
namespace {

void check_positive(const char* name, int64_t value) {
  if (value < 1) throw_user_error("{} is {}; it must be positive", name, value);
}

// Positions of the `count` largest, largest first; of equal ones the first.
std::vector<uint32_t> largest(std::span<const float> values, int64_t count) {
  std::vector<uint32_t> positions(values.size());
  std::iota(positions.begin(), positions.end(), 0);
  const auto end = positions.begin() + std::min(count, std::ssize(positions));
  std::partial_sort(positions.begin(), end, positions.end(), [&](uint32_t a, uint32_t b) {
    return values[a] != values[b] ? values[a] > values[b] : a < b;
  });
  positions.erase(end, positions.end());
  return positions;
}

double score_of(const SquadCandidate& candidate) {
  return static_cast<double>(candidate.start_logit) + candidate.end_logit;
}

void set_probabilities(std::vector<SquadCandidate>& candidates) {
  std::vector<double> scores;
  for (const auto& candidate : candidates) scores.push_back(score_of(candidate));
  const std::vector<double> probabilities = softmax(std::span<const double>(scores));
  for (size_t i = 0; i < candidates.size(); ++i) candidates[i].probability = probabilities[i];
}

bool holds_text(const std::vector<SquadCandidate>& candidates, std::string_view text) {
  return std::any_of(candidates.begin(), candidates.end(),
                     [&](const auto& candidate) { return candidate.text == text; });
}

// The place in the context of byte `at` of words [first, ...), joined by single spaces.
uint32_t byte_in_context(const SquadContext& context, uint32_t first, uint32_t at) {
  for (uint32_t word = first;; ++word) {
    const auto [begin, end] = context.words[word];
    if (at < end - begin) return begin + at;
    at -= end - begin + 1;
  }
}

// Words are searched once for every pair of tokens in them: in a text that is a single word, like
// written Chinese, that would cost its length times the number of pairs. The places of tokens are
// known anyway.
bool are_usual_words(const SquadContext& context, const TokenSpan& tokens) {
  constexpr uint32_t kMostBytes = 1000;
  const uint32_t begin = context.words[context.token_words[tokens.first]].begin;
  return context.words[context.token_words[tokens.last]].end - begin <= kMostBytes;
}

text::Offset code_points_of(std::string_view text, const text::Offset& bytes) {
  const size_t begin = decoded_length(text.substr(0, bytes.begin));
  const size_t count = decoded_length(text.substr(bytes.begin, bytes.end - bytes.begin));
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(begin + count)};
}

}  // namespace

SquadPredictor::SquadPredictor(const SquadData& data, const SquadFeatures& features,
                               const text::Tokenizer& tokenizer,
                               const SquadPredictionOptions& options)
    : data_(data),
      features_(features),
      vocabulary_(tokenizer.vocabulary()),
      basic_tokenizer_(tokenizer.options()),
      options_(options) {
  check_positive("n_best_size", options.n_best_size);
  for (const int64_t size : options.n_best_sizes) check_positive("n_best_size", size);
  CLOZE_CHECK(options.n_best_sizes.empty() || options.n_best_sizes.size() == data.questions.size(),
              "{} sizes for {} questions", options.n_best_sizes.size(), data.questions.size());
  check_positive("max_answer_length", options.max_answer_length);
}

SquadPrediction SquadPredictor::predict(size_t question,
                                        std::span<const SquadLogits> logits) const {
  check(question, logits);
  std::vector<Pair> pairs;
  for (uint32_t i = 0; i < logits.size(); ++i) add_pairs(question, i, logits[i], pairs);
  std::optional<Pair> null;
  if (data_.is_version_2) {
    null = Pair{};
    for (uint32_t i = 0; i < logits.size(); ++i) {
      const Pair other{
          .window = i, .start_logit = logits[i].start[0], .end_logit = logits[i].end[0]};
      if (i == 0 || other.score() < null->score()) null = other;
    }
    pairs.push_back(*null);
  }
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const Pair& a, const Pair& b) { return a.score() > b.score(); });
  SquadPrediction prediction{.n_best = candidates_of(question, pairs)};
  auto& n_best = prediction.n_best;
  if (null && !holds_text(n_best, "")) n_best.push_back(candidate_of(question, *null));
  if (n_best.empty()) n_best.push_back({.text = "empty"});
  set_probabilities(n_best);
  if (null) decide(null->score(), prediction);
  return prediction;
}

// Between no answer and the best text.
void SquadPredictor::decide(double null_score, SquadPrediction& prediction) const {
  const auto& n_best = prediction.n_best;
  const auto text = std::find_if(n_best.begin(), n_best.end(),
                                 [](const auto& candidate) { return !candidate.text.empty(); });
  if (text == n_best.end()) {
    prediction.null_odds = null_score;
    return;
  }
  prediction.null_odds = null_score - text->start_logit - text->end_logit;
  const auto answer =
      *prediction.null_odds > options_.null_score_diff_threshold
          ? std::find_if(n_best.begin(), n_best.end(),
                         [](const auto& candidate) { return candidate.text.empty(); })
          : text;
  prediction.answer = static_cast<size_t>(answer - n_best.begin());
}

void SquadPredictor::check(size_t question, std::span<const SquadLogits> logits) const {
  const auto windows = features_.windows_of(question);
  const std::string& id = data_.questions[question].id;
  const std::string question_name = "question " + id;
  if (logits.size() != windows.size()) {
    throw_user_error("question {} has {} windows, and logits for {}", id, windows.size(),
                     logits.size());
  }
  for (size_t i = 0; i < windows.size(); ++i) {
    const size_t length =
        features_.context_position(question) + windows[i].end - windows[i].begin + 1;
    for (const std::span<const float> values : {logits[i].start, logits[i].end}) {
      if (values.size() != length) {
        throw_user_error("window {} of question {} has {} tokens, and {} logits", i, id, length,
                         values.size());
      }
      require_finite(values, question_name);
    }
  }
}

void SquadPredictor::add_pairs(size_t question, uint32_t window_index, const SquadLogits& logits,
                               std::vector<Pair>& pairs) const {
  const SquadWindow& window = features_.windows_of(question)[window_index];
  const uint32_t first = features_.context_position(question);  // of the window's tokens
  const uint32_t end = first + window.end - window.begin;
  const uint32_t best_begin = first + window.best_begin - window.begin;
  const uint32_t best_end = first + window.best_end - window.begin;
  const int64_t n_best_size = n_best_size_of(question);
  const std::vector<uint32_t> ends = largest(logits.end, n_best_size);
  for (const uint32_t start : largest(logits.start, n_best_size)) {
    if (start < best_begin || start >= best_end) continue;
    for (const uint32_t last : ends) {
      if (last < start || last >= end || last - start >= options_.max_answer_length) continue;
      pairs.push_back({.window = window_index,
                       .start = start,
                       .end = last,
                       .start_logit = logits.start[start],
                       .end_logit = logits.end[last]});
    }
  }
}

std::vector<SquadCandidate> SquadPredictor::candidates_of(size_t question,
                                                          const std::vector<Pair>& pairs) const {
  std::vector<SquadCandidate> candidates;
  for (const Pair& pair : pairs) {
    if (std::ssize(candidates) >= n_best_size_of(question)) break;
    SquadCandidate candidate = candidate_of(question, pair);
    if (holds_text(candidates, candidate.text)) continue;
    candidate.code_points =
        code_points_of(data_.contexts[data_.questions[question].context], candidate.bytes);
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

SquadCandidate SquadPredictor::candidate_of(size_t question, const Pair& pair) const {
  SquadCandidate candidate{.start_logit = pair.start_logit, .end_logit = pair.end_logit};
  if (pair.start == 0) return candidate;
  const size_t context_index = data_.questions[question].context;
  const std::string_view text = data_.contexts[context_index];
  const SquadContext& context = features_.contexts[context_index];
  const SquadWindow& window = features_.windows_of(question)[pair.window];
  const uint32_t shift = features_.context_position(question) - window.begin;
  const TokenSpan tokens{pair.start - shift, pair.end - shift};
  if (is_cut_by_characters(context, tokens)) {
    place_words(text, context, tokens, candidate);
    return candidate;
  }
  candidate.bytes = {context.offsets[tokens.first].begin, context.offsets[tokens.last].end};
  if (options_.ends_at_words) {
    // Widening reaches no white space, so the tokens' own words hold the part.
    const uint32_t first = context.token_words[tokens.first];
    const auto words =
        std::span(context.words).subspan(first, context.token_words[tokens.last] - first + 1);
    candidate.bytes = text::widened_to_words(text, candidate.bytes);
    candidate.text = single_spaced_part(text, words, candidate.bytes);
  } else {
    candidate.text =
        text.substr(candidate.bytes.begin, candidate.bytes.end - candidate.bytes.begin);
  }
  return candidate;
}

bool SquadPredictor::is_cut_by_characters(const SquadContext& context,
                                          const TokenSpan& tokens) const {
  return features_.style == SquadStyle::kGoogle && !options_.ends_at_words &&
         are_usual_words(context, tokens);
}

void SquadPredictor::place_words(std::string_view text, const SquadContext& context,
                                 const TokenSpan& tokens, SquadCandidate& candidate) const {
  const uint32_t first = context.token_words[tokens.first];
  const uint32_t last = context.token_words[tokens.last];
  const std::string words = joined_words(text, context, first, last);
  const std::string pieces = joined_pieces(
      vocabulary_, std::span(context.ids).subspan(tokens.first, tokens.last - tokens.first + 1));
  const auto [begin, end] = aligned_answer(pieces, words, basic_tokenizer_);
  candidate.text = words.substr(begin, end - begin);
  candidate.bytes = {byte_in_context(context, first, begin),
                     byte_in_context(context, first, end - 1) + 1};
}

std::vector<SquadPrediction> predict_squad(const SquadPredictor& predictor,
                                           const SquadFeatures& features,
                                           std::span<const SquadLogits> logits, int threads) {
  if (logits.size() != features.windows.size()) {
    throw_user_error("{} windows, and logits for {}", features.windows.size(), logits.size());
  }
  std::vector<SquadPrediction> predictions(features.questions.size());
  platform::parallel_for(std::ssize(predictions), threads, [&](int64_t i) {
    const auto question = static_cast<size_t>(i);
    const size_t first = features.first_window[question];
    predictions[question] = predictor.predict(
        question, logits.subspan(first, features.first_window[question + 1] - first));
  });
  return predictions;
}

namespace {

// {"id": value, ...}, a question a line.
template <typename Value>
void write_by_id(const std::filesystem::path& path, const SquadData& data, Value value) {
  platform::AtomicFile file(path);
  for (size_t i = 0; i < data.questions.size(); ++i) {
    file.write(i == 0 ? "{\n" : ",\n");
    file.write(formats::json_line(data.questions[i].id));
    file.write(": ");
    file.write(formats::json_line(value(i)));
  }
  file.write(data.questions.empty() ? "{}\n" : "\n}\n");
  file.commit();
}

formats::Json n_best_json(const SquadPrediction& prediction) {
  formats::Json list = formats::Json::array();
  for (const SquadCandidate& candidate : prediction.n_best) {
    list.push_back({{"text", candidate.text},
                    {"probability", candidate.probability},
                    {"start_logit", static_cast<double>(candidate.start_logit)},
                    {"end_logit", static_cast<double>(candidate.end_logit)}});
  }
  return list;
}

}  // namespace

void write_squad_predictions(const std::filesystem::path& folder, const SquadData& data,
                             std::span<const SquadPrediction> predictions) {
  CLOZE_CHECK(predictions.size() == data.questions.size(), "{} predictions for {} questions",
              predictions.size(), data.questions.size());
  platform::make_writable_directory(folder);
  write_by_id(folder / "predictions.json", data,
              [&](size_t i) { return formats::Json(predictions[i].text()); });
  write_by_id(folder / "nbest_predictions.json", data,
              [&](size_t i) { return n_best_json(predictions[i]); });
  if (!data.is_version_2) {
    std::filesystem::remove(folder / "null_odds.json");  // of an earlier run
    return;
  }
  write_by_id(folder / "null_odds.json", data,
              [&](size_t i) { return formats::Json(*predictions[i].null_odds); });
}

}  // namespace cloze::tasks
