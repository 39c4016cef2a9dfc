#include "engine/initialize.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/philox.h"

namespace cloze::engine {
namespace {

constexpr double kCutDeviations = 2.0;

// FNV-1a, so that each parameter has its own stream.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// Normal numbers by Box and Muller, drawn again until inside the cut.
double truncated_normal(PhiloxStream& random) {
  while (true) {
    const double radius = std::sqrt(-2.0 * std::log(1.0 - random.uniform()));
    const double normal = radius * std::cos(2.0 * std::numbers::pi * random.uniform());
    if (std::abs(normal) <= kCutDeviations) return normal;
  }
}

}  // namespace

void initialize(std::span<float> values, const graph::Init& init, std::string_view name,
                uint64_t seed) {
  switch (init.kind) {
    case graph::Init::Kind::kZeros:
      std::fill(values.begin(), values.end(), 0.0f);
      return;
    case graph::Init::Kind::kOnes:
      std::fill(values.begin(), values.end(), 1.0f);
      return;
    case graph::Init::Kind::kTruncatedNormal:
      break;
  }
  PhiloxStream random(seed, hash_of(name));
  for (float& value : values) {
    value = static_cast<float>(init.standard_deviation * truncated_normal(random));
  }
}

}  // namespace cloze::engine
