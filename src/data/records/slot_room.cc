#include "data/records/slot_room.h"

#include <algorithm>
#include <optional>

namespace cloze::data {
namespace {

// Tokens [begin, end) of one part, without [CLS] and [SEP].
struct Part {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t size() const { return end - begin; }
};

struct Parts {
  Part first;
  Part second;
};

Parts parts_of(const Sample& sample) {
  const auto& types = sample.token_type_ids;
  const int64_t border = std::ranges::find(types, 1) - types.begin();
  const Part first{1, border - 1};
  return {first, {border, std::max(border, std::ssize(types) - 1)}};
}

bool is_masked(const Sample& sample, int64_t position) {
  return std::ranges::binary_search(sample.masked_positions, static_cast<int32_t>(position));
}

std::optional<int64_t> last_unmasked(const Sample& sample, const Part& part) {
  for (int64_t position = part.end - 1; position >= part.begin; --position) {
    if (!is_masked(sample, position)) return position;
  }
  return std::nullopt;
}

void take_out(int64_t position, Sample& sample) {
  sample.input_ids.erase(sample.input_ids.begin() + position);
  sample.token_type_ids.erase(sample.token_type_ids.begin() + position);
  for (int32_t& masked : sample.masked_positions) masked -= masked > position ? 1 : 0;
}

}  // namespace

int64_t slots_of(const Sample& sample, const RecordLayout& layout) {
  return layout.max_predictions + std::ssize(sample.input_ids) -
         std::ssize(sample.masked_positions);
}

int64_t make_slot_room(const RecordLayout& layout, Sample& sample) {
  int64_t taken = 0;
  for (; slots_of(sample, layout) > layout.sequence_length; ++taken) {
    auto [longer, shorter] = parts_of(sample);
    if (longer.size() < shorter.size()) std::swap(longer, shorter);
    auto position = last_unmasked(sample, longer);
    if (!position) position = last_unmasked(sample, shorter);
    if (!position) break;
    take_out(*position, sample);
  }
  return taken;
}

}  // namespace cloze::data
