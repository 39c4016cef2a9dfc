#include "ops/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"
#include "backend/testing/run_kernel.h"

namespace cloze::backend::testing {
namespace {

struct AttentionSizes {
  std::string name;
  std::vector<int64_t> lengths;
  int64_t unused_slots = 0, heads = 1, head_size = 1;
  std::string why_zeros = "";
  bool is_bounded = true;  // by the longest length; false: only by the number of slots

  int64_t used_slots() const { return std::accumulate(lengths.begin(), lengths.end(), int64_t{0}); }
  int64_t slots() const { return used_slots() + unused_slots; }
  int64_t longest() const { return *std::max_element(lengths.begin(), lengths.end()); }
};

std::vector<AttentionSizes> attention_sizes() {
  return {{"one slot", {1}, 0, 1, 1, "one slot attends to itself whatever the score"},
          {"empty sequences", {5, 0, 7, 0}, 3, 1, 3},
          {"no bound but all slots", {5, 8, 7, 0}, 3, 1, 3, "", false},
          {"prime sizes", {17, 31, 1}, 5, 3, 8},
          {"one long", {131}, 2, 2, 16},
          {"ranges of queries, full and with one more", {70, 73, 84, 85, 141, 144, 216}, 3, 1, 8},
          {"wide heads", {20, 44}, 0, 2, 64},
          {"tiles of 64, full and with one more", {64, 65, 1, 0, 129}, 70, 2, 64},
          {"no sequences", {0, 0}, 4, 2, 4, "all slots are unused"}};
}

constexpr int64_t kTiledLength = 140;  // past two tiles of the kernels that multiply matrices
constexpr int64_t kDrawnLength = 512;  // whose masks they draw once for all tiles

// sequence_starts, sample_ids and random_key, which are consecutive inputs from `first` on.
void fill_sequences(std::vector<Tensor>& inputs, size_t first, const AttentionSizes& sizes,
                    Random& random) {
  inputs[first].values = starts_of(sizes.lengths);
  fill_below(inputs[first + 1], random, 1 << 30);
  inputs[first + 2].values = {-static_cast<double>(random.below(1 << 30)), 3.0};
}

KernelCase forward_case(const AttentionSizes& sizes, double rate, DType dtype) {
  const int64_t batch = static_cast<int64_t>(sizes.lengths.size());
  ops::AttentionAttributes attributes{.num_heads = sizes.heads, .rate = rate, .site = 9};
  if (sizes.is_bounded) attributes.max_length = sizes.longest();
  const graph::TensorType x{dtype, {sizes.slots(), sizes.heads * sizes.head_size}};
  return {
      .name = fmt::format("{}, rate {}, heads {}", sizes.name, rate, sizes.heads),
      .op = &ops::kAttention,
      .attributes = attributes,
      .inputs =
          {x, x, x, {DType::kI32, {batch + 1}}, {DType::kI32, {sizes.slots()}}, {DType::kI32, {2}}},
      .prepare =
          [sizes](auto& inputs, Random& random) {
            fill_sequences(inputs, ops::Attention::kSequenceStarts, sizes, random);
          },
      .summed_terms = std::max(sizes.longest(), sizes.head_size),
      .through_storage = {ops::Attention::kContext},
      .why_zeros = sizes.why_zeros};
}

KernelCase gradient_case(const AttentionSizes& sizes, double rate, DType dtype) {
  const KernelCase forward = forward_case(sizes, rate, dtype);
  const graph::TensorType& x = forward.inputs[ops::Attention::kQ];
  const graph::TensorType log_sum_exp{DType::kF32, {sizes.slots(), sizes.heads}};
  std::vector<graph::TensorType> inputs{x, x, x, x, x, log_sum_exp};
  inputs.insert(inputs.end(), forward.inputs.begin() + ops::Attention::kSequenceStarts,
                forward.inputs.end());
  const auto prepare = [sizes, attributes = forward.attributes](std::vector<Tensor>& inputs,
                                                                Random& random) {
    using Op = ops::AttentionGradient;
    fill_sequences(inputs, Op::kSequenceStarts, sizes, random);
    const auto outputs = apply_in_double(
        ops::kAttention, attributes,
        {inputs[Op::kQ], inputs[Op::kK], inputs[Op::kV], inputs[Op::kSequenceStarts],
         inputs[Op::kSampleIds], inputs[Op::kRandomKey]});
    inputs[Op::kContext].values = outputs[ops::Attention::kContext].values;
    inputs[Op::kLogSumExp].values = outputs[ops::Attention::kLogSumExp].values;
  };
  return {.name = forward.name,
          .op = &ops::kAttentionGradient,
          .attributes = forward.attributes,
          .inputs = inputs,
          .prepare = prepare,
          .summed_terms = forward.summed_terms,
          .through_storage = {ops::AttentionGradient::kDq, ops::AttentionGradient::kDk,
                              ops::AttentionGradient::kDv},
          .why_zeros = sizes.why_zeros};
}

void add_cases(std::vector<KernelCase>& cases, const AttentionSizes& sizes, DType dtype) {
  for (const double rate : {0.0, 0.1}) {
    cases.push_back(forward_case(sizes, rate, dtype));
    cases.push_back(gradient_case(sizes, rate, dtype));
  }
}

}  // namespace

std::vector<KernelCase> attention_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const AttentionSizes& sizes : attention_sizes()) add_cases(cases, sizes, dtype);
  return cases;
}

// Every length alone, filling all slots; every length with others, where the space is that of the
// longest, more than some sequences need and less than all slots; the same with heads that products
// of matrices serve; and every head size.
std::vector<KernelCase> attention_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<AttentionSizes> all;
  for (const int64_t length : extents.up_to(kSweptLength, {16, 32, 42, 72, 84})) {
    all.push_back({"one", {length}, 0, 1, 1 + length % 8});
    const int64_t other = 1 + length * 37 % 97;
    all.push_back({"mixed", {other, length, 0, 3}, length % 4, 2, 1 + length % 5});
  }
  for (const int64_t length : extents.up_to(kTiledLength, {64})) {
    const int64_t head_size = length % 2 == 0 ? 32 : 64;
    all.push_back({"tiles", {1 + length * 37 % 97, length, 0, 3}, length % 4, 1, head_size});
  }
  all.push_back({"more keys than a tile's masks", {kDrawnLength + 1}, 0, 1, 32});
  for (const int64_t head_size : extents.up_to(kSweptHeadSize, {16, 32, 64})) {
    all.push_back({"heads", {9, 23}, 1, 2, head_size});
  }
  SweepCases sweep;
  sweep.add_each(
      all, [&](auto& family, const AttentionSizes& sizes) { add_cases(family, sizes, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
