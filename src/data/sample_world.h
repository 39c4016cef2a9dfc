// The sample world: readable English documents about invented places, people and events, made from
// a seed, so that a demonstration needs no download; and cloze items that score what was learned.
// Facts agree within a document and across all documents of a seed: a town lies on one river.
// Document i is a function of (seed, i): any number of documents, made by any number of threads,
// begins with the same ones.
// Held out: one sentence in sixteen, chosen by a hash of its text, is never written to a document;
// cloze items are made of such sentences only. What they say is told in other words elsewhere.
// Threads: all const functions may be called from several at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/sample_world/facts.h"

namespace cloze::data {

// One word to guess: `text` holds "[MASK]" once, where `answer` stood.
struct ClozeItem {
  std::string context;  // the sentences before, empty when none are needed
  std::string text;
  std::string answer;     // one word
  std::string_view kind;  // ClozeKind::name
};

// Every world has as many; beyond 1,300 some worlds run out of held-out sentences.
inline constexpr int64_t kMaxClozeItems = 1'000;

class SampleWorld {
 public:
  explicit SampleWorld(uint64_t seed);

  // The sentences of document `index` >= 0: 8 to 24.
  std::vector<std::string> document(int64_t index) const;

  // `count` different items, no answer in more than a twentieth of them (or more than once, below
  // twenty). UserError unless 0 <= count <= kMaxClozeItems.
  std::vector<ClozeItem> cloze_items(int64_t count) const;

  bool is_held_out(std::string_view sentence) const;
  const SampleFacts& facts() const { return facts_; }

 private:
  uint64_t seed_;
  SampleFacts facts_;
};

}  // namespace cloze::data
