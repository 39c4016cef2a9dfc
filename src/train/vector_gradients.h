// The first half of a step whose loss compares the vectors of all its texts (models/vector_loss.h):
//
//   each micro-batch  forward, up to its vectors  ->  the host
//   the step          loss and its gradient by each vector, the same on every rank
//   each micro-batch  forward again and backward, from its part of that gradient (the other half)
//
// A rank with one micro-batch goes on where it is, instead of forward again.
//
// Both forward passes compute the same bits, dropout included: its masks are a function of step and
// sequence. So the gradient is that of the whole step, whatever the micro-batches and the ranks.
// Source: Gao, Zhang, Han and Callan, arXiv 2101.06983 (GradCache).
//
// Errors: what the communicator throws; Interruption between two micro-batches when a signal asks to
// stop, of one rank alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "comm/communicator.h"
#include "feed/step_inputs.h"
#include "models/vector_loss.h"

namespace cloze::train {

class VectorGradients {
 public:
  // The ranks, each with all of the model, outlive it.
  VectorGradients(models::VectorLoss loss, comm::Communicator& ranks);

  // Returns the loss of the step, and gives the inputs its gradients.
  double compute(feed::StepInputs& inputs);
  // The launches of this rank's only micro-batch that have run; 0 where it has several.
  size_t launches_done() const { return launches_done_; }

 private:
  struct Row {
    int64_t number = 0;  // of the text in the step
    float score = 0.0f;  // of its sample, where it is the first text of that
    std::span<const float> values;
  };
  // The texts of a step, in the order of the step; a probe's step has not all.
  struct Texts {
    size_t dimensions = 0;
    std::vector<int64_t> numbers;
    std::vector<float> values;  // a row for each
    std::vector<float> scores;  // of each sample
  };
  std::vector<float> own_vectors(feed::StepInputs& inputs);
  std::vector<Row> rows_of(int rank, std::span<const float> values,
                           const feed::StepInputs& inputs) const;
  Texts gather(feed::StepInputs& inputs);

  models::VectorLoss loss_;
  comm::Communicator& ranks_;
  size_t launches_done_ = 0;
};

}  // namespace cloze::train
