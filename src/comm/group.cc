#include "comm/group.h"

#include <cstdlib>

#include "base/error.h"

namespace cloze::comm {

Group::Group(Communicator& world, int channel, int colour) : world_(world), channel_(channel) {
  CLOZE_CHECK(channel > 0, "channel {} is the world's", channel);
  const std::vector<int> colours = world.all_gather(colour);
  for (int rank = 0; rank < world.size(); ++rank) {
    if (colours[static_cast<size_t>(rank)] != colour) continue;
    if (rank == world.rank()) rank_ = size();
    members_.push_back(rank);
  }
}

void Group::abort(int exit_code) {
  world_.abort(exit_code);
  std::_Exit(exit_code);  // for the compiler, which sees a virtual function return
}

void Group::wait_for_room_on(int channel) {
  CLOZE_CHECK(channel == 0, "a group of a group");
  world_.wait_for_room_on(channel_);
}

void Group::send_on(int channel, std::span<const std::byte> bytes, int to) {
  CLOZE_CHECK(channel == 0, "a group of a group");
  world_.send_on(channel_, bytes, members_[static_cast<size_t>(to)]);
}

void Group::receive_on(int channel, std::span<std::byte> bytes, int from) {
  CLOZE_CHECK(channel == 0, "a group of a group");
  world_.receive_on(channel_, bytes, members_[static_cast<size_t>(from)]);
}

}  // namespace cloze::comm
