#include "text/whole_words.h"

#include <bit>

namespace cloze::text {

WholeWords::WholeWords(const Vocabulary& vocabulary) {
  slots_.resize(std::bit_ceil(2 * static_cast<size_t>(vocabulary.size()) + 2));
  shift_ = 64 - std::countr_zero(slots_.size());
  for (int32_t id = 0; id < vocabulary.size(); ++id) {
    const std::string& token = vocabulary.token(id);
    if (token.size() > kMaxBytes || token.starts_with(kContinuation)) continue;
    const Key key = key_of(token);
    size_t slot = key.hash() >> shift_;
    while (slots_[slot].id != kNone) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = {key, id};
  }
}

}  // namespace cloze::text
