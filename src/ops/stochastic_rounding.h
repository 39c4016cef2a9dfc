// stochastic_rounding: rounds every element of a parameter to one of the two neighbouring bf16
// numbers. The nearer one is more likely, so that the result is right on average. Thus an update
// smaller than half a step of bf16 is not lost: it moves some of many weights by a whole step.
//
// Inputs:  parameter f32, mutated;  gradient_scale [1] f32: 0 says that nothing moves in this step
//          (ops/optimizer_update.h);  random_key [2] i32: seed, step
//   low = the last 16 of the parameter's 32 bits;  r = random number of the element in [0, 65536)
//   away from 0 when low + r >= 65536, else towards 0: away with the probability low / 65536
// A bf16 number stays what it is, whatever r is, and so do infinity and NaN. A number above the
// largest bf16, 3.39e38, may become infinity.
//
// r is that of ops/dropout_mask.h for the parameter as one row of a sample that no step has: a
// function of (seed, step, site, element).
// Source: Gupta et al., arXiv 1502.02551; Zamirai et al., arXiv 2010.06192 for bf16 weights.
#pragma once

#include <bit>

#include "graph/graph.h"
#include "ops/dropout_mask.h"

namespace cloze::ops {

inline constexpr uint32_t kSampleOfRounding = 0xffffffffu;

struct StochasticRoundingAttributes {
  int32_t site = 0;  // a different one for every parameter
};

struct StochasticRounding {
  enum Input { kParameter, kGradientScale, kRandomKey };
};

extern const graph::OpDefinition kStochasticRounding;

inline float stochastically_rounded(float value, uint32_t number) {
  const uint32_t word = std::bit_cast<uint32_t>(value);
  const bool is_finite = (word & 0x7f800000u) != 0x7f800000u;
  return is_finite ? std::bit_cast<float>((word + number) & 0xffff0000u) : value;
}

}  // namespace cloze::ops
