#include "data/corpus/bad_lines.h"

#include <fmt/format.h>

#include <cstdint>

#include "platform/parallel_for.h"
#include "platform/signals.h"

namespace cloze::data {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

struct Block {
  std::string_view text;
  const TextSource* source = nullptr;
  int64_t good = 0;
  int64_t bad = 0;
  BadText first_bad;
};

std::vector<Block> blocks_of(const std::vector<TextSource>& sources) {
  std::vector<Block> blocks;
  for (const TextSource& source : sources) {
    if (source.format() != TextFormat::kJsonLines) continue;
    for (const auto text : split_into_blocks(source.text(), kBlockBytes, source.format())) {
      blocks.push_back({.text = text, .source = &source});
    }
  }
  return blocks;
}

void count(Block& block) {
  visit_paragraphs(block.text, block.source->form(),
                   {.paragraph = [](std::string_view) {},
                    .document_end = [&] { ++block.good; },
                    .skipped =
                        [&](const BadText& bad) {
                          if (block.bad++ == 0) block.first_bad = bad;
                        }});
}

}  // namespace

std::string describe_bad_lines(const std::vector<TextSource>& sources, int threads) {
  std::vector<Block> blocks = blocks_of(sources);
  platform::parallel_for(std::ssize(blocks), threads, [&](int64_t i) {
    platform::stop_if_requested();
    count(blocks[static_cast<size_t>(i)]);
  });
  int64_t good = 0, bad = 0;
  std::string first;
  for (const Block& block : blocks) {
    if (bad == 0 && block.bad > 0) {
      first = block.first_bad.message_in(block.source->text(), block.source->path());
    }
    good += block.good;
    bad += block.bad;
  }
  if (bad == 0) return "";
  return fmt::format("{} bad line{} of {} left out, the first of them {}", bad, bad == 1 ? "" : "s",
                     good + bad, first);
}

}  // namespace cloze::data
