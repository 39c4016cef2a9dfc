#include "conformance.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <random>

#include "device.h"
#include "row.h"

namespace cloze::cuda_probe {
namespace {

constexpr int64_t kCount = 128 * kPrimitiveMultiple;

// The place of a number among all numbers of its type; both zeros have one.
int64_t place_of(float x) {
  const auto bits = std::bit_cast<int32_t>(x);
  return bits < 0 ? -int64_t{bits & 0x7fffffff} : bits;
}
int64_t place_of(double x) {
  const auto bits = std::bit_cast<int64_t>(x);
  return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
}

template <typename T>
bool is_within(T one, T other, uint64_t units) {
  if (std::isnan(one) || std::isnan(other)) return std::isnan(one) && std::isnan(other);
  const int64_t low = std::min(place_of(one), place_of(other)),
                high = std::max(place_of(one), place_of(other));
  return static_cast<uint64_t>(high) - static_cast<uint64_t>(low) <= units;
}

float as_float(uint64_t word) { return std::bit_cast<float>(static_cast<uint32_t>(word)); }

// A third has any bits, a third is of normal size, the rest is small whole numbers, zeros, infinities and NaN.
std::vector<uint32_t> draw_words(uint32_t seed) {
  constexpr float kSpecial[] = {0.0f,       -0.0f,    1.0f,      -1.0f, 2.0f,  3.0f,  0x1p-149f,
                                -0x1p-126f, INFINITY, -INFINITY, NAN,   88.5f, -87.5f};
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<uint32_t> words(kCount);
  for (auto& word : words) {
    const uint32_t kind = random() % 3;
    word = kind == 0   ? static_cast<uint32_t>(random())
           : kind == 1 ? std::bit_cast<uint32_t>(normal(random))
                       : std::bit_cast<uint32_t>(kSpecial[random() % std::size(kSpecial)]);
  }
  return words;
}

struct Words {
  std::vector<uint32_t> a = draw_words(1), b = draw_words(2), c = draw_words(3);
};

std::vector<uint64_t> run_emulated(const Primitive& primitive, const Words& words) {
  std::vector<uint64_t> y(kCount, ~uint64_t{0});
  primitive.run({words.a.data(), words.b.data(), words.c.data(), y.data(), kCount});
  return y;
}

std::vector<uint64_t> run_on_card(const Primitive& primitive, const Words& words) {
  const auto a = to_card(words.a), b = to_card(words.b), c = to_card(words.c);
  const auto y = to_card(std::vector<uint64_t>(kCount, ~uint64_t{0}));
  primitive.run({static_cast<const uint32_t*>(a.data()), static_cast<const uint32_t*>(b.data()),
                 static_cast<const uint32_t*>(c.data()), static_cast<uint64_t*>(y.data()), kCount});
  return from_card<uint64_t>(y);
}

std::string hexadecimal(uint64_t word) {
  char text[17];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(word));
  return text;
}

// Writes a row. Says whether all results are the same.
bool compare(const Primitive& primitive, const Words& words, const std::vector<uint64_t>& card,
             const std::vector<uint64_t>& emulated) {
  int64_t different = 0, first = 0;
  for (int64_t i = kCount - 1; i >= 0; --i) {
    if (is_same(primitive, card[i], emulated[i])) continue;
    ++different;
    first = i;
  }
  Row row("primitive");
  row.add("name", primitive.name)
      .add("results", kCount)
      .add("different", different)
      .add("passes", different == 0);
  if (different > 0) {
    row.add("a", hexadecimal(words.a[first]))
        .add("b", hexadecimal(words.b[first]))
        .add("c", hexadecimal(words.c[first]));
    row.add("card", hexadecimal(card[first])).add("emulated", hexadecimal(emulated[first]));
  }
  row.write();
  return different == 0;
}

}  // namespace

bool is_same(const Primitive& primitive, uint64_t one, uint64_t other) {
  switch (primitive.compared) {
    case Compared::kFloat:
      return is_within(as_float(one), as_float(other), primitive.units);
    case Compared::kDouble:
      return is_within(std::bit_cast<double>(one), std::bit_cast<double>(other), primitive.units);
    case Compared::kBits:
      return one == other;
  }
  return false;
}

int check_primitives() {
  const Words words;
  const auto on_card = card::primitives(), emulated = emulated::primitives();
  int different = 0;
  for (size_t i = 0; i < on_card.size(); ++i) {
    const auto got = run_on_card(on_card[i], words);
    different += !compare(on_card[i], words, got, run_emulated(emulated[i], words));
  }
  return different;
}

}  // namespace cloze::cuda_probe
