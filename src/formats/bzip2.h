// bzip2: a compressed file read as a stream, of one member or of many (multistream dumps). Blocks
// are unpacked ahead, several at once on `threads` threads; the text is the same for any number.
// In memory at any time: the texts of four blocks a thread, each about a megabyte (46 MB at worst,
// where text repeats itself).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "formats/bzip2_block.h"
#include "platform/files/file.h"

namespace cloze::formats {

// A place between two blocks, where reading of the same file can resume later.
struct Bzip2Position {
  uint64_t bit = 0;
  uint32_t stream_crc = 0;    // of the stream's blocks before
  bool is_in_stream = false;  // after a stream's header
};

class Bzip2File {
 public:
  // `name` is for messages; empty: the path.
  explicit Bzip2File(const std::filesystem::path& path, int threads = 1,
                     const Bzip2Position& start = {}, const std::filesystem::path& name = {});

  // The next block's text; empty at the end. DataError that names the file and the compressed
  // offset where it breaks or ends too soon.
  std::string_view read();
  const Bzip2Position& position() const { return position_; }  // after what was read
  uint64_t compressed_bytes() const { return position_.bit / 8; }
  uint64_t file_bytes() const { return file_.bytes().size(); }

 private:
  struct Block {
    std::string text;
    uint64_t end = 0;
  };

  [[noreturn]] void fail(const char* what) const;
  void enter_stream();
  void leave_stream();
  void read_block();
  Block take_block();
  Block join_block() const;
  void unpack_ahead();

  std::filesystem::path name_;
  platform::MappedFile file_;
  BitView bits_;
  int threads_;
  Bzip2Position position_;
  std::map<uint64_t, Block> unpacked_;  // by the bit where they begin; may hold what is not a block
  std::string text_;
};

}  // namespace cloze::formats
