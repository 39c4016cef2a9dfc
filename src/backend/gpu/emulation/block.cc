#include "backend/gpu/emulation/block.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"

namespace cloze::backend::gpu::emulation {
namespace {

// So many turns go by, on average, until warps have another order.
constexpr uint64_t kTurnsOfOrder = 512;

// The limits of any card from compute capability 8.0 on, but for shared memory: 9.0 and on.
constexpr int kMostThreads = 1024;
constexpr size_t kMostSharedBytes = size_t{227} << 10;
constexpr int64_t kMostBlocksX = 0x7fffffff;
constexpr int64_t kMostBlocksY = 0xffff;

thread_local Fibers t_fibers;

}  // namespace

constinit thread_local Block* Block::t_running = nullptr;

Block::Block(const GridShape& shape, const LaunchOptions& options, Findings& findings)
    : shape_(shape),
      options_(options),
      findings_(findings),
      shared_(findings),
      fibers_(t_fibers),
      random_(options.seed),
      threads_(static_cast<size_t>(shape.threads)),
      warps_(static_cast<size_t>(shape.threads / kWarpThreads)),
      priority_(warps_.size()) {
  std::iota(priority_.begin(), priority_.end(), 0);
}

void Block::begin() {
  shared_.begin_block(shape_.shared_bytes);
  if (options_.counts != nullptr) options_.counts->begin_block(shape_.threads);
  threads_.assign(threads_.size(), {});
  meeting_ = {};
  barriers_ = ended_ = 0;
  for (size_t i = 0; i < warps_.size(); ++i) {
    Warp& warp = warps_[i];
    warp.meeting = {};
    warp.exchanges = warp.barriers = 0;
    warp.runnable.resize(kWarpThreads);
    std::iota(warp.runnable.begin(), warp.runnable.end(), static_cast<int>(i) * kWarpThreads);
  }
  std::ranges::shuffle(priority_, random_);
}

bool Block::run(int64_t x, int64_t y, const std::function<void()>& body) {
  x_ = x;
  y_ = y;
  first_number_ = static_cast<uint32_t>((y * shape_.blocks_x + x) * shape_.threads);
  begin();
  fibers_.begin(shape_.threads, body);
  Block* const before = std::exchange(t_running, this);
  for (int next = draw_thread(); next >= 0; next = draw_thread()) {
    fibers_.resume(next);
    if (fibers_.has_ended(next)) end_thread(next);
  }
  t_running = before;
  if (ended_ < shape_.threads) note_endless_wait();
  return ended_ == shape_.threads;
}

int Block::draw_thread() {
  if (random_() % kTurnsOfOrder == 0) std::ranges::shuffle(priority_, random_);
  for (const int i : priority_) {
    std::vector<int>& runnable = warps_[static_cast<size_t>(i)].runnable;
    if (runnable.empty()) continue;
    std::swap(runnable[random_() % runnable.size()], runnable.back());
    const int drawn = runnable.back();
    runnable.pop_back();
    return drawn;
  }
  return -1;
}

void Block::end_thread(int thread) {
  ++ended_;
  const Thread& ended = threads_[static_cast<size_t>(thread)];
  const Copy* left = nullptr;
  if (!ended.open.empty()) left = &ended.open.front();
  for (const auto& group : ended.groups) {
    if (!group.empty()) left = &group.front();
  }
  if (left != nullptr) {
    findings_.add(FindingKind::kMissingWait, left->place,
                  "thread {} ends and has not waited for its copy", thread);
  }
  const int warp = thread / kWarpThreads;
  const auto first = warp * kWarpThreads;
  for (int i = first; i < first + kWarpThreads; ++i) {
    if (!fibers_.has_ended(i)) return;
  }
  if (options_.counts != nullptr) options_.counts->close_warp(warp);
}

void Block::note_endless_wait() {
  const auto waiting = std::ranges::find(threads_, true, &Thread::is_waiting);
  findings_.add(FindingKind::kEndlessWait, waiting->waits_at,
                "{} threads of block {} wait for others, which have ended or wait elsewhere",
                shape_.threads - ended_, x_);
}

void Block::wait(const Place& place) {
  me().is_waiting = true;
  me().waits_at = place;
  fibers_.pause();
}

void Block::wake(int thread) {
  threads_[static_cast<size_t>(thread)].is_waiting = false;
  warps_[static_cast<size_t>(thread / kWarpThreads)].runnable.push_back(thread);
}

bool Block::arrive(Meeting& meeting, int members, const Place& place) {
  if (meeting.arrived > 0 && meeting.place.line() != place.line()) {
    findings_.add(FindingKind::kDivergence, place, "thread {} is here while others are at line {}",
                  thread(), meeting.place.line());
  }
  meeting.place = place;
  if (++meeting.arrived < members) return false;
  meeting.arrived = 0;
  return true;
}

void Block::sync_block(const Place& place) {
  if (!arrive(meeting_, shape_.threads, place)) return wait(place);
  ++barriers_;
  for (int i = 0; i < shape_.threads; ++i) {
    if (i != thread()) wake(i);
  }
  if (options_.counts == nullptr) return;
  for (size_t i = 0; i < warps_.size(); ++i) options_.counts->close_warp(static_cast<int>(i));
}

void Block::meet_warp(const Place& place, bool orders_memory) {
  Warp& warp = my_warp();
  if (!arrive(warp.meeting, kWarpThreads, place)) return wait(place);
  ++warp.exchanges;
  if (orders_memory) ++warp.barriers;
  const int first = thread() / kWarpThreads * kWarpThreads;
  for (int i = first; i < first + kWarpThreads; ++i) {
    if (i != thread()) wake(i);
  }
  if (options_.counts != nullptr) options_.counts->close_warp(thread() / kWarpThreads);
}

void Block::sync_warp(const Place& place) { meet_warp(place, true); }

const Block::Slots& Block::exchange(std::span<const std::byte> mine, const Place& place) {
  Slots& slots = my_warp().slots[static_cast<size_t>(my_warp().exchanges % 2)];
  auto& slot = slots[static_cast<size_t>(thread() % kWarpThreads)];
  std::memcpy(slot.data(), mine.data(), mine.size());
  meet_warp(place, false);
  return slots;
}

void Block::count(bool is_global, const void* at, size_t bytes, bool is_store) {
  const AccessCounts::Access access{reinterpret_cast<uintptr_t>(at), static_cast<uint32_t>(bytes),
                                    is_store};
  if (is_global) {
    options_.counts->note_global(thread(), access);
  } else {
    options_.counts->note_shared(thread(), access);
  }
}

bool Block::note_missing(const Place& place) {
  findings_.add(FindingKind::kOutOfBounds, place, "a tensor that was not given is accessed");
  return false;
}

void Block::begin_copy(void* to, const void* from, size_t bytes, const Place& place) {
  if (shared_.note_copy(to, bytes, now(), place)) me().open.push_back({to, from, bytes, place});
}

void Block::commit_copies() { me().groups.push_back(std::exchange(me().open, {})); }

void Block::wait_for_copies(size_t pending, const Place& place) {
  auto& groups = me().groups;
  for (; groups.size() > pending; groups.pop_front()) {
    for (const Copy& copy : groups.front()) {
      shared_.note_landed(copy.to, copy.bytes, now(), place);
      if (copy.from == nullptr) {
        std::memset(copy.to, 0, copy.bytes);
      } else {
        std::memcpy(copy.to, copy.from, copy.bytes);
      }
    }
  }
}

void run_grid(const GridShape& shape, const LaunchOptions& options, Findings& findings,
              const std::function<void()>& body) {
  CLOZE_CHECK(
      shape.threads > 0 && shape.threads <= kMostThreads && shape.threads % kWarpThreads == 0,
      "{} threads in a block", shape.threads);
  CLOZE_CHECK(shape.shared_bytes <= kMostSharedBytes, "{} bytes of shared memory",
              shape.shared_bytes);
  CLOZE_CHECK(shape.blocks_x > 0 && shape.blocks_x <= kMostBlocksX && shape.blocks_y > 0 &&
                  shape.blocks_y <= kMostBlocksY,
              "a grid of {} x {} blocks", shape.blocks_x, shape.blocks_y);
  Block block(shape, options, findings);
  std::vector<int64_t> order(static_cast<size_t>(shape.blocks_x * shape.blocks_y));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::mt19937_64 random(options.seed);
  std::ranges::shuffle(order, random);
  for (const int64_t i : order) {
    if (!block.run(i % shape.blocks_x, i / shape.blocks_x, body)) return;
  }
}

}  // namespace cloze::backend::gpu::emulation
