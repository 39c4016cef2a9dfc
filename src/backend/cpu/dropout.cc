#include "ops/dropout.h"

#include "backend/cpu/kernels.h"
#include "backend/cpu/part_kernel.h"
#include "backend/cpu/storage.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/dropout.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/dropout_mask-inl.h"

HWY_BEFORE_NAMESPACE();
namespace cloze::backend::cpu {
namespace HWY_NAMESPACE {
namespace {

// multipliers [channels] is scratch: the mask comes in an order of its own, and memory is best
// read in order.
template <class T>
void DropRows(const KernelRequest& request, const KernelArguments& arguments, Part rows,
              float* multipliers) {
  using Op = ops::Dropout;
  const FloatTag d;
  const auto& attributes = request.attributes_as<ops::DropoutAttributes>();
  const int64_t channels = request.inputs[Op::kX].shape[1];
  DropoutRow mask =
      dropout_row(attributes.rate, attributes.site, arguments.input<int32_t>(Op::kRandomKey));
  for (int64_t t = rows.begin; t < rows.end; ++t) {
    const T* x = arguments.input<T>(Op::kX) + t * channels;
    T* y = arguments.output<T>(Op::kY) + t * channels;
    mask.sample = static_cast<uint32_t>(arguments.input<int32_t>(Op::kSampleIds)[t]);
    mask.row = static_cast<uint32_t>(arguments.input<int32_t>(Op::kPositionIds)[t]);
    DropoutMultipliers(d, mask, channels, multipliers);
    ForEachVector(d, channels, [&](int64_t i, auto part) HWY_ATTR {
      const FloatVector multiplier = LoadFloats(d, multipliers + i, part);
      StoreFloats(d, hn::Mul(LoadFloats(d, x + i, part), multiplier), y + i, part);
    });
  }
}

void DropoutRows(const KernelRequest& request, const KernelArguments& arguments, const Part& rows,
                 void* multipliers) {
  with_storage(request.inputs[ops::Dropout::kX].dtype, [&]<class T>(Storage<T>) HWY_ATTR {
    DropRows<T>(request, arguments, rows, static_cast<float*>(multipliers));
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace cloze::backend::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace cloze::backend::cpu {
namespace {

HWY_EXPORT(DropoutRows);

}  // namespace

constinit const KernelEntry kDropoutEntry{"cpu/dropout/vector", refuse_other_storage,
                                          create_row_kernel<CLOZE_DISPATCH_PART(DropoutRows), 1>};

}  // namespace cloze::backend::cpu
#endif  // HWY_ONCE
