#include "data/corpus/text_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/corpus/bad_lines.h"
#include "data/corpus/foreign_form.h"
#include "data/corpus/form_recognition.h"
#include "data/corpus/text_markup.h"
#include "data/wikipedia/wikipedia_text.h"
#include "formats/bzip2.h"
#include "formats/decompression.h"
#include "platform/files/temporary_file.h"
#include "platform/signals.h"
#include "text/python_string.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kBlocksLookedAt = 64;

// Bytes that are not UTF-8, in blocks from all over a text.
class InvalidShare {
 public:
  explicit InvalidShare(std::string_view text) : text_(text) {
    const size_t blocks = std::min(kBlocksLookedAt, text.size() / kBlockBytes + 1);
    for (size_t i = 0; i < blocks; ++i) look_at(text.size() / blocks * i);
  }

  double share() const {
    return looked_at_ == 0 ? 0 : static_cast<double>(invalid_) / static_cast<double>(looked_at_);
  }
  size_t first() const { return first_; }
  std::optional<size_t> zero() const { return zero_; }

 private:
  void look_at(size_t begin) {
    const size_t end = std::min(text_.size(), begin + kBlockBytes);
    const size_t zero = text_.substr(begin, end - begin).find('\0');
    if (zero != std::string_view::npos && !zero_) zero_ = begin + zero;
    // A block may begin inside a character.
    while (begin > 0 && begin < end && (static_cast<unsigned char>(text_[begin]) & 0xC0) == 0x80) {
      ++begin;
    }
    looked_at_ += end - begin;
    for (size_t at = begin; at < end;) {
      const text::DecodedCodePoint next = text::decode_utf8(text_, at);
      if (!next.is_valid) {
        if (invalid_ == 0) first_ = at;
        invalid_ += next.bytes;
      }
      at += next.bytes;
    }
  }

  std::string_view text_;
  size_t looked_at_ = 0;
  size_t invalid_ = 0;
  size_t first_ = 0;
  std::optional<size_t> zero_;
};

void check_is_text(std::string_view text, const TextSourceOptions& options, const fs::path& path) {
  check_not_foreign(text, path);
  const InvalidShare invalid(text);
  if (invalid.zero()) {
    throw_user_error(
        "{} is not text: byte {} is zero; is it a binary file, or UTF-16? (iconv -f "
        "UTF-16LE -t UTF-8 converts that)",
        path.string(), *invalid.zero());
  }
  if (100 * invalid.share() <= options.max_invalid_percent) return;
  throw_user_error(
      "{}: {:.2g} % of the bytes are not UTF-8, the first of them byte {}; convert the file (iconv "
      "-f LATIN1 -t UTF-8, if it is Latin-1), or raise --max-invalid-utf8, which is now {:g} %",
      path.string(), 100 * invalid.share(), invalid.first(), options.max_invalid_percent);
}

platform::MappedFile unpacked(formats::Compression compression, const platform::MappedFile& file,
                              const fs::path& path) {
  platform::TemporaryFile temporary;
  formats::decompress(compression, file.bytes(), path,
                      [&](std::string_view bytes) { temporary.append(bytes); });
  return temporary.map();
}

platform::MappedFile file_of(const fs::path& path) {
  if (!platform::is_standard_input(path) && (fs::is_regular_file(path) || !fs::exists(path))) {
    return platform::MappedFile(path);
  }
  platform::TemporaryFile temporary;
  platform::read_stream(path, [&](std::string_view bytes) { temporary.append(bytes); });
  return temporary.map();
}

// Text whose lines end with "\r" alone, with "\n" instead.
platform::MappedFile with_line_feeds(std::string_view text) {
  platform::TemporaryFile converted;
  for (size_t begin = 0; begin < text.size(); begin += kBlockBytes) {
    std::string block(text.substr(begin, kBlockBytes));
    std::ranges::replace(block, '\r', '\n');
    converted.append(block);
  }
  return converted.map();
}

// A file as it is, but unpacked, and with "\n" at the ends of lines.
struct OpenedFile {
  fs::path path;
  platform::MappedFile file;
  bool is_copy = false;  // in a temporary file

  std::string_view text() const { return text::without_byte_order_mark(file.text()); }
};

OpenedFile open(const fs::path& path) {
  OpenedFile opened{.path = path, .file = file_of(path)};
  const auto compression = formats::compression_of(opened.file.bytes());
  opened.is_copy = compression != formats::Compression::kNone;
  if (opened.is_copy) opened.file = unpacked(compression, opened.file, path);
  const std::string_view text = opened.text();
  if (text.find('\n') == std::string_view::npos && text.find('\r') != std::string_view::npos) {
    opened.file = with_line_feeds(text);
    opened.is_copy = true;
  }
  return opened;
}

// A path at which an opened file can be read: its own, or that of a copy, which the user does not
// know, of unpacked text or text from a pipe.
class ReadablePath {
 public:
  explicit ReadablePath(const OpenedFile& opened) : path_(opened.path) {
    if (!opened.is_copy && fs::is_regular_file(opened.path)) return;
    copy_.emplace().append(opened.file.text());
    path_ = copy_->path();
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
  std::optional<platform::TemporaryFile> copy_;
};

platform::MappedFile wikipedia_text(const OpenedFile& opened, TextFormat format, int threads,
                                    CreationProgress& progress) {
  const ReadablePath readable(opened);
  platform::TemporaryFile text;
  read_wikipedia({.files = {readable.path()},
                  .name = opened.path,
                  .threads = threads,
                  .may_be_empty = format == TextFormat::kWikiExtractor},
                 {}, progress.dumps,
                 {.text = [&](std::string_view articles) { text.append(articles); },
                  .pause = [](const WikipediaState&) { platform::stop_if_requested(); },
                  .notice = [](const std::string&) {}});
  return text.map();
}

// The beginning of a bzip2 file's text; empty for another file, or a damaged one.
std::string beginning_of_bzip2(const OpenedFile& opened) {
  if (!opened.file.text().starts_with("BZh")) return "";
  const ReadablePath readable(opened);
  try {
    return std::string(formats::Bzip2File(readable.path()).read());
  } catch (const DataError&) {
    return "";
  }
}

// Checks that each file is of the form that is asked for. What becomes of a dump is checked later.
std::vector<TextFormat> asked_formats(const std::vector<OpenedFile>& files,
                                      const TextSourceOptions& options) {
  const TextFormat format = options.form.format;
  for (const OpenedFile& file : files) {
    check_text_form(file.text(), format, file.path);
    if (!is_wikipedia(format)) check_is_text(file.text(), options, file.path);
  }
  return std::vector(files.size(), format);
}

// Finds out the form of each file, and checks that it is text.
std::vector<TextFormat> shown_formats(const std::vector<OpenedFile>& files,
                                      const TextSourceOptions& options,
                                      CreationProgress& progress) {
  std::vector<std::string> unpacked(files.size());
  std::vector<std::string_view> texts;
  std::vector<fs::path> paths;
  for (const OpenedFile& file : files) {
    std::string& beginning = unpacked[texts.size()];
    beginning = beginning_of_bzip2(file);
    const bool is_dump = form_by_markup(beginning) == TextFormat::kWikipedia;
    if (!is_dump) check_is_text(file.text(), options, file.path);
    texts.push_back(is_dump ? beginning : file.text());
    paths.push_back(file.path);
  }
  const std::vector<RecognisedForm> forms = recognised_forms(texts, options.threads);
  for (size_t i = 0; i < files.size(); ++i) check_text_form(texts[i], forms[i].format, paths[i]);
  progress.notice(describe_forms(paths, forms));
  std::vector<TextFormat> formats;
  for (const RecognisedForm& form : forms) formats.push_back(form.format);
  return formats;
}

// Notes what becomes of the options that only JSON Lines have.
void tell_of_json_lines(const std::vector<TextSource>& sources, const TextSourceOptions& options,
                        const CreationProgress& progress) {
  const auto is_json = [](const TextSource& one) { return one.format() == TextFormat::kJsonLines; };
  const bool has_json = std::ranges::any_of(sources, is_json);
  const auto note_no_effect = [&](const char* option) {
    progress.notice(fmt::format("{} has no effect: no input_file is JSON Lines", option));
  };
  if (!has_json && options.form.json_key != TextForm().json_key) note_no_effect("json_key");
  if (!options.form.skip_bad_lines) return;
  if (!has_json) return note_no_effect("skip_bad_lines");
  const std::string bad_lines = describe_bad_lines(sources, options.threads);
  if (!bad_lines.empty()) progress.notice(bad_lines);
}

TextSource source_of(OpenedFile opened, TextFormat format, const TextSourceOptions& options,
                     CreationProgress& progress) {
  TextForm form = options.form;
  form.format = format;
  const bool is_empty = format == TextFormat::kWikiExtractor && text::is_blank(opened.text());
  if (!is_wikipedia(format) || is_empty) return {opened.path, std::move(opened.file), form};
  TextSource source(opened.path, wikipedia_text(opened, format, options.threads, progress), form);
  check_is_text(source.text(), options, opened.path);
  return source;
}

}  // namespace

std::string_view TextSource::text() const { return text::without_byte_order_mark(file_.text()); }

std::vector<TextSource> open_text_sources(const std::vector<fs::path>& files,
                                          const TextSourceOptions& options,
                                          CreationProgress& progress) {
  std::vector<OpenedFile> opened;
  opened.reserve(files.size());
  for (const fs::path& file : files) opened.push_back(open(file));
  const std::vector<TextFormat> formats = options.form.format == TextFormat::kAuto
                                              ? shown_formats(opened, options, progress)
                                              : asked_formats(opened, options);
  std::vector<TextSource> sources;
  sources.reserve(files.size());
  for (size_t i = 0; i < files.size(); ++i) {
    sources.push_back(source_of(std::move(opened[i]), formats[i], options, progress));
  }
  tell_of_json_lines(sources, options, progress);
  return sources;
}

}  // namespace cloze::data
