#include "comm/launch_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <sstream>

#include "base/error.h"
#include "base/seconds.h"
#include "base/whole_number.h"

namespace cloze::comm {
namespace {

using platform::Connection;

constexpr std::chrono::milliseconds kCallTime{2000};  // for the launcher to answer at an address
constexpr double kStoodStill = 2.0;                   // seconds between two looks
constexpr const char* kBeat = "beat";
constexpr const char* kFarewell = "farewell";

std::string next_part(std::istringstream& text, char end) {
  std::string part;
  std::getline(text, part, end);
  return part;
}

platform::ListeningSocket listen() {
  try {
    return {"0.0.0.0", 0};
  } catch (const UserError& error) {
    throw_environment_error("cannot listen to the ranks: {}", error.what());
  }
}

}  // namespace

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}{:08x}", random(), random(), random());
}

LauncherCall::LauncherCall(const char* launcher, double silence) {
  if (launcher == nullptr) return;
  std::istringstream text(launcher);
  const std::string token = next_part(text, ':');
  const std::optional<int> port = number_in<int>(next_part(text, ':'));
  while (port && !connection_ && text) {
    const std::string address = next_part(text, ',');
    if (!address.empty()) connection_ = Connection::to(address, *port, kCallTime);
  }
  if (connection_) connection_->send(fmt::format("{} {}", token, silence));
}

LauncherCall::~LauncherCall() {
  if (connection_) connection_->send(kFarewell);
}

void LauncherCall::beat() {
  if (connection_) connection_->send(kBeat);
}

LaunchWatch::LaunchWatch() : socket_(listen()), token_(random_token()) {}

std::string LaunchWatch::address() const {
  return fmt::format("{}:{}:{}", token_, socket_.port(), fmt::join(platform::own_addresses(), ","));
}

// A caller that does not know the token is no rank of this run.
void LaunchWatch::greet(Time now) {
  while (auto caller = Connection::from(socket_)) callers_.push_back(std::move(*caller));
  std::erase_if(callers_, [&](Connection& caller) {
    const std::vector<std::string> lines = caller.lines();
    if (lines.empty()) return caller.is_over();
    std::istringstream words(lines.front());
    std::string token;
    double bound = 0.0;
    if (!(words >> token >> bound) || token != token_ || bound <= 0.0) return true;
    bound_ = bound;
    heard_ = now;
    if (std::ranges::find(lines, kFarewell) == lines.end()) first_rank_ = std::move(caller);
    return true;
  });
}

void LaunchWatch::hear(Time now) {
  const std::vector<std::string> lines = first_rank_->lines();
  if (!lines.empty()) heard_ = now;
  const bool has_left = std::ranges::find(lines, kFarewell) != lines.end();
  if (has_left || first_rank_->is_over()) first_rank_.reset();  // mpirun knows of a death itself
}

std::optional<double> LaunchWatch::find_silence(Time now) {
  if (looked_ && seconds_between(*looked_, now) > kStoodStill) heard_ = now;
  looked_ = now;
  greet(now);
  if (first_rank_) hear(now);
  const double seconds = seconds_between(heard_, now);
  return first_rank_ && seconds > bound_ + kGrace ? std::optional(seconds) : std::nullopt;
}

}  // namespace cloze::comm
