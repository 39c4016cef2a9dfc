#include "formats/bzip2.h"

#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "platform/parallel_for.h"

namespace cloze::formats {
namespace {

constexpr int kBlocksPerThread = 4;
constexpr int kHeaderBits = 32;
constexpr int kSignatureBits = 24;
constexpr uint64_t kSignature = 0x425A68;  // "BZh"
// False marks within one block: none is likely in all files there are.
constexpr int kMostFalseMarks = 8;

}  // namespace

Bzip2File::Bzip2File(const std::filesystem::path& path, int threads, const Bzip2Position& start,
                     const std::filesystem::path& name)
    : name_(name.empty() ? path : name),
      file_(path),
      bits_(file_.bytes()),
      threads_(threads),
      position_(start) {
  if (file_.bytes().empty()) fail("is empty");
}

void Bzip2File::fail(const char* what) const {
  throw_data_error("{}: the bzip2 data {} at byte {} of {}", name_.string(), what,
                   compressed_bytes(), file_bytes());
}

std::string_view Bzip2File::read() {
  text_.clear();
  while (text_.empty()) {
    if (!position_.is_in_stream) {
      if (position_.bit == bits_.size()) break;
      enter_stream();
    }
    switch (bzip2_mark_at(bits_, position_.bit)) {
      case Bzip2Mark::kBlock:
        read_block();
        break;
      case Bzip2Mark::kEnd:
        leave_stream();
        break;
      case Bzip2Mark::kNone:
        fail(position_.bit + kBzip2MarkBits > bits_.size() ? "ends too soon" : "breaks");
    }
  }
  return text_;
}

void Bzip2File::enter_stream() {
  const auto level = static_cast<char>(bits_.read(position_.bit + kSignatureBits, 8));
  if (bits_.read(position_.bit, kSignatureBits) != kSignature || level < '1' || level > '9') {
    fail("breaks");
  }
  position_ = {.bit = position_.bit + kHeaderBits, .stream_crc = 0, .is_in_stream = true};
}

void Bzip2File::leave_stream() {
  const uint64_t crc_begin = position_.bit + kBzip2MarkBits;
  const uint64_t end = crc_begin + kBzip2CrcBits;
  if (end > bits_.size()) fail("ends too soon");
  if (bits_.read(crc_begin, kBzip2CrcBits) != position_.stream_crc) fail("breaks");
  position_ = {.bit = (end + 7) / 8 * 8};
}

void Bzip2File::read_block() {
  Block block = take_block();
  const auto crc = static_cast<uint32_t>(bits_.read(position_.bit + kBzip2MarkBits, kBzip2CrcBits));
  position_.stream_crc = std::rotl(position_.stream_crc, 1) ^ crc;
  position_.bit = block.end;
  text_ = std::move(block.text);
}

Bzip2File::Block Bzip2File::take_block() {
  unpacked_.erase(unpacked_.begin(), unpacked_.lower_bound(position_.bit));
  if (unpacked_.empty()) unpack_ahead();
  const auto found = unpacked_.find(position_.bit);
  if (found == unpacked_.end()) return join_block();
  Block block = std::move(found->second);
  unpacked_.erase(found);
  return block;
}

// The next mark does not end the block: one of the later marks does.
Bzip2File::Block Bzip2File::join_block() const {
  const uint64_t begin = position_.bit;
  const uint64_t last = begin + kLongestBzip2BlockBits;
  uint64_t end = begin;
  for (int tries = 0; tries <= kMostFalseMarks; ++tries) {
    const auto mark = find_bzip2_mark(bits_, end + 1, last);
    if (!mark) break;
    end = *mark;
    if (auto text = decode_bzip2_block(bits_, {.begin = begin, .end = end})) {
      return {.text = *std::move(text), .end = end};
    }
  }
  fail(end == begin && last > bits_.size() ? "ends too soon" : "breaks");
}

// Unpacks what begins at the next marks, assuming that each block ends at the mark after it.
void Bzip2File::unpack_ahead() {
  std::vector<Bzip2BlockBits> blocks;
  std::optional<uint64_t> begin = position_.bit;
  const auto most = static_cast<size_t>(threads_) * kBlocksPerThread;
  while (begin && blocks.size() < most) {
    const auto end = find_bzip2_mark(bits_, *begin + 1, *begin + kLongestBzip2BlockBits);
    const bool is_block = bzip2_mark_at(bits_, *begin) == Bzip2Mark::kBlock;
    if (end && is_block) blocks.push_back({.begin = *begin, .end = *end});
    begin = end;
  }
  std::vector<std::optional<std::string>> texts(blocks.size());
  platform::parallel_for(std::ssize(blocks), threads_,
                         [&](int64_t i) { texts[i] = decode_bzip2_block(bits_, blocks[i]); });
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!texts[i]) continue;
    unpacked_[blocks[i].begin] = {.text = *std::move(texts[i]), .end = blocks[i].end};
  }
}

}  // namespace cloze::formats
