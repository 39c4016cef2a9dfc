// Parts that linear, grouped_linear, packed_linear and grouped_convolution share: weights rounded to
// what a product reads, and what follows the product: bias, activation, and one rounding.
//
// cuBLASLt's header knows no f32 bias of a bf16 result, and does not say which GELU it has. So the
// sums of such a product stay f32, and a kernel does the rest.
#pragma once

#include <optional>
#include <type_traits>

#include "backend/gpu/kernels.h"
#include "backend/gpu/math.h"
#include "backend/gpu/workspace_layout.h"
#include "base/division.h"
#include "ops/gelu.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {

// y = x, rounded to nearest. A thread has four neighbours.
template <typename T>
struct RoundToNearest {
  static constexpr int kThreads = 256;
  static constexpr int kWidth = 4;
  struct Arguments {
    Global<const float> x;
    Global<T> y;
    int64_t count;
  };

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t first = global_thread<RoundToNearest>() * kWidth;
    if (first + kWidth <= in.count) {
      const auto x = in.x.template load<Neighbours<float, kWidth>>(first);
      Neighbours<T, kWidth> y;
      for (int i = 0; i < kWidth; ++i) y.x[i] = from_float<T>(x.x[i]);
      in.y.store(first, y);
      return;
    }
    for (int64_t i = first; i < in.count; ++i) in.y.store(i, from_float<T>(in.x.load(i)));
  }
};

template <typename T>
void round_to_nearest(const Call& call, const Global<const float>& x, const Global<T>& y,
                      int64_t count) {
  constexpr int64_t kOfBlock = int64_t{RoundToNearest<T>::kThreads} * RoundToNearest<T>::kWidth;
  call.launch<RoundToNearest<T>>({divide_up(count, kOfBlock)}, {x, y, count});
}

// Says whether products read the weight as it is: training keeps rounded copies (graph_passes.h).
inline bool is_rounded_weight(const KernelRequest& request, size_t input) {
  return !has_bf16(request) || request.inputs[input].dtype == DType::kBF16;
}

// A weight as a product of T reads it: rounded, at this place of the workspace, unless it is.
template <typename T>
Global<const T> rounded_weight(const Call& call, size_t input, int64_t workspace_offset) {
  if constexpr (!std::is_same_v<T, float>) {
    if (!is_rounded_weight(call.request(), input)) {
      const int64_t count = call.input_shape(input).elements();
      round_to_nearest(call, call.input<float>(input), call.workspace<T>(workspace_offset, count),
                       count);
      return call.workspace<const T>(workspace_offset, count);
    }
  }
  return call.input<T>(input);
}
inline int64_t rounded_elements(const KernelRequest& request, size_t input) {
  return is_rounded_weight(request, input) ? 0 : request.inputs[input].shape.elements();
}

// The workspace of a kernel that takes nothing but a rounded weight, this input.
struct WeightBuffer {
  WeightBuffer(const KernelRequest& request, size_t input)
      : weight(workspace.add<bf16>(rounded_elements(request, input))) {}
  WorkspaceLayout workspace;
  int64_t weight;
};

struct NoActivation {
  CLOZE_DEVICE static float of(float x) { return x; }
};

// u = sums + bias, y = activation(u). A thread has four neighbours, which a row may end between.
template <typename T, typename Activation>
struct FinishSums {
  static constexpr int kThreads = 256;
  static constexpr int kWidth = 4;
  struct Arguments {
    Global<float> sums;        // [rows, columns]; may be u, or y
    Global<const float> bias;  // [columns]; optional
    Global<T> u, y;            // [rows, columns]; u is optional
    int64_t count, columns;
  };
  using Sums = Neighbours<float, kWidth>;

  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t first = global_thread<FinishSums>() * kWidth;
    if (first + kWidth > in.count) {
      for (int64_t i = first; i < in.count; ++i) {
        const float u = in.sums.load(i) + (in.bias ? in.bias.load(i % in.columns) : 0.0f);
        if (in.u) in.u.store(i, from_float<T>(u));
        in.y.store(i, from_float<T>(Activation::of(u)));
      }
      return;
    }
    const auto sums = in.sums.template load<Sums>(first);
    const Sums biases = in.bias ? biases_from(in, first % in.columns) : Sums{};
    Neighbours<T, kWidth> u, y;
    CLOZE_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      const float sum = sums.x[i] + biases.x[i];
      u.x[i] = from_float<T>(sum);
      y.x[i] = from_float<T>(Activation::of(sum));
    }
    if (in.u) in.u.store(first, u);
    in.y.store(first, y);
  }

 private:
  CLOZE_DEVICE static Sums biases_from(const Arguments& in, int64_t column) {
    if (in.columns % kWidth == 0) return in.bias.template load<Sums>(column);
    Sums biases;
    CLOZE_UNROLL
    for (int i = 0; i < kWidth; ++i) {
      biases.x[i] = in.bias.load(column);
      column = column + 1 < in.columns ? column + 1 : 0;
    }
    return biases;
  }
};

// The results of a product of T with bias and activation. Without an activation there is no u.
template <typename T>
struct LinearResults {
  Global<const float> bias;
  Global<T> u, y;
  int64_t rows = 0, columns = 0;
  std::optional<ops::GeluForm> activation;
  int64_t sums_offset = 0;  // in the workspace: sums_elements()

  bool is_product_alone() const { return !bias && !activation; }
  // f32 sums are finished where they are.
  Global<float> sums(const Call& call) const {
    if constexpr (std::is_same_v<T, float>) {
      return u ? u : y;
    } else {
      return call.workspace<float>(sums_offset, rows * columns);
    }
  }
};

template <typename T, typename Activation>
void finish_sums(const Call& call, const LinearResults<T>& results) {
  using Kernel = FinishSums<T, Activation>;
  const int64_t count = results.rows * results.columns;
  call.launch<Kernel>(
      {divide_up(count, int64_t{Kernel::kThreads} * Kernel::kWidth)},
      {results.sums(call), results.bias, results.u, results.y, count, results.columns});
}

template <typename T, typename Y>
void multiply_linear(const Call& call, const ProductSizes& sizes, const Matrix<const T>& x,
                     const Matrix<const T>& weight, const MatrixLayout& layout,
                     const LinearResults<Y>& results) {
  if (results.is_product_alone()) {
    return call.multiply<T, Y>(sizes, {x, weight, {results.y, layout}});
  }
  call.multiply<T, float>(sizes, {x, weight, {results.sums(call), layout}});
  if (!results.activation) return finish_sums<Y, NoActivation>(call, results);
  if (*results.activation == ops::GeluForm::kErf) return finish_sums<Y, GeluByErf>(call, results);
  finish_sums<Y, GeluByTanh>(call, results);
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
