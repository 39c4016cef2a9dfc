// PairProduct: a product of bf16 with sums in f32 by the processor's own units: AMX's tiles, or
// AVX512-BF16's dot products. For the products of attention, whose sizes change from sequence to
// sequence, whereas oneDNN (matmul.h) builds a product for one size; and for those of the
// vocabulary loss, chunk by chunk between other work.
//
//   C[i, j] (+)= sum_k A[i, k] B[k, j]
//
// B lies in panels of 16 columns and pairs of the depth, as both units read it (pair_packing.h):
//   panel[k / 2, j, k % 2] = B[k, j]
// Where the processor has neither, loops do the same, so that tests run everywhere.
#pragma once

#include <cstdint>

#include "backend/cpu/native/fetch_queue.h"
#include "backend/cpu/parallel.h"
#include "base/bfloat16.h"

namespace cloze::backend::cpu {

inline constexpr int64_t kPairProductRows = 32;  // rows are a multiple of this
inline constexpr int64_t kPairPanelColumns = 16;
inline constexpr int64_t kPanelPair = 2 * kPairPanelColumns;  // elements of a panel for a pair
inline constexpr int64_t kPairStep = 32;  // columns and depth are multiples of this
inline int64_t whole_pair_steps(int64_t extent) { return round_up(extent, kPairStep); }

struct PairProduct {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t depth = 0;
  const bfloat16* a = nullptr;  // [rows, depth]
  int64_t a_stride = 0;         // elements between rows
  const bfloat16* b = nullptr;  // panels, one after the other; aligned to 64
  float* c = nullptr;           // [rows, columns]
  bool accumulates = false;     // adds to c
  FetchQueue* queue = nullptr;  // fetched during dot products, not during tiles; may be null
};

enum class PairUnits { kNone, kDotProducts, kTiles };

// The units that this processor has, the system lets us use, and the instruction set in use
// includes.
PairUnits pair_units();

// Holds the tiles of a thread while it multiplies. Cheap, but not free: make one for many products.
class PairMultiplier {
 public:
  explicit PairMultiplier(PairUnits units);
  ~PairMultiplier();
  PairMultiplier(const PairMultiplier&) = delete;
  PairMultiplier& operator=(const PairMultiplier&) = delete;

  void multiply(const PairProduct& product) const;

 private:
  void multiply_part(const PairProduct& part) const;  // of kPairProductRows rows

  PairUnits units_;
};

}  // namespace cloze::backend::cpu
