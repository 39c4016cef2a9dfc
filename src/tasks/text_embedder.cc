#include "tasks/text_embedder.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "tasks/dot_product.h"
#include "tasks/logits.h"

namespace cloze::tasks {
namespace {

double cosine(std::span<const float> one, std::span<const float> other) {
  constexpr double kLeast = 1e-12;
  const double lengths = std::max(std::sqrt(dot_product<float>(one, one)), kLeast) *
                         std::max(std::sqrt(dot_product<float>(other, other)), kLeast);
  return dot_product<float>(one, other) / lengths;
}

double minus_euclidean(std::span<const float> one, std::span<const float> other) {
  double sum = 0.0;
  for (size_t i = 0; i < one.size(); ++i) {
    const double difference = static_cast<double>(one[i]) - other[i];
    sum += difference * difference;
  }
  return -std::sqrt(sum);
}

double minus_manhattan(std::span<const float> one, std::span<const float> other) {
  double sum = 0.0;
  for (size_t i = 0; i < one.size(); ++i) sum += std::abs(static_cast<double>(one[i]) - other[i]);
  return -sum;
}

}  // namespace

void normalize(std::span<float> vector) {
  constexpr double kLeast = 1e-12;
  const double length = std::max(std::sqrt(dot_product<float>(vector, vector)), kLeast);
  for (float& value : vector) value = static_cast<float>(value / length);
}

Similarity similarity_named(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Similarity>, 4> kKnown{
      {{"cosine", cosine},
       {"dot", dot_product<float>},
       {"euclidean", minus_euclidean},
       {"manhattan", minus_manhattan}}};
  for (const auto& [known, function] : kKnown) {
    if (known == name) return function;
  }
  throw_user_error("similarity is {}; known are cosine, dot, euclidean, manhattan", name);
}

TextEmbedder::TextEmbedder(std::shared_ptr<const inference::PackedModel> model, int num_threads)
    : client_(std::move(model), models::HeadKind::kEmbedding, num_threads) {}

int64_t TextEmbedder::dimensions() const {
  return model().head().embedding.dimensions(model().config().hidden_size);
}

int64_t TextEmbedder::max_length() const {
  return model().pretrained().sentences.max_length.value_or(
      model().config().max_position_embeddings);
}

void TextEmbedder::check(const EmbeddingOptions& options) const {
  if (!options.dimensions) return;
  if (*options.dimensions < 1 || *options.dimensions > dimensions()) {
    throw_user_error("dimensions is {}; the model's vectors have 1 to {}", *options.dimensions,
                     dimensions());
  }
}

TextEmbedder::Prepared TextEmbedder::prepare(std::span<const std::string> texts,
                                             const EmbeddingOptions& options) const {
  check(options);
  const auto begin = std::chrono::steady_clock::now();
  const text::Tokenizer& tokenizer = model().tokenizer();
  const std::string& prompt =
      options.prompt ? *options.prompt : model().pretrained().sentences.default_text();
  Prepared prepared;
  for (const std::string& text : texts) {
    const std::string whole = prompt + text;
    SequenceSample made =
        sequence_sample(whole, std::nullopt, tokenizer, max_length(), options.cut_side);
    TextEmbedding& embedding = prepared.embeddings.emplace_back();
    embedding.tokens = std::ssize(made.sample.input_ids);
    embedding.text = made.texts;
    embedding.unknown.count(made.sample.input_ids, tokenizer.vocabulary());
    embedding.unknown.find_causes(std::array<std::string_view, 1>{whole}, tokenizer);
    prepared.samples.push_back(std::move(made.sample));
  }
  const double seconds = seconds_since(begin) / static_cast<double>(texts.size());
  for (TextEmbedding& one : prepared.embeddings) one.token_seconds = seconds;
  return prepared;
}

std::vector<TextEmbedding> TextEmbedder::embed(std::span<const std::string> texts,
                                               const EmbeddingOptions& options) {
  Prepared prepared = prepare(texts, options);
  const auto kept = static_cast<size_t>(options.dimensions.value_or(dimensions()));
  const bool normalizes = options.is_normalized.value_or(model().head().embedding.is_normalized);
  client_.run_each(prepared.samples, [&](size_t sample, std::span<const float> vector) {
    require_finite(vector, "a text");
    std::vector<float>& values = prepared.embeddings[sample].values;
    values.assign(vector.begin(), vector.begin() + static_cast<ptrdiff_t>(kept));
    if (normalizes) normalize(values);
  });
  return std::move(prepared.embeddings);
}

std::vector<TextEmbedding> TextEmbedder::embed_tokens(std::span<const std::string> texts,
                                                      const EmbeddingOptions& options) {
  Prepared prepared = prepare(texts, options);
  const int64_t width = model().config().hidden_size;
  client_.run(prepared.samples, [&](const data::MicroBatch& batch) {
    const std::span<const float> rows = client_.output("token_embeddings");
    require_finite(rows.first(static_cast<size_t>(batch.num_tokens * width)), "a text");
    for (int64_t b = 0; b < batch.num_sequences; ++b) {
      const int64_t first = batch.sequence_starts[b] * width;
      const int64_t end = batch.sequence_starts[b + 1] * width;
      const std::span<const float> own = rows.subspan(first, end - first);
      prepared.embeddings[batch.sequence_ids[b]].values.assign(own.begin(), own.end());
    }
  });
  return std::move(prepared.embeddings);
}

}  // namespace cloze::tasks
