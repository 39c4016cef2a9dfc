#include "data/wikipedia/dump_reader.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr size_t kBlockBytes = 1 << 20;
constexpr int64_t kBatchBytes = 8 << 20;

}  // namespace

DumpReader::DumpReader(const std::filesystem::path& path, int threads)
    : path_(path), dump_([this](formats::MediaWikiPage page) {
        text_bytes_ += std::ssize(page.text);
        pages_.push_back(std::move(page));
      }) {
  if (path.extension() == ".bz2") {
    compressed_.emplace(path, threads);
  } else {
    plain_.emplace(path);
  }
}

int64_t DumpReader::file_bytes_read() const {
  return static_cast<int64_t>(compressed_ ? compressed_->compressed_bytes() : plain_offset_);
}

std::string_view DumpReader::next_block() {
  if (compressed_) return compressed_->read();
  const std::string_view block = plain_->text().substr(plain_offset_, kBlockBytes);
  plain_offset_ += block.size();
  return block;
}

void DumpReader::parse_block() {
  const std::string_view block = next_block();
  try {
    if (block.empty()) {
      is_at_end_ = true;
      dump_.finish();
    } else {
      dump_.feed(block);
    }
  } catch (const DataError& error) {
    throw_data_error("{}: {}", path_.string(), error.what());
  }
}

std::vector<formats::MediaWikiPage> DumpReader::read() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
  while (!is_at_end_ && text_bytes_ < kBatchBytes) {
    try {
      parse_block();
    } catch (const DataError&) {
      is_at_end_ = true;
      if (pages_.empty()) throw;
      error_ = std::current_exception();
    }
  }
  text_bytes_ = 0;
  return std::exchange(pages_, {});
}

}  // namespace cloze::data
