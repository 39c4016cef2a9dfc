#include "data/sample_world.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "data/sample_world/grammar.h"
#include "data/sample_world/scene.h"

namespace cloze::data {
namespace {

constexpr uint64_t kClozeStream = 1;
constexpr uint64_t kFirstDocumentStream = uint64_t{1} << 32;
constexpr uint32_t kHeldOutOneIn = 16;
constexpr int kMaxTellings = 12;  // tries to say something new and not held out
constexpr int64_t kMaxAnswerShare = 20;

const ClozeKind& draw_kind(PhiloxStream& stream) {
  uint32_t percent = stream.below(100);
  for (const ClozeKind& kind : cloze_kinds()) {
    if (percent < kind.percent) return kind;
    percent -= kind.percent;
  }
  CLOZE_CHECK(false, "the shares of the cloze kinds do not add up to 100");
}

// FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
uint64_t hash_text(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return hash;
}

// Writes one document: tells topic after topic, never the same sentence twice.
class DocumentWriter {
 public:
  DocumentWriter(const SampleWorld& world, uint64_t seed, int64_t index)
      : world_(world),
        stream_(seed, kFirstDocumentStream + static_cast<uint64_t>(index)),
        scene_(world.facts(), stream_) {}

  std::vector<std::string> write() {
    const DocumentPlan& plan = pick(document_plans(), stream_);
    for (const Topic* topic : plan.opening) tell(*topic);
    for (const Topic* topic : plan.body) {
      if (stream_.below(3) != 0) tell(*topic);
    }
    tell(*pick(plan.ending, stream_));
    return std::move(sentences_);
  }

 private:
  void tell(const Topic& topic) {
    for (int attempt = 0; attempt < kMaxTellings; ++attempt) {
      scene_.turn(stream_);
      auto told = expand_template(pick(topic, stream_), scene_.slots(), stream_);
      if (std::any_of(told.begin(), told.end(), [&](const Sentence& s) { return is_barred(s); })) {
        continue;
      }
      for (Sentence& sentence : told) sentences_.push_back(std::move(sentence.text));
      return;
    }
  }

  bool is_barred(const Sentence& sentence) const {
    return world_.is_held_out(sentence.text) ||
           std::find(sentences_.begin(), sentences_.end(), sentence.text) != sentences_.end();
  }

  const SampleWorld& world_;
  PhiloxStream stream_;
  Scene scene_;
  std::vector<std::string> sentences_;
};

// Draws one cloze item, or nothing when what was drawn stands in the documents or has no blank.
std::optional<ClozeItem> draw_item(const SampleWorld& world, PhiloxStream& stream) {
  const ClozeKind& kind = draw_kind(stream);
  const Topic& topic = *pick(kind.topics, stream);
  const Scene scene(world.facts(), stream);
  auto told = expand_template(pick(topic, stream), scene.slots(), stream);
  Sentence last = std::move(told.back());
  told.pop_back();
  if (last.blanks.empty() || !world.is_held_out(last.text)) return std::nullopt;

  ClozeItem item{.kind = kind.name};
  for (const Sentence& before : told) {
    if (!item.context.empty()) item.context += ' ';
    item.context += before.text;
  }
  const Blank blank = pick(last.blanks, stream);
  item.answer = last.text.substr(blank.begin, blank.size);
  item.text = last.text.replace(blank.begin, blank.size, "[MASK]");
  return item;
}

}  // namespace

SampleWorld::SampleWorld(uint64_t seed) : seed_(seed), facts_(draw_sample_facts(seed)) {}

std::vector<std::string> SampleWorld::document(int64_t index) const {
  CLOZE_CHECK(index >= 0, "document {}", index);
  return DocumentWriter(*this, seed_, index).write();
}

std::vector<ClozeItem> SampleWorld::cloze_items(int64_t count) const {
  if (count < 0 || count > kMaxClozeItems) {
    throw_user_error("{} held-out sentences asked for; a sample world gives 0 to {}", count,
                     kMaxClozeItems);
  }
  const int64_t most_per_answer = std::max<int64_t>(1, count / kMaxAnswerShare);
  PhiloxStream stream(seed_, kClozeStream);
  std::vector<ClozeItem> items;
  std::set<std::string> texts;
  std::map<std::string, int64_t> uses;
  while (std::ssize(items) < count) {
    auto item = draw_item(*this, stream);
    if (!item || uses[item->answer] >= most_per_answer) continue;
    if (!texts.insert(item->text).second) continue;
    ++uses[item->answer];
    items.push_back(*std::move(item));
  }
  return items;
}

bool SampleWorld::is_held_out(std::string_view sentence) const {
  const uint64_t hash = hash_text(sentence);
  const PhiloxCounter words =
      philox({static_cast<uint32_t>(hash), static_cast<uint32_t>(hash >> 32), 0, 0},
             {static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32)});
  return words[0] % kHeldOutOneIn == 0;
}

}  // namespace cloze::data
