// Makes vectors of texts with a model that has the layers for it (models/embedding_layers.h). A
// prompt is put before each text; what is longer than the model's maximum is cut.
//
// The vector of a text has the same bits alone and in any batch, at any place in it, on any number
// of threads and on every instruction set of f32 that the processor has.
//
// Errors: UserError for a model without these layers, or options that do not suit it; DataError for
// one whose numbers are not finite.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/sample.h"
#include "inference/inference_client.h"
#include "tasks/sequence_sample.h"
#include "tasks/truncation.h"
#include "tasks/unknown_tokens.h"

namespace cloze::tasks {

struct EmbeddingOptions {
  std::optional<std::string> prompt = {};  // put before each text; unset: the model's default
  std::optional<int64_t> dimensions = {};  // the vector's first so many; unset: all
  std::optional<bool> is_normalized = {};  // to length 1, once it is cut; unset: as the model says
  CutSide cut_side = CutSide::kEnd;        // of texts that are too long, prompt included
};

struct TextEmbedding {
  std::vector<float> values;  // [dimensions]; of tokens [tokens, hidden size]
  int64_t tokens = 0;         // with the special ones
  Truncation text;
  UnknownTokens unknown;
  double token_seconds = 0.0;  // its share of the time in which the tokens of all were made
};

class TextEmbedder {
 public:
  // `num_threads` run a batch together; 0: all processors.
  TextEmbedder(std::shared_ptr<const inference::PackedModel> model, int num_threads);

  std::vector<TextEmbedding> embed(std::span<const std::string> texts,
                                   const EmbeddingOptions& options = {});
  // The vector of each token of the texts, special ones included; prompt and cut_side are all that
  // applies.
  std::vector<TextEmbedding> embed_tokens(std::span<const std::string> texts,
                                          const EmbeddingOptions& options = {});

  const inference::PackedModel& model() const { return client_.model(); }
  int64_t dimensions() const;
  // The most tokens of a sequence, with the special ones.
  int64_t max_length() const;
  void set_observer(std::function<void(const data::MicroBatch&)> observer) {
    client_.set_observer(std::move(observer));
  }

 private:
  struct Prepared {
    std::vector<data::Sample> samples;
    std::vector<TextEmbedding> embeddings;  // yet without values
  };
  Prepared prepare(std::span<const std::string> texts, const EmbeddingOptions& options) const;
  void check(const EmbeddingOptions& options) const;

  inference::InferenceClient client_;
};

// Divides a vector by its length, computed in double; one shorter than 1e-12 is divided by that.
void normalize(std::span<float> vector);

// Says how alike two vectors are, by the name of sentence-transformers' function: cosine, dot, or minus
// the distance (euclidean, manhattan), computed in double. UserError for another name.
using Similarity = double (*)(std::span<const float> one, std::span<const float> other);
Similarity similarity_named(std::string_view name);

}  // namespace cloze::tasks
