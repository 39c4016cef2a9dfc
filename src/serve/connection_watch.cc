#include "serve/connection_watch.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "platform/socket.h"

namespace cloze::serve {

using Clock = std::chrono::steady_clock;

struct ConnectionWatch::Connection {
  int descriptor = -1;
  Stage stage = Stage::kReceiving;
  Clock::time_point deadline;
  std::list<Connection>::iterator place;

  bool is_unanswered() const { return stage == Stage::kWorking || stage == Stage::kSending; }
};

ConnectionWatch::ConnectionWatch(Options options) : options_(std::move(options)) {
  try {
    thread_ = std::jthread([this] { run(); });
  } catch (const std::system_error& error) {
    throw_environment_error("cannot start the thread that watches connections: {}; see ulimit -u",
                            error.what());
  }
}

ConnectionWatch::~ConnectionWatch() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
}

ConnectionWatch::Connection* ConnectionWatch::add(int descriptor) {
  const std::lock_guard lock(mutex_);
  const auto place = connections_.insert(connections_.end(), Connection{.descriptor = descriptor});
  place->place = place;
  place->deadline = Clock::now() + options_.time;
  return &*place;
}

void ConnectionWatch::enter(Connection* connection, Stage stage) {
  const std::lock_guard lock(mutex_);
  if (connection->stage == Stage::kEnded) return;
  // A request line that came with the connection does not buy more time.
  const bool is_same = connection->stage == stage;
  unanswered_ -= connection->is_unanswered() ? 1 : 0;
  connection->stage = stage;
  unanswered_ += connection->is_unanswered() ? 1 : 0;
  if (!is_same) connection->deadline = Clock::now() + options_.time;
  if (unanswered_ == 0) changed_.notify_all();
}

void ConnectionWatch::forget(Connection* connection) {
  const std::lock_guard lock(mutex_);
  unanswered_ -= connection->is_unanswered() ? 1 : 0;
  connections_.erase(connection->place);
  if (unanswered_ == 0) changed_.notify_all();
}

int64_t ConnectionWatch::count() const {
  const std::lock_guard lock(mutex_);
  return std::ssize(connections_);
}

void ConnectionWatch::wait_until_answered(std::chrono::milliseconds at_least) {
  std::unique_lock lock(mutex_);
  const Clock::time_point begin = Clock::now();
  changed_.wait_for(lock, at_least, [&] { return connections_.empty(); });
  changed_.wait_until(lock, begin + options_.time, [&] { return unanswered_ == 0; });
}

void ConnectionWatch::run() {
  // Late by at most a tenth.
  const auto period = std::max(options_.time / 10, std::chrono::milliseconds(1));
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, period, [&] { return is_stopping_; })) end_late_ones();
}

// Called with the lock held: nobody closes a descriptor meanwhile, so the system cannot give its
// number to another.
void ConnectionWatch::end_late_ones() {
  const Clock::time_point now = Clock::now();
  for (Connection& connection : connections_) {
    const bool is_timed = connection.stage != Stage::kWorking && connection.stage != Stage::kEnded;
    if (!is_timed || now < connection.deadline) continue;
    const bool was_receiving = connection.stage == Stage::kReceiving;
    unanswered_ -= connection.is_unanswered() ? 1 : 0;
    connection.stage = Stage::kEnded;
    platform::end_connection(connection.descriptor, was_receiving ? options_.last_words : "");
    if (was_receiving) options_.on_late_request();
  }
}

}  // namespace cloze::serve
