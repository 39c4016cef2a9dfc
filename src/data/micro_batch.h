// MicroBatch: what one execution of the training program reads: samples laid end to end in T token
// slots. Shapes are static (T, B, P are capacities); what is unused is marked so that it changes
// nothing: label -1 is ignored by the losses, slots after the last sequence attend to nothing.
// Inputs of the program (models/bert.h, models/bert_heads.h) have the names of the fields. A new one
// is a member and a row of for_each_field(), which says what of a sample it holds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <span>
#include <variant>
#include <vector>

#include "data/sample.h"

namespace cloze::data {

// Capacities of a micro-batch, fixed when the program is compiled.
struct MicroBatchCapacity {
  int64_t tokens = 0;       // T
  int64_t sequences = 0;    // B
  int64_t predictions = 0;  // P

  int64_t bytes() const;  // of a micro-batch's fields
  bool operator==(const MicroBatchCapacity&) const = default;
};

struct MicroBatch {
  std::vector<int32_t> input_ids;
  std::vector<int32_t> token_type_ids;
  std::vector<int32_t> position_ids;      // index inside the sequence
  std::vector<int32_t> sample_ids;        // ordinal of the sequence in the step: dropout's key
  std::vector<int32_t> sequence_starts;   // ascending; unused entries repeat the end
  std::vector<int32_t> first_tokens;      // slot of [CLS]
  std::vector<int32_t> masked_positions;  // slot in [0, T)
  std::vector<int32_t> masked_labels;
  // Weights that turn a sum over the step's predictions into the mean over its sequences (those
  // with a prediction) of the means over their predictions.
  std::vector<float> prediction_weights;
  std::vector<int32_t> num_choices;  // the sequences that a prediction chooses from; 0: none
  std::vector<int32_t> next_sentence_labels;
  std::vector<int32_t> sequence_ids;     // ordinal of the sequence in the step
  std::vector<int32_t> class_labels;     // as where unused, when not known
  std::vector<int32_t> start_positions;  // slot in [0, T); likewise
  std::vector<int32_t> end_positions;
  std::vector<float> scores;  // likewise

  int64_t num_tokens = 0;       // real ones
  int64_t num_sequences = 0;    // real ones
  int64_t num_predictions = 0;  // real ones

  MicroBatchCapacity capacity() const {
    return {std::ssize(input_ids), std::ssize(first_tokens), std::ssize(masked_positions)};
  }
  MicroBatchCapacity used() const { return {num_tokens, num_sequences, num_predictions}; }
};

// The number of values of a field: T, B, B + 1 or P.
enum class FieldExtent { kTokens, kSequences, kSequenceBorders, kPredictions };
int64_t length_of(FieldExtent extent, const MicroBatchCapacity& capacity);

template <typename T>
struct MicroBatchField {
  const char* name;  // of the program's input
  FieldExtent extent;
  std::vector<T> MicroBatch::*values;
  T unused;  // the value where nothing is
  // The sample's member that it holds: a list, or a value of the whole sequence; monostate: none.
  std::variant<std::monostate, std::vector<T> Sample::*, T Sample::*> source = {};
  bool is_slot = false;  // holds slots where the sample has positions

  bool is_list() const { return source.index() == 1; }
  std::span<const T> values_of(const Sample& sample) const {
    if (const auto* list = std::get_if<1>(&source)) return sample.**list;
    if (const auto* value = std::get_if<2>(&source)) return {&(sample.**value), 1};
    return {};
  }
};

// visit(field) for each, in the order of MicroBatch, which is that of sample_digest() too.
template <typename Visit>
void for_each_field(const Visit& visit) {
  using enum FieldExtent;
  using Batch = MicroBatch;
  using Integers = MicroBatchField<int32_t>;
  using Numbers = MicroBatchField<float>;
  constexpr bool kIsSlot = true;
  constexpr float kNoScore = std::numeric_limits<float>::quiet_NaN();
  visit(Integers{"input_ids", kTokens, &Batch::input_ids, 0, &Sample::input_ids});
  visit(Integers{"token_type_ids", kTokens, &Batch::token_type_ids, 0, &Sample::token_type_ids});
  visit(Integers{"position_ids", kTokens, &Batch::position_ids, 0});
  visit(Integers{"sample_ids", kTokens, &Batch::sample_ids, 0});
  visit(Integers{"sequence_starts", kSequenceBorders, &Batch::sequence_starts, 0});
  visit(Integers{"first_tokens", kSequences, &Batch::first_tokens, 0});
  visit(Integers{"masked_positions", kPredictions, &Batch::masked_positions, 0,
                 &Sample::masked_positions, kIsSlot});
  visit(Integers{"masked_labels", kPredictions, &Batch::masked_labels, -1, &Sample::masked_labels});
  visit(Numbers{"prediction_weights", kPredictions, &Batch::prediction_weights, 0.0f});
  visit(Integers{"num_choices", kPredictions, &Batch::num_choices, 0});
  visit(Integers{"next_sentence_labels", kSequences, &Batch::next_sentence_labels, -1,
                 &Sample::next_sentence_label});
  visit(Integers{"sequence_ids", kSequences, &Batch::sequence_ids, 0});
  visit(Integers{"class_labels", kSequences, &Batch::class_labels, -1, &Sample::class_label});
  visit(Integers{"start_positions", kSequences, &Batch::start_positions, -1,
                 &Sample::start_position, kIsSlot});
  visit(Integers{"end_positions", kSequences, &Batch::end_positions, -1, &Sample::end_position,
                 kIsSlot});
  visit(Numbers{"scores", kSequences, &Batch::scores, kNoScore, &Sample::score});
}

// All unused.
MicroBatch empty_micro_batch(const MicroBatchCapacity& capacity);

// The samples of one optimiser step, packed; and the totals that normalise its losses.
struct StepBatch {
  std::vector<MicroBatch> micro_batches;
  // The number of times that a step computes its one micro-batch of synthetic data; every step uses
  // the same one. 0 with any other data.
  int64_t synthetic_passes = 0;
  int64_t num_samples = 0;
  int64_t num_tokens = 0;
  int64_t num_sequences = 0;
  int64_t num_predictions = 0;

  // The passes of each micro-batch.
  int64_t passes() const { return std::max<int64_t>(synthetic_passes, 1); }
  // The passes of the step.
  int64_t num_passes() const { return std::ssize(micro_batches) * passes(); }
  const MicroBatch& of_pass(int64_t pass) const {
    return micro_batches[static_cast<size_t>(pass / passes())];
  }
};

}  // namespace cloze::data
