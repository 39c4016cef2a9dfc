#include "ops/grouped_convolution.h"

#include <vector>

#include "backend/reference/kernels.h"

namespace cloze::backend::reference {
namespace {

CLOZE_REFERENCE_KERNEL(GroupedConvolution, GroupedConvolution);
CLOZE_REFERENCE_KERNEL(GroupedConvolutionInputGradient, GroupedConvolutionInputGradient);
CLOZE_REFERENCE_KERNEL(GroupedConvolutionWeightGradient, GroupedConvolutionWeightGradient);

// The sequences of tokens, and the channels that each channel is convolved with.
struct Convolution {
  const int32_t* starts;
  int64_t sequences, slots, channels, group_size, width;

  Convolution(const Call& call, size_t activations, size_t sequence_starts, int64_t group_size,
              int64_t width)
      : starts(call.integers(sequence_starts)),
        sequences(call.input_shape(sequence_starts)[0] - 1),
        slots(call.input_shape(activations)[0]),
        channels(call.input_shape(activations)[1]),
        group_size(group_size),
        width(width) {}

  int64_t first_of_group(int64_t channel) const { return channel - channel % group_size; }
  int64_t row(int64_t channel, int64_t i) const { return channel * group_size + i; }  // of weight

  // body(t, begin, end): every slot of every sequence, with the sequence's borders.
  template <typename Body>
  void for_each_slot(const Body& body) const {
    for (int64_t b = 0; b < sequences; ++b) {
      for (int64_t t = starts[b]; t < starts[b + 1]; ++t) body(t, starts[b], starts[b + 1]);
    }
  }
  // body(j, s): the places j of the window at t, and the slots s there, inside [begin, end).
  template <typename Body>
  void for_each_place(int64_t t, int64_t begin, int64_t end, const Body& body) const {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t s = t + j - (width - 1) / 2;
      if (s >= begin && s < end) body(j, s);
    }
  }
  // Slots after the last sequence.
  template <typename X>
  void clear_unused(const Writer<X>& out) const {
    for (int64_t i = starts[sequences] * channels; i < slots * channels; ++i) out.put(i, 0.0);
  }
};

}  // namespace

template <typename X>
void GroupedConvolution::run(const Call& call) {
  const Shape& shape = call.input_shape(kWeight);
  const Convolution convolution(call, kX, kSequenceStarts, shape[1], shape[2]);
  const Reader<X> x = call.read<X>(kX);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> y = call.write<X>(kY);
  convolution.for_each_slot([&](int64_t t, int64_t begin, int64_t end) {
    for (int64_t c = 0; c < convolution.channels; ++c) {
      double sum = call.has_input(kBias) ? call.read<Parameter<X>>(kBias)[c] : 0.0;
      convolution.for_each_place(t, begin, end, [&](int64_t j, int64_t s) {
        for (int64_t i = 0; i < convolution.group_size; ++i) {
          sum += x(s, convolution.first_of_group(c) + i) * weight(convolution.row(c, i), j);
        }
      });
      y.put(t, c, sum);
    }
  });
  convolution.clear_unused(y);
}

template <typename X>
void GroupedConvolutionInputGradient::run(const Call& call) {
  const Shape& shape = call.input_shape(kWeight);
  const Convolution convolution(call, kDy, kSequenceStarts, shape[1], shape[2]);
  const Reader<X> dy = call.read<X>(kDy);
  const RoundedReader<X> weight = call.read_rounded<X>(kWeight);
  const Writer<X> dx = call.write<X>(kDx);
  convolution.for_each_slot([&](int64_t s, int64_t begin, int64_t end) {
    for (int64_t channel = 0; channel < convolution.channels; ++channel) {
      const int64_t first = convolution.first_of_group(channel);
      double sum = 0.0;
      // If slot t is at place j of the window at s, then s is at place W - 1 - j of the window at
      // t.
      convolution.for_each_place(s, begin, end, [&](int64_t j, int64_t t) {
        for (int64_t c = first; c < first + convolution.group_size; ++c) {
          sum += dy(t, c) * weight(convolution.row(c, channel - first), convolution.width - 1 - j);
        }
      });
      dx.put(s, channel, sum);
    }
  });
  convolution.clear_unused(dx);
}

template <typename X>
void GroupedConvolutionWeightGradient::run(const Call& call) {
  const auto& attributes = call.attributes<ops::GroupedConvolutionWeightGradientAttributes>();
  const Convolution convolution(call, kDy, kSequenceStarts, attributes.group_size,
                                attributes.width);
  const Reader<X> dy = call.read<X>(kDy);
  const Reader<X> x = call.read<X>(kX);
  const Writer<Parameter<X>> dweight = call.write<Parameter<X>>(kDweight);
  for (int64_t c = 0; c < convolution.channels; ++c) {
    for (int64_t i = 0; i < convolution.group_size; ++i) {
      std::vector<double> sums(static_cast<size_t>(convolution.width));
      convolution.for_each_slot([&](int64_t t, int64_t begin, int64_t end) {
        convolution.for_each_place(t, begin, end, [&](int64_t j, int64_t s) {
          sums[static_cast<size_t>(j)] += dy(t, c) * x(s, convolution.first_of_group(c) + i);
        });
      });
      for (int64_t j = 0; j < convolution.width; ++j) {
        dweight.put(convolution.row(c, i), j, sums[static_cast<size_t>(j)]);
      }
    }
    if (!call.has_output(kDbias)) continue;
    double sum = 0.0;
    convolution.for_each_slot([&](int64_t t, int64_t, int64_t) { sum += dy(t, c); });
    call.write<Parameter<X>>(kDbias).put(c, sum);
  }
}

KernelTable grouped_convolution_kernels() {
  return table_of<GroupedConvolution, GroupedConvolutionInputGradient,
                  GroupedConvolutionWeightGradient>();
}

}  // namespace cloze::backend::reference
