#include "tasks/mask_filler.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "tasks/decoded_length.h"
#include "tasks/logits.h"

namespace cloze::tasks {
namespace {

constexpr size_t kShownBytes = 40;  // of a text, in errors
// The most blanks of a text: each has a row of logits as long as the vocabulary.
constexpr int64_t kMostBlanks = inference::InferenceClient::kMostPredictions;

struct SpecialToken {
  size_t position = std::string_view::npos;
  std::string_view token;  // empty: there is none
};

SpecialToken first_special_token(std::string_view text) {
  SpecialToken first;
  for (const std::string_view token : {text::kMaskToken, text::kSepToken}) {
    const size_t position = text.find(token);
    if (position < first.position) first = {position, token};
  }
  return first;
}

// The parts of a text between its special tokens.
std::vector<std::string_view> plain_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  while (true) {
    const SpecialToken special = first_special_token(text);
    parts.push_back(text.substr(0, special.position));
    if (special.token.empty()) return parts;
    text.remove_prefix(special.position + special.token.size());
  }
}

// The blanks of a text, with no candidates yet.
std::vector<Blank> blanks_of(std::string_view text, size_t index) {
  std::vector<Blank> blanks;
  int64_t code_points = 0;
  size_t begin = 0;
  for (size_t at = text.find(text::kMaskToken); at != std::string_view::npos;
       at = text.find(text::kMaskToken, begin)) {
    const size_t end = at + text::kMaskToken.size();
    const int64_t start =
        code_points + static_cast<int64_t>(decoded_length(text.substr(begin, at - begin)));
    code_points = start + std::ssize(text::kMaskToken);
    blanks.push_back({.text = index,
                      .start = start,
                      .end = code_points,
                      .bytes = {static_cast<uint32_t>(at), static_cast<uint32_t>(end)}});
    begin = end;
  }
  return blanks;
}

// 0 up to the first [SEP], 1 after it.
std::vector<int32_t> token_types(const std::vector<int32_t>& ids, int32_t sep_id) {
  std::vector<int32_t> types(ids.size(), 1);
  const auto first_part = std::find(ids.begin(), ids.end(), sep_id) - ids.begin() + 1;
  std::fill(types.begin(), types.begin() + first_part, 0);
  return types;
}

// The k largest logits with their softmax probabilities.
std::vector<Candidate> best_candidates(std::span<const float> logits,
                                       const text::Vocabulary& vocabulary, int64_t k) {
  const std::vector<double> probabilities = softmax(logits);
  std::vector<int32_t> order(std::min<size_t>(logits.size(), vocabulary.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min<int64_t>(k, static_cast<int64_t>(order.size()));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  std::vector<Candidate> candidates;
  for (auto id = order.begin(); id != end; ++id) {
    candidates.push_back(
        {.id = *id, .token = vocabulary.token(*id), .probability = probabilities[*id]});
  }
  return candidates;
}

}  // namespace

int64_t count_blanks(std::string_view text) { return std::ssize(blanks_of(text, 0)); }

MaskFiller::MaskFiller(std::shared_ptr<const inference::PackedModel> model, int num_threads)
    : client_(std::move(model), models::HeadKind::kPretraining, num_threads) {}

data::Sample MaskFiller::sample_of(const std::string& text) const {
  data::Sample sample{.input_ids = {vocabulary().cls_id()}};
  std::string_view rest = text;
  while (true) {
    const SpecialToken special = first_special_token(rest);
    tokenizer().append_ids(rest.substr(0, special.position), sample.input_ids);
    if (special.token.empty()) break;
    rest.remove_prefix(special.position + special.token.size());
    const bool is_mask = special.token == text::kMaskToken;
    if (is_mask) {
      sample.masked_positions.push_back(static_cast<int32_t>(sample.input_ids.size()));
    }
    sample.input_ids.push_back(is_mask ? vocabulary().mask_id() : vocabulary().sep_id());
  }
  if (sample.input_ids.back() != vocabulary().sep_id()) {
    sample.input_ids.push_back(vocabulary().sep_id());
  }
  sample.masked_labels.assign(sample.masked_positions.size(), 0);
  sample.token_type_ids = token_types(sample.input_ids, vocabulary().sep_id());
  check(sample, text);
  return sample;
}

void MaskFiller::check(const data::Sample& sample, const std::string& text) const {
  if (sample.masked_positions.empty()) {
    throw_user_error("there is no [MASK] in \"{}\"; put one where a word is wanted",
                     text.size() <= kShownBytes ? text : text.substr(0, kShownBytes) + "...");
  }
  if (std::ssize(sample.masked_positions) > kMostBlanks) {
    throw_user_error("\"{}...\" has {} blanks, more than {}; split it", text.substr(0, kShownBytes),
                     sample.masked_positions.size(), kMostBlanks);
  }
  const int64_t positions = client_.model().config().max_position_embeddings;
  if (std::ssize(sample.input_ids) > positions) {
    throw_user_error("\"{}...\" has {} tokens, the model has {} positions; shorten it",
                     text.substr(0, kShownBytes), sample.input_ids.size(), positions);
  }
}

std::vector<int32_t> MaskFiller::ids_of(const std::string& text) const {
  std::vector<int32_t> ids;
  tokenizer().append_ids(text, ids);
  return ids;
}

UnknownTokens MaskFiller::unknown_of(const data::Sample& sample, const std::string& text) const {
  UnknownTokens unknown;
  unknown.count(sample.input_ids, vocabulary());
  unknown.find_causes(plain_parts(text), tokenizer());
  return unknown;
}

FilledTexts MaskFiller::fill(std::span<const std::string> texts, int64_t top_k) {
  FilledTexts all;
  std::vector<data::Sample> samples;
  for (const std::string& text : texts) {
    samples.push_back(sample_of(text));
    all.unknown.push_back(unknown_of(samples.back(), text));
  }
  std::vector<std::vector<Blank>> blanks;
  for (const std::string& text : texts) blanks.push_back(blanks_of(text, blanks.size()));
  std::vector<size_t> filled(texts.size());
  client_.run(samples, [&](const data::MicroBatch& batch) {
    const std::span<const float> logits = client_.output("prediction_logits");
    const auto width = static_cast<size_t>(client_.model().config().vocab_size);
    for (int64_t p = 0; p < batch.num_predictions; ++p) {
      const auto text = static_cast<size_t>(batch.sample_ids[batch.masked_positions[p]]);
      const std::span<const float> row = logits.subspan(p * width, width);
      require_finite(row, "a blank");
      blanks[text][filled[text]++].candidates = best_candidates(row, vocabulary(), top_k);
    }
  });
  for (std::vector<Blank>& some : blanks) {
    std::move(some.begin(), some.end(), std::back_inserter(all.blanks));
  }
  return all;
}

}  // namespace cloze::tasks
