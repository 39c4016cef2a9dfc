#include "tasks/tagging/entity_scores.h"

#include <algorithm>
#include <iterator>

#include "base/error.h"

namespace cloze::tasks {
namespace {

struct Tag {
  char letter = 'O';
  std::string_view type = "_";
};

bool is_one_of(char letter, std::string_view letters) {
  return letters.find(letter) != letters.npos;
}

// The type is what follows the first "-", or the letter where there is none.
Tag lenient_tag(std::string_view name) {
  const std::string_view rest = name.substr(1);
  const std::string_view type = rest.substr(rest.find('-') + 1);
  return {name.front(), type.empty() ? "_" : type};
}

bool ends_between(const Tag& previous, const Tag& next) {
  return is_one_of(previous.letter, "ES") ||
         (is_one_of(previous.letter, "BI") && is_one_of(next.letter, "BSO")) ||
         (!is_one_of(previous.letter, "O.") && previous.type != next.type);
}

bool begins_between(const Tag& previous, const Tag& next) {
  return is_one_of(next.letter, "BS") ||
         (is_one_of(previous.letter, "ESO") && is_one_of(next.letter, "EI")) ||
         (!is_one_of(next.letter, "O.") && previous.type != next.type);
}

std::vector<Entity> lenient_entities(std::span<const Tag> tags) {
  std::vector<Entity> entities;
  Tag previous;
  int64_t first = 0;
  for (int64_t i = 0; i <= std::ssize(tags); ++i) {
    const Tag next = i < std::ssize(tags) ? tags[static_cast<size_t>(i)] : Tag{};
    if (ends_between(previous, next))
      entities.push_back({first, i - 1, std::string(previous.type)});
    if (begins_between(previous, next)) first = i;
    previous = next;
  }
  return entities;
}

// Letters of two neighbours; empty: any. Their types are equal, different, or either.
struct Neighbours {
  enum class Types { kAny, kEqual, kDifferent };
  std::string_view previous, next;
  Types types = Types::kAny;

  bool fit(const Tag& a, const Tag& b) const {
    return (previous.empty() || is_one_of(a.letter, previous)) &&
           (next.empty() || is_one_of(b.letter, next)) &&
           (types == Types::kAny || (a.type == b.type) == (types == Types::kEqual));
  }
};
constexpr auto kEqual = Neighbours::Types::kEqual, kDifferent = Neighbours::Types::kDifferent;

using Rules = std::vector<Neighbours>;

struct Scheme {
  std::string_view name, letters;
  Rules begins, goes_on, ends;  // at the second neighbour; the end is after the first one
};

bool hold(const Rules& rules, const Tag& previous, const Tag& next) {
  return std::ranges::any_of(rules,
                             [&](const Neighbours& rule) { return rule.fit(previous, next); });
}

const Scheme& scheme_of(EntityReading reading) {
  static const std::vector<Scheme> schemes = {
      {.name = "IOB1",
       .letters = "IOB",
       .begins = {{"OB", "I"}, {"I", "I", kDifferent}, {"IB", "B", kEqual}},
       .goes_on = {{"BI", "I", kEqual}},
       .ends = {{"BI", "O"}, {"BI", "I", kDifferent}, {"I", "B"}, {"B", "B", kEqual}}},
      {.name = "IOB2",
       .letters = "IOB",
       .begins = {{"", "B"}},
       .goes_on = {{"BI", "I", kEqual}},
       .ends = {{"BI", "OB"}, {"BI", "I", kDifferent}}},
      {.name = "IOE1",
       .letters = "IOE",
       .begins = {{"OE", "I"}, {"I", "I", kDifferent}, {"E", "E", kEqual}},
       .goes_on = {{"I", "IE", kEqual}},
       .ends = {{"I", "O"}, {"I", "IE", kDifferent}, {"E", "IE", kEqual}}},
      {.name = "IOE2",
       .letters = "IOE",
       .begins = {{"OE", "IE"}, {"I", "IE", kDifferent}},
       .goes_on = {{"I", "IE", kEqual}},
       .ends = {{"E", ""}}},
      {.name = "IOBES",
       .letters = "IOBES",
       .begins = {{"", "BS"}},
       .goes_on = {{"BI", "IE", kEqual}},
       .ends = {{"ES", ""}}},
      {.name = "BILOU",
       .letters = "BILOU",
       .begins = {{"", "BU"}},
       .goes_on = {{"BI", "IL", kEqual}},
       .ends = {{"LU", ""}}},
  };
  return schemes.at(static_cast<size_t>(reading) - 1);
}

// The type is the rest without "-" at its ends.
Tag strict_tag(std::string_view name, const Scheme& scheme) {
  if (!is_one_of(name.front(), scheme.letters)) {
    throw_data_error("tag '{}' is none of {}: its tags begin with one of the letters {}", name,
                     scheme.name, scheme.letters);
  }
  const size_t begin = name.find_first_not_of('-', 1);
  if (begin == std::string_view::npos) return {name.front()};
  return {name.front(), name.substr(begin, name.find_last_not_of('-') + 1 - begin)};
}

std::vector<Entity> strict_entities(std::span<const Tag> tags, const Scheme& scheme) {
  const auto at = [&](size_t i) { return i < tags.size() ? tags[i] : Tag{}; };
  std::vector<Entity> entities;
  for (size_t i = 0; i < tags.size();) {
    const size_t first = i++;
    if (!hold(scheme.begins, first == 0 ? Tag{} : at(first - 1), at(first))) continue;
    while (hold(scheme.goes_on, at(i - 1), at(i))) ++i;
    if (!hold(scheme.ends, at(i - 1), at(i))) continue;
    entities.push_back(
        {static_cast<int64_t>(first), static_cast<int64_t>(i) - 1, std::string(at(first).type)});
  }
  return entities;
}

}  // namespace

std::vector<Entity> entities_of(std::span<const std::string_view> names, EntityReading reading) {
  if (std::ranges::find(names, "") != names.end()) throw_data_error("a tag is empty");
  std::vector<Tag> tags;
  if (reading == EntityReading::kLenient) {
    std::ranges::transform(names, std::back_inserter(tags), lenient_tag);
    return lenient_entities(tags);
  }
  const Scheme& scheme = scheme_of(reading);
  for (const std::string_view name : names) tags.push_back(strict_tag(name, scheme));
  return strict_entities(tags, scheme);
}

EntityScores score_entities(std::span<const TaggedSentence> sentences, EntityReading reading) {
  std::map<std::string, ClassCounts> types;
  int64_t right = 0, tokens = 0;
  for (const TaggedSentence& sentence : sentences) {
    const std::vector<Entity> gold = entities_of(sentence.gold, reading);
    const std::vector<Entity> predicted = entities_of(sentence.predicted, reading);
    std::vector<Entity> both;
    std::ranges::set_intersection(gold, predicted, std::back_inserter(both));
    for (const Entity& one : gold) ++types[one.type].gold;
    for (const Entity& one : predicted) ++types[one.type].predicted;
    for (const Entity& one : both) ++types[one.type].both;
    for (size_t i = 0; i < sentence.gold.size(); ++i) {
      right += sentence.gold[i] == sentence.predicted[i] ? 1 : 0;
    }
    tokens += std::ssize(sentence.gold);
  }
  EntityScores scores{.accuracy = share(static_cast<double>(right), static_cast<double>(tokens))};
  std::vector<ClassCounts> counts;
  for (const auto& [type, count] : types) {
    scores.types[type] = precision_recall(count);
    counts.push_back(count);
  }
  scores.means = means_of(counts);
  return scores;
}

formats::Json entity_scores_json(const EntityScores& scores) {
  return {{"accuracy", scores.accuracy},
          {"micro", scores.means.micro},
          {"macro", scores.means.macro},
          {"weighted", scores.means.weighted},
          {"types", scores.types}};
}

}  // namespace cloze::tasks
