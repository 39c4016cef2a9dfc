// Where the sequences of a batch are, which lie end to end in its slots.
#pragma once

#include "backend/gpu/gpu.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// The slots of the sequence that a slot is in; begin = end: it is after the last one.
struct SequenceSlots {
  int64_t begin, end;
};

// starts [count + 1], ascending.
CLOZE_DEVICE SequenceSlots sequence_of(const Global<const int32_t>& starts, int64_t count,
                                       int64_t slot) {
  if (slot >= starts.load(count)) return {slot, slot};
  int64_t first = 0, end = count;  // the last sequence that does not begin after the slot
  while (end - first > 1) {
    const int64_t middle = (first + end) / 2;
    (starts.load(middle) <= slot ? first : end) = middle;
  }
  return {starts.load(first), starts.load(first + 1)};
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
