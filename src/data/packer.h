// Packer: lays the samples of a step end to end in as few micro-batches as it can.
//
//   before   samples 0..5 of 7, 3, 5, 2, 6, 1 tokens, capacity T = 12
//   after    |0 0 0 0 0 0 0|2 2 2 2 2|   |4 4 4 4 4 4|1 1 1|3 3|5|
//
// Longest sample first, each into the micro-batch that it fills best (best-fit decreasing; ties go
// to the earlier one) and whose places for sequences and predictions suffice. Best fit leaves the
// short samples to the last micro-batches, which may run out of places for sequences before they
// are full. So if the totals of the step would fit into fewer micro-batches, fewer are tried: the
// longer half of the samples goes where most room is left, the shorter half closes the gaps.
// Inside a micro-batch samples are in the order of the step. Rounding aside, the packing of a step
// changes only its time: losses are normalised by the totals of the step, and dropout is keyed by
// the number of the sequence in the step. The sequences of a sample stay together.
//
// Errors: UserError when one sample alone is over a capacity.
#pragma once

#include <cstdint>
#include <span>

#include "data/micro_batch.h"
#include "data/sample.h"

namespace cloze::data {

StepBatch pack(std::span<const Sample> samples, const MicroBatchCapacity& capacity);

}  // namespace cloze::data
