// What world.json says, which the program holds as text: word lists, sentence templates, and plans
// of documents, blanks and readings. What is true in every world is there; what the seed decides,
// which town has which craft, is drawn by facts.h.
// Errors: InternalError for a name that the file does not have (names are ours).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/philox.h"

namespace cloze::data {

using Words = std::vector<std::string>;
using Row = std::map<std::string, std::string>;  // column → word

// Ways to say the same thing, for expand_template (grammar.h).
using Topic = Words;

// Sentences on these topics, in this order.
struct DocumentPlan {
  std::string name;
  std::vector<const Topic*> opening;  // told in every document of the kind
  std::vector<const Topic*> body;     // each told or left out at random
  std::vector<const Topic*> ending;   // one of them is told
};

// What a cloze item asks for.
struct ClozeKind {
  std::string name;
  uint32_t percent = 0;  // of all cloze items
  std::vector<const Topic*> topics;
};

// A fact that a reading tells about its subject, and asks for.
struct ReadingTopic {
  std::string name;
  std::string answers;  // where they come from (readings.cc)
  Topic statements, questions;
};

// What readings tell of: "Old" and "Halford", any first name with any last.
struct SubjectKind {
  std::string title;
  Words first_names, last_names;
  std::vector<ReadingTopic> topics;
};

// A list by its name: "weekdays", from Monday on; "crafts.maker", a column of a table;
// "town_names", every start with every end.
const Words& words(std::string_view list);
// "crafts", "animals", "opposites", "months".
const std::vector<Row>& rows(std::string_view table);

const std::vector<DocumentPlan>& document_plans();
const std::vector<ClozeKind>& cloze_kinds();
const std::vector<SubjectKind>& subject_kinds();

// One of the items, all equally likely.
template <typename Items>
const auto& pick(const Items& items, PhiloxStream& stream) {
  return items[stream.below(static_cast<uint32_t>(items.size()))];
}

}  // namespace cloze::data
