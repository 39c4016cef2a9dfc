#include "cli/console/out_of_memory.h"

#include <fmt/core.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/byte_size.h"
#include "platform/memory.h"

namespace {

std::atomic<size_t> refused_bytes = 0;

}  // namespace

void* operator new(size_t bytes) {
  void* block = std::malloc(bytes);
  if (block != nullptr) return block;
  refused_bytes = bytes;
  throw std::bad_alloc();
}

void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, size_t) noexcept { std::free(block); }

namespace cloze::cli {

std::string out_of_memory_message() {
  return fmt::format(
      "memory ran out: {:.1f} MiB more were asked for, and this process holds {:.1f} MiB; give it "
      "less at a time (smaller files, sizes or batches, fewer threads), or more memory",
      mebibytes(refused_bytes.load()), mebibytes(platform::private_bytes()));
}

}  // namespace cloze::cli
