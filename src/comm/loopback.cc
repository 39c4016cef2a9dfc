#include "comm/loopback.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <vector>

#include "base/error.h"

namespace cloze::comm {
namespace {

// What the ranks share: the messages on their way. It breaks when a rank has ended early.
class PostOffice {
 public:
  using Address = std::tuple<int, int, int>;  // channel, from, to

  void post(const Address& address, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    messages_[address].emplace_back(bytes.begin(), bytes.end());
    has_news_.notify_all();
  }
  std::vector<std::byte> take(const Address& address) {
    std::unique_lock lock(mutex_);
    std::deque<std::vector<std::byte>>& messages = messages_[address];
    has_news_.wait(lock, [&] { return !messages.empty() || is_broken_; });
    if (messages.empty()) throw std::runtime_error("another rank has ended");
    std::vector<std::byte> message = std::move(messages.front());
    messages.pop_front();
    return message;
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    has_news_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_news_;
  std::map<Address, std::deque<std::vector<std::byte>>> messages_;
  bool is_broken_ = false;
};

class Loopback final : public Communicator {
 public:
  Loopback(PostOffice& office, int rank, int size) : office_(office), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void break_off() override { office_.give_up(); }
  [[noreturn]] void abort(int exit_code) override {
    throw std::runtime_error("ended with exit code " + std::to_string(exit_code));
  }

 protected:
  void wait_for_room_on(int /*channel*/) override {}
  void send_on(int channel, std::span<const std::byte> bytes, int to) override {
    office_.post({channel, rank_, to}, bytes);
  }
  void receive_on(int channel, std::span<std::byte> bytes, int from) override {
    const std::vector<std::byte> message = office_.take({channel, from, rank_});
    CLOZE_CHECK(message.size() == bytes.size(), "{} bytes from rank {}, not {}", message.size(),
                from, bytes.size());
    std::ranges::copy(message, bytes.begin());
  }

 private:
  PostOffice& office_;
  int rank_;
  int size_;
};

}  // namespace

void run_loopback(int size, const std::function<void(Communicator&)>& body) {
  CLOZE_CHECK(size > 0, "{} ranks", size);
  PostOffice office;
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Loopback communicator(office, rank, size);
      try {
        body(communicator);
      } catch (...) {
        {
          const std::lock_guard lock(mutex);
          if (!first) first = std::current_exception();
        }
        office.give_up();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace cloze::comm
