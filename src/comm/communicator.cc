#include "comm/communicator.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

#include "base/bfloat16.h"
#include "base/division.h"
#include "base/error.h"

namespace cloze::comm {
namespace {

class Alone final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void break_off() override {}
  [[noreturn]] void abort(int exit_code) override { std::_Exit(exit_code); }

 protected:
  void wait_for_room_on(int /*channel*/) override {}
  void send_on(int /*channel*/, std::span<const std::byte> /*bytes*/, int to) override {
    CLOZE_CHECK(false, "rank 0 of 1 sends to rank {}", to);
  }
  void receive_on(int /*channel*/, std::span<std::byte> /*bytes*/, int from) override {
    CLOZE_CHECK(false, "rank 0 of 1 receives from rank {}", from);
  }
};

std::span<float> part_of(std::span<float> values, const Share& share) {
  return values.subspan(static_cast<size_t>(share.begin), static_cast<size_t>(share.count()));
}

// The part of a share that travels in one round.
Share slice_of(const Share& share, int64_t round) {
  const int64_t begin = std::min(share.begin + round * kSliceFloats, share.end);
  return {begin, std::min(begin + kSliceFloats, share.end)};
}

int64_t rounds_of(std::span<const Share> shares) {
  int64_t longest = 0;
  for (const Share& share : shares) longest = std::max(longest, share.count());
  return divide_up(longest, kSliceFloats);
}

void add(std::span<float> sums, std::span<const float> values) {
  std::ranges::transform(sums, values, sums.begin(), std::plus<>());
}

// Numbers on their way: as they are, or rounded.
class Parcel {
 public:
  explicit Parcel(DType transport) : transport_(transport) {}

  std::span<const std::byte> pack(std::span<const float> values) {
    if (transport_ == DType::kF32) return std::as_bytes(values);
    rounded_.resize(values.size());
    std::ranges::transform(values, rounded_.begin(), [](float value) { return bfloat16(value); });
    return std::as_bytes(std::span(rounded_));
  }
  // The buffer in which `count` numbers arrive; unpack() then returns them.
  std::span<std::byte> room_for(size_t count) {
    if (transport_ == DType::kF32) {
      values_.resize(count);
      return std::as_writable_bytes(std::span(values_));
    }
    rounded_.resize(count);
    return std::as_writable_bytes(std::span(rounded_));
  }
  std::span<const float> unpack() {
    if (transport_ == DType::kF32) return values_;
    values_.resize(rounded_.size());
    std::ranges::transform(rounded_, values_.begin(),
                           [](bfloat16 value) { return static_cast<float>(value); });
    return values_;
  }

 private:
  DType transport_;
  std::vector<bfloat16> rounded_;
  std::vector<float> values_;
};

}  // namespace

Communicator& alone() {
  static Alone communicator;
  return communicator;
}

Share share_of(int64_t count, int rank, int size) {
  return {count * rank / size, count * (rank + 1) / size};
}

std::vector<Share> even_shares(int64_t count, int size) {
  std::vector<Share> shares;
  for (int rank = 0; rank < size; ++rank) shares.push_back(share_of(count, rank, size));
  return shares;
}

void Communicator::all_reduce(std::span<float> values, DType transport) {
  const std::vector<Share> shares = even_shares(std::ssize(values), size());
  reduce_scatter(values, shares, transport);
  all_gather(values, shares, transport);
}

void Communicator::reduce_scatter(std::span<float> values, std::span<const Share> shares,
                                  DType transport) {
  if (size() == 1) return;
  Parcel parcel(transport);
  std::vector<float> before;  // the sum of the ranks before this one
  for (int64_t round = 0; round < rounds_of(shares); ++round) {
    wait_for_room_on(0);
    for (int to = 0; to < size(); ++to) {
      const Share slice = slice_of(shares[static_cast<size_t>(to)], round);
      if (to != rank() && slice.count() > 0) send(parcel.pack(part_of(values, slice)), to);
    }
    const std::span<float> own =
        part_of(values, slice_of(shares[static_cast<size_t>(rank())], round));
    if (own.empty()) continue;
    for (int from = 0; from < size(); ++from) {
      if (from == rank()) {
        if (rank() > 0) add(own, before);
        continue;
      }
      receive(parcel.room_for(own.size()), from);
      const std::span<const float> theirs = parcel.unpack();
      if (from > rank()) {
        add(own, theirs);
      } else if (from > 0) {
        add(before, theirs);
      } else {
        before.assign(theirs.begin(), theirs.end());
      }
    }
  }
}

void Communicator::all_gather(std::span<float> values, std::span<const Share> shares,
                              DType transport) {
  if (size() == 1) return;
  Parcel parcel(transport);
  for (int64_t round = 0; round < rounds_of(shares); ++round) {
    wait_for_room_on(0);
    const std::span<float> own =
        part_of(values, slice_of(shares[static_cast<size_t>(rank())], round));
    if (!own.empty()) {
      const std::span<const std::byte> bytes = parcel.pack(own);
      for (int to = 0; to < size(); ++to) {
        if (to != rank()) send(bytes, to);
      }
      if (transport == DType::kBF16) std::ranges::copy(parcel.unpack(), own.begin());
    }
    for (int from = 0; from < size(); ++from) {
      const std::span<float> theirs =
          part_of(values, slice_of(shares[static_cast<size_t>(from)], round));
      if (from == rank() || theirs.empty()) continue;
      if (transport == DType::kF32) {
        receive(std::as_writable_bytes(theirs), from);
      } else {
        receive(parcel.room_for(theirs.size()), from);
        std::ranges::copy(parcel.unpack(), theirs.begin());
      }
    }
  }
}

std::vector<std::string> Communicator::all_gather(const std::string& text) {
  const uint64_t length = text.size();
  for (int to = 0; to < size(); ++to) {
    if (to == rank()) continue;
    send(std::as_bytes(std::span(&length, 1)), to);
    send(std::as_bytes(std::span(text)), to);
  }
  std::vector<std::string> texts(static_cast<size_t>(size()));
  for (int from = 0; from < size(); ++from) {
    std::string& theirs = texts[static_cast<size_t>(from)];
    if (from == rank()) {
      theirs = text;
      continue;
    }
    uint64_t theirs_length = 0;
    receive(std::as_writable_bytes(std::span(&theirs_length, 1)), from);
    theirs.resize(theirs_length);
    receive(std::as_writable_bytes(std::span(theirs)), from);
  }
  return texts;
}

std::vector<std::vector<std::string>> Communicator::all_gather(
    const std::vector<std::string>& texts) {
  std::vector<uint64_t> lengths;
  std::string joined;
  for (const std::string& text : texts) {
    lengths.push_back(text.size());
    joined += text;
  }
  const std::vector<std::vector<uint64_t>> all_lengths = all_gather(lengths);
  const std::vector<std::string> all_joined = all_gather(joined);
  std::vector<std::vector<std::string>> all(static_cast<size_t>(size()));
  for (size_t rank = 0; rank < all.size(); ++rank) {
    size_t begin = 0;
    for (const uint64_t length : all_lengths[rank]) {
      all[rank].push_back(all_joined[rank].substr(begin, length));
      begin += length;
    }
  }
  return all;
}

}  // namespace cloze::comm
