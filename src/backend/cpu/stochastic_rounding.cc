#include "ops/stochastic_rounding.h"

#include "backend/cpu/dropout_row.h"
#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/stochastic_rounding.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/dropout_mask-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

// The elements of a part of the counters.
void RoundPart(const DropoutRow& row, float* parameter, int64_t elements, Part counters) {
  const FloatTag d;
  const WordTag d32;
  ForEachNumber(row, elements, counters, [&](int64_t i, auto part, WordVector numbers) HWY_ATTR {
    const FloatVector value = LoadFloats(d, parameter + i, part);
    const WordVector sum = hn::Add(hn::BitCast(d32, value), numbers);
    const WordVector upper = hn::And(sum, hn::Set(d32, 0xffff0000u));
    const auto is_finite = hn::IsFinite(value);
    StoreFloats(d, hn::IfThenElse(is_finite, hn::BitCast(d, upper), value), parameter + i, part);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(RoundPart);

class StochasticRoundingKernel final : public Kernel, ops::StochasticRounding {
 public:
  explicit StochasticRoundingKernel(const KernelRequest& request) : request_(request) {}

  void run(const KernelArguments& arguments, Stream&) override {
    if (*arguments.input<const float>(kGradientScale) == 0.0f) return;
    const int64_t elements = request_.inputs[kParameter].shape.elements();
    const int32_t site = request_.attributes_as<ops::StochasticRoundingAttributes>().site;
    DropoutRow row = dropout_row(0.0, site, arguments.input<const int32_t>(kRandomKey));
    row.sample = ops::kSampleOfRounding;
    const Work counters{.items = ops::dropout_blocks(elements),
                        .granularity = 64,
                        .least_items = kLeastElements / 8,
                        .num_threads = host::threads_of(request_)};
    for_each_part(counters, [&](const Part& part) {
      HWY_DYNAMIC_DISPATCH(RoundPart)(row, arguments.input<float>(kParameter), elements, part);
    });
  }

 private:
  KernelRequest request_;
};

std::optional<std::string> refuse(const KernelRequest& request) {
  return refuse_unless_f32({.op = request.op, .inputs = {request.inputs.front()}});
}

constexpr KernelRow kRows[] = {
    {&ops::kStochasticRounding, "vector", refuse, create_kernel<StochasticRoundingKernel>},
};

}  // namespace

KernelTable stochastic_rounding_kernels() { return kRows; }

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
