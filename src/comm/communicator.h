// Processes that work on one run, and the messages between them. Each has a rank, 0 to size - 1.
//
// Point to point: what a rank sends to another arrives in the order in which it was sent, and is
// received with the same sizes. Everything else is built on that: all ranks call the same functions
// in the same order, and each returns when its own result is there.
//
// In an all-reduce, one rank sums each number in the order of the ranks and sends the sum to the
// others. So every rank gets the same bytes, whatever the timing.
//
// One thread at a time calls a communicator; threads with a group each (group.h) do not interfere.
// EnvironmentError when another rank cannot be reached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/dtype.h"

namespace cloze::comm {

// A part of `count` things, [begin, end).
struct Share {
  int64_t begin = 0, end = 0;
  int64_t count() const { return end - begin; }
};
// The part that a rank has. Parts differ by one thing at most.
Share share_of(int64_t count, int rank, int size);
// The shares of all ranks.
std::vector<Share> even_shares(int64_t count, int size);

// Numbers that sums and gathers send in one message, at most: small enough to stay in the cache
// while they are summed.
inline constexpr int64_t kSliceFloats = 1 << 16;

// The bytes of messages on one channel that a rank keeps as copies while they are under way; above
// this it waits until messages have been received.
inline constexpr int64_t kMostBytesUnderWay = int64_t{8} << 20;

// Values that travel as the bytes they have in memory. All ranks run the same program.
template <typename T>
concept Plain = std::is_trivially_copyable_v<T> && !std::is_array_v<T> && !std::is_pointer_v<T>;

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;

  // Takes a copy and returns at once.
  void send(std::span<const std::byte> bytes, int to) { send_on(0, bytes, to); }
  // Like send(), but first waits until most of what was sent before has been received. For long
  // series of messages in one direction: otherwise a rank that is ahead would keep copies of all of
  // them.
  void send_when_there_is_room(std::span<const std::byte> bytes, int to) {
    wait_for_room_on(0);
    send(bytes, to);
  }
  // Waits for what that rank sent.
  void receive(std::span<std::byte> bytes, int from) { receive_on(0, bytes, from); }

  // transport: what numbers are on their way, f32 or bf16. They are summed in f32.
  //
  // values = the sum of all ranks' values, which are as many on every rank.
  void all_reduce(std::span<float> values, DType transport = DType::kF32);
  // The same of a rank's own share only; the rest of its values is left as it is. The shares, one a
  // rank, are the same on all ranks.
  void reduce_scatter(std::span<float> values, std::span<const Share> shares,
                      DType transport = DType::kF32);
  // Each rank gives its share to all others. Numbers that travel as bf16 end up rounded to it on
  // all ranks, the sender included.
  void all_gather(std::span<float> values, std::span<const Share> shares,
                  DType transport = DType::kF32);
  // Returns what each rank gives, in the order of the ranks: a text, a value, or any number of
  // them.
  std::vector<std::string> all_gather(const std::string& text);
  std::vector<std::vector<std::string>> all_gather(const std::vector<std::string>& texts);
  template <Plain T>
  std::vector<T> all_gather(const T& value);
  template <Plain T>
  std::vector<std::vector<T>> all_gather(const std::vector<T>& values);
  // Makes every thread of this rank that waits for another rank throw. For a rank that ends.
  virtual void break_off() = 0;
  // Ends all ranks with this exit code, also those that wait for this one.
  [[noreturn]] virtual void abort(int exit_code) = 0;

 protected:
  // Messages of different channels are kept apart; channel 0 is that of the whole world.
  friend class Group;
  // Waits until at most kMostBytesUnderWay of the channel remain to be received, so that a rank
  // that only sends keeps few copies. Called between rounds: the rank that the others wait for
  // never waits. What is under way on other channels does not count: it may wait for this one.
  virtual void wait_for_room_on(int channel) = 0;
  virtual void send_on(int channel, std::span<const std::byte> bytes, int to) = 0;
  virtual void receive_on(int channel, std::span<std::byte> bytes, int from) = 0;
};

template <Plain T>
std::vector<std::vector<T>> Communicator::all_gather(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  std::ranges::copy(std::as_bytes(std::span(values)),
                    std::as_writable_bytes(std::span(bytes)).begin());
  std::vector<std::vector<T>> all;
  for (const std::string& theirs : all_gather(bytes)) {
    std::vector<T>& copy = all.emplace_back(theirs.size() / sizeof(T));
    std::ranges::copy(std::as_bytes(std::span(theirs)),
                      std::as_writable_bytes(std::span(copy)).begin());
  }
  return all;
}

template <Plain T>
std::vector<T> Communicator::all_gather(const T& value) {
  std::vector<T> all;
  for (const std::vector<T>& theirs : all_gather(std::vector<T>{value})) {
    all.push_back(theirs.front());
  }
  return all;
}

// The communicator of a process alone: rank 0 of 1.
Communicator& alone();

}  // namespace cloze::comm
