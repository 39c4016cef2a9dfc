#include "ops/embedding.h"

#include "backend/testing/case_inputs.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/kernel_sweep.h"

namespace cloze::backend::testing {
namespace {

struct EmbeddingSizes {
  std::string name;
  std::vector<int64_t> lengths;
  int64_t slots = 0, vocabulary = 0, positions = 0, hidden = 0;
  std::string why_zeros = "";
};

std::vector<EmbeddingSizes> embedding_sizes() {
  return {{"one", {1}, 1, 1, 1, 1},
          {"empty sequences", {3, 0, 4, 0}, 9, 2, 2, 13},
          {"full", {30, 34}, 64, 11, 34, 128},
          {"sparse", {20, 17}, 40, 101, 64, 33, "rows that were not read get no gradient"},
          {"no sequences", {0, 0}, 5, 7, 3, 5, "all slots are unused"}};
}

void fill_ids(std::vector<Tensor>& inputs, size_t first, const EmbeddingSizes& sizes,
              Random& random) {
  fill_below(inputs[first], random, sizes.vocabulary);
  fill_below(inputs[first + 1], random, 2);
  fill_below(inputs[first + 2], random, sizes.positions);
}

void add_cases(std::vector<KernelCase>& cases, const EmbeddingSizes& sizes, DType dtype) {
  const graph::TensorType ids{DType::kI32, {sizes.slots}};
  const graph::TensorType starts{DType::kI32, {static_cast<int64_t>(sizes.lengths.size()) + 1}};
  const graph::TensorType dy{dtype, {sizes.slots, sizes.hidden}};
  const auto table = [&](int64_t rows) {
    return graph::TensorType{DType::kF32, {rows, sizes.hidden}};
  };
  cases.push_back(
      {.name = sizes.name,
       .op = &ops::kEmbedding,
       .attributes = ops::EmbeddingAttributes{dtype},
       .inputs = {ids, ids, ids, table(sizes.vocabulary), table(2), table(sizes.positions), starts},
       .prepare =
           [sizes](auto& inputs, Random& random) {
             fill_ids(inputs, ops::Embedding::kInputIds, sizes, random);
             inputs[ops::Embedding::kSequenceStarts].values = starts_of(sizes.lengths);
           },
       .summed_terms = 3});
  cases.push_back(
      {.name = sizes.name,
       .op = &ops::kEmbeddingGradient,
       .attributes = ops::EmbeddingGradientAttributes{sizes.vocabulary, 2, sizes.positions},
       .inputs = {dy, ids, ids, ids, starts},
       .prepare =
           [sizes](auto& inputs, Random& random) {
             fill_ids(inputs, ops::EmbeddingGradient::kInputIds, sizes, random);
             inputs[ops::EmbeddingGradient::kSequenceStarts].values = starts_of(sizes.lengths);
           },
       .summed_terms = sizes.slots,
       .why_zeros = sizes.slots == 1 ? "one slot reads one row" : sizes.why_zeros});
}

// Two sequences and two unused slots, with as many words and positions as the second has slots.
EmbeddingSizes swept(int64_t first, int64_t second, int64_t hidden) {
  return {"swept", {first, second}, first + second + 2, second, second, hidden};
}

}  // namespace

std::vector<KernelCase> embedding_cases(DType dtype) {
  std::vector<KernelCase> cases;
  for (const EmbeddingSizes& sizes : embedding_sizes()) add_cases(cases, sizes, dtype);
  return cases;
}

std::vector<KernelCase> embedding_sweep(DType dtype, const SweepExtents& extents) {
  std::vector<EmbeddingSizes> all;
  for (const int64_t hidden : extents.up_to(kSweptChannels, {8, 16})) {
    all.push_back(swept(7, 12, hidden));
  }
  for (const int64_t slots : extents.up_to(kSweptRows, {64})) all.push_back(swept(9, slots, 5));
  for (const int64_t slots : extents.up_to(kSweptRows, {64})) all.push_back(swept(slots, 9, 5));
  // Enough elements for several threads.
  for (const int64_t slots : SweepExtents::around(2 * 16384 / 64, {16384 / 64})) {
    all.push_back(swept(slots / 2, slots, 64));
  }
  SweepCases sweep;
  sweep.add_each(all,
                 [&](auto& family, const EmbeddingSizes& one) { add_cases(family, one, dtype); });
  return sweep.take();
}

}  // namespace cloze::backend::testing
