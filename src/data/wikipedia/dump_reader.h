// The pages of a MediaWiki dump file in batches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/bzip2.h"
#include "formats/mediawiki_dump.h"
#include "platform/files/file.h"

namespace cloze::data {

// Between two pages.
struct DumpPosition {
  uint64_t pages_begin = 0;      // where in the text the first page does; 0: none was read yet
  uint64_t next_page = 0;        // where in the text the next page begins
  formats::Bzip2Position block;  // of a compressed file: the block that holds that place,
  uint64_t block_begin = 0;      // and where in the text it begins
};

struct DumpOptions {
  int threads = 1;  // that unpack
  int64_t batch_bytes = 8 << 20;
  DumpPosition start;
  std::filesystem::path name;  // in messages; empty: the path
};

// Tells it by its name, or its first bytes.
bool is_bzip2_dump(const std::filesystem::path& path, std::string_view bytes);

class DumpReader {
 public:
  DumpReader(const std::filesystem::path& path, const DumpOptions& options);

  // The next pages, with `batch_bytes` of text or some more; empty at the end. DataError that names
  // the file; the pages before the break come first.
  std::vector<formats::MediaWikiPage> read();
  int64_t file_bytes_read() const;
  // After the pages that read() returned last.
  DumpPosition position() const;
  // Complete once read() has returned pages; do not call it while read() runs.
  const formats::MediaWikiSite& site() const { return dump_.site(); }

 private:
  void open(int threads, const formats::Bzip2Position& start = {});
  void go_on_at(const DumpPosition& start, int threads);
  void add(formats::MediaWikiPage page);
  std::string_view read_block();
  std::string_view next_block();
  void parse_block();

  std::filesystem::path path_;
  std::filesystem::path name_;
  std::optional<formats::Bzip2File> compressed_;
  std::optional<platform::MappedFile> plain_;
  int64_t batch_bytes_;
  formats::Bzip2Position block_;       // the last one that was read,
  uint64_t block_begin_ = 0;           // where in the text it begins,
  uint64_t block_end_ = 0;             // and ends
  uint64_t bytes_to_skip_ = 0;         // of the next blocks
  formats::Bzip2Position page_block_;  // the one that holds the end of the last page,
  uint64_t page_block_begin_ = 0;      // and where in the text it begins
  std::vector<formats::MediaWikiPage> pages_;
  int64_t text_bytes_ = 0;  // in pages_
  std::exception_ptr error_;
  bool is_at_end_ = false;
  formats::MediaWikiDump dump_;  // last: it calls back into the members above
};

}  // namespace cloze::data
