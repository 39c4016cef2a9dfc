#include "backend/gpu/emulation/access_counts.h"

#include "backend/gpu/emulation/launch_test.h"

namespace cloze::backend::gpu {
namespace {

// One warp that loads 32 floats, each `kStride` from the next.
template <int kStride>
struct Strided {
  static constexpr int kThreads = 32;
  using Arguments = Numbers;
  static void run(const Numbers& in) { in.y.store(thread(), in.x.load(thread() * kStride)); }
};

TEST(AccessCounts, CountSectorsOfAWarp) {
  const auto neighbours = launch_numbers<Strided<1>>(0, {1}).totals;
  EXPECT_EQ(neighbours.load_sectors, 4);
  EXPECT_EQ(neighbours.least_load_sectors, 4);
  EXPECT_EQ(launch_numbers<Strided<2>>(0, {1}).totals.load_sectors, 8);
  EXPECT_EQ(launch_numbers<Strided<8>>(0, {1}).totals.load_sectors, 32);
  EXPECT_EQ(launch_numbers<Strided<0>>(0, {1}).totals.load_sectors, 1);
}

// One warp that writes 32 cells, each `kStride` from the next.
template <int kStride>
struct Banked {
  static constexpr int kThreads = 32;
  using Arguments = Numbers;
  struct Shared {
    Cell<float> x[kThreads * kStride];
  };
  static void run(const Numbers&) { shared<Shared>().x[thread() * kStride].put(0.0f); }
};

TEST(AccessCounts, CountPassesOverBanks) {
  EXPECT_EQ(launch_numbers<Banked<1>>(0, {1}).totals.shared_passes, 1);
  EXPECT_EQ(launch_numbers<Banked<2>>(0, {1}).totals.shared_passes, 2);
  EXPECT_EQ(launch_numbers<Banked<32>>(0, {1}).totals.shared_passes, 32);
  EXPECT_EQ(launch_numbers<Banked<33>>(0, {1}).totals.shared_passes, 1);
}

}  // namespace
}  // namespace cloze::backend::gpu
