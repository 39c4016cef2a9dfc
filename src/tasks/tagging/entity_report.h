// The scores of a tagger as parts of a page of HTML (formats/html_page.h): scores, types of
// entities, and the sentences with the most wrong ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tasks/tagging/entity_scores.h"

namespace cloze::tasks {

struct ScoredTags {
  std::span<const std::vector<std::string_view>> words;  // of each sentence
  std::span<const TaggedSentence> tags;                  // of each word
  EntityReading reading;
  const EntityScores& scores;
};

std::string entity_report(const ScoredTags& scored);

}  // namespace cloze::tasks
