#include "data/corpus/corpus_reader.h"

#include <algorithm>

#include "base/error.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr size_t kBlockBytes = 256 << 10;
constexpr int64_t kBlocksPerRound = 256;  // tokenised before they are joined: 64 MB of text
constexpr int32_t kDocumentEnd = -1;

struct Block {
  std::string_view text;
  bool ends_document = false;  // even if the text does not say so
};

// A tokenised block: ids of all sentences, and how many each sentence has, or kDocumentEnd.
struct TokenBlock {
  std::vector<int32_t> ids;
  std::vector<int32_t> lengths;
  uint64_t invalid_utf8 = 0;
};

TokenBlock tokenize(const Block& block, TextFormat format, const text::Tokenizer& tokenizer) {
  TokenBlock tokens;
  const auto append_sentence = [&](std::string_view sentence) {
    const size_t before = tokens.ids.size();
    tokens.invalid_utf8 += tokenizer.append_ids(sentence, tokens.ids);
    tokens.lengths.push_back(static_cast<int32_t>(tokens.ids.size() - before));
  };
  const auto end_document = [&] { tokens.lengths.push_back(kDocumentEnd); };
  visit_sentences(block.text, format, {append_sentence, end_document});
  if (block.ends_document) end_document();
  return tokens;
}

void append_sentence(std::span<const int32_t> ids, int64_t longest, MemoryCorpus& corpus) {
  constexpr int64_t kPartsOfLongest = 8;
  if (longest == 0 || std::ssize(ids) <= longest) return corpus.append_sentence(ids);
  const auto part = static_cast<size_t>(std::max<int64_t>(1, longest / kPartsOfLongest));
  for (; !ids.empty(); ids = ids.subspan(std::min(part, ids.size()))) {
    corpus.append_sentence(ids.first(std::min(part, ids.size())));
  }
}

void append(const TokenBlock& tokens, int64_t longest_sentence, MemoryCorpus& corpus) {
  std::span<const int32_t> rest = tokens.ids;
  for (int32_t length : tokens.lengths) {
    if (length == kDocumentEnd) {
      corpus.end_document();
      continue;
    }
    append_sentence(rest.first(static_cast<size_t>(length)), longest_sentence, corpus);
    rest = rest.subspan(static_cast<size_t>(length));
  }
}

[[noreturn]] void throw_at(const BadText& bad, const std::vector<TextSource>& sources) {
  for (const TextSource& source : sources) bad.rethrow_if_in(source.text(), source.path());
  CLOZE_CHECK(false, "{} at no place of any file", bad.message);
}

std::vector<Block> blocks_of(const std::vector<TextSource>& sources, const CorpusOptions& options) {
  std::vector<Block> blocks;
  for (const TextSource& source : sources) {
    for (std::string_view text : split_into_blocks(source.text(), options.format, kBlockBytes)) {
      blocks.push_back({.text = text});
    }
    if (!blocks.empty() && !options.documents_cross_files) blocks.back().ends_document = true;
  }
  if (!blocks.empty()) blocks.back().ends_document = true;
  return blocks;
}

}  // namespace

CorpusRead read_corpus(const CorpusOptions& options, const text::Tokenizer& tokenizer,
                       CreationProgress& progress) {
  const std::vector<TextSource> sources =
      open_text_sources(options.files,
                        {.format = options.format,
                         .max_invalid_share = options.max_invalid_share,
                         .threads = options.threads},
                        progress);
  for (const TextSource& source : sources) {
    progress.total_text_bytes += static_cast<int64_t>(source.text().size());
  }
  const std::vector<Block> blocks = blocks_of(sources, options);
  CorpusRead read{.corpus = MemoryCorpus(tokenizer.vocabulary().size())};
  const auto count = static_cast<int64_t>(blocks.size());
  for (int64_t begin = 0; begin < count; begin += kBlocksPerRound) {
    const int64_t round = std::min(kBlocksPerRound, count - begin);
    std::vector<TokenBlock> tokens(static_cast<size_t>(round));
    platform::parallel_for(round, options.threads, [&](int64_t i) {
      const Block& block = blocks[static_cast<size_t>(begin + i)];
      try {
        tokens[static_cast<size_t>(i)] = tokenize(block, options.format, tokenizer);
      } catch (const BadText& bad) {
        throw_at(bad, sources);
      }
      progress.text_bytes += static_cast<int64_t>(block.text.size());
    });
    for (const TokenBlock& block : tokens) {
      append(block, options.longest_sentence, read.corpus);
      read.invalid_utf8 += static_cast<int64_t>(block.invalid_utf8);
    }
  }
  if (read.corpus.documents() == 0) {
    throw_user_error("the corpus is empty: no sentence in {} file(s), the first is {}",
                     options.files.size(),
                     options.files.empty() ? "missing" : options.files.front().string());
  }
  return read;
}

}  // namespace cloze::data
