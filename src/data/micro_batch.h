// MicroBatch: what one execution of the training program reads: samples laid end to end in T token
// slots. Shapes are static (T, B, P are capacities); what is unused is marked so that it changes
// nothing: label -1 is ignored by the losses, slots after the last sequence attend to nothing.
// The field names are the names of the program's inputs (models/bert.h, models/bert_heads.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <vector>

namespace cloze::data {

// Capacities of a micro-batch, fixed when the program is compiled.
struct MicroBatchCapacity {
  int64_t tokens = 0;       // T
  int64_t sequences = 0;    // B
  int64_t predictions = 0;  // P

  // Of a micro-batch's arrays: four of T values, seven of B, one of B + 1 and three of P.
  int64_t bytes() const {
    const int64_t values = 4 * tokens + 8 * sequences + 1 + 3 * predictions;
    return values * static_cast<int64_t>(sizeof(int32_t));
  }
  bool operator==(const MicroBatchCapacity&) const = default;
};

struct MicroBatch {
  std::vector<int32_t> input_ids;         // [T]    0 in unused slots
  std::vector<int32_t> token_type_ids;    // [T]
  std::vector<int32_t> position_ids;      // [T]    index inside the sequence
  std::vector<int32_t> sample_ids;        // [T]    ordinal of the sample in the step: dropout's key
  std::vector<int32_t> sequence_starts;   // [B+1]  ascending; unused entries repeat the end
  std::vector<int32_t> first_tokens;      // [B]    slot of [CLS]; 0 when unused
  std::vector<int32_t> masked_positions;  // [P]    slot in [0, T); 0 when unused
  std::vector<int32_t> masked_labels;     // [P]    -1 when unused
  // [P]    weights that turn a sum over the step's predictions into the mean over its sequences
  // (those with a prediction) of the means over their predictions; 0 when unused
  std::vector<float> prediction_weights;
  std::vector<int32_t> next_sentence_labels;  // [B]    -1 when unused
  std::vector<int32_t> sequence_ids;     // [B]    ordinal of the sample in the step; 0 when unused
  std::vector<int32_t> class_labels;     // [B]    -1 when unused or not known
  std::vector<float> scores;             // [B]    not a number when unused or not known
  std::vector<int32_t> start_positions;  // [B]    slot in [0, T); -1 when unused or not known
  std::vector<int32_t> end_positions;    // [B]

  int64_t num_tokens = 0;       // real ones
  int64_t num_sequences = 0;    // real ones
  int64_t num_predictions = 0;  // real ones

  MicroBatchCapacity capacity() const {
    return {std::ssize(input_ids), std::ssize(first_tokens), std::ssize(masked_positions)};
  }
};

// The samples of one optimiser step, packed; and the totals that normalise its losses.
struct StepBatch {
  std::vector<MicroBatch> micro_batches;
  // With synthetic data, how often the step computes its one micro-batch; every step uses the same
  // one. 0 with any other data.
  int64_t synthetic_passes = 0;
  int64_t num_tokens = 0;
  int64_t num_sequences = 0;
  int64_t num_predictions = 0;

  // Of each micro-batch.
  int64_t passes() const { return std::max<int64_t>(synthetic_passes, 1); }
  // Of the step.
  int64_t num_passes() const { return std::ssize(micro_batches) * passes(); }
  const MicroBatch& of_pass(int64_t pass) const {
    return micro_batches[static_cast<size_t>(pass / passes())];
  }
};

}  // namespace cloze::data
