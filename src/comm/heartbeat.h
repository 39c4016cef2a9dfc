// A side channel on which ranks tell each other that they are alive, and in which phase
// (platform/phase.h): connections of TCP (IPv4) from every rank to the first. It does not depend on
// what the ranks compute or exchange: a thread of its own speaks five times a second, so that only
// a process that is stopped, dead or out of reach is silent.
//
// All ranks end when a rank is silent or makes no progress for longer than the bounds, or when its
// connection ends without a farewell. The first rank says which rank that was and what it did last.
// The other ranks watch the first. When it is lost, the second rank says so at once; the others
// wait, because mpirun ends them as soon as a rank has ended, and speak only when the second is
// lost too. When a process dies, mpirun ends the other ranks, with an exit code that says how it
// died; they end themselves if mpirun does not.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "comm/communicator.h"
#include "comm/launch_watch.h"
#include "comm/rank_watch.h"
#include "platform/connection.h"

namespace cloze::comm {

// The end of the line that says why a run ends.
inline constexpr std::string_view kLastWords = "; all ranks end";

struct HeartbeatOptions {
  WatchBounds bounds;
  // A line for the user. One rank says what ends a run.
  std::function<void(const std::string& line)> say;
  // Ends this process. Called once, from the thread of the heartbeat.
  std::function<void()> end;
  // The time that mpirun has to end this process after another rank died, or ended.
  std::chrono::milliseconds grace{5000};
  // Whom the first rank tells that it is alive: the value of kLauncher (comm/launch_watch.h). Null:
  // nobody.
  const char* launcher = nullptr;
};

class Heartbeat {
 public:
  // Called on all ranks together. EnvironmentError when the first rank cannot be reached, or cannot
  // listen.
  Heartbeat(Communicator& ranks, HeartbeatOptions options);
  // Says farewell: this rank ends as it should, or its error is reported in other ways.
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

 private:
  using Time = RankWatch::Time;
  struct Introduction;

  int place_on_host(const std::vector<Introduction>& all) const;
  Introduction listen();
  void call_first(const Introduction& first);
  void begin_watch(const std::vector<Introduction>& all);
  void run();
  void greet();
  void take_in(platform::Connection& caller, const std::vector<std::string>& lines);
  void hear();
  void take(int rank, const std::string& line);
  void tell(const std::string& line);
  void find_faults(Time now);
  void lose(const std::string& message, std::chrono::milliseconds grace);
  bool wait(std::chrono::milliseconds time);  // false: it is over

  int rank_;
  HeartbeatOptions options_;
  std::chrono::milliseconds patience_{0};  // before this rank says that the first is lost
  bool is_lost_ = false;
  std::string token_;  // who knows it is one of us
  std::optional<platform::ListeningSocket> socket_;
  std::vector<platform::Connection> callers_;               // that have not said who they are
  std::vector<std::optional<platform::Connection>> peers_;  // by rank
  std::optional<RankWatch> watch_;
  std::optional<LauncherCall> launcher_;  // of the first rank
  std::mutex mutex_;
  std::condition_variable closing_;
  bool is_closing_ = false;
  std::thread thread_;
};

}  // namespace cloze::comm
