#include "comm/launch_watch.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace cloze::comm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

// The launcher's looks, several a second, on a clock that the test moves.
class Looks {
 public:
  explicit Looks(LaunchWatch& watch) : watch_(watch) {}
  std::optional<double> pass(seconds time) {
    std::optional<double> silence;
    for (const auto end = now_ + time; now_ < end && !silence; now_ += milliseconds(500)) {
      silence = watch_.find_silence(now_);
    }
    return silence;
  }
  void stand_still(seconds time) { now_ += time; }
  // Until what was sent has arrived.
  void hear() {
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_FALSE(pass(seconds(1)));
  }

 private:
  LaunchWatch& watch_;
  LaunchWatch::Time now_ = Clock::now();
};

TEST(LaunchWatch, FindsThatTheFirstRankIsSilent) {
  LaunchWatch watch;
  Looks looks(watch);
  LauncherCall call(watch.address().c_str(), 5.0);
  looks.hear();
  EXPECT_FALSE(looks.pass(seconds(12)));
  call.beat();
  looks.hear();
  EXPECT_FALSE(looks.pass(seconds(12))) << "less than the bound and the grace since that beat";
  const std::optional<double> silence = looks.pass(seconds(10));
  ASSERT_TRUE(silence);
  EXPECT_GT(*silence, 5.0 + LaunchWatch::kGrace);
  EXPECT_LT(*silence, 5.0 + LaunchWatch::kGrace + 2.0);
}

TEST(LaunchWatch, ExpectsNothingBeforeTheFirstCallAndAfterAFarewell) {
  LaunchWatch watch;
  Looks looks(watch);
  EXPECT_FALSE(looks.pass(seconds(100)));
  { LauncherCall call(watch.address().c_str(), 1.0); }
  looks.hear();
  EXPECT_FALSE(looks.pass(seconds(100)));
  auto call = std::make_unique<LauncherCall>(watch.address().c_str(), 1.0);
  looks.hear();
  call.reset();
  looks.hear();
  EXPECT_FALSE(looks.pass(seconds(100)));
}

TEST(LaunchWatch, ItsOwnPauseExcusesTheRanks) {
  LaunchWatch watch;
  Looks looks(watch);
  const LauncherCall call(watch.address().c_str(), 1.0);
  looks.hear();
  looks.stand_still(seconds(1000));
  EXPECT_FALSE(looks.pass(seconds(9)));
  EXPECT_TRUE(looks.pass(seconds(9)));
}

TEST(LaunchWatch, ACallWithAnotherTokenIsNotHeard) {
  LaunchWatch watch;
  Looks looks(watch);
  const std::string address = watch.address();
  const LauncherCall call(("0" + address).c_str(), 1.0);
  looks.hear();
  EXPECT_FALSE(looks.pass(seconds(100)));
}

TEST(LauncherCall, IsSilentWhereNobodyListens) {
  for (const char* launcher : {"", "token", "token:x:127.0.0.1", "token:1:127.0.0.1", "token:1:"}) {
    LauncherCall(launcher, 1.0).beat();
  }
  LauncherCall(nullptr, 1.0).beat();
}

}  // namespace
}  // namespace cloze::comm
