#include "tasks/mask_filler.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/packer.h"
#include "formats/json.h"
#include "models/bert.h"
#include "models/hugging_face_config.h"
#include "train/micro_batch_inputs.h"
#include "train/parameter_loading.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSequencesPerMicroBatch = 64;
constexpr int64_t kBlanksPerMicroBatch = 64;

text::Tokenizer tokenizer_of(const fs::path& folder) {
  text::TokenizerOptions options;
  const fs::path settings = folder / "tokenizer_config.json";
  if (fs::exists(settings)) {
    options.lower_case = formats::read_json_file(settings).value("do_lower_case", true);
  }
  return text::Tokenizer(text::Vocabulary::load(folder / "vocab.txt"), options);
}

data::MicroBatchCapacity capacity_of(int64_t tokens) {
  return {
      .tokens = tokens, .sequences = kSequencesPerMicroBatch, .predictions = kBlanksPerMicroBatch};
}

graph::Graph inference_graph(const models::BertConfig& config, int64_t tokens) {
  graph::Graph graph;
  models::bert_for_inference(graph, config,
                             {tokens, kSequencesPerMicroBatch, kBlanksPerMicroBatch});
  return graph;
}

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

// 0 up to the first [SEP], 1 behind it.
std::vector<int32_t> token_types(const std::vector<int32_t>& ids, int32_t sep_id) {
  std::vector<int32_t> types(ids.size(), 1);
  const auto first_part = std::find(ids.begin(), ids.end(), sep_id) - ids.begin() + 1;
  std::fill(types.begin(), types.begin() + first_part, 0);
  return types;
}

// The k largest logits with their softmax probabilities.
std::vector<Candidate> best_candidates(std::span<const float> logits,
                                       const text::Vocabulary& vocabulary, int64_t k) {
  const float largest = *std::max_element(logits.begin(), logits.end());
  double sum = 0.0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit - largest));
  std::vector<int32_t> order(std::min<size_t>(logits.size(), vocabulary.size()));
  std::iota(order.begin(), order.end(), 0);
  const auto end = order.begin() + std::min<int64_t>(k, static_cast<int64_t>(order.size()));
  std::partial_sort(order.begin(), end, order.end(),
                    [&](int32_t a, int32_t b) { return logits[a] > logits[b]; });
  std::vector<Candidate> candidates;
  for (auto id = order.begin(); id != end; ++id) {
    candidates.push_back(
        {.id = *id,
         .token = vocabulary.token(*id),
         .probability = std::exp(static_cast<double>(logits[*id] - largest)) / sum});
  }
  return candidates;
}

}  // namespace

MaskFiller::MaskFiller(const fs::path& folder, const MaskFillerOptions& options)
    : config_(models::read_hugging_face_config(folder / "config.json")),
      tokenizer_(tokenizer_of(folder)),
      tokens_(std::max(options.tokens_per_micro_batch, config_.max_position_embeddings)),
      session_(inference_graph(config_, tokens_), options.compile) {
  train::load_parameters(session_, folder);
}

data::Sample MaskFiller::sample_of(const std::string& text) const {
  const text::Vocabulary& vocabulary = tokenizer_.vocabulary();
  data::Sample sample{.input_ids = {vocabulary.cls_id()}};
  std::string_view rest = text;
  while (true) {
    const SpecialToken special = first_special_token(rest);
    tokenizer_.append_ids(rest.substr(0, special.position), sample.input_ids);
    if (special.token.empty()) break;
    rest.remove_prefix(special.position + special.token.size());
    const bool is_mask = special.token == text::kMaskToken;
    if (is_mask) {
      sample.masked_positions.push_back(static_cast<int32_t>(sample.input_ids.size()));
    }
    sample.input_ids.push_back(is_mask ? vocabulary.mask_id() : vocabulary.sep_id());
  }
  if (sample.input_ids.back() != vocabulary.sep_id()) {
    sample.input_ids.push_back(vocabulary.sep_id());
  }
  sample.masked_labels.assign(sample.masked_positions.size(), 0);
  sample.token_type_ids = token_types(sample.input_ids, vocabulary.sep_id());
  check(sample, text);
  return sample;
}

void MaskFiller::check(const data::Sample& sample, const std::string& text) const {
  if (sample.masked_positions.empty()) {
    throw_user_error("there is no [MASK] in \"{}\"; put one where a word is wanted", text);
  }
  const auto length = static_cast<int64_t>(sample.input_ids.size());
  if (length > config_.max_position_embeddings) {
    throw_user_error("\"{}...\" has {} tokens, the model has {} positions; shorten it",
                     text.substr(0, 40), length, config_.max_position_embeddings);
  }
}

std::vector<int32_t> MaskFiller::ids_of(const std::string& text) const {
  std::vector<int32_t> ids;
  tokenizer_.append_ids(text, ids);
  return ids;
}

std::vector<Blank> MaskFiller::fill(std::span<const std::string> texts, int64_t top_k) {
  std::vector<Blank> blanks;
  std::vector<data::Sample> chunk;
  size_t first_text = 0;
  int64_t tokens = 0;
  int64_t masks = 0;
  const auto run_chunk = [&](size_t next_text) {
    if (!chunk.empty()) run(chunk, first_text, top_k, blanks);
    chunk.clear();
    first_text = next_text;
    tokens = masks = 0;
  };
  for (size_t i = 0; i < texts.size(); ++i) {
    data::Sample sample = sample_of(texts[i]);
    const auto length = static_cast<int64_t>(sample.input_ids.size());
    const auto count = static_cast<int64_t>(sample.masked_positions.size());
    if (tokens + length > tokens_ || masks + count > kBlanksPerMicroBatch ||
        static_cast<int64_t>(chunk.size()) == kSequencesPerMicroBatch) {
      run_chunk(i);
    }
    tokens += length;
    masks += count;
    chunk.push_back(std::move(sample));
  }
  run_chunk(texts.size());
  return blanks;
}

void MaskFiller::run(std::span<const data::Sample> samples, size_t first_text, int64_t top_k,
                     std::vector<Blank>& blanks) {
  const data::StepBatch step = data::pack(samples, capacity_of(tokens_));
  for (const data::MicroBatch& batch : step.micro_batches) {
    train::write_micro_batch(session_, batch);
    session_.run(graph::Phase::kMicroStep);
    const std::span<const float> logits = session_.values<float>("prediction_logits");
    const auto width = static_cast<size_t>(config_.vocab_size);
    for (int64_t p = 0; p < batch.num_predictions; ++p) {
      const int32_t sample = batch.sample_ids[batch.masked_positions[p]];
      blanks.push_back({first_text + static_cast<size_t>(sample),
                        best_candidates(logits.subspan(p * width, width), vocabulary(), top_k)});
    }
  }
}

}  // namespace cloze::tasks
