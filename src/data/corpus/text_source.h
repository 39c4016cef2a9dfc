// The text of one input, whatever it comes in: a plain file is mapped; a pipe, standard input
// ("-"), gzip and Zstandard are read into a temporary file first (platform/files/temporary_file.h), and
// with the forms `wikipedia` and `wikiextractor` a dump or WikiExtractor's output
// becomes the text that wikipedia_text.h makes of it.
//
// Input that is not UTF-8 text is refused, and the message says what it is: bytes that are zero
// (binary files, UTF-16), UTF-16 and UTF-32 by their marks, other forms of compression, and text in
// which more than a given share is not UTF-8 (Latin-1). The share is measured in blocks from all
// over the file, some megabytes in total.
//
// Errors: UserError for those; DataError when a compressed file or a dump is damaged.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <vector>

#include "data/corpus/corpus_text.h"
#include "data/creation/creation_progress.h"
#include "platform/files/file.h"

namespace cloze::data {

inline constexpr double kMaxInvalidPercent = 0.1;

struct TextSourceOptions {
  TextFormat format = TextFormat::kSentences;
  double max_invalid_percent = kMaxInvalidPercent;  // of the bytes
  int threads = 1;                                  // for dumps
};

class TextSource {
 public:
  TextSource(std::filesystem::path path, const TextSourceOptions& options,
             CreationProgress& progress);

  const std::filesystem::path& path() const { return path_; }
  std::string_view text() const;  // without a byte order mark

 private:
  std::filesystem::path path_;
  platform::MappedFile file_;
};

// Looks at all text before anything is made of it, and throws a UserError when it is not as wanted.
using TextExamination = std::function<void(const std::vector<TextSource>&)>;

std::vector<TextSource> open_text_sources(const std::vector<std::filesystem::path>& files,
                                          const TextSourceOptions& options,
                                          CreationProgress& progress);

}  // namespace cloze::data
