#include "formats/bzip2_block.h"

#include <bzlib.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace cloze::formats {
namespace {

constexpr uint64_t kBlockMark = 0x314159265359;
constexpr uint64_t kEndMark = 0x177245385090;
constexpr uint64_t kMarkMask = (uint64_t{1} << kBzip2MarkBits) - 1;
constexpr size_t kUsualTextBytes = 1 << 20;

Bzip2Mark mark_of(uint64_t bits) {
  if (bits == kBlockMark) return Bzip2Mark::kBlock;
  return bits == kEndMark ? Bzip2Mark::kEnd : Bzip2Mark::kNone;
}

// Says of each byte whether it can be the third of the bytes that hold a mark, at any shift: few
// can, so most places are skipped at once.
std::array<bool, 256> make_third_bytes() {
  std::array<bool, 256> possible{};
  for (const uint64_t mark : {kBlockMark, kEndMark}) {
    for (int shift = 0; shift < 8; ++shift) possible[mark << 8 >> (32 + shift) & 0xFF] = true;
  }
  return possible;
}

// A stream that holds one block only.
class SingleBlockStream {
 public:
  SingleBlockStream(const BitView& file, const Bzip2BlockBits& block) {
    const uint64_t bits = block.end - block.begin;
    bytes_.reserve(bits / 8 + 32);
    bytes_ = "BZh9";
    const uint64_t whole_bytes = bits / 8;
    for (uint64_t i = 0; i < whole_bytes; ++i) {
      bytes_ += static_cast<char>(file.read(block.begin + 8 * i, 8));
    }
    const int rest = static_cast<int>(bits % 8);
    append(file.read(block.begin + 8 * whole_bytes, rest), rest);
    append(kEndMark, kBzip2MarkBits);
    append(file.read(block.begin + kBzip2MarkBits, kBzip2CrcBits), kBzip2CrcBits);
    append(0, (8 - pending_bits_) % 8);
  }

  std::string& bytes() { return bytes_; }

 private:
  void append(uint64_t value, int bits) {
    pending_ = pending_ << bits | value;
    pending_bits_ += bits;
    while (pending_bits_ >= 8) {
      pending_bits_ -= 8;
      bytes_ += static_cast<char>(pending_ >> pending_bits_);
    }
  }

  std::string bytes_;
  uint64_t pending_ = 0;
  int pending_bits_ = 0;
};

// libbz2's decoder, ended whatever happens.
class Decoder {
 public:
  Decoder() {
    const int status = BZ2_bzDecompressInit(&state_, /*verbosity=*/0, /*small=*/0);
    if (status != BZ_OK) throw_environment_error("libbz2 cannot start: status {}", status);
  }
  ~Decoder() { BZ2_bzDecompressEnd(&state_); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  std::optional<std::string> decode(std::string& stream) {
    state_.next_in = stream.data();
    state_.avail_in = static_cast<unsigned>(stream.size());
    std::string text(kUsualTextBytes, '\0');
    size_t filled = 0;
    int status = BZ_OK;
    while (status == BZ_OK) {
      if (filled == text.size()) text.resize(2 * text.size());
      state_.next_out = text.data() + filled;
      state_.avail_out = static_cast<unsigned>(text.size() - filled);
      const unsigned given = state_.avail_in;
      status = BZ2_bzDecompress(&state_);
      const size_t before = std::exchange(filled, text.size() - state_.avail_out);
      if (filled == before && state_.avail_in == given) break;  // it waits for more
    }
    if (status != BZ_STREAM_END || state_.avail_in != 0) return std::nullopt;
    text.resize(filled);
    return text;
  }

 private:
  bz_stream state_{};
};

}  // namespace

uint64_t BitView::read(uint64_t bit, int count) const {
  uint64_t window = 0;
  for (uint64_t i = 0; i < 8; ++i) window = window << 8 | byte(bit / 8 + i);
  return count == 0 ? 0 : window << bit % 8 >> (64 - count);
}

Bzip2Mark bzip2_mark_at(const BitView& file, uint64_t bit) {
  return bit + kBzip2MarkBits > file.size() ? Bzip2Mark::kNone
                                            : mark_of(file.read(bit, kBzip2MarkBits));
}

std::optional<uint64_t> find_bzip2_mark(const BitView& file, uint64_t begin, uint64_t end) {
  static const std::array<bool, 256> third_bytes = make_third_bytes();
  end = std::min(end, file.size());
  for (uint64_t index = begin / 8; index * 8 < end; ++index) {
    if (!third_bytes[file.byte(index + 2)]) continue;
    const uint64_t window = file.read(index * 8, 56);
    for (uint64_t shift = 0; shift < 8; ++shift) {
      const uint64_t bit = index * 8 + shift;
      if (mark_of(window >> (8 - shift) & kMarkMask) == Bzip2Mark::kNone) continue;
      if (bit >= begin && bit < end && bit + kBzip2MarkBits <= file.size()) return bit;
    }
  }
  return std::nullopt;
}

std::optional<std::string> decode_bzip2_block(const BitView& file, const Bzip2BlockBits& block) {
  return Decoder().decode(SingleBlockStream(file, block).bytes());
}

}  // namespace cloze::formats
