// Tells the program that launched a run when it stands still: the first rank, which watches all
// others (comm/heartbeat.h), tells the launcher several times a second that it is alive. When all
// ranks are stopped at once, no rank is left to say so.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "platform/connection.h"

namespace cloze::comm {

// The address of the launcher in the environment of the ranks: "TOKEN:PORT:ADDRESS,ADDRESS ...".
inline constexpr const char* kLauncher = "CLOZE_LAUNCHER";

// Known to those who belong to a run; a caller without it is a stranger.
std::string random_token();

// The first rank's side. Speaks to nobody where no launcher is named, or none answers: the run goes
// on without it.
class LauncherCall {
 public:
  // `launcher`: the value of kLauncher, or null. `silence`: the bound of the ranks, in seconds.
  LauncherCall(const char* launcher, double silence);
  ~LauncherCall();  // says farewell
  LauncherCall(const LauncherCall&) = delete;
  LauncherCall& operator=(const LauncherCall&) = delete;

  void beat();

 private:
  std::optional<platform::Connection> connection_;
};

// The launcher's side.
class LaunchWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Listens. EnvironmentError where the system has no socket.
  LaunchWatch();
  std::string address() const;  // the value of kLauncher

  // Takes in what the first rank has said. Returns for how many seconds it has been silent, once
  // that is more than its bound and kGrace: until then the ranks may speak for themselves. To be
  // called several times a second; a pause of this process itself excuses the ranks.
  std::optional<double> find_silence(Time now);

  static constexpr double kGrace = 10.0;

 private:
  void greet(Time now);
  void hear(Time now);

  platform::ListeningSocket socket_;
  std::string token_;
  std::vector<platform::Connection> callers_;  // that have not said who they are
  std::optional<platform::Connection> first_rank_;
  double bound_ = 0.0;
  std::optional<Time> looked_;
  Time heard_;
};

}  // namespace cloze::comm
