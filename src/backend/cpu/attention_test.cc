// Work buffers have room for the longest possible sequence, and no kernel writes beyond them.
#include "backend/cpu/attention.h"

#include <gtest/gtest.h>

#include "backend/cpu/own_kernels_test.h"
#include "backend/host/host_target.h"
#include "backend/testing/kernel_case.h"
#include "backend/testing/run_kernel.h"
#include "base/error.h"

namespace cloze::backend::cpu {
namespace {

constexpr int64_t kLongest = 40;

struct SequenceSlots {
  int64_t all = 0;    // slots of the request
  int64_t first = 0;  // of the first sequence; the second has the others
};

testing::KernelCase attention_case(const graph::OpDefinition& op, const SequenceSlots& slots,
                                   DType dtype) {
  const graph::TensorType x{dtype, {slots.all, 8}};
  testing::KernelCase one{
      .name = "two sequences",
      .op = &op,
      .attributes = ops::AttentionAttributes{.num_heads = 2, .max_length = kLongest},
      .inputs = {{DType::kI32, {3}}, {DType::kI32, {slots.all}}, {DType::kI32, {2}}}};
  std::vector<graph::TensorType> floats(3, x);
  if (&op == &ops::kAttentionGradient) floats = {x, x, x, x, x, {DType::kF32, {slots.all, 2}}};
  const size_t starts = floats.size();
  one.inputs.insert(one.inputs.begin(), floats.begin(), floats.end());
  one.prepare = [=](std::vector<testing::Tensor>& inputs, testing::Random&) {
    inputs[starts].values = {0.0, static_cast<double>(slots.first), static_cast<double>(slots.all)};
  };
  return one;
}

// body(op, entry, dtype) for every kernel of attention and of its gradient.
template <class Body>
void for_each_kernel(const Body& body) {
  for (const graph::OpDefinition* op : {&ops::kAttention, &ops::kAttentionGradient}) {
    for (const DType dtype : {DType::kF32, DType::kBF16}) {
      for (const KernelEntry& entry : own_kernels(*op, dtype)) {
        if (is_native(entry) && dtype != DType::kBF16) continue;
        SCOPED_TRACE(entry.name);
        body(*op, entry, dtype);
      }
    }
  }
}

TEST(Attention, TakesWorkspaceForTheLongestSequenceOnly) {
  for_each_kernel([](const graph::OpDefinition& op, const KernelEntry& entry, DType dtype) {
    const auto bytes_for = [&](int64_t slots, int threads) {
      KernelRequest request = request_of(attention_case(op, {.all = slots}, dtype));
      request.target = std::make_shared<host::HostTarget>(TargetOptions{threads});
      return entry.create(request)->workspace_bytes();
    };
    EXPECT_EQ(bytes_for(100 * kLongest, 1), bytes_for(kLongest, 1));
    EXPECT_EQ(bytes_for(100 * kLongest, 16), 16 * bytes_for(kLongest, 1));
    EXPECT_LT(bytes_for(1, 1), bytes_for(kLongest, 1));
  });
}

TEST(Attention, RefusesASequenceLongerThanItsWorkspace) {
  for_each_kernel([](const graph::OpDefinition& op, const KernelEntry& entry, DType dtype) {
    const auto run = [&](const SequenceSlots& slots) {
      const testing::KernelCase one = attention_case(op, slots, dtype);
      const KernelRequest request = request_of(one);
      const auto kernel = entry.create(request);
      testing::run_kernel(*kernel, request, make_inputs(one), {});
    };
    EXPECT_NO_THROW(run({.all = kLongest + 2, .first = kLongest}));
    EXPECT_THROW(run({.all = kLongest + 2, .first = kLongest + 1}), InternalError);
    EXPECT_THROW(run({.all = kLongest + 2, .first = 1}), InternalError);
  });
}

}  // namespace
}  // namespace cloze::backend::cpu
