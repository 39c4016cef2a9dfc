#include "tasks/token_windows.h"

#include <algorithm>

namespace cloze::tasks {
namespace {

// 100 times the score: whole numbers have no rounding that could decide between equal ones.
uint64_t context_score(const TokenWindow& window, uint32_t token) {
  const uint64_t nearest_border = std::min(token - window.begin, window.end - 1 - token);
  return 100 * nearest_border + (window.end - window.begin);
}

void find_best(std::vector<TokenWindow>& windows) {
  const uint32_t num_tokens = windows.back().end;
  std::vector<uint64_t> scores(num_tokens, 0);
  std::vector<uint32_t> owners(num_tokens, 0);
  for (uint32_t i = 0; i < windows.size(); ++i) {
    for (uint32_t token = windows[i].begin; token < windows[i].end; ++token) {
      const uint64_t score = context_score(windows[i], token);
      if (score <= scores[token]) continue;
      scores[token] = score;
      owners[token] = i;
    }
  }
  for (uint32_t token = 0; token < num_tokens; ++token) {
    TokenWindow& owner = windows[owners[token]];
    if (owner.best_end == 0) owner.best_begin = token;
    owner.best_end = token + 1;
  }
}

}  // namespace

std::vector<TokenWindow> token_windows(uint32_t num_tokens, const TokenWindowRule& rule) {
  std::vector<TokenWindow> windows;
  for (uint32_t begin = 0; begin < num_tokens; begin += rule.step) {
    const uint32_t length = std::min(rule.room, num_tokens - begin);
    windows.push_back({.begin = begin, .end = begin + length});
    if (begin + length == num_tokens) break;
  }
  if (windows.size() == 1) {
    windows[0].best_end = num_tokens;
  } else if (!windows.empty()) {
    find_best(windows);
  }
  return windows;
}

}  // namespace cloze::tasks
