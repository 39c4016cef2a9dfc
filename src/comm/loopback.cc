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

// The messages from one rank to another that are on their way. Only the one it is for waits here, so
// that a message wakes one thread. It breaks when a rank has ended early.
class Mailbox {
 public:
  void post(std::span<const std::byte> bytes) {
    {
      const std::lock_guard lock(mutex_);
      messages_.emplace_back(bytes.begin(), bytes.end());
    }
    has_news_.notify_one();
  }
  std::vector<std::byte> take() {
    std::unique_lock lock(mutex_);
    has_news_.wait(lock, [&] { return !messages_.empty() || is_broken_; });
    if (messages_.empty()) throw std::runtime_error("another rank has ended");
    std::vector<std::byte> message = std::move(messages_.front());
    messages_.pop_front();
    return message;
  }
  void give_up() {
    {
      const std::lock_guard lock(mutex_);
      is_broken_ = true;
    }
    has_news_.notify_one();
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_news_;
  std::deque<std::vector<std::byte>> messages_;
  bool is_broken_ = false;
};

// The ranks share it: a mailbox for each channel, sender and receiver.
class PostOffice {
 public:
  using Address = std::tuple<int, int, int>;  // channel, from, to

  Mailbox& mailbox(const Address& address) {
    const std::lock_guard lock(mutex_);
    Mailbox& found = mailboxes_[address];
    if (is_broken_) found.give_up();
    return found;
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    for (auto& [address, mailbox] : mailboxes_) mailbox.give_up();
  }

 private:
  std::mutex mutex_;
  std::map<Address, Mailbox> mailboxes_;
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
    office_.mailbox({channel, rank_, to}).post(bytes);
  }
  void receive_on(int channel, std::span<std::byte> bytes, int from) override {
    const std::vector<std::byte> message = office_.mailbox({channel, from, rank_}).take();
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
