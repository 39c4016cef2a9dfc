#include "comm/heartbeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/error.h"
#include "platform/phase.h"
#include "platform/process.h"

namespace cloze::comm {
namespace {

using platform::Connection;
using std::chrono::milliseconds;

constexpr milliseconds kBeat{200};
static_assert(std::chrono::duration<double>(5 * kBeat).count() <= kShortestSilence);
constexpr milliseconds kCallTime{2000};      // for a host to answer at one of its addresses
constexpr milliseconds kWelcomeTime{10000};  // for the first rank, which may be stalled just then
// A thread that wakes this late was itself stopped, with its whole process or machine. Half the
// bound of silence applies if that is shorter.
constexpr milliseconds kStoodStill{2000};
// If the ranks that should report the loss of the first are lost too, the next ranks of a host do
// so one after another, so that mpirun can end them after one has spoken. No more than kMostTurns,
// so that none waits long.
constexpr milliseconds kTurn{2000};
constexpr int kMostTurns = 4;
constexpr const char* kWelcome = "welcome";
constexpr const char* kFarewell = "farewell";
constexpr const char* kEnd = "end";  // the first rank has said why

RankState own_state() {
  const platform::Phase phase = platform::current_phase();
  return {.phase = phase.name,
          .step = phase.step,
          .entered = phase.entered,
          .waits_for_others = phase.waits_for_others};
}

milliseconds stood_still(const WatchBounds& bounds) {
  if (bounds.silence <= 0.0) return kStoodStill;
  return std::min(kStoodStill, milliseconds(static_cast<int64_t>(1000.0 * bounds.silence / 2.0)));
}

bool is_welcomed(Connection& connection) {
  const auto deadline = std::chrono::steady_clock::now() + kWelcomeTime;
  while (!connection.is_over() && std::chrono::steady_clock::now() < deadline) {
    for (const std::string& line : connection.lines()) {
      if (line == kWelcome) return true;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  return false;
}

}  // namespace

// A rank introduces itself at the start: host, process and, of the first rank, where to connect and
// with which token; or, after "-" in place of the port, why nobody can.
struct Heartbeat::Introduction {
  std::string host = platform::host_name();
  std::string process = std::to_string(platform::process_id());
  std::string port = "0", token = "-";
  std::vector<std::string> addresses = {};

  static Introduction from(const std::string& text) {
    std::istringstream words(text);
    Introduction one;
    words >> one.host >> one.process >> one.port >> one.token;
    for (std::string word; words >> word;) one.addresses.push_back(word);
    return one;
  }
  std::string text() const {
    return fmt::format("{} {} {} {} {}", host, process, port, token, fmt::join(addresses, " "));
  }
};

// The number of ranks of this host that come before this one, other than the first two of all.
int Heartbeat::place_on_host(const std::vector<Introduction>& all) const {
  const auto own = all.begin() + rank_;
  return static_cast<int>(std::count_if(
      all.begin() + 2, own, [&](const Introduction& one) { return one.host == own->host; }));
}

Heartbeat::Heartbeat(Communicator& ranks, HeartbeatOptions options)
    : rank_(ranks.rank()), options_(std::move(options)), peers_(static_cast<size_t>(ranks.size())) {
  std::vector<Introduction> all;
  for (const std::string& text :
       ranks.all_gather((rank_ == 0 ? listen() : Introduction()).text())) {
    all.push_back(Introduction::from(text));
  }
  if (all.front().port == "-") {
    throw_environment_error("the ranks cannot open their heartbeat channel: {}",
                            fmt::join(all.front().addresses, " "));
  }
  if (rank_ > 0) call_first(all.front());
  begin_watch(all);
  if (rank_ == 0) launcher_.emplace(options_.launcher, options_.bounds.silence);
  thread_ = std::thread([this] { run(); });
}

Heartbeat::Introduction Heartbeat::listen() {
  Introduction own;
  try {
    socket_.emplace("0.0.0.0", 0);
    token_ = own.token = random_token();
    own.port = std::to_string(socket_->port());
    own.addresses = platform::own_addresses();
  } catch (const UserError& error) {
    own.port = "-";
    own.addresses = {error.what()};
  }
  return own;
}

void Heartbeat::begin_watch(const std::vector<Introduction>& all) {
  std::vector<std::string> names;
  for (const Introduction& one : all) {
    names.push_back(
        fmt::format("rank {} (host {}, process {})", names.size(), one.host, one.process));
  }
  if (rank_ > 1) patience_ = options_.grace + kTurn * std::min(place_on_host(all), kMostTurns);
  if (rank_ > 0) options_.bounds.stall = 0.0;  // the first rank watches for stalls
  watch_.emplace(std::move(names), options_.bounds, std::chrono::steady_clock::now());
  for (int rank = 1; rank_ > 0 && rank < std::ssize(all); ++rank) watch_->leave(rank);
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
  }
  closing_.notify_all();
  thread_.join();
  tell(kFarewell);
}

void Heartbeat::call_first(const Introduction& first) {
  for (const std::string& address : first.addresses) {
    auto connection = Connection::to(address, std::stoi(first.port), kCallTime);
    if (!connection) continue;
    connection->send(fmt::format("{} {}", first.token, rank_));
    if (!is_welcomed(*connection)) continue;
    peers_.front() = std::move(connection);
    return;
  }
  throw_environment_error(
      "the first rank, on host {}, cannot be reached at port {} of {}; let hosts of a run connect "
      "to each other, or set heartbeat_timeout 0 to do without a heartbeat",
      first.host, first.port, fmt::join(first.addresses, ", "));
}

void Heartbeat::run() {
  const milliseconds late = stood_still(options_.bounds);
  Time before = std::chrono::steady_clock::now();
  do {
    const Time now = std::chrono::steady_clock::now();
    if (now - before > kBeat + late) watch_->excuse_silence(now);
    before = now;
    greet();
    hear();
    tell(to_line(own_state()));
    if (launcher_) launcher_->beat();
    if (!is_lost_) find_faults(now);
  } while (!is_lost_ && wait(kBeat));
}

void Heartbeat::greet() {
  if (!socket_) return;
  while (auto caller = Connection::from(*socket_)) callers_.push_back(std::move(*caller));
  std::erase_if(callers_, [&](Connection& caller) {
    const std::vector<std::string> lines = caller.lines();
    if (lines.empty()) return caller.is_over();
    take_in(caller, lines);
    return true;
  });
}

// A caller that does not know the token gets no answer.
void Heartbeat::take_in(Connection& caller, const std::vector<std::string>& lines) {
  std::istringstream words(lines.front());
  std::string token;
  size_t rank = 0;
  if (!(words >> token >> rank) || token != token_ || rank >= peers_.size()) return;
  caller.send(kWelcome);
  peers_[rank] = std::move(caller);
  for (size_t i = 1; i < lines.size(); ++i) take(static_cast<int>(rank), lines[i]);
}

void Heartbeat::hear() {
  if (rank_ == 0) watch_->hear(0, own_state(), std::chrono::steady_clock::now());
  for (size_t i = 0; i < peers_.size() && !is_lost_; ++i) {
    const int rank = static_cast<int>(i);
    if (!peers_[i] || !watch_->is_expected(rank)) continue;
    for (const std::string& line : peers_[i]->lines()) take(rank, line);
    if (peers_[i]->is_over() && watch_->is_expected(rank) && !is_lost_) {
      lose(watch_->death_of(rank), options_.grace);
    }
  }
}

void Heartbeat::take(int rank, const std::string& line) {
  if (is_lost_) return;
  if (line == kFarewell) return watch_->leave(rank);
  if (line == kEnd) return lose("", options_.grace);
  if (auto state = state_from(line)) {
    watch_->hear(rank, std::move(*state), std::chrono::steady_clock::now());
  }
}

void Heartbeat::tell(const std::string& line) {
  for (std::optional<Connection>& peer : peers_) {
    if (peer) peer->send(line);
  }
}

void Heartbeat::find_faults(Time now) {
  if (const auto fault = watch_->find_fault(now)) return lose(*fault, milliseconds(0));
  if (rank_ > 0) return;
  for (const std::string& straggler : watch_->new_stragglers(now)) options_.say(straggler);
}

void Heartbeat::lose(const std::string& message, milliseconds grace) {
  is_lost_ = true;
  if (!message.empty()) {
    if (patience_.count() > 0 && !wait(patience_)) return;
    options_.say(message + std::string(kLastWords));
  }
  tell(kEnd);
  if (grace.count() == 0 || wait(grace)) options_.end();
}

bool Heartbeat::wait(milliseconds time) {
  std::unique_lock lock(mutex_);
  return !closing_.wait_for(lock, time, [&] { return is_closing_; });
}

}  // namespace cloze::comm
