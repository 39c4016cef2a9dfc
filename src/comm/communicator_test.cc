#include "comm/communicator.h"

#include <gtest/gtest.h>

#include <limits>
#include <mutex>

#include "base/bfloat16.h"
#include "comm/group.h"
#include "comm/loopback.h"

namespace cloze::comm {
namespace {

TEST(Communicator, SharesCoverEverythingOnce) {
  for (const int size : {1, 2, 3, 7}) {
    for (int64_t count = 0; count < 30; ++count) {
      int64_t end = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(count, rank, size);
        EXPECT_EQ(share.begin, end);
        EXPECT_LE(share.end - share.begin, count / size + 1);
        end = share.end;
      }
      EXPECT_EQ(end, count);
    }
  }
}

// The sum of all in the order of the ranks, to the byte.
TEST(Loopback, AddsInTheOrderOfTheRanks) {
  for (const int size : {1, 2, 3, 5}) {
    for (const int64_t count : {0, 1, 4, 1000}) {
      const auto value = [](int rank, int64_t i) {
        return static_cast<float>(i + 1) / static_cast<float>(3 + 7 * rank);
      };
      run_loopback(size, [&](Communicator& ranks) {
        std::vector<float> values(static_cast<size_t>(count));
        for (int64_t i = 0; i < count; ++i) values[i] = value(ranks.rank(), i);
        ranks.all_reduce(values);
        for (int64_t i = 0; i < count; ++i) {
          float sum = 0.0f;
          for (int rank = 0; rank < size; ++rank) sum += value(rank, i);
          EXPECT_EQ(values[i], sum);
        }
      });
    }
  }
}

// Longer than a slice, and shares of any length, none included.
TEST(Loopback, EachRankHasTheSumsOfItsShare) {
  const std::vector<Share> shares{{0, 200'000}, {200'000, 200'000}, {200'000, 270'001}};
  const auto value = [](int rank, int64_t i) {
    return static_cast<float>(i + 1) / static_cast<float>(3 + 7 * rank);
  };
  for (const DType transport : {DType::kF32, DType::kBF16}) {
    run_loopback(3, [&](Communicator& ranks) {
      std::vector<float> values(270'001);
      for (int64_t i = 0; i < std::ssize(values); ++i) values[i] = value(ranks.rank(), i);
      ranks.reduce_scatter(values, shares, transport);
      const auto travelled = [&](float x) {
        return transport == DType::kF32 ? x : static_cast<float>(bfloat16(x));
      };
      for (int owner = 0; owner < 3; ++owner) {
        for (int64_t i = shares[owner].begin; i < shares[owner].end; ++i) {
          float sum = 0.0f;
          for (int rank = 0; rank < 3; ++rank) {
            sum += rank == owner ? value(rank, i) : travelled(value(rank, i));
          }
          ASSERT_EQ(values[i], owner == ranks.rank() ? sum : value(ranks.rank(), i)) << i;
        }
      }
    });
  }
}

TEST(Loopback, ShareByShareAllGetTheSameNumbers) {
  const std::vector<Share> shares{{0, 3}, {3, 70'000}, {70'000, 70'000}};
  for (const DType transport : {DType::kF32, DType::kBF16}) {
    run_loopback(3, [&](Communicator& ranks) {
      std::vector<float> values(70'000, -1.0f);
      for (int64_t i = shares[ranks.rank()].begin; i < shares[ranks.rank()].end; ++i) {
        values[i] = 1.0f / static_cast<float>(i + 3);
      }
      ranks.all_gather(values, shares, transport);
      for (int64_t i = 0; i < std::ssize(values); ++i) {
        const float sent = 1.0f / static_cast<float>(i + 3);
        ASSERT_EQ(values[i], transport == DType::kF32 ? sent : static_cast<float>(bfloat16(sent)));
      }
    });
  }
}

TEST(Loopback, MessagesArriveInTheOrderTheyWereSent) {
  run_loopback(2, [](Communicator& ranks) {
    const int other = 1 - ranks.rank();
    for (int i = 0; i < 5; ++i) ranks.send(std::as_bytes(std::span(&i, 1)), other);
    for (int i = 0; i < 5; ++i) {
      int received = -1;
      ranks.receive(std::as_writable_bytes(std::span(&received, 1)), other);
      EXPECT_EQ(received, i);
    }
  });
}

// Two stages of three replicas: a rank is in one group of each kind.
TEST(Group, OfOneColourHasItsOwnRanksAndSums) {
  run_loopback(6, [](Communicator& world) {
    const int stage = world.rank() % 2, replica = world.rank() / 2;
    Group replicas(world, 1, stage);
    Group stages(world, 2, replica);
    EXPECT_EQ(replicas.size(), 3);
    EXPECT_EQ(replicas.rank(), replica);
    EXPECT_EQ(stages.size(), 2);
    EXPECT_EQ(stages.rank(), stage);
    std::vector<float> over_replicas{static_cast<float>(world.rank())}, over_stages = over_replicas;
    replicas.all_reduce(over_replicas);
    stages.all_reduce(over_stages);
    EXPECT_EQ(over_replicas[0], static_cast<float>(0 + 2 + 4 + 3 * stage));
    EXPECT_EQ(over_stages[0], static_cast<float>(4 * replica + 1));
  });
}

TEST(Loopback, GathersTextsInTheOrderOfTheRanks) {
  run_loopback(3, [](Communicator& ranks) {
    const std::string own(static_cast<size_t>(ranks.rank()), 'x');
    EXPECT_EQ(ranks.all_gather(own), (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(ranks.size(), 3);
  });
}

TEST(Loopback, GathersValuesInTheOrderOfTheRanks) {
  struct Pair {
    double number = 0.0;
    int8_t rank = 0;
    bool operator==(const Pair&) const = default;
  };
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  run_loopback(3, [](Communicator& ranks) {
    const auto rank = static_cast<int8_t>(ranks.rank());
    EXPECT_EQ(ranks.all_gather(10 * ranks.rank()), (std::vector<int>{0, 10, 20}));
    EXPECT_EQ(ranks.all_gather(Pair{rank == 1 ? kInfinity : 0.5, rank}),
              (std::vector<Pair>{{0.5, 0}, {kInfinity, 1}, {0.5, 2}}));
    const std::vector<Pair> own(static_cast<size_t>(rank), {0.25, rank});
    EXPECT_EQ(ranks.all_gather(own),
              (std::vector<std::vector<Pair>>{{}, {{0.25, 1}}, {{0.25, 2}, {0.25, 2}}}));
  });
}

TEST(Loopback, GathersListsOfTexts) {
  run_loopback(3, [](Communicator& ranks) {
    std::vector<std::string> own(static_cast<size_t>(2 - ranks.rank()));
    if (!own.empty()) own.back() = "rank\n" + std::to_string(ranks.rank());
    EXPECT_EQ(ranks.all_gather(own),
              (std::vector<std::vector<std::string>>{{"", "rank\n0"}, {"rank\n1"}, {}}));
  });
}

TEST(Loopback, ARankThatFailsEndsTheOthers) {
  int waiting = 0;
  std::mutex mutex;
  EXPECT_THROW(run_loopback(4,
                            [&](Communicator& ranks) {
                              if (ranks.rank() == 2) throw std::invalid_argument("bad");
                              try {
                                ranks.all_gather("");
                              } catch (const std::runtime_error&) {
                                const std::lock_guard lock(mutex);
                                ++waiting;
                                throw;
                              }
                            }),
               std::exception);
  EXPECT_EQ(waiting, 3);
}

TEST(Communicator, AloneNothingChanges) {
  std::vector<float> values{1.5f};
  alone().all_reduce(values);
  EXPECT_EQ(values[0], 1.5f);
  EXPECT_EQ(alone().all_gather("a"), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace cloze::comm
