#include "backend/gpu/emulation/seed.h"

#include <atomic>

#include "base/philox.h"

namespace cloze::backend::gpu::emulation {
namespace {

std::atomic<uint64_t> g_seed = 0;
std::atomic<uint32_t> g_drawn = 0;

}  // namespace

void set_seed(uint64_t seed) {
  g_seed = seed;
  g_drawn = 0;
}

uint64_t draw_seed() {
  const uint64_t seed = g_seed;
  const PhiloxCounter words = philox(
      {g_drawn++, 0, 0, 0}, {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return uint64_t{words[0]} << 32 | words[1];
}

}  // namespace cloze::backend::gpu::emulation
