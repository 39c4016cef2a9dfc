// What to say when memory runs out while something is allocated piece by piece: records, a
// vocabulary, a corpus. Blocks whose size is planned say so themselves (platform/memory.h).
#pragma once

#include <string>

namespace cloze::cli {

// How much was asked for last, how much this process holds, and what to do. The program's own
// operator new, which is defined beside it, remembers the first.
std::string out_of_memory_message();

}  // namespace cloze::cli
