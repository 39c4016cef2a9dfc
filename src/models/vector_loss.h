// The loss of a model that makes vectors of texts (embedding_layers.h). It compares the vectors of a
// whole optimiser step with each other, so no micro-batch knows it: whoever trains gathers the
// vectors on the host, has the loss computed there, and gives each micro-batch its part of the
// gradient, through the input kVectorGradients of the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

namespace cloze::models {

// Names in the graph of training: the vectors, an output [B, D], and their gradient, an input [B, D] f32.
inline constexpr const char* kVectors = "embeddings";
inline constexpr const char* kVectorGradients = "embedding_gradients";

// The vectors of the texts of N samples, in the order of the step: K texts of each, such as an anchor,
// its positive and negatives. The layers after the encoder made them; they are not normalised.
struct StepVectors {
  int64_t texts = 0;              // K
  int64_t dimensions = 0;         // D
  std::span<const float> values;  // [N, K, D]
  std::span<const float>
      scores;  // [N]: how alike the texts of a sample are; not a number: not known

  int64_t samples() const { return std::ssize(scores); }
};

struct VectorLoss {
  std::string name;              // of the loss and all that it depends on: a resumed run keeps it
  int64_t texts_per_sample = 0;  // K
  // Returns the loss, and writes its gradient by each value, [N, K, D]. A function of its inputs
  // alone, in one order whatever the threads.
  std::function<double(const StepVectors& vectors, std::span<float> gradients)> compute;

  explicit operator bool() const { return compute != nullptr; }
};

}  // namespace cloze::models
