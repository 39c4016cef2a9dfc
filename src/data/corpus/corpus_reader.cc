#include "data/corpus/corpus_reader.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "data/corpus/learned_habits.h"
#include "formats/xxh3.h"
#include "platform/parallel_for.h"
#include "platform/signals.h"

namespace cloze::data {
namespace {

constexpr size_t kBlockBytes = 256 << 10;
constexpr int32_t kDocumentEnd = -1;

std::vector<TextSource> examined_sources(const CorpusOptions& options, CreationProgress& progress) {
  std::vector<TextSource> sources =
      open_text_sources(options.files,
                        {.form = options.form,
                         .max_invalid_percent = options.max_invalid_percent,
                         .threads = options.threads},
                        progress);
  if (options.examine) options.examine(sources);
  return sources;
}

}  // namespace

// A tokenised block: ids of all sentences, and how many each sentence has, or kDocumentEnd.
struct CorpusReader::TokenBlock {
  std::vector<int32_t> ids;
  std::vector<int32_t> lengths;
  uint64_t invalid_utf8 = 0;
};

CorpusReader::CorpusReader(CorpusOptions options, const text::Tokenizer& tokenizer,
                           CreationProgress& progress)
    : options_(std::move(options)),
      tokenizer_(tokenizer),
      progress_(progress),
      sources_(examined_sources(options_, progress)),
      reader_(told_habits(sources_, progress)),
      blocks_(cut_into_blocks()) {
  for (const TextSource& source : sources_) progress_.total_text_bytes += std::ssize(source.text());
}

std::vector<CorpusReader::Block> CorpusReader::cut_into_blocks() const {
  std::vector<Block> blocks;
  for (const TextSource& source : sources_) {
    for (const auto text : split_into_blocks(source.text(), kBlockBytes, source.format())) {
      blocks.push_back({.text = text, .form = &source.form()});
    }
    if (!blocks.empty() && !options_.documents_cross_files) blocks.back().ends_document = true;
  }
  if (!blocks.empty()) blocks.back().ends_document = true;
  return blocks;
}

std::string CorpusReader::text_digest() const {
  formats::Xxh3Digest digest;
  for (const TextSource& source : sources_) {
    digest.update(fmt::format("{}\n", source.text().size()));
    // Another version may recognise another form.
    if (options_.form.format == TextFormat::kAuto) digest.update(text_format_name(source.format()));
  }
  for (const Block& block : blocks_) {
    platform::stop_if_requested();
    digest.update(block.text);
  }
  return digest.hex();
}

void CorpusReader::go_on_at(const Position& position) {
  CLOZE_CHECK(position.block <= std::ssize(blocks_), "block {} of {}", position.block,
              blocks_.size());
  position_ = position;
  for (int64_t i = 0; i < position.block; ++i) {
    progress_.text_bytes += std::ssize(blocks_[static_cast<size_t>(i)].text);
  }
  progress_.text_bytes_before = progress_.text_bytes.load();
}

bool CorpusReader::read_round(CorpusSink& corpus) {
  const int64_t round = std::min(options_.round_blocks, std::ssize(blocks_) - position_.block);
  std::vector<TokenBlock> tokens(static_cast<size_t>(round));
  platform::parallel_for(round, options_.threads, [&](int64_t i) {
    const Block& block = blocks_[static_cast<size_t>(position_.block + i)];
    try {
      tokens[static_cast<size_t>(i)] = tokenize(block);
    } catch (const BadText& bad) {
      throw_at(bad);
    }
    progress_.text_bytes += std::ssize(block.text);
  });
  for (const TokenBlock& block : tokens) {
    append(block, corpus);
    position_.invalid_utf8 += static_cast<int64_t>(block.invalid_utf8);
  }
  position_.block += round;
  return round > 0;
}

CorpusReader::TokenBlock CorpusReader::tokenize(const Block& block) const {
  TokenBlock tokens;
  const auto append_sentence = [&](std::string_view sentence) {
    const size_t before = tokens.ids.size();
    tokens.invalid_utf8 += tokenizer_.append_ids(sentence, tokens.ids);
    tokens.lengths.push_back(static_cast<int32_t>(tokens.ids.size() - before));
  };
  const auto end_document = [&] { tokens.lengths.push_back(kDocumentEnd); };
  reader_.visit(block.text, *block.form, {append_sentence, end_document});
  if (block.ends_document) end_document();
  return tokens;
}

void CorpusReader::append(const TokenBlock& tokens, CorpusSink& corpus) const {
  std::span<const int32_t> rest = tokens.ids;
  for (int32_t length : tokens.lengths) {
    if (length == kDocumentEnd) {
      corpus.end_document();
      continue;
    }
    append_sentence(rest.first(static_cast<size_t>(length)), corpus);
    rest = rest.subspan(static_cast<size_t>(length));
  }
}

void CorpusReader::append_sentence(std::span<const int32_t> ids, CorpusSink& corpus) const {
  constexpr int64_t kPartsOfLongest = 8;
  const int64_t longest = options_.longest_sentence;
  if (longest == 0 || std::ssize(ids) <= longest) return corpus.append_sentence(ids);
  const auto part = static_cast<size_t>(std::max<int64_t>(1, longest / kPartsOfLongest));
  for (; !ids.empty(); ids = ids.subspan(std::min(part, ids.size()))) {
    corpus.append_sentence(ids.first(std::min(part, ids.size())));
  }
}

void CorpusReader::throw_at(const BadText& bad) const {
  for (const TextSource& source : sources_) bad.rethrow_if_in(source.text(), source.path());
  CLOZE_CHECK(false, "{} at no place of any file", bad.message);
}

}  // namespace cloze::data
