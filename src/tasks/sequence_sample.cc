#include "tasks/sequence_sample.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "data/sequence.h"

namespace cloze::tasks {
namespace {

using Ids = std::vector<int32_t>;

// Removing tokens from the longer text one by one ends with each text filling half of the room, the
// first perhaps with one more, or with the shorter text whole.
Truncation cut(Ids& first, Ids& second, int64_t room) {
  const int64_t tokens = std::ssize(first) + std::ssize(second);
  if (tokens <= room) return {.tokens = tokens, .kept = tokens};
  const int64_t left = std::max(room / 2, room - std::ssize(first));
  second.resize(static_cast<size_t>(std::min(std::ssize(second), left)));
  first.resize(static_cast<size_t>(room - std::ssize(second)));
  return {.tokens = tokens, .kept = room};
}

}  // namespace

SequenceSample sequence_sample(std::string_view first, std::optional<std::string_view> second,
                               const text::Tokenizer& tokenizer, int64_t max_length) {
  const int64_t room = max_length - data::num_borders(second.has_value());
  CLOZE_CHECK(room >= 0, "{} tokens hold no sequence", max_length);
  const text::Vocabulary& vocabulary = tokenizer.vocabulary();
  Ids first_ids, second_ids;
  tokenizer.append_ids(first, first_ids);
  if (second) tokenizer.append_ids(*second, second_ids);
  const Truncation texts = cut(first_ids, second_ids, room);
  const auto part = second ? std::optional(second_ids) : std::nullopt;
  return {data::sequence_of(first_ids, part, {vocabulary.cls_id(), vocabulary.sep_id()}), texts};
}

}  // namespace cloze::tasks
