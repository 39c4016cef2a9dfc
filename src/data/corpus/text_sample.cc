#include "data/corpus/text_sample.h"

#include <algorithm>

namespace cloze::data {
namespace {

constexpr size_t kParts = 64;
constexpr size_t kPartBytes = 64 << 10;

void take_paragraphs(std::string_view text, const TextForm& form, TextSample& sample) {
  const auto take = [&](std::string_view paragraph) { sample.paragraphs.emplace_back(paragraph); };
  try {
    visit_paragraphs(text, form, {.paragraph = take});
  } catch (const BadText&) {
    return;
  }
}

// About kPartBytes of whole lines from `begin` on, where lines are no longer than that.
std::string_view part_of(std::string_view text, size_t begin) {
  if (begin > 0) {
    const size_t line_end = text.substr(begin, kPartBytes).find('\n');
    if (line_end != std::string_view::npos) begin += line_end + 1;
  }
  const std::string_view rest = text.substr(begin);
  if (rest.size() <= kPartBytes) return rest;
  const size_t end = rest.substr(0, 2 * kPartBytes).find('\n', kPartBytes);
  return rest.substr(0, end == std::string_view::npos ? kPartBytes : end + 1);
}

}  // namespace

TextSample sample_of(const std::vector<TextSource>& sources) {
  TextSample sample;
  size_t total = 0;
  for (const TextSource& source : sources) total += source.text().size();
  sample.is_whole = total <= kParts * kPartBytes;
  const size_t distance = std::max<size_t>(1, total / kParts);
  size_t before = 0;
  for (const TextSource& source : sources) {
    const std::string_view text = source.text();
    if (sample.is_whole) {
      take_paragraphs(text, source.form(), sample);
    } else {
      const size_t first = (before + distance - 1) / distance * distance;
      for (size_t at = first; at < before + text.size(); at += distance) {
        take_paragraphs(part_of(text, at - before), source.form(), sample);
      }
    }
    before += text.size();
  }
  return sample;
}

}  // namespace cloze::data
