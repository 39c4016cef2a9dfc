#include "comm/loopback.h"

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "base/error.h"

namespace cloze::comm {
namespace {

// What the ranks share: a place for each, and a barrier that breaks when a rank has ended early.
class Meeting {
 public:
  explicit Meeting(int size) : places_(static_cast<size_t>(size)) {}

  struct Place {
    std::span<float> values;
    std::string text;
  };
  Place& place(int rank) { return places_[static_cast<size_t>(rank)]; }
  std::vector<Place>& places() { return places_; }

  void wait() {
    std::unique_lock lock(mutex_);
    const int64_t round = round_;
    if (++arrived_ == std::ssize(places_)) {
      arrived_ = 0;
      ++round_;
      all_arrived_.notify_all();
    }
    all_arrived_.wait(lock, [&] { return round_ != round || is_broken_; });
    if (round_ == round) throw std::runtime_error("another rank has ended");
  }
  void give_up() {
    const std::lock_guard lock(mutex_);
    is_broken_ = true;
    all_arrived_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable all_arrived_;
  std::vector<Place> places_;
  int64_t arrived_ = 0, round_ = 0;
  bool is_broken_ = false;
};

class Loopback final : public Communicator {
 public:
  Loopback(Meeting& meeting, int rank, int size) : meeting_(meeting), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void all_reduce(std::span<float> values) override {
    meeting_.place(rank_).values = values;
    meeting_.wait();
    const Share share = share_of(std::ssize(values), rank_, size_);
    for (int64_t i = share.begin; i < share.end; ++i) {
      float sum = 0.0f;
      for (const Meeting::Place& place : meeting_.places()) sum += place.values[i];
      for (const Meeting::Place& place : meeting_.places()) place.values[i] = sum;
    }
    meeting_.wait();
  }

  std::vector<std::string> all_gather(const std::string& text) override {
    meeting_.place(rank_).text = text;
    meeting_.wait();
    std::vector<std::string> texts;
    for (const Meeting::Place& place : meeting_.places()) texts.push_back(place.text);
    meeting_.wait();
    return texts;
  }

  [[noreturn]] void abort(int exit_code) override {
    throw std::runtime_error("ended with exit code " + std::to_string(exit_code));
  }

 private:
  Meeting& meeting_;
  int rank_;
  int size_;
};

}  // namespace

void run_loopback(int size, const std::function<void(Communicator&)>& body) {
  CLOZE_CHECK(size > 0, "{} ranks", size);
  Meeting meeting(size);
  std::mutex mutex;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      Loopback communicator(meeting, rank, size);
      try {
        body(communicator);
      } catch (...) {
        {
          const std::lock_guard lock(mutex);
          if (!first) first = std::current_exception();
        }
        meeting.give_up();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (first) std::rethrow_exception(first);
}

}  // namespace cloze::comm
