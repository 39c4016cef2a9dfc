// The layouts of packed weights, and how packed_linear is cut, on which its kernels and those of
// pack_weight (ops/packed_linear.h) agree.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "ops/packed_linear.h"

namespace cloze::backend::cpu {

// How packed_linear is cut into blocks.
struct PackedLinearPlan {
  // A block of x this high and deep, and the sums it is added to, mostly stay in the L2 cache. A
  // panel this deep does not stay in the L1 cache, but it is read in order, and sums are read less
  // often.
  static constexpr int64_t kMostRows = 192;
  static constexpr int64_t kMostDepth = 768;
};

// Panels of as many columns as our own products multiply at a time with the instruction set in use.
ops::WeightLayout panel_layout();
// Why a weight in this layout is of no use to them; empty when it is.
std::optional<std::string> refuse_other_panels(const ops::WeightLayout& layout);

// Pairs, for processors with bf16 units, which multiply two neighbours of the depth at a time.
// Source: oneDNN's layout BA16a64b2a, which its products read as it is.
inline constexpr ops::WeightLayout kPairLayout{.columns = 64, .depth = 32, .neighbours = 2};
inline constexpr int64_t kPairColumns = kPairLayout.columns;
inline constexpr int64_t kPairDepth = kPairLayout.depth;

}  // namespace cloze::backend::cpu
