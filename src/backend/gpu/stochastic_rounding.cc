#include "ops/stochastic_rounding.h"

#include "backend/gpu/dropout.h"
#include "backend/gpu/kernels.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

// The parameter is one row of a mask. A thread has a counter of it.
struct RoundElements {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<float> parameter;
    Global<const float> gradient_scale;
    Global<const int32_t> random_key;
    int64_t count;
    uint32_t site;
  };

  CLOZE_DEVICE static float rounded(float value, uint32_t number) {
    const uint32_t word = as_bits(value);
    const bool is_finite = (word & 0x7f800000u) != 0x7f800000u;
    return is_finite ? as_float((word + number) & 0xffff0000u) : value;
  }

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t counters = (in.count + kHalves - 1) / kHalves;
    const int64_t counter = global_thread<RoundElements>();
    if (counter >= counters || in.gradient_scale.load(0) == 0.0f) return;
    const PhiloxWords words = philox_words(
        {{static_cast<uint32_t>(counter), 0, ops::kSampleOfRounding, in.site}},
        static_cast<uint32_t>(in.random_key.load(0)), static_cast<uint32_t>(in.random_key.load(1)));
    CLOZE_UNROLL
    for (int h = 0; h < kHalves; ++h) {
      const int64_t i = counter + h * counters;
      if (i < in.count) in.parameter.store(i, rounded(in.parameter.load(i), words.number(h)));
    }
  }
};

struct StochasticRounding {
  static constexpr const graph::OpDefinition& kOp = ops::kStochasticRounding;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::StochasticRounding;
    const int64_t count = call.input_shape(Op::kParameter).elements();
    const auto site = call.attributes<ops::StochasticRoundingAttributes>().site;
    call.launch<RoundElements>(
        {divide_up(int64_t{ops::dropout_blocks(count)}, int64_t{RoundElements::kThreads})},
        {call.mutated<float>(Op::kParameter), call.input<float>(Op::kGradientScale),
         call.input<int32_t>(Op::kRandomKey), count, static_cast<uint32_t>(site)});
  }
};

}  // namespace

KernelTable stochastic_rounding_kernels() { return table_of<StochasticRounding>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
