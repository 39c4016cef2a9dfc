// Some of the ranks of a world, numbered by themselves: the replicas of a pipeline's stage, or the
// stages of a replica.
#pragma once

#include "comm/communicator.h"

namespace cloze::comm {

class Group final : public Communicator {
 public:
  // The ranks of the world with the same colour, in its order. All ranks of the world make their
  // groups of one channel, greater than 0, together. The world outlives its groups and is not a
  // group itself. Several threads may use groups of different channels at the same time.
  Group(Communicator& world, int channel, int colour);

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }
  void break_off() override { world_.break_off(); }
  [[noreturn]] void abort(int exit_code) override;

 protected:
  void wait_for_room_on(int channel) override;
  void send_on(int channel, std::span<const std::byte> bytes, int to) override;
  void receive_on(int channel, std::span<std::byte> bytes, int from) override;

 private:
  Communicator& world_;
  int channel_;
  int rank_ = 0;
  std::vector<int> members_;  // by rank in the group: the rank in the world
};

}  // namespace cloze::comm
