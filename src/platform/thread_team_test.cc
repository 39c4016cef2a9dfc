#include "platform/thread_team.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace cloze::platform {
namespace {

using Visits = std::vector<std::atomic<int>>;

void visit_all(Visits& visits, int num_threads) {
  const auto visit = [&](int64_t item, int) { ++visits[static_cast<size_t>(item)]; };
  share_items(std::ssize(visits), num_threads, ItemBody(visit));
}

void expect_all(const Visits& visits, int expected) {
  for (const auto& visit : visits) ASSERT_EQ(visit, expected);
}

// Returns once `num_threads` threads have been at an item at the same time.
void meet(int num_threads) {
  std::atomic<int> waiting{0};
  const auto wait_for_the_others = [&](int64_t, int) {
    ++waiting;
    while (waiting < num_threads) std::this_thread::yield();
  };
  share_items(num_threads, num_threads, ItemBody(wait_for_the_others));
}

TEST(ThreadTeam, EveryItemOnce) {
  for (const int threads : {0, 1, 2, 3, 64}) {
    for (const size_t count : {0, 1, 2, 3, 1000}) {
      Visits visits(count);
      visit_all(visits, threads);
      expect_all(visits, 1);
    }
  }
}

TEST(ThreadTeam, ManyShortCallsLoseNoItem) {
  constexpr int kCalls = 20'000;
  Visits visits(5);
  for (int call = 0; call < kCalls; ++call) visit_all(visits, 4);
  expect_all(visits, kCalls);
}

TEST(ThreadTeam, CallsAfterAPauseWakeThreadsThatSleep) {
  for (int call = 0; call < 50; ++call) {
    std::this_thread::sleep_for(4 * kSpinTime);
    meet(2);
  }
}

// What the items write without atomics must be there for the caller, and the other way round.
TEST(ThreadTeam, ResultsAreVisibleToTheCallerAndToTheNextCall) {
  std::vector<int64_t> values(300, 1);
  for (int call = 0; call < 200; ++call) {
    std::vector<int64_t> before = values;
    const auto add = [&](int64_t item, int) {
      values[static_cast<size_t>(item)] += before[static_cast<size_t>((item + 1) % 300)];
    };
    share_items(300, 3, ItemBody(add));
    before.assign(300, 0);
    for (int64_t& value : values) value = value % 1000;
  }
  EXPECT_EQ(values, std::vector<int64_t>(300, values[0]));
}

TEST(ThreadTeam, ThreadsAreNumberedApart) {
  std::vector<std::atomic<bool>> is_taken(4);
  for (int call = 0; call < 200; ++call) {
    const auto take = [&](int64_t, int thread) {
      ASSERT_LT(thread, 4);
      EXPECT_FALSE(is_taken[static_cast<size_t>(thread)].exchange(true));
      is_taken[static_cast<size_t>(thread)] = false;
    };
    share_items(50, 4, ItemBody(take));
  }
}

TEST(ThreadTeam, TheThreadsAreDifferentOnes) {
  std::atomic<int> waiting{0};
  const auto wait_for_the_others = [&](int64_t, int) {
    ++waiting;
    while (waiting < 3) std::this_thread::yield();
  };
  share_items(3, 3, ItemBody(wait_for_the_others));
  EXPECT_EQ(waiting, 3);
}

TEST(ThreadTeam, AThreadThatIsHeldUpDelaysOnlyItsItem) {
  constexpr int64_t kCount = 100;
  std::atomic<int64_t> done{0};
  std::atomic<int64_t> done_meanwhile{0};
  const auto work = [&](int64_t item, int) {
    if (item == 0) {
      while (done < kCount - 1) std::this_thread::yield();
      done_meanwhile = done.load();
    }
    ++done;
  };
  share_items(kCount, 2, ItemBody(work));
  EXPECT_EQ(done_meanwhile, kCount - 1);
}

TEST(ThreadTeam, ACallWithinAnItemDoesItsItemsItself) {
  Visits visits(60);
  const auto outer = [&](int64_t item, int) {
    const std::thread::id self = std::this_thread::get_id();
    const auto inner = [&](int64_t i, int thread) {
      EXPECT_EQ(std::this_thread::get_id(), self);
      EXPECT_EQ(thread, 0);
      ++visits[static_cast<size_t>(item * 20 + i)];
    };
    share_items(20, 4, ItemBody(inner));
  };
  share_items(3, 2, ItemBody(outer));
  expect_all(visits, 1);
}

TEST(ThreadTeam, ThreadsCallAtTheSameTime) {
  Visits visits(40);
  std::vector<std::thread> callers;
  for (int i = 0; i < 6; ++i) {
    callers.emplace_back([&] {
      for (int call = 0; call < 200; ++call) visit_all(visits, 3);
    });
  }
  for (std::thread& caller : callers) caller.join();
  expect_all(visits, 6 * 200);
}

TEST(ThreadTeam, AForkedChildWorksAloneAndEnds) {
  Visits visits(100);
  // A child of a fork during a helper's start would wait for ever for AddressSanitizer's lock.
  meet(3);
  visit_all(visits, 3);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    visit_all(visits, 3);
    for (const auto& visit : visits) {
      if (visit != 2) ::_exit(1);
    }
    std::exit(0);  // with the destructors
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST(ThreadTeamDeathTest, AnExceptionEndsTheProgram) {
  const auto fail = [](int64_t, int) { throw std::runtime_error("item failed"); };
  EXPECT_DEATH(share_items(10, 2, ItemBody(fail)), "terminate called");
}

}  // namespace
}  // namespace cloze::platform
