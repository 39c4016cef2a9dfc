#include "tasks/squad/squad_score.h"

#include <algorithm>
#include <functional>
#include <set>

#include "base/error.h"
#include "formats/json.h"
#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::tasks {
namespace {

// The score of one question.
struct Score {
  double exact = 0;
  double f1 = 0;
};
using Scores = std::map<std::string, Score>;

bool is_ascii_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

bool is_word_at(std::string_view text, size_t at) {
  return at < text.size() && text::is_python_word(text::decode_utf8(text, at).code_point);
}
bool is_word_before(std::string_view text, size_t at) {
  return at > 0 && text::is_python_word(text::decode_utf8_before(text, at).code_point);
}

// The length of an article that stands at `at` as a word of its own, else 0.
size_t article_at(std::string_view text, size_t at) {
  for (const std::string_view article : {"a", "an", "the"}) {
    if (text.substr(at).starts_with(article) && !is_word_before(text, at) &&
        !is_word_at(text, at + article.size())) {
      return article.size();
    }
  }
  return 0;
}

std::string without_articles(std::string_view text) {
  std::string result;
  for (size_t at = 0; at < text.size();) {
    if (const size_t length = article_at(text, at); length > 0) {
      result += ' ';
      at += length;
    } else {
      result += text[at++];
    }
  }
  return result;
}

double f1_of_words(std::vector<std::string_view> prediction, std::vector<std::string_view> answer) {
  std::sort(prediction.begin(), prediction.end());
  std::sort(answer.begin(), answer.end());
  std::vector<std::string_view> common;
  std::set_intersection(prediction.begin(), prediction.end(), answer.begin(), answer.end(),
                        std::back_inserter(common));
  if (common.empty()) return 0;
  const double same = static_cast<double>(common.size());
  const double precision = same / static_cast<double>(prediction.size());
  const double recall = same / static_cast<double>(answer.size());
  return 2 * precision * recall / (precision + recall);
}

// 2.0's: two empty texts agree.
double f1_with_empty(std::string_view prediction, std::string_view answer) {
  const std::string a = normalized_answer(prediction), b = normalized_answer(answer);
  const auto words = text::python_split(a), others = text::python_split(b);
  if (words.empty() || others.empty()) return words.empty() && others.empty() ? 1 : 0;
  return f1_of_words(words, others);
}

double best_over(const std::vector<std::string>& answers,
                 const std::function<double(const std::string&)>& score) {
  double best = 0;
  for (const std::string& answer : answers) best = std::max(best, score(answer));
  return best;
}

formats::Json read_ids(const std::filesystem::path& path) {
  formats::Json file = formats::read_json_file(path);
  if (!file.is_object()) throw_data_error("{}: is not an object of ids", path.string());
  return file;
}

// The value itself, or in Graphcore's form what it holds under a name.
const formats::Json& field_of(const formats::Json& value, const char* name) {
  return value.is_object() && value.contains(name) ? value[name] : value;
}

SquadShare share_of(const Scores& scores, const std::function<bool(const std::string&)>& counts) {
  SquadShare share;
  for (const auto& [id, score] : scores) {
    if (!counts(id)) continue;
    share.exact += score.exact;
    share.f1 += score.f1;
    ++share.questions;
  }
  const auto questions = static_cast<double>(std::max<int64_t>(1, share.questions));
  share.exact = 100 * share.exact / questions;
  share.f1 = 100 * share.f1 / questions;
  return share;
}

class Version2Scorer {
 public:
  Version2Scorer(const SquadData& data, const SquadPredictions& predictions,
                 const NoAnswerProbabilities* no_answer)
      : predictions_(predictions), no_answer_(no_answer) {
    for (const SquadQuestion& question : data.questions) score(question);
    if (raw_.empty())
      throw_user_error(
          "none of the questions has a prediction; give the predictions of these data");
  }

  SquadScores scores(double threshold) {
    Scores final_scores = raw_;
    for (auto& [id, score] : final_scores) {
      if (probability(id) <= threshold) continue;
      const double right = has_answer_.at(id) ? 0 : 1;
      score = {right, right};
    }
    SquadScores result{.all = share_of(final_scores, [](const auto&) { return true; }),
                       .missing = missing_};
    const auto answered =
        share_of(final_scores, [&](const std::string& id) { return has_answer_.at(id); });
    const auto unanswered =
        share_of(final_scores, [&](const std::string& id) { return !has_answer_.at(id); });
    if (answered.questions > 0) result.with_answer = answered;
    if (unanswered.questions > 0) result.without_answer = unanswered;
    if (no_answer_ != nullptr) {
      result.best_exact = best_threshold(&Score::exact);
      result.best_f1 = best_threshold(&Score::f1);
    }
    return result;
  }

 private:
  void score(const SquadQuestion& question) {
    const auto prediction = predictions_.find(question.id);
    has_answer_[question.id] = question.has_answers();
    if (prediction == predictions_.end()) {
      missing_.push_back(question.id);
      return;
    }
    std::vector<std::string> answers;
    for (const SquadAnswer& answer : question.answers) {
      if (!normalized_answer(answer.text).empty()) answers.push_back(answer.text);
    }
    if (answers.empty()) answers.emplace_back();
    const std::string& text = prediction->second;
    raw_[question.id] = {
        best_over(answers, [&](const auto& answer) { return exact_match(text, answer); }),
        best_over(answers, [&](const auto& answer) { return f1_with_empty(text, answer); })};
    order_.push_back(question.id);
  }

  double probability(const std::string& id) const {
    if (no_answer_ == nullptr) return 0;
    const auto found = no_answer_->find(id);
    if (found == no_answer_->end()) {
      throw_user_error("question {} has no no-answer probability; give one for each", id);
    }
    return found->second;
  }

  // Starts with "" everywhere, then takes the predictions in order of their probability.
  BestThreshold best_threshold(double Score::*kind) const {
    double current = 0;
    for (const auto& [id, has_answer] : has_answer_) current += has_answer ? 0 : 1;
    double best = current;
    double threshold = 0;
    std::vector<std::string> ids = order_;
    std::stable_sort(ids.begin(), ids.end(), [&](const std::string& a, const std::string& b) {
      return probability(a) < probability(b);
    });
    for (const std::string& id : ids) {
      current += has_answer_.at(id) ? raw_.at(id).*kind : predictions_.at(id).empty() ? 0 : -1;
      if (current <= best) continue;
      best = current;
      threshold = probability(id);
    }
    return {100 * best / static_cast<double>(raw_.size()), threshold};
  }

  const SquadPredictions& predictions_;
  const NoAnswerProbabilities* no_answer_;
  std::map<std::string, bool> has_answer_;
  Scores raw_;
  std::vector<std::string> order_;  // ids with prediction, in the order of the file
  std::vector<std::string> missing_;
};

}  // namespace

std::string normalized_answer(std::string_view text) {
  std::string lower = text::python_lower(text);
  std::erase_if(lower, is_ascii_punctuation);
  return text::python_single_spaced(without_articles(lower));
}

double exact_match(std::string_view prediction, std::string_view answer) {
  return normalized_answer(prediction) == normalized_answer(answer) ? 1 : 0;
}

double answer_f1(std::string_view prediction, std::string_view answer) {
  const std::string a = normalized_answer(prediction), b = normalized_answer(answer);
  return f1_of_words(text::python_split(a), text::python_split(b));
}

SquadPredictionFile read_squad_predictions(const std::filesystem::path& path) {
  SquadPredictionFile file;
  const formats::Json ids = read_ids(path);
  for (const auto& [id, value] : ids.items()) {
    const formats::Json& text = field_of(value, "prediction_text");
    if (!text.is_string()) throw_data_error("{}: \"{}\" has no text", path.string(), id);
    file.texts[id] = text.get<std::string>();
    const formats::Json& number = field_of(value, "no_answer_probability");
    if (!number.is_number()) continue;
    if (!file.no_answer) file.no_answer.emplace();
    file.no_answer->emplace(id, number.get<double>());
  }
  return file;
}

void require_questions_of(const SquadData& data, const SquadPredictions& predictions) {
  std::set<std::string_view> ids;
  for (const SquadQuestion& question : data.questions) ids.insert(question.id);
  for (const auto& [id, text] : predictions) {
    if (ids.contains(id)) continue;
    throw_user_error(
        "there is a prediction for question {}, which the data do not have; give the data that "
        "were predicted",
        id);
  }
}

NoAnswerProbabilities read_no_answer_probabilities(const std::filesystem::path& path) {
  NoAnswerProbabilities probabilities;
  const formats::Json ids = read_ids(path);
  for (const auto& [id, value] : ids.items()) {
    if (!value.is_number()) throw_data_error("{}: \"{}\" has no number", path.string(), id);
    probabilities[id] = value.get<double>();
  }
  return probabilities;
}

SquadScores score_squad_1(const SquadData& data, const SquadPredictions& predictions) {
  SquadScores scores;
  for (const SquadQuestion& question : data.questions) {
    if (!question.has_answers()) {
      ++scores.unanswered;
      continue;
    }
    ++scores.all.questions;
    const auto prediction = predictions.find(question.id);
    if (prediction == predictions.end()) {
      scores.missing.push_back(question.id);
      continue;
    }
    std::vector<std::string> answers;
    for (const SquadAnswer& answer : question.answers) answers.push_back(answer.text);
    const std::string& text = prediction->second;
    scores.all.exact +=
        best_over(answers, [&](const auto& answer) { return exact_match(text, answer); });
    scores.all.f1 +=
        best_over(answers, [&](const auto& answer) { return answer_f1(text, answer); });
  }
  if (scores.all.questions == 0)
    throw_user_error("no question of the data has an answer; give data with answers");
  const auto questions = static_cast<double>(scores.all.questions);
  scores.all.exact = 100 * scores.all.exact / questions;
  scores.all.f1 = 100 * scores.all.f1 / questions;
  return scores;
}

SquadScores score_squad_2(const SquadData& data, const SquadPredictions& predictions,
                          const NoAnswerProbabilities* no_answer, double threshold) {
  return Version2Scorer(data, predictions, no_answer).scores(threshold);
}

std::string squad_scores_json(const SquadScores& scores, bool is_version_2) {
  const SquadShare& all = scores.all;
  if (!is_version_2) return formats::json_line({{"exact_match", all.exact}, {"f1", all.f1}});
  formats::Json json{{"exact", all.exact}, {"f1", all.f1}, {"total", all.questions}};
  const auto add = [&](const std::string& prefix, const std::optional<SquadShare>& share) {
    if (!share) return;
    json[prefix + "_exact"] = share->exact;
    json[prefix + "_f1"] = share->f1;
    json[prefix + "_total"] = share->questions;
  };
  add("HasAns", scores.with_answer);
  add("NoAns", scores.without_answer);
  const auto add_best = [&](const std::string& name, const std::optional<BestThreshold>& best) {
    if (!best) return;
    json["best_" + name] = best->score;
    json["best_" + name + "_thresh"] = best->threshold;
  };
  add_best("exact", scores.best_exact);
  add_best("f1", scores.best_f1);
  return formats::json_line(json);
}

}  // namespace cloze::tasks
