#include "data/corpus/text_source.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/wikipedia/wikipedia_text.h"
#include "formats/decompression.h"
#include "platform/files/temporary_file.h"
#include "platform/signals.h"
#include "text/utf8.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBlockBytes = 64 << 10;
constexpr size_t kBlocksLookedAt = 64;

// What files begin with that are not text, and what to do about them.
struct ForeignForm {
  std::string_view beginning;
  std::string_view name;
  std::string_view advice;
};
using namespace std::string_view_literals;
constexpr ForeignForm kForeignForms[] = {
    {"\xFF\xFE\x00\x00"sv, "UTF-32", "convert it: iconv -f UTF-32 -t UTF-8"},
    {"\x00\x00\xFE\xFF"sv, "UTF-32", "convert it: iconv -f UTF-32 -t UTF-8"},
    {"\xFF\xFE"sv, "UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"},
    {"\xFE\xFF"sv, "UTF-16", "convert it: iconv -f UTF-16 -t UTF-8"},
    {"BZh"sv, "bzip2", "for a dump, set --input-format wikipedia; pipe other text through bzcat"},
    {"\xFD\x37zXZ"sv, "xz", "pipe it through xzcat"},
    {"PK\x03\x04"sv, "a zip archive", "unpack it first"},
    {"%PDF-"sv, "PDF", "convert it to text first"}};

void check_beginning(std::string_view text, const fs::path& path) {
  for (const ForeignForm& form : kForeignForms) {
    if (!text.starts_with(form.beginning)) continue;
    throw_user_error("{} is {}, not UTF-8 text; {}", path.string(), form.name, form.advice);
  }
}

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
  check_beginning(text, path);
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

platform::MappedFile opened(const fs::path& path) {
  if (!platform::is_standard_input(path) && (fs::is_regular_file(path) || !fs::exists(path))) {
    return platform::MappedFile(path);
  }
  platform::TemporaryFile temporary;
  platform::read_stream(path, [&](std::string_view bytes) { temporary.append(bytes); });
  return temporary.map();
}

// Unpacked text, or text from a pipe, is read from a temporary path that the user does not know.
struct ReadFile {
  fs::path path;
  fs::path name;
};

platform::MappedFile wikipedia_text(const ReadFile& file, const TextSourceOptions& options,
                                    CreationProgress& progress) {
  platform::TemporaryFile text;
  read_wikipedia({.files = {file.path},
                  .name = file.name,
                  .threads = options.threads,
                  .may_be_empty = options.format == TextFormat::kWikiExtractor},
                 {}, progress.dumps,
                 {.text = [&](std::string_view articles) { text.append(articles); },
                  .pause = [](const WikipediaState&) { platform::stop_if_requested(); },
                  .notice = [](const std::string&) {}});
  return text.map();
}

platform::MappedFile text_of(const fs::path& path, const TextSourceOptions& options,
                             CreationProgress& progress) {
  platform::MappedFile file = opened(path);
  const auto compression = formats::compression_of(file.bytes());
  const bool is_packed = compression != formats::Compression::kNone;
  platform::MappedFile plain = is_packed ? unpacked(compression, file, path) : std::move(file);
  check_text_form(text::without_byte_order_mark(plain.text()), options.format, path);
  if (!is_wikipedia(options.format)) return plain;
  if (options.format == TextFormat::kWikiExtractor && is_blank(plain.text())) return plain;
  if (!is_packed && fs::is_regular_file(path)) {
    return wikipedia_text({path, path}, options, progress);
  }
  platform::TemporaryFile dump;
  dump.append(plain.text());
  return wikipedia_text({dump.path(), path}, options, progress);
}

}  // namespace

TextSource::TextSource(fs::path path, const TextSourceOptions& options, CreationProgress& progress)
    : path_(std::move(path)), file_(text_of(path_, options, progress)) {
  check_is_text(text(), options, path_);
}

std::string_view TextSource::text() const { return text::without_byte_order_mark(file_.text()); }

std::vector<TextSource> open_text_sources(const std::vector<fs::path>& files,
                                          const TextSourceOptions& options,
                                          CreationProgress& progress) {
  std::vector<TextSource> sources;
  sources.reserve(files.size());
  for (const fs::path& file : files) sources.emplace_back(file, options, progress);
  return sources;
}

}  // namespace cloze::data
