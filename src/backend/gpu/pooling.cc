#include "ops/pooling.h"

#include <algorithm>

#include "backend/gpu/kernels.h"
#include "base/division.h"

namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET {
namespace {

using ops::PoolingMode;

// NaN counts as larger than all numbers.
CLOZE_DEVICE bool is_larger(float x, float largest) { return x > largest || x != x; }

CLOZE_DEVICE float pooling_divisor(PoolingMode mode, int64_t n) {
  return static_cast<float>(square_root(ops::squared_pooling_divisor(mode, n)));
}

// The sequences of a batch, in the slots of x.
template <typename T>
struct PooledRows {
  Global<const T> x;
  Global<const int32_t> starts;
  int64_t sequences, columns;
};

// One column of a sequence.
template <typename T>
struct PooledColumn {
  Global<const T> x;
  int64_t first, n, columns;  // first: the place of its number in row 0

  CLOZE_DEVICE static PooledColumn of(const PooledRows<T>& rows, int64_t sequence, int64_t column) {
    const int64_t begin = rows.starts.load(sequence);
    return {rows.x, begin * rows.columns + column, rows.starts.load(sequence + 1) - begin,
            rows.columns};
  }
  CLOZE_DEVICE float at(int64_t t) const { return to_float(x.load(first + t * columns)); }
  CLOZE_DEVICE float weighted(PoolingMode mode) const {
    float sum = 0.0f;
    for (int64_t t = 0; t < n; ++t) {
      const auto weight = static_cast<float>(ops::pooling_weight(mode, t, n));
      if (weight != 0.0f) sum = fused(at(t), weight, sum);
    }
    return sum / pooling_divisor(mode, n);
  }
  // The first of the rows with the largest number.
  CLOZE_DEVICE int64_t place_of_largest() const {
    int64_t place = 0;
    float largest = at(0);
    for (int64_t t = 1; t < n; ++t) {
      const float here = at(t);
      if (!is_larger(here, largest)) continue;
      largest = here;
      place = t;
    }
    return place;
  }
};

// y of one mode. A thread has a column of a sequence.
template <typename T>
struct PoolColumns {
  static constexpr int kThreads = 128;
  struct Arguments {
    PooledRows<T> rows;
    Global<float> y;
    PoolingMode mode;
    int64_t number, modes;  // of the mode among all
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t sequence = global_thread<PoolColumns>() / in.rows.columns;
    if (sequence >= in.rows.sequences) return;
    const int64_t j = global_thread<PoolColumns>() % in.rows.columns;
    const auto column = PooledColumn<T>::of(in.rows, sequence, j);
    float y = 0.0f;
    if (column.n > 0) {
      y = in.mode == PoolingMode::kMax ? column.at(column.place_of_largest())
                                       : column.weighted(in.mode);
    }
    in.y.store((sequence * in.modes + in.number) * in.rows.columns + j, y);
  }
};

// dx. A thread has a column of a sequence; the threads after those have the slots after the last.
template <typename T>
struct PoolColumnsGradient {
  static constexpr int kThreads = 128;
  struct Arguments {
    PooledRows<T> rows;
    Global<const float> dy;
    Global<T> dx;
    int64_t slots;
    int modes;
    PoolingMode mode[ops::kMostPoolingModes];
  };
  CLOZE_DEVICE static void clear(const Arguments& in, int64_t column) {
    for (int64_t t = in.rows.starts.load(in.rows.sequences); t < in.slots; ++t) {
      in.dx.store(t * in.rows.columns + column, from_float<T>(0.0f));
    }
  }
  CLOZE_DEVICE static float share(PoolingMode mode, int64_t t, int64_t n, int64_t largest) {
    if (mode == PoolingMode::kMax) return t == largest ? 1.0f : 0.0f;
    const auto weight = static_cast<float>(ops::pooling_weight(mode, t, n));
    return weight / pooling_divisor(mode, n);
  }
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t sequence = global_thread<PoolColumnsGradient>() / in.rows.columns;
    const int64_t j = global_thread<PoolColumnsGradient>() % in.rows.columns;
    if (sequence == in.rows.sequences) clear(in, j);
    if (sequence >= in.rows.sequences) return;
    const auto column = PooledColumn<T>::of(in.rows, sequence, j);
    int64_t largest = 0;
    for (int m = 0; m < in.modes; ++m) {
      if (in.mode[m] == PoolingMode::kMax && column.n > 0) largest = column.place_of_largest();
    }
    for (int64_t t = 0; t < column.n; ++t) {
      float sum = 0.0f;
      for (int m = 0; m < in.modes; ++m) {
        const float part = share(in.mode[m], t, column.n, largest);
        if (part == 0.0f) continue;
        sum = fused(in.dy.load((sequence * in.modes + m) * in.rows.columns + j), part, sum);
      }
      in.dx.store(column.first + t * in.rows.columns, from_float<T>(sum));
    }
  }
};

// sum_j a(j) b(j) over the columns of the row of a warp, in double.
template <typename A, typename B>
CLOZE_DEVICE double product_of_row(int64_t columns, const A& a, const B& b) {
  double sum = 0.0;
  for (int64_t j = lane(); j < columns; j += kWarp) sum += static_cast<double>(a(j)) * b(j);
  return warp_sum(sum);
}

constexpr int kNormalThreads = 128;  // a warp for each row

Grid grid_of_normal_rows(const Shape& shape) {
  return {divide_up(shape[0], int64_t{kNormalThreads / kWarp})};
}

template <typename T>
struct DivideByNorm {
  static constexpr int kThreads = kNormalThreads;
  struct Arguments {
    Global<const T> x;
    Global<float> y;
    int64_t rows, columns;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t row = global_warp<DivideByNorm>();
    if (row >= in.rows) return;
    const auto x = [&](int64_t j) { return to_float(in.x.load(row * in.columns + j)); };
    const double norm = square_root(product_of_row(in.columns, x, x));
    const auto divisor = static_cast<float>(norm < ops::kLeastNorm ? ops::kLeastNorm : norm);
    for (int64_t j = lane(); j < in.columns; j += kWarp) {
      in.y.store(row * in.columns + j, x(j) / divisor);
    }
  }
};

template <typename T>
struct DivideByNormGradient {
  static constexpr int kThreads = kNormalThreads;
  struct Arguments {
    Global<const float> dy;
    Global<const T> x;
    Global<T> dx;
    int64_t rows, columns;
  };
  CLOZE_DEVICE static void run(const Arguments& in) {
    const int64_t row = global_warp<DivideByNormGradient>();
    if (row >= in.rows) return;
    const auto x = [&](int64_t j) { return to_float(in.x.load(row * in.columns + j)); };
    const auto dy = [&](int64_t j) { return in.dy.load(row * in.columns + j); };
    const double squares = product_of_row(in.columns, x, x);
    const double product = product_of_row(in.columns, x, dy);
    const double norm = square_root(squares);
    const bool is_short = norm < ops::kLeastNorm;
    const auto along = static_cast<float>(is_short ? 0.0 : product / squares);
    float scale = static_cast<float>(1.0 / (is_short ? ops::kLeastNorm : norm));
    if (squares == 0.0) scale = 0.0f;
    for (int64_t j = lane(); j < in.columns; j += kWarp) {
      in.dx.store(row * in.columns + j, from_float<T>(fused(-x(j), along, dy(j)) * scale));
    }
  }
};

// sequence_starts follows x among the inputs.
template <typename T>
PooledRows<T> pooled_rows(const Call& call, size_t x) {
  return {call.input<T>(x), call.input<int32_t>(x + 1), call.input_shape(x + 1)[0] - 1,
          call.input_shape(x)[1]};
}

template <typename K>
Grid grid_of_threads(int64_t count) {
  return {divide_up(count, int64_t{K::kThreads})};
}

struct PoolSequences {
  static constexpr const graph::OpDefinition& kOp = ops::kPoolSequences;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::PoolSequences;
    const auto& modes = call.attributes<ops::PoolingAttributes>().modes;
    const PooledRows<T> rows = pooled_rows<T>(call, Op::kX);
    for (size_t m = 0; m < modes.size(); ++m) {
      call.launch<PoolColumns<T>>(grid_of_threads<PoolColumns<T>>(rows.sequences * rows.columns),
                                  {rows, call.output<float>(Op::kY), modes[m],
                                   static_cast<int64_t>(m), static_cast<int64_t>(modes.size())});
    }
  }
};

struct PoolSequencesGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kPoolSequencesGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::PoolSequencesGradient;
    using Kernel = PoolColumnsGradient<T>;
    const auto& modes = call.attributes<ops::PoolingAttributes>().modes;
    typename Kernel::Arguments arguments{.rows = pooled_rows<T>(call, Op::kX),
                                         .dy = call.input<float>(Op::kDy),
                                         .dx = call.output<T>(Op::kDx),
                                         .slots = call.input_shape(Op::kX)[0],
                                         .modes = static_cast<int>(modes.size()),
                                         .mode = {}};
    std::ranges::copy(modes, arguments.mode);
    const int64_t sequences = arguments.rows.sequences + 1;
    call.launch<Kernel>(grid_of_threads<Kernel>(sequences * arguments.rows.columns), arguments);
  }
};

struct NormalizeRows {
  static constexpr const graph::OpDefinition& kOp = ops::kNormalizeRows;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::NormalizeRows;
    const Shape& shape = call.input_shape(Op::kX);
    call.launch<DivideByNorm<T>>(
        grid_of_normal_rows(shape),
        {call.input<T>(Op::kX), call.output<float>(Op::kY), shape[0], shape[1]});
  }
};

struct NormalizeRowsGradient {
  static constexpr const graph::OpDefinition& kOp = ops::kNormalizeRowsGradient;
  template <typename T>
  static void run(const Call& call) {
    using Op = ops::NormalizeRowsGradient;
    const Shape& shape = call.input_shape(Op::kX);
    call.launch<DivideByNormGradient<T>>(grid_of_normal_rows(shape),
                                         {call.input<float>(Op::kDy), call.input<T>(Op::kX),
                                          call.output<T>(Op::kDx), shape[0], shape[1]});
  }
};

}  // namespace

KernelTable pooling_kernels() {
  return table_of<PoolSequences, PoolSequencesGradient, NormalizeRows, NormalizeRowsGradient>();
}

}  // namespace cloze::backend::gpu::inline CLOZE_GPU_TARGET
