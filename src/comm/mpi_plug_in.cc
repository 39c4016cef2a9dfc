#include "comm/mpi.h"

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <iterator>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/error.h"
#include "platform/thread_team.h"

namespace cloze::comm {
namespace {

using std::chrono::microseconds;

// A waiting thread spins for platform::kSpinTime, and then sleeps for this long again and again:
// another rank may need the processor.
constexpr microseconds kSleepTime{50};
// The most messages whose memory is kept for later ones: as many slices of sums as fill
// kMostBytesUnderWay. The memory of longer messages is freed.
constexpr size_t kSliceBytes = kSliceFloats * sizeof(float);
constexpr size_t kMostSpare = kMostBytesUnderWay / kSliceBytes;

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw_environment_error("{}: {}", what, std::string_view(text, static_cast<size_t>(length)));
}

int count_of(size_t bytes) {
  CLOZE_CHECK(bytes <= INT32_MAX, "a message of {} bytes", bytes);
  return static_cast<int>(bytes);
}

// Messages in transit. MPI moves a long one only while some thread calls it, so a thread does that
// as long as there are any: the rank itself may be computing.
class Outbox {
 public:
  Outbox() : mover_([this] { move(); }) {}
  ~Outbox() {
    {
      const std::lock_guard lock(mutex_);
      is_closing_ = true;
    }
    has_news_.notify_one();
    mover_.join();
  }

  void post(int tag, std::span<const std::byte> bytes, int to) {
    const std::lock_guard lock(mutex_);
    if (spare_.empty()) spare_.emplace_back();
    messages_.splice(messages_.end(), spare_, spare_.begin());
    Message& message = messages_.back();
    message.tag = tag;
    message.bytes.assign(bytes.begin(), bytes.end());
    bytes_[tag] += bytes.size();
    check(MPI_Isend(message.bytes.data(), count_of(bytes.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD,
                    &message.request),
          "MPI_Isend");
    has_news_.notify_one();
  }

  size_t bytes(int tag) {
    const std::lock_guard lock(mutex_);
    return bytes_[tag];
  }

 private:
  struct Message {
    int tag = 0;
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  bool has_left(Message& message) {
    int is_done = 0;
    // One that cannot leave is noticed by the rank that waits for it.
    if (MPI_Test(&message.request, &is_done, MPI_STATUS_IGNORE) == MPI_SUCCESS && is_done == 0) {
      return false;
    }
    bytes_[message.tag] -= message.bytes.size();
    return true;
  }

  // Keeps the memory of messages that have left, for later ones.
  void take_out_left() {
    for (auto message = messages_.begin(); message != messages_.end();) {
      const auto next = std::next(message);
      if (has_left(*message)) {
        if (message->bytes.size() > kSliceBytes) message->bytes = {};
        spare_.splice(spare_.begin(), messages_, message);
      }
      message = next;
    }
    if (spare_.size() > kMostSpare) spare_.resize(kMostSpare);
  }

  void move() {
    std::unique_lock lock(mutex_);
    while (true) {
      has_news_.wait(lock, [&] { return is_closing_ || !messages_.empty(); });
      take_out_left();
      if (messages_.empty() && is_closing_) return;
      lock.unlock();
      std::this_thread::sleep_for(kSleepTime);
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable has_news_;
  std::list<Message> messages_;
  std::map<int, size_t> bytes_;  // of messages_, by tag
  std::list<Message> spare_;     // that have left
  bool is_closing_ = false;
  std::thread mover_;
};

class MpiWorld final : public Communicator {
 public:
  MpiWorld() {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init");
    if (provided < MPI_THREAD_MULTIPLE) {
      throw_environment_error("this MPI serves one thread only; cloze needs MPI_THREAD_MULTIPLE");
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiWorld() override {
    outbox_.reset();
    MPI_Finalize();
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void break_off() override { is_broken_off_ = true; }
  [[noreturn]] void abort(int exit_code) override {
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 protected:
  void wait_for_room_on(int channel) override {
    while (outbox().bytes(channel) > kMostBytesUnderWay && !is_broken_off_) {
      std::this_thread::sleep_for(kSleepTime);
    }
  }
  void send_on(int channel, std::span<const std::byte> bytes, int to) override {
    outbox().post(channel, bytes, to);
  }

  void receive_on(int channel, std::span<std::byte> bytes, int from) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Irecv(bytes.data(), count_of(bytes.size()), MPI_BYTE, from, channel, MPI_COMM_WORLD,
                    &request),
          "MPI_Irecv");
    const auto begin = std::chrono::steady_clock::now();
    for (int is_done = 0; is_done == 0;) {
      MPI_Status status;
      check(MPI_Test(&request, &is_done, &status), "MPI_Test");
      if (is_done == 0) {
        if (is_broken_off_) {  // nothing may arrive in `bytes` any more
          MPI_Cancel(&request);
          MPI_Wait(&request, MPI_STATUS_IGNORE);
          throw_environment_error("rank {} does not wait any more", rank_);
        }
        if (std::chrono::steady_clock::now() - begin > platform::kSpinTime) {
          std::this_thread::sleep_for(kSleepTime);
        }
        continue;
      }
      int count = 0;
      MPI_Get_count(&status, MPI_BYTE, &count);
      CLOZE_CHECK(count == std::ssize(bytes), "{} bytes from rank {}, not {}", count, from,
                  bytes.size());
    }
  }

 private:
  Outbox& outbox() {
    const std::lock_guard lock(mutex_);
    if (outbox_ == nullptr) outbox_ = std::make_unique<Outbox>();
    return *outbox_;
  }

  int rank_ = 0;
  int size_ = 1;
  std::atomic<bool> is_broken_off_ = false;
  std::mutex mutex_;
  std::unique_ptr<Outbox> outbox_;
};

}  // namespace

Communicator& cloze_mpi_world() {
  static MpiWorld world;
  return world;
}

}  // namespace cloze::comm
