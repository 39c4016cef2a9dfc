// Corpus reader: text files become a tokenised corpus, on several threads. The corpus is the same
// for any number of threads: files are cut into blocks, and blocks joined in order, in rounds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/corpus/corpus.h"
#include "data/corpus/creation_progress.h"
#include "data/corpus/text_source.h"
#include "text/tokenizer.h"

namespace cloze::data {

struct CorpusOptions {
  std::vector<std::filesystem::path> files;
  TextForm form;
  double max_invalid_percent = kMaxInvalidPercent;  // as text_source.h has it
  // Google's script lets a document run on into the next file unless a blank line ends it.
  bool documents_cross_files = false;
  // Sentences of more tokens than this are kept as several, each an eighth of it, so that code that
  // reads a corpus by sentences reads windows of them; 0: all are kept as they are.
  int64_t longest_sentence = 0;
  int threads = 1;
  int64_t round_blocks = 256;    // of 256 KiB: tokenised together, so in memory
  TextExamination examine = {};  // of the text, before it is tokenised
};

class CorpusReader {
 public:
  // The part of the text that was read.
  struct Position {
    int64_t block = 0;
    int64_t invalid_utf8 = 0;  // sequences left out
  };

  // Keeps a reference to the tokenizer and the progress.
  CorpusReader(CorpusOptions options, const text::Tokenizer& tokenizer, CreationProgress& progress);

  // A name for the content of all files.
  std::string text_digest() const;
  const Position& position() const { return position_; }
  // Continues at a position in this text that an earlier run reached.
  void go_on_at(const Position& position);
  // Appends the sentences of the next round of blocks; false when there is none left. DataError
  // that names file, line and column of bad text.
  bool read_round(CorpusSink& corpus);

 private:
  struct Block {
    std::string_view text;
    const TextForm* form = nullptr;
    bool ends_document = false;  // even if the text does not say so
  };
  struct TokenBlock;

  std::vector<Block> cut_into_blocks() const;
  TokenBlock tokenize(const Block& block) const;
  void append(const TokenBlock& tokens, CorpusSink& corpus) const;
  void append_sentence(std::span<const int32_t> ids, CorpusSink& corpus) const;
  [[noreturn]] void throw_at(const BadText& bad) const;

  CorpusOptions options_;
  const text::Tokenizer& tokenizer_;
  CreationProgress& progress_;
  std::vector<TextSource> sources_;
  SentenceReader reader_;
  std::vector<Block> blocks_;
  Position position_;
};

}  // namespace cloze::data
