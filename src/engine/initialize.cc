#include "engine/initialize.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/philox.h"
#include "platform/thread_team.h"

namespace cloze::engine {
namespace {

constexpr double kCutDeviations = 2.0;

// FNV-1a, so that each parameter has its own stream.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// Normal numbers by Box and Muller, drawn again until inside the cut. An attempt takes two words of
// the parameter's stream, so attempts are known by their number, and threads can share them; which
// of them hits decides where the value goes, and is known afterwards.
struct NormalStream {
  PhiloxKey key;
  uint64_t stream = 0;
  double deviation = 1.0;

  // Appends to `values` those of the attempts [begin, begin + count) that hit; begin is even.
  // Returns how many.
  int64_t draw(int64_t begin, int64_t count, float* values) const {
    const float* const first = values;
    for (int64_t attempt = begin; attempt < begin + count; attempt += 2) {
      const auto block = static_cast<uint64_t>(attempt / 2);
      const PhiloxCounter words =
          philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                  static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                 key);
      for (const size_t word : {0, 2}) {
        const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform(words[word])));
        const double normal = radius * std::cos(2.0 * std::numbers::pi * uniform(words[word + 1]));
        if (std::abs(normal) > kCutDeviations) continue;
        *values++ = static_cast<float>(deviation * normal);
      }
    }
    return values - first;
  }

 private:
  static double uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }
};

// Some attempts, and what became of them.
struct Attempts {
  std::vector<float> values;
  int64_t hits = 0;
};

// Rounds of attempts, a share for each of the threads, until the values are there.
void fill_with_normal(std::span<float> values, const NormalStream& normal, int num_threads) {
  constexpr int64_t kMostAttempts = 1 << 15;  // of a share; even
  constexpr int64_t kSharesPerThread = 8;
  const auto total = std::ssize(values);
  const int64_t size = std::min(kMostAttempts, (total + total / 8 + 16) / 2 * 2);
  std::vector<Attempts> shares(static_cast<size_t>(
      std::clamp<int64_t>(total / size, 1, std::max(num_threads, 1) * kSharesPerThread)));
  for (Attempts& share : shares) share.values.resize(static_cast<size_t>(size));
  for (int64_t filled = 0, attempt = 0; filled < total;) {
    const auto draw = [&](int64_t item, int) {
      Attempts& share = shares[static_cast<size_t>(item)];
      share.hits = normal.draw(attempt + item * size, size, share.values.data());
    };
    platform::share_items(std::ssize(shares), num_threads, platform::ItemBody(draw));
    attempt += std::ssize(shares) * size;
    for (const Attempts& share : shares) {
      const int64_t taken = std::min(share.hits, total - filled);
      std::copy_n(share.values.begin(), taken, values.begin() + filled);
      filled += taken;
    }
  }
}

}  // namespace

void initialize(std::span<float> values, const graph::Init& init, std::string_view name,
                uint64_t seed, int num_threads) {
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
  const PhiloxKey key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  fill_with_normal(values, {key, hash_of(name), init.standard_deviation}, num_threads);
}

}  // namespace cloze::engine
