// Which kernel serves each operator, with one instruction set per process: a program that silently
// falls back to a slower kernel fails here.
//
//   chosen_kernels_test avx2 [flags of GoogleTest]      exit 77: this machine lacks it
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "backend/cpu/backend.h"
#include "backend/cpu/instruction_set.h"
#include "backend/cpu/packing.h"
#include "backend/reference/backend.h"
#include "backend/testing/kernel_case.h"
#include "ops/packed_linear.h"
#include "plan/kernel_choice.h"
#include "platform/processor.h"

namespace cloze::backend::cpu {
namespace {

constexpr int kLacking = 77;

// What serves f32 on every instruction set; f16, and bf16 where the processor has no fast units for
// it.
struct Kernels {
  std::string_view f32;
  std::string_view half;  // empty: the operator is on parameters alone, which are f32
  std::string_view native_bf16 = half;
};

// A vector kernel, or another one, for all dtypes.
constexpr Kernels both(std::string_view name) { return {name, name}; }

const std::map<std::string_view, Kernels> kExpected = {
    {"accumulate", both("cpu/accumulate/vector")},
    {"adamw", both("cpu/adamw/vector")},
    {"add", both("cpu/add/vector")},
    {"attention", {"cpu/attention/vector", "cpu/attention/vector", "cpu/attention/native_bf16"}},
    {"attention_gradient",
     {"cpu/attention_gradient/vector", "cpu/attention_gradient/vector",
      "cpu/attention_gradient/native_bf16"}},
    {"cross_entropy", both("cpu/cross_entropy/vector")},
    {"cross_entropy_gradient", both("cpu/cross_entropy_gradient/vector")},
    {"dropout", both("cpu/dropout/vector")},
    {"dropout_add_layer_norm", both("cpu/dropout_add_layer_norm/vector")},
    {"dropout_add_layer_norm_gradient", both("cpu/dropout_add_layer_norm_gradient/vector")},
    {"embedding", both("cpu/embedding/vector")},
    {"embedding_gradient", both("cpu/embedding_gradient/vector")},
    {"gated_linear_unit", both("cpu/gated_linear_unit/vector")},
    {"gated_linear_unit_gradient", both("cpu/gated_linear_unit_gradient/vector")},
    {"gather_rows", both("cpu/gather_rows/copy")},
    {"gelu", both("cpu/gelu/vector")},
    {"gelu_gradient", both("cpu/gelu_gradient/vector")},
    {"global_norm", {"cpu/global_norm/vector", ""}},
    {"gradient_scale", {"cpu/gradient_scale/scalar", ""}},
    {"grouped_convolution", both("cpu/grouped_convolution/tiles")},
    {"grouped_convolution_input_gradient", both("cpu/grouped_convolution_input_gradient/tiles")},
    {"grouped_convolution_weight_gradient", both("cpu/grouped_convolution_weight_gradient/tiles")},
    {"grouped_linear",
     {"cpu/grouped_linear/blocked", "cpu/grouped_linear/blocked",
      "cpu/grouped_linear/native_bf16"}},
    {"grouped_linear_input_gradient",
     {"cpu/grouped_linear_input_gradient/blocked", "cpu/grouped_linear_input_gradient/blocked",
      "cpu/grouped_linear_input_gradient/native_bf16"}},
    {"grouped_linear_weight_gradient",
     {"cpu/grouped_linear_weight_gradient/blocked", "cpu/grouped_linear_weight_gradient/blocked",
      "cpu/grouped_linear_weight_gradient/native_bf16"}},
    {"lamb", both("cpu/lamb/vector")},
    {"lamb_move", both("cpu/lamb_move/vector")},
    {"lamb_norms", both("cpu/lamb_norms/vector")},
    {"layer_norm", both("cpu/layer_norm/vector")},
    {"layer_norm_gradient", both("cpu/layer_norm_gradient/vector")},
    {"linear", {"cpu/linear/blocked", "cpu/linear/blocked", "cpu/linear/native_bf16"}},
    {"linear_input_gradient",
     {"cpu/linear_input_gradient/blocked", "cpu/linear_input_gradient/blocked",
      "cpu/linear_input_gradient/native_bf16"}},
    {"linear_weight_gradient",
     {"cpu/linear_weight_gradient/blocked", "cpu/linear_weight_gradient/blocked",
      "cpu/linear_weight_gradient/native_bf16"}},
    {"momentum", {"cpu/momentum/vector", ""}},
    {"normalize_rows", both("cpu/normalize_rows/vector")},
    {"normalize_rows_gradient", both("cpu/normalize_rows_gradient/vector")},
    {"pack_weight", {"cpu/pack_weight/panels", "cpu/pack_weight/panels", "cpu/pack_weight/pairs"}},
    {"packed_linear",
     {"cpu/packed_linear/panels", "cpu/packed_linear/panels", "cpu/packed_linear/native_bf16"}},
    {"pool_sequences", both("cpu/pool_sequences/vector")},
    {"pool_sequences_gradient", both("cpu/pool_sequences_gradient/vector")},
    {"scatter_rows", both("cpu/scatter_rows/vector")},
    {"sgd", {"cpu/sgd/vector", ""}},
    // The heads of fine-tuning: they run once per step on a few numbers.
    {"binary_cross_entropy", both("reference/binary_cross_entropy")},
    {"binary_cross_entropy_gradient", both("reference/binary_cross_entropy_gradient")},
    {"choice_loss", both("reference/choice_loss")},
    {"choice_loss_gradient", both("reference/choice_loss_gradient")},
    {"span_loss", both("reference/span_loss")},
    {"span_loss_gradient", both("reference/span_loss_gradient")},
    {"squared_error", both("reference/squared_error")},
    {"squared_error_gradient", both("reference/squared_error_gradient")},
    {"stochastic_rounding", {"cpu/stochastic_rounding/vector", ""}},
    {"swish", both("cpu/swish/vector")},
    {"swish_gradient", both("cpu/swish_gradient/vector")},
    {"tanh", both("cpu/tanh/vector")},
    {"tanh_gradient", both("cpu/tanh_gradient/vector")},
    {"vocabulary_loss",
     {"cpu/vocabulary_loss/blocked", "cpu/vocabulary_loss/blocked",
      "cpu/vocabulary_loss/native_bf16"}},
    {"vocabulary_loss_gradient",
     {"cpu/vocabulary_loss_gradient/blocked", "cpu/vocabulary_loss_gradient/blocked",
      "cpu/vocabulary_loss_gradient/native_bf16"}},
    {"vocabulary_loss_with_gradient",
     {"cpu/vocabulary_loss_with_gradient/blocked", "cpu/vocabulary_loss_with_gradient/blocked",
      "cpu/vocabulary_loss_with_gradient/native_bf16"}},
};

bool has_fast_bf16_units() {
  if (uses(InstructionSet::kAmx)) return true;
  return uses(InstructionSet::kAvx512Bf16) && !platform::has_slow_dot_products();
}

std::string_view expected_kernel(const graph::OpDefinition& op, DType dtype) {
  const Kernels& kernels = kExpected.at(op.name);
  if (dtype == DType::kF32) return kernels.f32;
  return dtype == DType::kBF16 && has_fast_bf16_units() ? kernels.native_bf16 : kernels.half;
}

// Weights are packed as this machine wants them; the other layouts are for other machines, and so are
// weights that were rounded before.
bool is_for_this_machine(const testing::KernelCase& one, DType dtype) {
  const ops::WeightLayout here = weight_packing(dtype).layout;
  if (one.op == &ops::kPackWeight) {
    return request_of(one).attributes_as<ops::PackWeightAttributes>().layout == here;
  }
  if (one.op == &ops::kPackedLinear) {
    return request_of(one).attributes_as<ops::PackedLinearAttributes>().layout == here;
  }
  return std::ranges::all_of(one.op->weight_inputs,
                             [&](int weight) { return one.inputs[weight].dtype == DType::kF32; });
}

class ChosenKernels : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(ChosenKernels, AreTheOnesMeant) {
  const graph::OpDefinition& op = *GetParam();
  ASSERT_TRUE(kExpected.contains(op.name)) << "say above which kernel serves it";
  for (const DType dtype : testing::storage_dtypes()) {
    int cases = 0;
    for (const testing::KernelCase& one : testing::kernel_cases(dtype)) {
      if (one.op != &op || !is_for_this_machine(one, dtype)) continue;
      EXPECT_EQ(plan::choose_kernel(backend(), request_of(one)).name, expected_kernel(op, dtype))
          << describe(one) << " in " << name_of(dtype);
      ++cases;
    }
    EXPECT_EQ(cases == 0, expected_kernel(op, dtype).empty()) << name_of(dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ChosenKernels, ::testing::ValuesIn(reference::operators()),
                         [](const auto& info) { return std::string(info.param->name); });

}  // namespace
}  // namespace cloze::backend::cpu

int main(int argc, char** argv) {
  using namespace cloze::backend::cpu;
  testing::InitGoogleTest(&argc, argv);
  const std::string_view name = argc > 1 ? argv[1] : "";
  const auto sets = instruction_sets();
  const auto set = std::ranges::find(sets, name, [](InstructionSet one) { return name_of(one); });
  if (set == sets.end()) {
    std::cout << "this machine has no " << name << "\n";
    return kLacking;
  }
  limit_instruction_set(*set);
  return RUN_ALL_TESTS();
}
