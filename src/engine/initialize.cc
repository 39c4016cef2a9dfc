#include "engine/initialize.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/philox.h"
#include "engine/normal_numbers.h"
#include "platform/thread_team.h"

namespace cloze::engine {
namespace {

constexpr double kCutDeviations = 2.0;
constexpr int kBlocksAtOnce = kNormalsAtOnce / 2;  // of Philox: each has two pairs

// FNV-1a, so that each parameter has its own stream.
uint64_t hash_of(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001b3u;
  return hash;
}

// Normal numbers (normal_numbers.h), redrawn until inside the cut. An attempt takes two words of
// the parameter's stream, so attempts are addressed by number and threads can divide them. Which
// attempts hit decides where a value goes, and is known only afterwards.
struct NormalStream {
  PhiloxKey key;
  uint64_t stream = 0;
  double deviation = 1.0;

  // Appends to `values` those of the attempts [begin, begin + count) that hit; begin is even.
  // Returns how many.
  int64_t draw(int64_t begin, int64_t count, float* values) const {
    const float* const first = values;
    UniformPairs pairs;
    NormalNumbers normals;
    for (int64_t done = 0; done < count; done += kNormalsAtOnce) {
      draw_pairs(static_cast<uint64_t>((begin + done) / 2), pairs);
      normal_numbers(pairs, normals);
      for (int i = 0; i < std::min<int64_t>(kNormalsAtOnce, count - done); ++i) {
        double normal = normals[i];
        if (may_round_otherwise(normal)) normal = normal_number(pairs.u[i], pairs.v[i]);
        if (std::abs(normal) <= kCutDeviations) *values++ = static_cast<float>(deviation * normal);
      }
    }
    return values - first;
  }

 private:
  void draw_pairs(uint64_t first_block, UniformPairs& pairs) const {
    for (int i = 0; i < kBlocksAtOnce; ++i) {
      const uint64_t block = first_block + static_cast<uint64_t>(i);
      const PhiloxCounter words =
          philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
                  static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)},
                 key);
      pairs.u[2 * i] = uniform(words[0]);
      pairs.v[2 * i] = uniform(words[1]);
      pairs.u[2 * i + 1] = uniform(words[2]);
      pairs.v[2 * i + 1] = uniform(words[3]);
    }
  }
  static float uniform(uint32_t word) { return static_cast<float>(word >> 8) * 0x1p-24f; }

  // Whether the library's number, which differs slightly, may give another value.
  bool may_round_otherwise(double normal) const {
    const double error = kNormalRelativeError * std::abs(normal) + kNormalAbsoluteError;
    return static_cast<float>(deviation * (normal - error)) !=
               static_cast<float>(deviation * (normal + error)) ||
           std::abs(std::abs(normal) - kCutDeviations) <= error;
  }
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
    case graph::Init::Kind::kUniform: {
      PhiloxStream stream(seed, hash_of(name));
      for (float& value : values) {
        value = static_cast<float>(init.spread * ((stream.next() >> 8) * 0x1p-23 - 1.0));
      }
      return;
    }
    case graph::Init::Kind::kTruncatedNormal:
      break;
  }
  const PhiloxKey key{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)};
  fill_with_normal(values, {key, hash_of(name), init.spread}, num_threads);
}

}  // namespace cloze::engine
