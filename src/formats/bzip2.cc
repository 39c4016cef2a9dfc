#include "formats/bzip2.h"

#include <bzlib.h>

#include <algorithm>
#include <limits>

#include "base/error.h"

namespace cloze::formats {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

}  // namespace

// One member at a time: libbz2 stops behind each, and is started again where it stopped.
struct Bzip2File::Stream {
  bz_stream state{};
  uint64_t offset = 0;  // in the file, of the next byte to hand over
  bool is_open = false;

  void open() {
    state = {};
    const int status = BZ2_bzDecompressInit(&state, /*verbosity=*/0, /*small=*/0);
    if (status != BZ_OK) throw_environment_error("libbz2 cannot start: status {}", status);
    is_open = true;
  }
  void close() {
    if (is_open) BZ2_bzDecompressEnd(&state);
    is_open = false;
  }
};

Bzip2File::Bzip2File(const std::filesystem::path& path)
    : path_(path), file_(path), stream_(std::make_unique<Stream>()) {
  if (file_.bytes().empty()) fail("is empty");
}

Bzip2File::~Bzip2File() { stream_->close(); }

uint64_t Bzip2File::compressed_bytes() const { return stream_->offset; }

void Bzip2File::fail(const char* what) const {
  throw_data_error("{}: the bzip2 data {} at byte {} of {}", path_.string(), what, stream_->offset,
                   file_bytes());
}

std::string_view Bzip2File::read() {
  block_.resize(kBlockBytes);
  size_t filled = 0;
  while (filled < block_.size()) {
    const std::span<const std::byte> rest = file_.bytes().subspan(stream_->offset);
    if (!stream_->is_open) {
      if (rest.empty()) break;
      stream_->open();
    }
    bz_stream& state = stream_->state;
    const auto given =
        static_cast<unsigned>(std::min<size_t>(rest.size(), std::numeric_limits<int>::max()));
    state.next_in = reinterpret_cast<char*>(const_cast<std::byte*>(rest.data()));
    state.avail_in = given;
    state.next_out = block_.data() + filled;
    state.avail_out = static_cast<unsigned>(block_.size() - filled);
    const int status = BZ2_bzDecompress(&state);
    stream_->offset += given - state.avail_in;
    filled = block_.size() - state.avail_out;
    if (status == BZ_STREAM_END) {
      stream_->close();
    } else if (status != BZ_OK) {
      fail("breaks");
    } else if (given == 0 && state.avail_out > 0) {
      fail("ends too soon");
    }
  }
  block_.resize(filled);
  return block_;
}

}  // namespace cloze::formats
