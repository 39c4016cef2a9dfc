#include "tasks/encoded_sequence.h"

#include "base/error.h"
#include "data/sequence.h"
#include "tasks/sequence_sample.h"

namespace cloze::tasks {
namespace {

void append_border(int32_t id, int32_t type, EncodedSequence& made) {
  made.ids.push_back(id);
  made.types.push_back(type);
  made.bytes.push_back({});
  made.is_border.push_back(1);
}

// The first `kept` tokens of a part.
void append_part(const text::Encoding& part, int64_t kept, int32_t type, EncodedSequence& made) {
  made.ids.insert(made.ids.end(), part.ids.begin(), part.ids.begin() + kept);
  made.bytes.insert(made.bytes.end(), part.offsets.begin(), part.offsets.begin() + kept);
  made.types.resize(made.ids.size(), type);
  made.is_border.resize(made.ids.size(), 0);
  made.num_invalid += part.num_invalid;
}

}  // namespace

EncodedSequence encoded_sequence(std::string_view first, std::optional<std::string_view> second,
                                 const text::Tokenizer& tokenizer, const EncodingRule& rule) {
  const text::Vocabulary& vocabulary = tokenizer.vocabulary();
  const text::Encoding one = tokenizer.encode(first);
  const text::Encoding two = second ? tokenizer.encode(*second) : text::Encoding();
  const PartLengths all{.first = std::ssize(one.ids), .second = std::ssize(two.ids)};
  const int64_t borders = rule.has_borders ? data::num_borders(second.has_value()) : 0;
  const int64_t length = rule.max_length.value_or(all.sum() + borders);
  if (length < borders) {
    throw_user_error("{} tokens hold no sequence; give {} or more", length, borders);
  }
  const PartLengths kept = kept_lengths(all, length - borders);
  EncodedSequence made{.texts = {.tokens = all.sum(), .kept = kept.sum()}};
  const auto tokens = static_cast<size_t>(kept.sum() + borders);
  made.ids.reserve(tokens);
  made.types.reserve(tokens);
  made.bytes.reserve(tokens);
  made.is_border.reserve(tokens);
  if (rule.has_borders) append_border(vocabulary.cls_id(), 0, made);
  append_part(one, kept.first, 0, made);
  if (rule.has_borders) append_border(vocabulary.sep_id(), 0, made);
  if (second) {
    append_part(two, kept.second, 1, made);
    if (rule.has_borders) append_border(vocabulary.sep_id(), 1, made);
  }
  return made;
}

}  // namespace cloze::tasks
