#include "runtime/arena_copy.h"

#include <algorithm>

#include "base/error.h"

namespace cloze::runtime {

ArenaCopy::ArenaCopy(Executor& executor, plan::Arena arena)
    : executor_(executor),
      arena_(arena),
      block_(executor.device().allocate_host(
          static_cast<size_t>(executor.program().bytes_of(arena)))) {}

void ArenaCopy::take() { taken_ = executor_.begin_read(arena_, block_->bytes()); }

void ArenaCopy::read(graph::Value value, std::span<std::byte> bytes) {
  const plan::Location& there = executor_.program().locations[static_cast<size_t>(value.index)];
  const int64_t size = executor_.graph().type(value).bytes();
  CLOZE_CHECK(taken_ != nullptr && there.arena == arena_ && size == std::ssize(bytes),
              "{} bytes of {} are read from a copy of {}", bytes.size(),
              executor_.graph().info(value).name, plan::name_of(arena_));
  taken_->finish();
  std::ranges::copy(block_->bytes().subspan(static_cast<size_t>(there.offset), bytes.size()),
                    bytes.begin());
}

}  // namespace cloze::runtime
