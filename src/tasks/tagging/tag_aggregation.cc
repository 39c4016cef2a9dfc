#include "tasks/tagging/tag_aggregation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tasks/tagging/tag_scheme.h"

namespace cloze::tasks {
namespace {

using Pieces = std::span<const TagPiece>;

// A tag that pieces have together, by its number.
struct Choice {
  text::Offset bytes;
  bool continues_word = false;
  size_t tag = 0;
  double probability = 0.0;
};

size_t likeliest(const std::vector<double>& probabilities) {
  return static_cast<size_t>(std::ranges::max_element(probabilities) - probabilities.begin());
}

std::vector<double> mean_of(Pieces pieces) {
  std::vector<double> mean(pieces.front().probabilities.size());
  for (const TagPiece& piece : pieces) {
    for (size_t tag = 0; tag < mean.size(); ++tag) mean[tag] += piece.probabilities[tag];
  }
  for (double& value : mean) value /= static_cast<double>(pieces.size());
  return mean;
}

// The probabilities that pieces of a word have together.
std::vector<double> joined(Pieces pieces, TagAggregation aggregation) {
  if (aggregation == TagAggregation::kAverage) return mean_of(pieces);
  if (aggregation != TagAggregation::kMax) return pieces.front().probabilities;
  const auto largest = [](const TagPiece& piece) { return std::ranges::max(piece.probabilities); };
  return std::ranges::max_element(pieces, {}, largest)->probabilities;
}

// One for each piece or word.
std::vector<Choice> choices_of(Pieces pieces, TagAggregation aggregation) {
  const bool by_word =
      aggregation != TagAggregation::kNone && aggregation != TagAggregation::kSimple;
  std::vector<Choice> choices;
  for (size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
    for (end = begin + 1; by_word && end < pieces.size() && pieces[end].continues_word;) ++end;
    const Pieces part = pieces.subspan(begin, end - begin);
    const std::vector<double> probabilities = joined(part, aggregation);
    const size_t tag = likeliest(probabilities);
    choices.push_back({.bytes = {part.front().bytes.begin, part.back().bytes.end},
                       .continues_word = part.front().continues_word,
                       .tag = tag,
                       .probability = probabilities[tag]});
  }
  return choices;
}

// Says whether two neighbours are of one part.
bool go_together(const Choice& before, const Choice& now, const std::vector<std::string>& tags,
                 bool has_scheme) {
  if (!has_scheme) return now.continues_word && now.tag == before.tag;
  return tags[now.tag] != "O" && !begins_entity(tags[now.tag], tags[before.tag]);
}

std::string part_name(const std::string& tag, bool has_scheme) {
  if (!has_scheme) return tag;
  const std::string_view type = entity_tag(tag)->type;
  return type.empty() ? "_" : std::string(type);
}

}  // namespace

std::optional<TagAggregation> tag_aggregation(std::string_view name) {
  const auto* found = std::ranges::find(kTagAggregations, name);
  if (found == std::end(kTagAggregations)) return std::nullopt;
  return static_cast<TagAggregation>(found - std::begin(kTagAggregations));
}

std::vector<TagPart> tag_parts(Pieces pieces, const std::vector<std::string>& tags,
                               TagAggregation aggregation) {
  const bool joins = aggregation != TagAggregation::kNone;
  const bool has_scheme = joins && !scheme_of(tags).empty();
  const std::vector<Choice> choices = choices_of(pieces, aggregation);
  std::vector<TagPart> parts;
  for (size_t begin = 0, end = 0; begin < choices.size(); begin = end) {
    double sum = choices[begin].probability;
    for (end = begin + 1; joins && end < choices.size() &&
                          go_together(choices[end - 1], choices[end], tags, has_scheme);
         ++end) {
      sum += choices[end].probability;
    }
    const std::string& tag = tags[choices[begin].tag];
    if (tag == "O") continue;
    parts.push_back({.bytes = {choices[begin].bytes.begin, choices[end - 1].bytes.end},
                     .tag = part_name(tag, has_scheme),
                     .probability = sum / static_cast<double>(end - begin)});
  }
  return parts;
}

std::string tags_line(std::span<const TagPart> parts, std::string_view text) {
  std::vector<std::string> words;
  for (const TagPart& part : parts) {
    const std::string_view place = text.substr(part.bytes.begin, part.bytes.end - part.bytes.begin);
    words.push_back(fmt::format("{} {}", part.tag, place));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace cloze::tasks
