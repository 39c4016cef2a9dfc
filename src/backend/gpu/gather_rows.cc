#include "ops/gather_rows.h"

#include "backend/gpu/kernels.h"
#include "backend/gpu/matching_rows.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

template <typename T>
struct CopyRows {
  static constexpr int kThreads = 256;
  struct Arguments {
    Global<const T> x;
    Global<const int32_t> index;
    Global<T> y;
    int64_t rows, columns;  // of y
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t at = global_thread<CopyRows>();
    if (at >= in.rows * in.columns) return;
    const int64_t from = in.index.load(at / in.columns);
    in.y.store(at, in.x.load(from * in.columns + at % in.columns));
  }
};

struct GatherRows {
  static constexpr const graph::OpDefinition& kOp = ops::kGatherRows;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::GatherRows;
    using Kernel = CopyRows<T>;
    const Shape& shape = call.output_shape(Op::kY);
    call.launch<Kernel>({divide_up(shape.elements(), int64_t{Kernel::kThreads})},
                        {call.input<T>(Op::kX), call.input<int32_t>(Op::kIndex),
                         call.output<T>(Op::kY), shape[0], shape[1]});
  }
};

struct ScatterRows {
  static constexpr const graph::OpDefinition& kOp = ops::kScatterRows;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::ScatterRows;
    const Shape& shape = call.output_shape(Op::kDx);
    call.launch<SumMatchingRows<T, T>>({shape[0]}, {.dy = call.input<T>(Op::kDy),
                                                    .index = call.input<int32_t>(Op::kIndex),
                                                    .out = call.output<T>(Op::kDx),
                                                    .rows = shape[0],
                                                    .columns = shape[1],
                                                    .count = call.input_shape(Op::kIndex)[0],
                                                    .chunks = 1});
  }
};

}  // namespace

KernelTable gather_rows_kernels() { return table_of<GatherRows, ScatterRows>(); }

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
