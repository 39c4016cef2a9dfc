#include "comm/heartbeat.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "comm/loopback.h"

namespace cloze::comm {
namespace {

using platform::Connection;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

// What the ranks say, and how many of them were to end.
class Record {
 public:
  HeartbeatOptions options(double silence) {
    return {.bounds = {.silence = silence},
            .say =
                [this](const std::string& line) {
                  const std::lock_guard lock(mutex_);
                  said_ += line + "\n";
                },
            .end =
                [this] {
                  const std::lock_guard lock(mutex_);
                  if (ended_++ == 0) said_first_ = said_;
                },
            .grace = milliseconds(100)};
  }
  void wait_for_ends(int count) const {
    const auto deadline = Clock::now() + std::chrono::seconds(20);
    while (ended_ < count && Clock::now() < deadline) std::this_thread::sleep_for(milliseconds(5));
  }
  int ended() const { return ended_; }
  const std::string& said() const { return said_; }
  // What was said before the first rank was to end, when mpirun ends all.
  const std::string& said_first() const { return said_first_; }

 private:
  std::mutex mutex_;
  std::string said_, said_first_;
  std::atomic<int> ended_{0};
};

constexpr std::string_view kFirstWasSilent = "rank 0 (host far, process 7) has been silent for ";

// The reported seconds of silence: which bound they exceed tells which rank speaks.
double silence_said(const std::string& line) {
  EXPECT_TRUE(line.starts_with(kFirstWasSilent)) << line;
  return std::atof(line.substr(std::min(line.size(), kFirstWasSilent.size())).c_str());
}

// The heartbeat of a rank, by hand: it says what the test wants.
Connection join_by_hand(Communicator& ranks, const std::string& token = "") {
  std::istringstream words(ranks.all_gather("far 7 0 -").front());
  std::string host, process, right_token;
  int port = 0;
  words >> host >> process >> port >> right_token;
  auto connection = Connection::to("127.0.0.1", port, milliseconds(2000));
  if (!connection) throw_environment_error("nobody listens at port {}", port);
  connection->send((token.empty() ? right_token : token) + " " + std::to_string(ranks.rank()));
  connection->send("3 9 0 computing");
  return std::move(*connection);
}

TEST(Heartbeat, RanksThatLeaveAreNotMissed) {
  Record run;
  run_loopback(4, [&](Communicator& ranks) {
    const Heartbeat heartbeat(ranks, run.options(1.5));
    std::this_thread::sleep_for(milliseconds(300 + 800 * ranks.rank()));
  });
  EXPECT_EQ(run.said(), "");
  EXPECT_EQ(run.ended(), 0);
}

TEST(Heartbeat, ASilentRankEndsAllAndIsNamed) {
  Record run;
  run_loopback(3, [&](Communicator& ranks) {
    if (ranks.rank() == 2) {
      const Connection silent = join_by_hand(ranks);
      return run.wait_for_ends(2);
    }
    const Heartbeat heartbeat(ranks, run.options(0.8));
    run.wait_for_ends(2);
  });
  EXPECT_EQ(run.ended(), 2);
  EXPECT_TRUE(run.said().starts_with("rank 2 (host far, process 7) has been silent for "))
      << run.said();
  EXPECT_TRUE(
      run.said().ends_with("cannot be reached; it was in step 3, computing; all ranks end\n"))
      << run.said();
}

// The first rank, by hand: it welcomes all others, and is silent from then on.
std::vector<Connection> welcome_by_hand(Communicator& ranks) {
  const platform::ListeningSocket socket("127.0.0.1", 0);
  ranks.all_gather("far 7 " + std::to_string(socket.port()) + " token 127.0.0.1");
  std::vector<Connection> others;
  while (std::ssize(others) < ranks.size() - 1) {
    if (auto caller = Connection::from(socket)) {
      caller->send("welcome");
      others.push_back(std::move(*caller));
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return others;
}

// The first rank that ends makes mpirun end all: the ranks that notice first wait for the one that
// speaks.
TEST(Heartbeat, ASilentFirstRankIsNamedByOneRankBeforeAnyEnds) {
  Record run;
  run_loopback(4, [&](Communicator& ranks) {
    if (ranks.rank() == 0) {
      const std::vector<Connection> others = welcome_by_hand(ranks);
      return run.wait_for_ends(1);
    }
    HeartbeatOptions options = run.options(ranks.rank() == 1 ? 1.5 : 0.5);
    options.grace = std::chrono::seconds(60);
    const Heartbeat heartbeat(ranks, options);
    run.wait_for_ends(1);
  });
  EXPECT_GE(silence_said(run.said_first()), 1.5);
  EXPECT_EQ(run.said(), run.said_first());
  EXPECT_EQ(run.ended(), 1);
}

// The one that would speak is lost too.
TEST(Heartbeat, AnotherRankSpeaksForTwoThatAreSilent) {
  Record run;
  run_loopback(4, [&](Communicator& ranks) {
    if (ranks.rank() == 0) {
      const std::vector<Connection> others = welcome_by_hand(ranks);
      return run.wait_for_ends(1);
    }
    if (ranks.rank() == 1) {
      const Connection silent = join_by_hand(ranks);
      return run.wait_for_ends(1);
    }
    HeartbeatOptions options = run.options(0.5);
    if (ranks.rank() == 3) options.grace = std::chrono::seconds(60);
    const Heartbeat heartbeat(ranks, options);
    run.wait_for_ends(1);
  });
  EXPECT_GE(silence_said(run.said()), 0.5);
  EXPECT_EQ(run.said(), run.said_first());
}

TEST(Heartbeat, ARankThatDiesEndsAllAndIsNamed) {
  Record run;
  run_loopback(3, [&](Communicator& ranks) {
    if (ranks.rank() == 2) {
      {
        const Connection dying = join_by_hand(ranks);
        ranks.all_gather("");
      }
      return run.wait_for_ends(2);
    }
    const Heartbeat heartbeat(ranks, run.options(60.0));
    ranks.all_gather("");  // all have joined
    run.wait_for_ends(2);
  });
  EXPECT_EQ(run.ended(), 2);
  EXPECT_EQ(run.said(),
            "rank 2 (host far, process 7) has died; it was in step 3, computing; all ranks end\n");
}

// To the first rank it counts as silent, and it gets no answer.
TEST(Heartbeat, StrangersAreNoRanks) {
  Record run;
  run_loopback(2, [&](Communicator& ranks) {
    if (ranks.rank() == 1) {
      Connection stranger = join_by_hand(ranks, "0123");
      while (!stranger.is_over()) EXPECT_TRUE(stranger.lines().empty());
      return run.wait_for_ends(1);
    }
    const Heartbeat heartbeat(ranks, run.options(0.8));
    run.wait_for_ends(1);
  });
  EXPECT_TRUE(run.said().starts_with("rank 1 (host far, process 7) has been silent")) << run.said();
}

TEST(Heartbeat, AFirstRankOutOfReachIsAnError) {
  std::string message;
  EXPECT_THROW(run_loopback(2,
                            [&](Communicator& ranks) {
                              if (ranks.rank() == 0) {
                                ranks.all_gather("far 7 1 token 127.0.0.1");
                                return;
                              }
                              try {
                                const Heartbeat heartbeat(ranks, Record().options(1.0));
                              } catch (const EnvironmentError& error) {
                                message = error.what();
                                throw;
                              }
                            }),
               EnvironmentError);
  EXPECT_EQ(message,
            "the first rank, on host far, cannot be reached at port 1 of 127.0.0.1; let hosts of a "
            "run connect to each other, or set heartbeat_timeout 0 to do without a heartbeat");
}

}  // namespace
}  // namespace cloze::comm
