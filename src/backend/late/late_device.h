// The late device: the walled device with streams that are late. What a stream is given waits in
// its queue until somebody needs it: a copy out, finish(), an event, memory to be freed. Then a
// thread takes work from the head of that queue alone or of all, in random order, until it is done.
//
// So a program that gives the right numbers here, with many seeds, waits wherever it has to. What
// it finds: two streams whose order nobody laid down; a source of begin_copy_in() that changes
// before it is copied; a target of begin_copy_out() that is read too early; launches that end
// before they have run; values used on another stream before they were finished. For tests, and
// slower than the walled device.
#pragma once

#include <cstdint>

#include "backend/device.h"

namespace cloze::backend::late {

// `seed`: of the order in which streams come to their turn. There is one device per seed.
Device& device(uint64_t seed);
// The seed is in the environment variable CLOZE_LATE_SEED; 0 when it is not set.
Device& device();

}  // namespace cloze::backend::late
