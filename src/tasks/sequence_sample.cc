#include "tasks/sequence_sample.h"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "data/sequence.h"
#include "platform/parallel_for.h"

namespace cloze::tasks {
namespace {

using Ids = std::vector<int32_t>;

void keep(Ids& ids, int64_t count, CutSide side) {
  const auto rest = std::ssize(ids) - count;
  ids.erase(side == CutSide::kStart ? ids.begin() : ids.begin() + count,
            side == CutSide::kStart ? ids.begin() + rest : ids.end());
}

Truncation cut(Ids& first, Ids& second, int64_t room, CutSide side) {
  const PartLengths all{.first = std::ssize(first), .second = std::ssize(second)};
  const PartLengths kept = kept_lengths(all, room);
  keep(first, kept.first, side);
  keep(second, kept.second, side);
  return {.tokens = all.sum(), .kept = kept.sum()};
}

}  // namespace

// Removing tokens from the longer text one by one ends with each text filling half of the room, the
// first perhaps with one more, or with the shorter text whole.
PartLengths kept_lengths(const PartLengths& tokens, int64_t room) {
  if (tokens.sum() <= room) return tokens;
  const int64_t second = std::min(tokens.second, std::max(room / 2, room - tokens.first));
  return {.first = room - second, .second = second};
}

void require_length(int64_t max_sequence_length, int64_t least) {
  if (max_sequence_length >= least) return;
  throw_user_error("max_seq_length is {}; it must be at least {}", max_sequence_length, least);
}

SequenceSample sequence_sample(std::string_view first, std::optional<std::string_view> second,
                               const text::Tokenizer& tokenizer, int64_t max_length, CutSide side) {
  const int64_t room = max_length - data::num_borders(second.has_value());
  CLOZE_CHECK(room >= 0, "{} tokens hold no sequence", max_length);
  const text::Vocabulary& vocabulary = tokenizer.vocabulary();
  Ids first_ids, second_ids;
  tokenizer.append_ids(first, first_ids);
  if (second) tokenizer.append_ids(*second, second_ids);
  const Truncation texts = cut(first_ids, second_ids, room, side);
  const auto part = second ? std::optional(second_ids) : std::nullopt;
  return {data::sequence_of(first_ids, part, {vocabulary.cls_id(), vocabulary.sep_id()}), texts};
}

SequenceSamples sequence_samples(int64_t count, const std::function<SequenceTexts(int64_t)>& texts,
                                 const text::Tokenizer& tokenizer, int64_t max_length,
                                 int threads) {
  SequenceSamples all{.samples = std::vector<data::Sample>(static_cast<size_t>(count))};
  std::atomic<int64_t> num_cut{0};
  platform::parallel_for(count, threads, [&](int64_t i) {
    const SequenceTexts one = texts(i);
    SequenceSample made = sequence_sample(one.first, one.second, tokenizer, max_length);
    if (made.texts.is_cut()) ++num_cut;
    all.samples[static_cast<size_t>(i)] = std::move(made.sample);
  });
  all.num_cut = num_cut;
  return all;
}

data::Sample joined_sample(std::span<const data::Sample> sequences) {
  if (sequences.size() == 1) return sequences.front();
  data::Sample sample;
  for (const data::Sample& one : sequences) {
    sample.choice_lengths.push_back(static_cast<int32_t>(one.input_ids.size()));
    std::ranges::copy(one.input_ids, std::back_inserter(sample.input_ids));
    std::ranges::copy(one.token_type_ids, std::back_inserter(sample.token_type_ids));
  }
  return sample;
}

void set_label(double label, bool is_regression, data::Sample& sample) {
  if (is_regression) {
    sample.score = static_cast<float>(label);
  } else {
    sample.class_label = static_cast<int32_t>(label);
  }
}

}  // namespace cloze::tasks
