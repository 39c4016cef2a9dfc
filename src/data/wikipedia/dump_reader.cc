#include "data/wikipedia/dump_reader.h"

#include <exception>
#include <utility>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

}  // namespace

DumpReader::DumpReader(const std::filesystem::path& path, const DumpOptions& options)
    : path_(path), batch_bytes_(options.batch_bytes), dump_([this](formats::MediaWikiPage page) {
        text_bytes_ += std::ssize(page.text);
        pages_.push_back(std::move(page));
      }) {
  if (path.extension() == ".bz2") {
    compressed_.emplace(path, options.threads);
  } else {
    plain_.emplace(path);
  }
  if (options.start.pages_begin > 0) go_on_at(options.start, options.threads);
}

// What the dump says of its wiki stands before the first page and is read again.
void DumpReader::go_on_at(const DumpPosition& start, int threads) {
  while (block_end_ < start.pages_begin) {
    const std::string_view block = read_block();
    dump_.feed(block.substr(0, start.pages_begin - block_begin_));
  }
  dump_.skip_to(start.next_page);
  if (compressed_) compressed_.emplace(path_, threads, start.block);
  block_end_ = start.block_begin;
  bytes_to_skip_ = start.next_page - start.block_begin;
}

DumpPosition DumpReader::position() const {
  return {.pages_begin = dump_.pages_begin(),
          .next_page = dump_.page_end(),
          .block = block_,
          .block_begin = block_begin_};
}

int64_t DumpReader::file_bytes_read() const {
  return static_cast<int64_t>(compressed_ ? compressed_->compressed_bytes() : block_end_);
}

std::string_view DumpReader::read_block() {
  block_begin_ = block_end_;
  std::string_view block;
  if (compressed_) {
    block_ = compressed_->position();
    block = compressed_->read();
  } else {
    block = plain_->text().substr(block_begin_, kBlockBytes);
  }
  block_end_ += block.size();
  return block;
}

std::string_view DumpReader::next_block() {
  std::string_view block = read_block();
  if (bytes_to_skip_ == 0) return block;
  CLOZE_CHECK(bytes_to_skip_ <= block.size(), "{} of {} bytes", bytes_to_skip_, block.size());
  block.remove_prefix(std::exchange(bytes_to_skip_, 0));
  return block.empty() ? next_block() : block;
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
  while (!is_at_end_ && text_bytes_ < batch_bytes_) {
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
