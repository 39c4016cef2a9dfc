// The text of one input, whatever it comes in: a plain file is mapped; a pipe, standard input
// ("-"), gzip and Zstandard are read into a temporary file first (platform/files/temporary_file.h), and
// with the forms `wikipedia` and `wikiextractor` a dump or WikiExtractor's output
// becomes the text that wikipedia_text.h makes of it. Lines that end with "\r" alone end with "\n"
// here. With the form `auto`, that of each file is found out by what it shows (form_recognition.h),
// and `progress` is told; a compressed dump is one of bzip2 whose text begins as a dump does.
//
// Input that is not UTF-8 text is refused, and the message says what it is: files of other forms by
// their beginnings (foreign_form.h), bytes that are zero (other binary files, UTF-16), and text in
// which more than a given share is not UTF-8 (Latin-1). The share is measured in blocks from all
// over the file, some megabytes in total.
//
// Bad lines of JSON Lines that are skipped are counted first, and `progress` is told (bad_lines.h).
//
// Errors: UserError for those; DataError when a compressed file or a dump is damaged.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "data/corpus/corpus_text.h"
#include "data/corpus/creation_progress.h"
#include "platform/files/file.h"

namespace cloze::data {

inline constexpr double kMaxInvalidPercent = 0.1;

struct TextSourceOptions {
  TextForm form;
  double max_invalid_percent = kMaxInvalidPercent;  // of the bytes
  int threads = 1;                                  // for dumps, and to look at many files
};

class TextSource {
 public:
  TextSource(std::filesystem::path path, platform::MappedFile file, TextForm form)
      : path_(std::move(path)), file_(std::move(file)), form_(std::move(form)) {}

  const std::filesystem::path& path() const { return path_; }
  const TextForm& form() const { return form_; }  // never `auto`
  TextFormat format() const { return form_.format; }
  std::string_view text() const;  // without a byte order mark

 private:
  std::filesystem::path path_;
  platform::MappedFile file_;
  TextForm form_;
};

// Looks at all text before anything is made of it, and throws a UserError when it is not as wanted.
using TextExamination = std::function<void(const std::vector<TextSource>&)>;

std::vector<TextSource> open_text_sources(const std::vector<std::filesystem::path>& files,
                                          const TextSourceOptions& options,
                                          CreationProgress& progress);

}  // namespace cloze::data
