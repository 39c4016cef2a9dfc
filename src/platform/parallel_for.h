// parallel_for: the same work on many items, shared out over threads one item at a time.
#pragma once

#include <cstdint>
#include <functional>

namespace cloze::platform {

// Calls body(i) once for each i in [0, count), on up to `threads` threads, and returns when all
// are done. The first exception stops handing out items and is thrown again here.
void parallel_for(int64_t count, int threads, const std::function<void(int64_t)>& body);

}  // namespace cloze::platform
