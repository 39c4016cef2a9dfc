// The layers that make one vector of a text from its hidden states, as sentence-transformers has
// them:
//
//   pooling      [T, H] -> [B, M H]   one row for each of M modes (ops/pooling.h), side by side
//   dense, each  [B, in] -> [B, out]  x weight^T + bias, then tanh or nothing
//   normalise    x / max(|x|, 1e-12)  done by whoever takes the vectors (tasks/text_embedder.h):
//                                     a caller may want them shorter, or as they are
//
// Source: sentence_transformers/models: Pooling, Dense, Normalize.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/pooling.h"

namespace cloze::models {

struct DenseLayer {
  std::string
      name;  // of its folder, "2_Dense"; its parameters are "2_Dense.linear.weight", "...bias"
  int64_t in_features = 0;
  int64_t out_features = 0;
  bool has_bias = true;
  bool has_tanh = true;

  bool operator==(const DenseLayer&) const = default;
};

struct EmbeddingLayers {
  std::vector<ops::PoolingMode> pooling{ops::PoolingMode::kMean};
  std::vector<DenseLayer> dense = {};
  bool is_normalized = false;  // vectors have length 1

  // The numbers of a vector, of a model with so many in its hidden states.
  int64_t dimensions(int64_t hidden_size) const {
    return dense.empty() ? hidden_size * std::ssize(pooling) : dense.back().out_features;
  }
  bool operator==(const EmbeddingLayers&) const = default;
};

}  // namespace cloze::models
