#include "tasks/tagging/entity_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "formats/html_page.h"
#include "tasks/report/score_parts.h"

namespace cloze::tasks {
namespace {

constexpr size_t kMostSentences = 30;

std::string scores_part(const EntityScores& scores) {
  std::vector<NamedPrecisionRecall> types;
  for (const auto& [type, score] : scores.types) types.push_back({type, score});
  const PrecisionRecallMeans& means = scores.means;
  return heading("Scores") +
         score_facts({{"F1 of entities", means.micro.f1},
                      {"precision", means.micro.precision},
                      {"recall", means.micro.recall},
                      {"accuracy of the tags", scores.accuracy}}) +
         precision_recall_table("type", std::move(types),
                                {{"micro mean", means.micro},
                                 {"macro mean", means.macro},
                                 {"weighted mean", means.weighted}});
}

struct WrongSentence {
  size_t number = 0;
  std::vector<Entity> missed, wrong;  // gold ones, and predicted ones

  size_t size() const { return missed.size() + wrong.size(); }
};

std::vector<WrongSentence> wrong_sentences(const ScoredTags& scored) {
  std::vector<WrongSentence> sentences;
  for (size_t i = 0; i < scored.tags.size(); ++i) {
    const std::vector<Entity> gold = entities_of(scored.tags[i].gold, scored.reading);
    const std::vector<Entity> predicted = entities_of(scored.tags[i].predicted, scored.reading);
    WrongSentence one{.number = i};
    std::ranges::set_difference(gold, predicted, std::back_inserter(one.missed));
    std::ranges::set_difference(predicted, gold, std::back_inserter(one.wrong));
    if (one.size() > 0) sentences.push_back(std::move(one));
  }
  std::ranges::stable_sort(sentences, std::greater<>(), &WrongSentence::size);
  return sentences;
}

// "Ann Lee (PER)", a line each.
std::string entities_cell(const std::vector<Entity>& entities,
                          const std::vector<std::string_view>& words) {
  std::vector<std::string> cells;
  for (const Entity& one : entities) {
    const auto first = words.begin() + one.first;
    cells.push_back(text_cell(fmt::format(
        "{} ({})", fmt::join(first, first + (one.last - one.first + 1), " "), one.type)));
  }
  return fmt::format("{}", fmt::join(cells, "<br/>"));
}

std::string sentences_part(const ScoredTags& scored) {
  const std::vector<WrongSentence> sentences = wrong_sentences(scored);
  if (sentences.empty()) return heading("Mistakes") + paragraph("There is none.");
  formats::HtmlTable table({{"missed"}, {"wrongly predicted"}, {"sentence"}});
  for (size_t i = 0; i < std::min(sentences.size(), kMostSentences); ++i) {
    const WrongSentence& one = sentences[i];
    const std::vector<std::string_view>& words = scored.words[one.number];
    table.add({entities_cell(one.missed, words), entities_cell(one.wrong, words),
               text_cell(fmt::format("{}", fmt::join(words, " ")))});
  }
  return heading("Sentences with the most wrong entities") +
         paragraph(fmt::format("{} of {} sentences have a wrong entity.", sentences.size(),
                               scored.tags.size())) +
         table.html();
}

}  // namespace

std::string entity_report(const ScoredTags& scored) {
  return scores_part(scored.scores) + sentences_part(scored);
}

}  // namespace cloze::tasks
