// Ends connections that take too long: to send a request, or to take its reply. An HTTP library's
// own timeouts count from the last byte, so a client that drips bytes would be waited for forever.
//
// A request has one time limit for all of it, from the opening of the connection or, on a
// connection that was used before, from its request line. While the model works the client is not
// timed. Thread-safe; the owner of a connection must forget() it before it closes the descriptor.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <thread>

namespace cloze::serve {

class ConnectionWatch {
 public:
  enum class Stage {
    kReceiving,  // too long: the last words are said
    kWorking,    // not timed
    kSending,
    kIdle,  // between two requests
    kEnded
  };
  struct Connection;

  struct Options {
    std::chrono::milliseconds time{10'000};  // of each stage
    std::string last_words;                  // said to a connection that was receiving
    std::function<void()> on_late_request = [] {};
  };

  // EnvironmentError when the system has no thread for it.
  explicit ConnectionWatch(Options options);
  ~ConnectionWatch();
  ConnectionWatch(const ConnectionWatch&) = delete;
  ConnectionWatch& operator=(const ConnectionWatch&) = delete;

  Connection* add(int descriptor);  // receiving
  void enter(Connection* connection, Stage stage);
  void forget(Connection* connection);

  int64_t count() const;
  // Waits until no connection is working or sending, at most the time of a stage; but while there
  // are connections, at least so long: a client may be sending on one that it kept.
  void wait_until_answered(std::chrono::milliseconds at_least = {});

 private:
  void run();
  void end_late_ones();

  const Options options_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::list<Connection> connections_;
  int64_t unanswered_ = 0;  // working or sending
  bool is_stopping_ = false;
  std::jthread thread_;  // last: it must be gone before what it uses
};

}  // namespace cloze::serve
