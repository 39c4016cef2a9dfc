#include "comm/rank_watch.h"

#include <gtest/gtest.h>

namespace cloze::comm {
namespace {

using std::chrono::milliseconds;

RankWatch::Time at(double seconds) {
  return RankWatch::Time() + milliseconds(static_cast<int64_t>(1000.0 * seconds));
}

RankState state(int64_t step, int64_t entered, bool waits = false) {
  return {.phase = waits ? "summing gradients" : "computing",
          .step = step,
          .entered = entered,
          .waits_for_others = waits};
}

RankWatch two_ranks(WatchBounds bounds = {.silence = 10.0, .stall = 100.0}) {
  return {{"rank 0 (a)", "rank 1 (b)"}, bounds, at(0)};
}

TEST(RankState, GoesThroughALine) {
  for (const RankState& one : {RankState(), state(17, 203, true), state(1, 2)}) {
    EXPECT_EQ(state_from(to_line(one)), one);
  }
  for (const char* line :
       {"", "1", "1 2", "1 2 0", "1 2 0 ", "a 2 0 computing", "1 2 7 computing"}) {
    EXPECT_EQ(state_from(line), std::nullopt) << line;
  }
}

TEST(RankWatch, NamesWhoIsSilentAndWhatItDid) {
  RankWatch watch = two_ranks();
  watch.hear(0, state(5, 9), at(12));
  watch.hear(1, state(5, 9), at(2));
  EXPECT_EQ(watch.find_fault(at(11.9)), std::nullopt);
  EXPECT_EQ(watch.find_fault(at(12.5)),
            "rank 1 (b) has been silent for 10.5 s: it is stopped, or cannot be reached; it was in "
            "step 5, computing");
  watch.leave(1);
  EXPECT_EQ(watch.find_fault(at(13)), std::nullopt);
}

TEST(RankWatch, ExcusesWhatItCouldNotHear) {
  RankWatch watch = two_ranks();
  watch.excuse_silence(at(1000));
  EXPECT_EQ(watch.find_fault(at(1009)), std::nullopt);
  EXPECT_NE(watch.find_fault(at(1011)), std::nullopt);
}

TEST(RankWatch, ZeroIsNoBound) {
  RankWatch watch = two_ranks({.silence = 0.0, .stall = 0.0});
  watch.hear(1, state(5, 9), at(1));
  EXPECT_EQ(watch.find_fault(at(1e6)), std::nullopt);
}

TEST(RankWatch, BlamesTheRankAtWorkForNoProgress) {
  RankWatch watch = two_ranks();
  for (int second = 1; second <= 200; ++second) {
    watch.hear(0, state(5, 9, true), at(second));
    watch.hear(1, state(5, 7), at(second));
  }
  EXPECT_EQ(watch.find_fault(at(200)),
            "rank 1 (b) has made no progress for 199.0 s; it is in step 5, computing");
}

TEST(RankWatch, WhoeverWaitsForARankAtWorkIsNotStalled) {
  RankWatch watch = two_ranks();
  for (int second = 1; second <= 200; ++second) {
    watch.hear(0, state(5, 9, true), at(second));
    watch.hear(1, state(5, second), at(second));
  }
  EXPECT_EQ(watch.find_fault(at(200)), std::nullopt);
}

TEST(RankWatch, BeforeTheFirstStepWorkMayTakeLong) {
  RankWatch watch = two_ranks();
  for (int second = 1; second <= 200; ++second) {
    for (const int rank : {0, 1}) watch.hear(rank, state(0, 0, rank == 0), at(second));
  }
  EXPECT_EQ(watch.find_fault(at(200)), std::nullopt);
}

TEST(RankWatch, FlagsAStragglerOnceInAPhase) {
  RankWatch watch = two_ranks();
  double now = 0.0;
  for (int64_t step = 1; step <= 5; ++step) {
    now += 1.0;
    for (const int rank : {0, 1}) watch.hear(rank, state(step, step), at(now));
  }
  watch.hear(0, state(5, 6, true), at(now + 0.5));
  EXPECT_TRUE(watch.new_stragglers(at(now + 9.9)).empty());
  EXPECT_EQ(watch.new_stragglers(at(now + 10.5)),
            std::vector<std::string>{"rank 1 (b) keeps the others waiting: it has been in step 5, "
                                     "computing for 10.5 s; a step takes 1.00 s"});
  EXPECT_TRUE(watch.new_stragglers(at(now + 20.0)).empty());
}

TEST(RankWatch, SaysWhereARankWasWhenItDied) {
  RankWatch watch = two_ranks();
  EXPECT_EQ(watch.death_of(1), "rank 1 (b) has died; it was starting");
  watch.hear(1, state(3, 4, true), at(1));
  EXPECT_EQ(watch.death_of(1), "rank 1 (b) has died; it was in step 3, summing gradients");
}

}  // namespace
}  // namespace cloze::comm
