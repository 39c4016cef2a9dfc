// Planted faults: each kernel is wrong in one way, or right. The wrong ones are found with every
// seed, by the kind of their fault; the right ones give no findings and the right numbers.
#include "backend/gpu/emulation/findings.h"

#include <algorithm>

#include "backend/gpu/emulation/launch_test.h"
#include "base/error.h"

namespace cloze::backend::gpu {
namespace {

using emulation::FindingKind;

constexpr int kBlockThreads = 128;

// Every kernel here makes y[i] = x[i + 37] within its block, or y[i] = x[i].
int neighbour(int thread) { return (thread + 37) % kBlockThreads; }

struct Exchanged {
  static constexpr int kThreads = kBlockThreads;
  static float expected(int64_t i) {
    return static_cast<float>(i / kThreads * kThreads + neighbour(static_cast<int>(i) % kThreads));
  }
  using Arguments = Numbers;
};
struct Copied {
  static constexpr int kThreads = kBlockThreads;
  static float expected(int64_t i) { return static_cast<float>(i); }
  using Arguments = Numbers;
};

// The place of the thread in x and y.
int64_t place() { return block() * kBlockThreads + thread(); }

template <bool kFaulty>
struct Barrier : Exchanged {
  struct Shared {
    Cell<float> x[kBlockThreads];
  };
  static void run(const Numbers& in) {
    Shared& memory = shared<Shared>();
    memory.x[thread()].put(0.0f);
    sync_block();
    memory.x[thread()].put(in.x.load(place()));
    if (!kFaulty) sync_block();
    in.y.store(place(), memory.x[neighbour(thread())].get());
  }
};

// Two buffers take turns, so that one barrier a turn is enough.
template <bool kFaulty>
struct Buffers : Exchanged {
  struct Shared {
    Cell<float> x[2][kBlockThreads];
  };
  static void run(const Numbers& in) {
    Shared& memory = shared<Shared>();
    float y = 0.0f;
    for (int turn = 0; turn < 6; ++turn) {
      Cell<float>* const buffer = memory.x[kFaulty ? 0 : turn % 2];
      buffer[thread()].put(in.x.load(place()));
      sync_block();
      y = buffer[neighbour(thread())].get();
    }
    in.y.store(place(), y);
  }
};

// Lanes of one warp meet at a shuffle, which orders no memory.
template <bool kFaulty>
struct WarpBarrier : Copied {
  struct Shared {
    Cell<float> x[kBlockThreads];
  };
  static void run(const Numbers& in) {
    Cell<float>* const x = shared<Shared>().x;
    x[thread()].put(in.x.load(place()));
    if (kFaulty) {
      shuffle_xor(0.0f, 1);
    } else {
      sync_warp();
    }
    const float other = x[thread() ^ 1].get();
    in.y.store(place(), shuffle_xor(other, 1));
  }
};

template <bool kFaulty>
struct Written : Copied {
  struct Shared {
    Cell<float> x[kBlockThreads];
  };
  static void run(const Numbers& in) {
    Cell<float>& x = shared<Shared>().x[thread()];
    if (!kFaulty || thread() != 5) x.put(in.x.load(place()));
    in.y.store(place(), x.get());
  }
};

// Groups of copies: two are under way, and the first is used. kPending: a right wait leaves one.
template <int kPending>
struct Stages : Exchanged {
  struct Shared {
    Cell<float> x[2][kBlockThreads];
  };
  static void run(const Numbers& in) {
    Shared& memory = shared<Shared>();
    for (int stage = 0; stage < 2; ++stage) {
      if (thread() < kBlockThreads / 4) {
        memory.x[stage][4 * thread()].begin_copy(in.x, block() * kBlockThreads + 4 * thread(),
                                                 true);
      }
      commit_copies();
    }
    wait_for_copies<kPending>();
    sync_block();
    in.y.store(place(), memory.x[0][neighbour(thread())].get());
    wait_for_copies<0>();
  }
};
template <bool kFaulty>
struct Wait : Stages<kFaulty ? 2 : 1> {};

// Waits after the barrier, which tells the others nothing.
template <bool kFaulty>
struct WaitBeforeBarrier : Exchanged {
  struct Shared {
    Cell<float> x[kBlockThreads];
  };
  static void run(const Numbers& in) {
    Cell<float>* const x = shared<Shared>().x;
    if (thread() < kBlockThreads / 4) {
      x[4 * thread()].begin_copy(in.x, block() * kBlockThreads + 4 * thread(), true);
    }
    commit_copies();
    if (!kFaulty) wait_for_copies<0>();
    sync_block();
    if (kFaulty) wait_for_copies<0>();
    if (kFaulty) sync_warp();
    in.y.store(place(), x[neighbour(thread())].get());
  }
};

template <bool kFaulty>
struct LastWait : Copied {
  struct Shared {
    Cell<float> x[kBlockThreads];
  };
  static void run(const Numbers& in) {
    if (thread() == 0) shared<Shared>().x[0].begin_copy(in.x, 0, true);
    commit_copies();
    if (!kFaulty) wait_for_copies<0>();
    in.y.store(place(), in.x.load(place()));
  }
};

template <bool kFaulty>
struct Bounds : Copied {
  static void run(const Numbers& in) {
    const bool is_last = block() == 1 && thread() == kThreads - 1;
    in.x.load(place() + (kFaulty && is_last ? 1 : 0));
    in.y.store(place(), in.x.load(place()));
  }
};
template <bool kFaulty>
struct LowerBounds : Copied {
  static void run(const Numbers& in) {
    if (kFaulty && place() == 0) in.y.store(-1, 0.0f);
    in.y.store(place(), in.x.load(place()));
  }
};
template <bool kFaulty>
struct SharedBounds : Copied {
  struct Shared {
    Cell<float> x[kBlockThreads];
  };
  static void run(const Numbers& in) {
    // So that no compiler sees it.
    Cell<float>& x = *(shared<Shared>().x + thread() + (kFaulty ? num_blocks() / 2 : 0));
    x.put(in.x.load(place()));
    in.y.store(place(), in.x.load(place()));
  }
};
template <bool kFaulty>
struct Alignment : Copied {
  static void run(const Numbers& in) {
    if (thread() % 4 != 0) return;
    in.y.store(place(), in.x.load<Neighbours<float, 4>>(place()));
    if (kFaulty && thread() == 4) in.x.load<Neighbours<float, 4>>(place() + 1);
  }
};

// Two threads of a launch write one element, be they of one block or not.
template <bool kFaulty>
struct OneWriter : Copied {
  static void run(const Numbers& in) {
    in.y.store(place(), in.x.load(place()));
    if (kFaulty && place() == 0) in.y.store(kNumbers - 1, static_cast<float>(kNumbers - 1));
  }
};
template <bool kFaulty>
struct OwnReader : Copied {
  static void run(const Numbers& in) {
    in.y.store(place(), in.x.load(place()));
    sync_block();
    if (kFaulty && place() == 0) in.y.load(1);
  }
};

// On a card a lane that stays away from a barrier may stop the block, or not.
template <bool kFaulty>
struct Arrival : Copied {
  static void run(const Numbers& in) {
    in.y.store(place(), in.x.load(place()));
    if (!kFaulty || thread() != 77) sync_block();
  }
};
template <bool kFaulty>
struct OneWay : Copied {
  static void run(const Numbers& in) {
    float x = in.x.load(place());
    if (kFaulty && thread() % 2 == 0) {
      x = shuffle_xor(x, 2);
    } else {
      x = shuffle_xor(x, 2);
    }
    in.y.store(place(), shuffle_xor(x, 2));
  }
};

// As one of these kinds: which one may depend on who came first.
template <template <bool> typename Kernel>
void expect_found(std::initializer_list<FindingKind> kinds) {
  const Grid grid{kNumbers / kBlockThreads};
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const LaunchOutcome faulty = launch_numbers<Kernel<true>>(seed, grid);
    EXPECT_TRUE(std::ranges::any_of(faulty.findings,
                                    [&](const emulation::Finding& finding) {
                                      return std::ranges::count(kinds, finding.kind) > 0;
                                    }))
        << "seed " << seed << "\n"
        << faulty.texts();
    const LaunchOutcome right = launch_numbers<Kernel<false>>(seed, grid);
    EXPECT_EQ(right.texts(), "") << "seed " << seed;
    for (int64_t i = 0; i < kNumbers; ++i) {
      ASSERT_EQ(right.y[static_cast<size_t>(i)], Kernel<false>::expected(i)) << i;
    }
  }
}

TEST(PlantedFaults, AMissingBarrier) { expect_found<Barrier>({FindingKind::kRace}); }
TEST(PlantedFaults, OneBufferInsteadOfTwo) { expect_found<Buffers>({FindingKind::kRace}); }
TEST(PlantedFaults, AShuffleInsteadOfABarrier) { expect_found<WarpBarrier>({FindingKind::kRace}); }
TEST(PlantedFaults, SharedMemoryThatNobodyWrote) {
  expect_found<Written>({FindingKind::kUninitialised});
}
TEST(PlantedFaults, AWaitThatLeavesOneCopyTooMany) {
  expect_found<Wait>({FindingKind::kMissingWait});
}
TEST(PlantedFaults, AWaitAfterTheBarrier) {
  expect_found<WaitBeforeBarrier>({FindingKind::kMissingWait, FindingKind::kRace});
}
TEST(PlantedFaults, ACopyThatNobodyWaitsFor) {
  expect_found<LastWait>({FindingKind::kMissingWait});
}
TEST(PlantedFaults, AnElementBeyondTheLast) { expect_found<Bounds>({FindingKind::kOutOfBounds}); }
TEST(PlantedFaults, AnElementBeforeTheFirst) {
  expect_found<LowerBounds>({FindingKind::kOutOfBounds});
}
TEST(PlantedFaults, ACellBeyondTheLast) { expect_found<SharedBounds>({FindingKind::kOutOfBounds}); }
TEST(PlantedFaults, AnUnalignedLoad) { expect_found<Alignment>({FindingKind::kUnaligned}); }
TEST(PlantedFaults, TwoThatWriteOneElement) { expect_found<OneWriter>({FindingKind::kUnordered}); }
TEST(PlantedFaults, OneThatReadsWhatAnotherWrites) {
  expect_found<OwnReader>({FindingKind::kUnordered});
}
TEST(PlantedFaults, AThreadThatStaysAway) { expect_found<Arrival>({FindingKind::kEndlessWait}); }
TEST(PlantedFaults, LanesThatGoTwoWays) { expect_found<OneWay>({FindingKind::kDivergence}); }

TEST(Findings, AreToldByTheLineOfTheKernel) {
  alignas(16) float x[kNumbers] = {}, y[kNumbers] = {};
  host::HostStream stream;
  Launcher launcher("rows", stream);
  launcher.launch<Bounds<true>>({kNumbers / kBlockThreads},
                                {launcher.tensor<const float>("input 0", x, kNumbers),
                                 launcher.tensor("output 0", y, kNumbers)});
  std::string message;
  try {
    launcher.finish();
  } catch (const InternalError& error) {
    message = error.what();
  }
  EXPECT_TRUE(message.starts_with("the emulated kernel rows did wrong:\n  findings_test.cc:"))
      << message;
  EXPECT_TRUE(message.ends_with(": element 256 of input 0, which has 256")) << message;
}

TEST(Launches, ThatNoCardTakesAreRefused) {
  struct TooMuch : Copied {
    struct Shared {
      Cell<float> x[60000];
    };
    static void run(const Numbers&) {}
  };
  EXPECT_THROW(launch_numbers<TooMuch>(0, {1}), InternalError);
  EXPECT_THROW(launch_numbers<Bounds<false>>(0, {0}), InternalError);
  EXPECT_THROW(launch_numbers<Bounds<false>>(0, {1, 70000}), InternalError);
}

}  // namespace
}  // namespace cloze::backend::gpu
