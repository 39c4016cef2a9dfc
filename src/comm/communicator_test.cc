#include "comm/communicator.h"

#include <gtest/gtest.h>

#include <mutex>

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

TEST(Loopback, GathersTextsInTheOrderOfTheRanks) {
  run_loopback(3, [](Communicator& ranks) {
    const std::string own(static_cast<size_t>(ranks.rank()), 'x');
    EXPECT_EQ(ranks.all_gather(own), (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_EQ(ranks.size(), 3);
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
