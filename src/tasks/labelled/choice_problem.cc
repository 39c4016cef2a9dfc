// Multiple choice: softmax over the choices of a row, of which one is right.
#include <fmt/format.h>
#include <algorithm>
#include <functional>

#include "base/whole_number.h"
#include "tasks/labelled/label_problem.h"
#include "tasks/labelled/row_table.h"
#include "tasks/logits.h"
#include "text/ascii.h"

namespace cloze::tasks {
namespace {

// The number of a choice: 0, 1, ...; A, B, ...; nothing for other words.
std::optional<int64_t> numbered_choice(const std::string& label) {
  if (const auto number = number_in<int64_t>(label)) return number;
  if (label.size() != 1 || !text::is_ascii_letter(label[0])) return std::nullopt;
  return text::lower_ascii(label)[0] - 'a';
}

constexpr size_t kMostMistakes = 30;

size_t choice_of(const LabelTarget& target) { return static_cast<size_t>(target.front()); }

// The rows where the model is the surest of a wrong choice.
std::string mistakes_of(const ScoredRows& scored) {
  const auto probability = [&](size_t i) {
    const LabelPrediction& one = scored.predictions[i];
    return one.probabilities[choice_of(one.target)];
  };
  std::vector<size_t> wrong;
  for (size_t i = 0; i < scored.rows.size(); ++i) {
    if (scored.predictions[i].target != scored.targets[i]) wrong.push_back(i);
  }
  std::ranges::stable_sort(wrong, std::greater<>(), probability);
  RowTable table({{"probability", true}, {"chosen"}, {"right"}});
  for (size_t i = 0; i < std::min(wrong.size(), kMostMistakes); ++i) {
    const LabelledText& row = scored.rows[wrong[i]];
    table.add({score_text(probability(wrong[i])),
               text_cell(row.choices[choice_of(scored.predictions[wrong[i]].target)]),
               text_cell(row.choices[choice_of(scored.targets[wrong[i]])])},
              row);
  }
  return mistakes_part(table, wrong.size(), scored.rows.size());
}

class ChoiceProblem final : public LabelProblem {
 public:
  std::string_view name() const override { return "choose"; }
  models::BertHead head() const override { return {.kind = models::HeadKind::kMultipleChoice}; }
  std::string_view lack() const override { return "chooses nothing"; }

  std::vector<std::string> labels_in(const LabelledTable& /*table*/) const override { return {}; }

  // The right choice is named by its number or by its text, unless these are two choices.
  LabelTarget target_of(const LabelledTable& table, const LabelledText& row,
                        std::span<const std::string> /*names*/) const override {
    const std::string& label = row.labels.front();
    const auto of_text = std::ranges::find(row.choices, label);
    const bool is_text = of_text != row.choices.end();
    const int64_t place = of_text - row.choices.begin();
    const auto number = numbered_choice(label);
    const bool is_number = number && *number >= 0 && *number < std::ssize(row.choices);
    if (is_text && is_number && place != *number) {
      refuse_label(
          label, table, row,
          fmt::format("the number of one choice and the text of no other; here it is the text "
                      "of choice {}, too",
                      place));
    }
    if (!is_text && !is_number) {
      refuse_label(
          label, table, row,
          fmt::format("one of the choices, or its number from 0 to {}, or its letter from A "
                      "to {}",
                      row.choices.size() - 1,
                      static_cast<char>('A' + std::min<size_t>(row.choices.size(), 26) - 1)));
    }
    return {static_cast<double>(is_number ? *number : place)};
  }

  std::vector<int64_t> strata_of(std::span<const LabelTarget> targets) const override {
    return std::vector<int64_t>(targets.size());
  }

  // The choice is predicted, once for all sequences.
  void set_target(const LabelTarget& target, int64_t /*num_labels*/,
                  data::Sample& sample) const override {
    sample.masked_positions = {0};
    sample.masked_labels = {static_cast<int32_t>(target.front())};
  }

  LabelPrediction predict(std::span<const float> logits) const override {
    const auto largest = std::ranges::max_element(logits) - logits.begin();
    return {.target = {static_cast<double>(largest)}, .probabilities = softmax(logits)};
  }

  NamedScores score(const ScoredRows& scored) const override {
    double right = 0.0;
    for (size_t i = 0; i < scored.targets.size(); ++i) {
      right += scored.predictions[i].target == scored.targets[i] ? 1.0 : 0.0;
    }
    const double accuracy = right / static_cast<double>(scored.targets.size());
    return {.printed = {{"accuracy", accuracy}}, .all = {{"accuracy", accuracy}}};
  }

  std::string report(const ScoredRows& scored) const override {
    const double accuracy = score(scored).printed.front().second;
    return heading("Scores") + score_facts({{"accuracy", accuracy}}) + mistakes_of(scored);
  }

  void add_json(const LabelTarget& target, const LabelPrediction& prediction,
                std::span<const std::string> /*names*/, formats::Json& line) const override {
    line["label"] = static_cast<int64_t>(target.front());
    line["predicted"] = static_cast<int64_t>(prediction.target.front());
    line["probabilities"] = prediction.probabilities;
  }

  std::string answer(const LabelTarget& target, const LabelledText& row,
                     std::span<const std::string> /*names*/) const override {
    return row.choices[static_cast<size_t>(target.front())];
  }
};

}  // namespace

std::unique_ptr<LabelProblem> choice_problem() { return std::make_unique<ChoiceProblem>(); }

}  // namespace cloze::tasks
