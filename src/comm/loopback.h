// Ranks that are threads of one process: for tests.
#pragma once

#include <functional>

#include "comm/communicator.h"

namespace cloze::comm {

// Runs body(communicator) in `size` threads, one a rank, and waits for them. What a rank throws is
// thrown here; the others then throw in their next call.
void run_loopback(int size, const std::function<void(Communicator&)>& body);

}  // namespace cloze::comm
