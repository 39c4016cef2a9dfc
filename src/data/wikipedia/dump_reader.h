// The pages of a MediaWiki dump file in batches.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/bzip2.h"
#include "formats/mediawiki_dump.h"
#include "platform/file.h"

namespace cloze::data {

class DumpReader {
 public:
  // Unpacks on `threads` threads.
  DumpReader(const std::filesystem::path& path, int threads);

  // The next pages, some megabytes of them; empty at the end. DataError that names the file; the
  // pages before the break come first.
  std::vector<formats::MediaWikiPage> read();
  int64_t file_bytes_read() const;
  // Complete once read() has returned pages; not to be asked for while it runs.
  const formats::MediaWikiSite& site() const { return dump_.site(); }

 private:
  std::string_view next_block();
  void parse_block();

  std::filesystem::path path_;
  std::optional<formats::Bzip2File> compressed_;
  std::optional<platform::MappedFile> plain_;
  size_t plain_offset_ = 0;
  std::vector<formats::MediaWikiPage> pages_;
  int64_t text_bytes_ = 0;  // in pages_
  std::exception_ptr error_;
  bool is_at_end_ = false;
  formats::MediaWikiDump dump_;  // last: it calls back into the members above
};

}  // namespace cloze::data
