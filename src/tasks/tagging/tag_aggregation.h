// From the probabilities of a text's pieces to the parts of the text that have a tag. Words are made of
// a piece and those after it that continue it (##).
//
//   none     each piece has its likeliest tag, as the model names it: "B-PER"
//   simple   each piece has its likeliest tag; neighbours of one entity are one part
//   first    each word has the likeliest tag of its first piece, the one that is trained; then as simple
//   average  each word has the tag with the largest mean probability over its pieces; likewise
//   max      each word has the tag of its most certain piece; likewise
//
// An entity's parts are of one type, and none but the first of them begins one (tag_scheme.h). Its
// probability is the mean of theirs. Of tags without a scheme, such as parts of speech, no words are
// joined. What has the tag O is left out.
// Source: transformers pipelines/token_classification.py, which knows B- and I- alone, and joins
// neighbours of any equal tag.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.h"

namespace cloze::tasks {

enum class TagAggregation { kFirst, kAverage, kMax, kSimple, kNone };
// Their names, in this order.
inline constexpr std::string_view kTagAggregations[] = {"first", "average", "max", "simple",
                                                        "none"};
// Nothing for another name.
std::optional<TagAggregation> tag_aggregation(std::string_view name);

struct TagPiece {
  text::Offset bytes;
  bool continues_word = false;
  std::vector<double> probabilities;  // of each tag
};

struct TagPart {
  text::Offset bytes;
  std::string tag;  // the type of an entity, "PER" ("_" if it has no name); of no scheme: the tag
  double probability = 0.0;
  bool operator==(const TagPart&) const = default;
};

// In the order of the text.
std::vector<TagPart> tag_parts(std::span<const TagPiece> pieces,
                               const std::vector<std::string>& tags, TagAggregation aggregation);

// "PER Anna Berg, LOC Ulm".
std::string tags_line(std::span<const TagPart> parts, std::string_view text);

}  // namespace cloze::tasks
