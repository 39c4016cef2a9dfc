// Each primitive of gpu.h, emulated, does what CUDA's manuals say of it. On a card the same kernels
// are to give the same bytes.
#include "backend/gpu/emulation/block.h"

#include <algorithm>
#include <bit>
#include <set>

#include "backend/gpu/emulation/launch_test.h"
#include "base/bfloat16.h"

namespace cloze::backend::gpu {
namespace {

// Two warps in a block, and four blocks.
struct Small {
  static constexpr int kThreads = 64;
  using Arguments = Numbers;
  static int64_t place() { return block() * kThreads + thread(); }
};
constexpr Grid kSmallGrid{kNumbers / Small::kThreads};

template <typename K, typename Expected>
void expect_numbers(const Expected& expected) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LaunchOutcome outcome = launch_numbers<K>(seed, kSmallGrid);
    EXPECT_EQ(outcome.texts(), "");
    for (int64_t i = 0; i < kNumbers; ++i) {
      ASSERT_EQ(outcome.y[static_cast<size_t>(i)], expected(i)) << "element " << i;
    }
  }
}

template <int kMask>
struct Shuffled : Small {
  static void run(const Numbers& in) {
    in.y.store(place(), shuffle_xor(in.x.load(place()), kMask));
  }
};

TEST(Emulation, ShufflesWithinTheWarp) {
  expect_numbers<Shuffled<1>>([](int64_t i) { return static_cast<float>(i ^ 1); });
  expect_numbers<Shuffled<2>>([](int64_t i) { return static_cast<float>(i ^ 2); });
  expect_numbers<Shuffled<16>>([](int64_t i) { return static_cast<float>(i ^ 16); });
  expect_numbers<Shuffled<31>>([](int64_t i) { return static_cast<float>(i ^ 31); });
}

struct Summed : Small {
  static void run(const Numbers& in) { in.y.store(place(), warp_sum(in.x.load(place()))); }
};

TEST(Emulation, SumsOverTheWarp) {
  expect_numbers<Summed>([](int64_t i) { return static_cast<float>(i / 32 * 32 * 32 + 496); });
}

struct Voted : Small {
  static void run(const Numbers& in) {
    const uint32_t bits = ballot(static_cast<int>(in.x.load(place())) % 3 == 0);
    in.y.store(place(), static_cast<float>(bits >> lane() & 1u) + static_cast<float>(bits >> 31));
  }
};

TEST(Emulation, VotesWithinTheWarp) {
  expect_numbers<Voted>([](int64_t i) {
    return static_cast<float>(i % 3 == 0) + static_cast<float>((i / 32 * 32 + 31) % 3 == 0);
  });
}

// Many rounds, so that lanes that are ahead would write over what others still read.
struct Rounds : Small {
  static void run(const Numbers& in) {
    float x = in.x.load(place());
    for (int round = 0; round < 40; ++round) x = shuffle_xor(x, 1 + round % 31);
    for (int round = 40; round-- > 0;) x = shuffle_xor(x, 1 + round % 31);
    in.y.store(place(), x);
  }
};

TEST(Emulation, KeepsRoundsOfAWarpApart) {
  expect_numbers<Rounds>([](int64_t i) { return static_cast<float>(i); });
}

struct Reversed : Small {
  struct Shared {
    Cell<float> x[kThreads];
  };
  static void run(const Numbers& in) {
    Cell<float>* const x = shared<Shared>().x;
    x[thread()].put(in.x.load(place()));
    sync_block();
    in.y.store(place(), x[kThreads - 1 - thread()].get());
  }
};

TEST(Emulation, ShowsTheBlockWhatWasWrittenBeforeABarrier) {
  expect_numbers<Reversed>([](int64_t i) { return static_cast<float>(i / 64 * 64 + 63 - i % 64); });
}

struct Fetched : Small {
  struct Shared {
    Cell<float> x[kThreads];
  };
  static void run(const Numbers& in) {
    Cell<float>* const x = shared<Shared>().x;
    if (thread() < kThreads / 4) {
      x[4 * thread()].begin_copy(in.x, block() * kThreads + 4 * thread(), thread() % 2 == 0);
    }
    commit_copies();
    wait_for_copies<0>();
    sync_block();
    in.y.store(place(), x[thread()].get());
  }
};

TEST(Emulation, CopiesSixteenBytesOrZeros) {
  expect_numbers<Fetched>([](int64_t i) { return i / 4 % 2 == 0 ? static_cast<float>(i) : 0.0f; });
}

struct Ordered : Small {
  static void run(const Numbers& in) {
    static int turn = 0;
    if (thread() == 0) in.y.store(place(), static_cast<float>(turn++ % 4));
  }
};

TEST(Emulation, RunsBlocksInManyOrders) {
  std::set<std::vector<float>> orders;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    orders.insert(launch_numbers<Ordered>(seed, kSmallGrid).y);
  }
  EXPECT_GE(orders.size(), 10u);
}

TEST(Emulation, RoundsToBf16AsTheHostDoes) {
  for (uint64_t word = 0; word <= 0xffffffffu; word += 0x1fffu) {
    const float value = std::bit_cast<float>(static_cast<uint32_t>(word));
    const bfloat16 expected(value);
    ASSERT_EQ(to_bf16(value).bits, expected.bits) << word;
    ASSERT_EQ(as_bits(to_float(bf16{expected.bits})),
              std::bit_cast<uint32_t>(static_cast<float>(expected)));
  }
}

}  // namespace
}  // namespace cloze::backend::gpu
