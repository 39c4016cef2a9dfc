#include "runtime/arena_snapshots.h"

#include "base/error.h"

namespace cloze::runtime {

void ArenaSnapshots::take(size_t number) {
  while (snapshots_.size() <= number) {
    const auto bytes = static_cast<size_t>(executor_.program().bytes_of(arena_));
    snapshots_.push_back(executor_.device().allocate(bytes));
  }
  executor_.copy_arena(arena_, *snapshots_[number]);
}

void ArenaSnapshots::put_back(size_t number) {
  CLOZE_CHECK(number < snapshots_.size(), "snapshot {} of {}", number, snapshots_.size());
  executor_.set_arena(arena_, *snapshots_[number]);
}

}  // namespace cloze::runtime
