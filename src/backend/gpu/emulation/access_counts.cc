#include "backend/gpu/emulation/access_counts.h"

#include <algorithm>

#include "base/division.h"

namespace cloze::backend::gpu::emulation {
namespace {

thread_local AccessCounts* t_counts = nullptr;

constexpr uintptr_t kSectorBytes = 32;
constexpr uintptr_t kBanks = 32;
constexpr uintptr_t kBankBytes = 4;

// The numbers of the pieces of so many bytes that an access touches.
void append_pieces(std::vector<uintptr_t>& pieces, const AccessCounts::Access& access,
                   uintptr_t piece_bytes) {
  const uintptr_t last = (access.address + access.bytes - 1) / piece_bytes;
  for (uintptr_t i = access.address / piece_bytes; i <= last; ++i) pieces.push_back(i);
}

void keep_distinct(std::vector<uintptr_t>& pieces) {
  std::ranges::sort(pieces);
  const auto rest = std::ranges::unique(pieces);
  pieces.erase(rest.begin(), rest.end());
}

}  // namespace

void AccessCounts::begin_block(int threads) {
  global_.assign(static_cast<size_t>(threads), {});
  shared_.assign(static_cast<size_t>(threads), {});
}

template <typename Count>
void AccessCounts::count_together(std::vector<Accesses>& lists, int warp, const Count& count) {
  const auto begin = lists.begin() + warp * kWarpThreads;
  const auto end = begin + kWarpThreads;
  size_t longest = 0;
  for (auto list = begin; list != end; ++list) longest = std::max(longest, list->size());
  Accesses together;
  for (size_t k = 0; k < longest; ++k) {
    together.clear();
    for (auto list = begin; list != end; ++list) {
      if (k < list->size()) together.push_back((*list)[k]);
    }
    count(together);
  }
  for (auto list = begin; list != end; ++list) list->clear();
}

void AccessCounts::close_warp(int warp) {
  count_together(global_, warp, [&](const Accesses& together) { count_sectors(together); });
  count_together(shared_, warp, [&](const Accesses& together) { count_passes(together); });
}

void AccessCounts::count_sectors(const Accesses& together) {
  std::vector<uintptr_t> sectors;
  int64_t bytes = 0;
  for (const Access& access : together) {
    append_pieces(sectors, access, kSectorBytes);
    bytes += access.bytes;
  }
  keep_distinct(sectors);
  const bool is_store = together.front().is_store;
  (is_store ? totals_.store_sectors : totals_.load_sectors) += std::ssize(sectors);
  (is_store ? totals_.least_store_sectors : totals_.least_load_sectors) +=
      divide_up(bytes, int64_t{kSectorBytes});
}

// A pass serves 128 bytes: a quarter of a warp when each thread takes 16.
void AccessCounts::count_passes(const Accesses& together) {
  const size_t bytes = std::max<size_t>(together.front().bytes, kBankBytes);
  const size_t threads = std::max<size_t>(1, kBanks * kBankBytes / bytes);
  for (size_t first = 0; first < together.size(); first += threads) {
    std::vector<uintptr_t> words;
    for (size_t i = first; i < std::min(first + threads, together.size()); ++i) {
      append_pieces(words, together[i], kBankBytes);
    }
    keep_distinct(words);
    std::array<int64_t, kBanks> passes{};
    for (const uintptr_t word : words) ++passes[word % kBanks];
    totals_.shared_passes += *std::ranges::max_element(passes);
    ++totals_.shared_accesses;
  }
}

void count_accesses(AccessCounts* counts) { t_counts = counts; }

AccessCounts* counted_accesses() { return t_counts; }

}  // namespace cloze::backend::gpu::emulation
