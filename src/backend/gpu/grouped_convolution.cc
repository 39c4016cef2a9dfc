// grouped_convolution and its gradients: a thread has one number of the result. For bf16 there is to
// be a kernel of matrix products.
#include "ops/grouped_convolution.h"

#include "backend/gpu/column_sums.h"
#include "backend/gpu/kernels.h"
#include "backend/gpu/linear_product.h"
#include "backend/gpu/sequences.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

using Forward = ops::GroupedConvolution;
using OfInput = ops::GroupedConvolutionInputGradient;
using OfWeight = ops::GroupedConvolutionWeightGradient;

struct Convolution {
  int64_t slots, channels, group_size, width;

  CLOZE_DEVICE int64_t half() const { return (width - 1) / 2; }
  CLOZE_DEVICE int64_t first_of_group(int64_t channel) const {
    return channel - channel % group_size;
  }
  // An element of the weight [channels, group_size, width].
  CLOZE_DEVICE int64_t place(int64_t channel, int64_t i, int64_t j) const {
    return (channel * group_size + i) * width + j;
  }
};

// y of x, or dx of dy. Of the window around a slot, place j of the gradient is place W - 1 - j of the
// weight, and inputs and outputs of a group change places.
template <typename T, bool kIsGradient>
struct Convolve {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<const T> x, weight;
    Global<const int32_t> starts;
    Global<const float> bias;  // optional
    Global<T> y;
    Convolution convolution;
    int64_t sequences;
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const Convolution& of = in.convolution;
    const int64_t at = global_thread<Convolve>();
    if (at >= of.slots * of.channels) return;
    const int64_t slot = at / of.channels, channel = at % of.channels;
    const SequenceSlots sequence = sequence_of(in.starts, in.sequences, slot);
    float sum = in.bias ? in.bias.load(channel) : 0.0f;
    if (sequence.begin == sequence.end) sum = 0.0f;
    for (int64_t j = 0; j < of.width; ++j) {
      const int64_t there = slot + j - of.half();
      if (there < sequence.begin || there >= sequence.end) continue;
      sum = add_group(in, sum, there, channel, j);
    }
    in.y.store(at, from_float<T>(sum));
  }

 private:
  CLOZE_DEVICE static float add_group(const Arguments& in, float sum, int64_t slot, int64_t channel,
                                      int64_t j) {
    const Convolution& of = in.convolution;
    const int64_t first = of.first_of_group(channel);
    for (int64_t i = 0; i < of.group_size; ++i) {
      const int64_t place = kIsGradient ? of.place(first + i, channel - first, of.width - 1 - j)
                                        : of.place(channel, i, j);
      sum = fused(to_float(in.x.load(slot * of.channels + first + i)),
                  to_float(in.weight.load(place)), sum);
    }
    return sum;
  }
};

// The slots of each slot's sequence.
struct FindSequences {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<const int32_t> starts;
    Global<int64_t> borders;  // [slots, 2]
    int64_t slots, sequences;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t slot = global_thread<FindSequences>();
    if (slot >= in.slots) return;
    const SequenceSlots sequence = sequence_of(in.starts, in.sequences, slot);
    in.borders.store(2 * slot, sequence.begin);
    in.borders.store(2 * slot + 1, sequence.end);
  }
};

// dweight[c, i, j] = sum_t dy[t, c] x[t + j - half, i of the group]; a column for each.
template <typename T>
struct WeightTerms {
  static constexpr int kSums = 1;
  struct Inputs {
    Global<const T> dy, x;
    Global<const int64_t> borders;
    Convolution of;
  };
  CLOZE_DEVICE static void add(const Inputs& in, int64_t slot, int64_t column, float (&sums)[1]) {
    const Convolution& of = in.of;
    const int64_t there = slot + column % of.width - of.half();
    if (there < in.borders.load(2 * slot) || there >= in.borders.load(2 * slot + 1)) return;
    const int64_t row = column / of.width;  // of [channels, group_size]
    const int64_t channel = row / of.group_size;
    const int64_t from = of.first_of_group(channel) + row % of.group_size;
    sums[0] = fused(to_float(in.dy.load(slot * of.channels + channel)),
                    to_float(in.x.load(there * of.channels + from)), sums[0]);
  }
};

// dbias[c] = sum_t dy[t, c], of slots within a sequence.
template <typename T>
struct BiasTerms {
  static constexpr int kSums = 1;
  using Inputs = typename WeightTerms<T>::Inputs;
  CLOZE_DEVICE static void add(const Inputs& in, int64_t slot, int64_t column, float (&sums)[1]) {
    if (in.borders.load(2 * slot) == in.borders.load(2 * slot + 1)) return;
    sums[0] += to_float(in.dy.load(slot * in.of.channels + column));
  }
};

Convolution convolution_of(const Shape& x, int64_t group_size, int64_t width) {
  return {x[0], x[1], group_size, width};
}

static_assert(int{Forward::kWeight} == int{OfInput::kWeight} &&
              int{Forward::kSequenceStarts} == int{OfInput::kSequenceStarts});

template <const graph::OpDefinition& op, bool kIsGradient>
struct OverTokens {
  static constexpr const graph::OpDefinition& kOp = op;
  static size_t workspace_bytes(const KernelRequest& request) {
    return WeightBuffer(request, Forward::kWeight).workspace.bytes();
  }
  template <typename T>
  static void run(const Call& call) {
    using Kernel = Convolve<T, kIsGradient>;
    const Shape& x = call.input_shape(0);
    const Shape& weight = call.input_shape(Forward::kWeight);
    call.launch<Kernel>(
        {divide_up(x.elements(), int64_t{Kernel::kThreads})},
        {call.input<T>(0),
         rounded_weight<T>(call, Forward::kWeight,
                           WeightBuffer(call.request(), Forward::kWeight).weight),
         call.input<int32_t>(Forward::kSequenceStarts), call.input<float>(Forward::kBias),
         call.output<T>(0), convolution_of(x, weight[1], weight[2]),
         call.input_shape(Forward::kSequenceStarts)[0] - 1});
  }
};

struct WeightGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kGroupedConvolutionWeightGradient;

  static SummedShape summed_weight(const KernelRequest& request) {
    return {request.inputs[OfWeight::kX].shape[0], request.outputs[0].shape.elements()};
  }
  // The sums of the bias come after those of the weight, and take their place.
  struct Buffers {
    explicit Buffers(const KernelRequest& request)
        : borders(workspace.add<int64_t>(2 * request.inputs[OfWeight::kX].shape[0])),
          sums(workspace.add<float>(summed_weight(request).part_elements(1))) {}
    WorkspaceLayout workspace;
    int64_t borders, sums;
  };
  static size_t workspace_bytes(const KernelRequest& request) {
    return Buffers(request).workspace.bytes();
  }

  template <typename T>
  static void run(const Call& call) {
    const Buffers buffers(call.request());
    const auto& attributes = call.attributes<ops::GroupedConvolutionWeightGradientAttributes>();
    const Shape& x = call.input_shape(OfWeight::kX);
    call.launch<FindSequences>({divide_up(x[0], int64_t{FindSequences::kThreads})},
                               {call.input<int32_t>(OfWeight::kSequenceStarts),
                                call.workspace<int64_t>(buffers.borders, 2 * x[0]), x[0],
                                call.input_shape(OfWeight::kSequenceStarts)[0] - 1});
    const typename WeightTerms<T>::Inputs inputs{
        call.input<T>(OfWeight::kDy), call.input<T>(OfWeight::kX),
        call.workspace<const int64_t>(buffers.borders, 2 * x[0]),
        convolution_of(x, attributes.group_size, attributes.width)};
    sum_columns<WeightTerms<T>>(call, inputs, summed_weight(call.request()),
                                outputs_of<1>(call, {OfWeight::kDweight}), buffers.sums);
    if (!call.has_output(OfWeight::kDbias)) return;
    sum_columns<BiasTerms<T>>(call, inputs, {x[0], x[1]}, outputs_of<1>(call, {OfWeight::kDbias}),
                              buffers.sums);
  }
};

}  // namespace

KernelTable grouped_convolution_kernels() {
  return table_of<OverTokens<ops::kGroupedConvolution, false>,
                  OverTokens<ops::kGroupedConvolutionInputGradient, true>, WeightGradient>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
