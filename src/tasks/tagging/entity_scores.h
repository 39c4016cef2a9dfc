// Entities in tagged sentences, and the scores of predicted ones against gold ones.
//
// A tag is a letter that says where in an entity a token stands, and a type: B-PER. O is outside.
// An entity is a type and the tokens from a first one to a last one; a predicted one is right where
// both equal those of a gold one. No entity goes on in the next sentence.
//
// By default, tags are read leniently, whatever their scheme: B and S begin an entity, E and S end
// one, another type begins another, and so does I or E after O. Strictly read, tags have to keep the
// rules of one scheme, and those that break them make no entity:
//
//   IOB1   B only where an entity follows another of its type     IOE1   E only before such another
//   IOB2   B begins every entity                                  IOE2   E ends every entity
//   IOBES  B begins, E ends, S is alone                           BILOU  with L for E, U for S
//
// Strict IOE1 misses entities that end with E before O, or at the end: so does its source, whose
// figures these are.
// Source: seqeval 1.2.2 (pypi.org/project/seqeval), classification_report with zero_division 0,
// without a mode and with mode "strict" and a scheme; types are taken as there.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"
#include "tasks/precision_recall.h"

namespace cloze::tasks {

enum class EntityReading { kLenient, kIob1, kIob2, kIoe1, kIoe2, kIobes, kBilou };

struct Entity {
  int64_t first = 0, last = 0;  // tokens, from 0
  std::string type;             // "_" where the tag has none

  auto operator<=>(const Entity&) const = default;
};

// In their order. DataError for an empty tag and, read strictly, for a letter that the scheme lacks.
std::vector<Entity> entities_of(std::span<const std::string_view> tags, EntityReading reading);

// The tags of one sentence; both have one length.
struct TaggedSentence {
  std::vector<std::string_view> gold, predicted;
};

struct EntityScores {
  double accuracy = 0.0;                         // share of tokens whose tags are equal; 0 of none
  PrecisionRecallMeans means;                    // over the types
  std::map<std::string, PrecisionRecall> types;  // that a gold or a predicted entity has
};

// Errors: those of entities_of().
EntityScores score_entities(std::span<const TaggedSentence> sentences, EntityReading reading);

formats::Json entity_scores_json(const EntityScores& scores);

}  // namespace cloze::tasks
