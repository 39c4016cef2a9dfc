// A warp's products are those of the matrices that its lanes hold, as PTX lays them out.
#include "backend/gpu/emulation/launch_test.h"

namespace cloze::backend::gpu {
namespace {

constexpr int kRows = 16, kDepth = 16, kColumns = 8;

// Small whole numbers, none of which is another's neighbour: exact in bf16, and so are their sums.
float a_at(int row, int k) { return static_cast<float>((5 * row + 11 * k) % 17 - 8); }
float b_at(int k, int column) { return static_cast<float>((7 * k + 3 * column) % 13 - 6); }

struct Matrices {
  alignas(16) Cell<bf16> a[kRows * kDepth];
  alignas(16) Cell<bf16> b[kDepth * kColumns];  // rows of k, or, transposed, of columns
};

// y = 1 + a b, by one warp.
template <bool kIsTransposed>
struct Multiplied {
  static constexpr int kThreads = 32;
  using Arguments = Numbers;
  using Shared = Matrices;

  // Neighbours share a word of memory: a lane writes both.
  static void fill(Matrices& memory) {
    for (int i = 0; i < kRows * kDepth; ++i) {
      if (i / 2 % kWarp == lane()) memory.a[i].put(to_bf16(a_at(i / kDepth, i % kDepth)));
    }
    for (int i = 0; i < kDepth * kColumns; ++i) {
      const float b =
          kIsTransposed ? b_at(i % kDepth, i / kDepth) : b_at(i / kColumns, i % kColumns);
      if (i / 2 % kWarp == lane()) memory.b[i].put(to_bf16(b));
    }
  }

  static void run(const Numbers& in) {
    Matrices& memory = shared<Matrices>();
    fill(memory);
    sync_warp();
    uint32_t a[4], b[4];
    load_matrices(a, memory.a[lane() % 16 * kDepth + lane() / 16 * 8]);
    // The second pair of matrices is the first again.
    if (kIsTransposed) {
      load_matrices(b, memory.b[lane() % 8 * kDepth + lane() / 8 % 2 * 8]);
    } else {
      load_transposed_matrices(b, memory.b[lane() % 16 * kColumns]);
    }
    float sums[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    multiply_add(sums, a, b[0], b[1]);
    for (int i = 0; i < 4; ++i) {
      const int row = lane() / 4 + i / 2 * 8, column = 2 * (lane() % 4) + i % 2;
      in.y.store(row * kColumns + column, sums[i]);
    }
  }
};

template <typename K>
void expect_product() {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LaunchOutcome outcome = launch_numbers<K>(seed, {1});
    EXPECT_EQ(outcome.texts(), "");
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        float sum = 1.0f;
        for (int k = 0; k < kDepth; ++k) sum += a_at(row, k) * b_at(k, column);
        ASSERT_EQ(outcome.y[static_cast<size_t>(row * kColumns + column)], sum)
            << row << ", " << column;
      }
    }
  }
}

TEST(Matrices, AreMultiplied) { expect_product<Multiplied<true>>(); }
TEST(Matrices, AreTransposedWhenTheyAreLoaded) { expect_product<Multiplied<false>>(); }

// A row that another warp wrote, with no barrier in between.
struct Unordered {
  static constexpr int kThreads = 64;
  using Arguments = Numbers;
  using Shared = Matrices;
  static void run(const Numbers& in) {
    Matrices& memory = shared<Matrices>();
    if (warp() == 0) {
      for (int i = lane(); i < kRows * kDepth; i += kWarp) memory.a[i].put(to_bf16(1.0f));
    }
    uint32_t a[4];
    load_matrices(a, memory.a[lane() % 16 * kDepth + lane() / 16 * 8]);
    in.y.store(thread(), as_float(a[0]));
  }
};

TEST(Matrices, AreNotReadBeforeTheyAreWritten) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_NE(launch_numbers<Unordered>(seed, {1}).texts(), "") << seed;
  }
}

struct Unaligned {
  static constexpr int kThreads = 32;
  using Arguments = Numbers;
  using Shared = Matrices;
  static void run(const Numbers& in) {
    Matrices& memory = shared<Matrices>();
    Multiplied<true>::fill(memory);
    sync_warp();
    uint32_t a[4];
    load_matrices(a, memory.a[1]);
    in.y.store(thread(), as_float(a[0]));
  }
};

TEST(Matrices, AreLoadedFromWholeRows) { EXPECT_NE(launch_numbers<Unaligned>(0, {1}).texts(), ""); }

TEST(Pairs, HaveTheFirstNumberBelow) {
  EXPECT_EQ(bf16_pair(1.0f, -2.0f), 0xc0003f80u);
  EXPECT_EQ(bf16_pair(1.00390625f, 1.01171875f), 0x3f823f80u);  // to even when two are near
}

}  // namespace
}  // namespace cloze::backend::gpu
