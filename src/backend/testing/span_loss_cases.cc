// Each label is clearly right or clearly wrong: `correct` jumps where two logits are equal.
#include "ops/span_loss.h"

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

// Slots of the largest logit of a side in every second sequence, the last slot in the others; the
// last sequence is ignored when there are several.
void fill_positions(Tensor& positions, const Tensor& logits, const std::vector<double>& starts,
                    int64_t side) {
  const auto sequences = static_cast<int64_t>(positions.values.size());
  for (int64_t b = 0; b < sequences; ++b) {
    const auto first = static_cast<int64_t>(starts[b]);
    auto slot = static_cast<int64_t>(starts[b + 1]) - 1;
    for (int64_t t = first; b % 2 == 0 && t < static_cast<int64_t>(starts[b + 1]); ++t) {
      if (logits.values[2 * t + side] > logits.values[2 * slot + side]) slot = t;
    }
    positions.values[b] = static_cast<double>(slot);
  }
  if (sequences > 2) positions.values.back() = -1.0;
}

struct SpanSizes {
  std::vector<int64_t> lengths;
  int64_t tokens = 0;
  bool has_halves = false;  // the first two sequences lack one position
};

void add_cases(std::vector<KernelCase>& cases, const SpanSizes& sizes, DType dtype) {
  const auto sequences = static_cast<int64_t>(sizes.lengths.size());
  const graph::TensorType positions{DType::kI32, {sequences}};
  add_loss_and_gradient(
      cases,
      {.name = sizes.has_halves ? "one position of two" : "positions and unused slots",
       .op = &ops::kSpanLoss,
       .inputs = {{dtype, {sizes.tokens, 2}},
                  {DType::kI32, {sequences + 1}},
                  positions,
                  positions,
                  graph::kScalar},
       .summed_terms = sizes.tokens},
      {.op = &ops::kSpanLossGradient,
       .summed_terms = sizes.tokens,
       .why_zeros = "slots of no sequence, or of one that is ignored"},
      [sizes](std::vector<Tensor>& in, size_t first, Random&) {
        using Op = ops::SpanLoss;
        const std::vector<double> starts = starts_of(sizes.lengths);
        in[first + Op::kSequenceStarts].values = starts;
        for (int64_t side = 0; side < 2; ++side) {
          fill_positions(in[first + Op::kStartPositions + side], in[first + Op::kLogits], starts,
                         side);
          if (sizes.has_halves) in[first + Op::kStartPositions + side].values[side] = -1.0;
        }
        in[first + Op::kNormalizer].values = {1.0 / static_cast<double>(sizes.lengths.size())};
      });
}

}  // namespace

std::vector<KernelCase> span_loss_cases(DType dtype) {
  std::vector<KernelCase> cases;
  add_cases(cases, {{4}, 4}, dtype);
  add_cases(cases, {{7, 3, 12, 5}, 30}, dtype);
  add_cases(cases, {{7, 3, 12, 5}, 30, /*has_halves=*/true}, dtype);
  return cases;
}

std::vector<KernelCase> span_loss_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<SpanSizes> sizes;
  for (const int64_t length : extents.up_to(kSweptLength, {16, 32, 256})) {
    sizes.push_back({{length, 37}, length + 39});
  }
  SweepCases sweep;
  sweep.add_each(sizes, [&](auto& family, const SpanSizes& one) { add_cases(family, one, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
