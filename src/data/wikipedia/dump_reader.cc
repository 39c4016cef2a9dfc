#include "data/wikipedia/dump_reader.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/error.h"

namespace cloze::data {
namespace {

constexpr size_t kBlockBytes = 1 << 20;

}  // namespace

bool is_bzip2_dump(const std::filesystem::path& path, std::string_view bytes) {
  return path.extension() == ".bz2" || bytes.starts_with("BZh");
}

DumpReader::DumpReader(const std::filesystem::path& path, const DumpOptions& options)
    : path_(path),
      name_(options.name.empty() ? path : options.name),
      batch_bytes_(options.batch_bytes),
      dump_([this](formats::MediaWikiPage page) { add(std::move(page)); }) {
  plain_.emplace(path);
  if (is_bzip2_dump(path, plain_->text())) {
    plain_.reset();
    open(options.threads);
  }
  if (options.start.pages_begin > 0) go_on_at(options.start, options.threads);
}

void DumpReader::open(int threads, const formats::Bzip2Position& start) {
  compressed_.emplace(path_, threads, start, name_);
}

void DumpReader::add(formats::MediaWikiPage page) {
  // The parser may process the last bytes of a block only with the next block.
  if (dump_.page_end() >= block_begin_) {
    page_block_ = block_;
    page_block_begin_ = block_begin_;
  }
  text_bytes_ += std::ssize(page.text);
  pages_.push_back(std::move(page));
}

// The dump's description of its wiki stands before the first page and is read again.
void DumpReader::go_on_at(const DumpPosition& start, int threads) {
  while (block_end_ < start.pages_begin) {
    const std::string_view block = read_block();
    dump_.feed(block.substr(0, start.pages_begin - block_begin_));
  }
  dump_.skip_to(start.next_page);
  if (compressed_) open(threads, start.block);
  page_block_ = start.block;
  page_block_begin_ = start.block_begin;
  block_end_ = start.block_begin;
  bytes_to_skip_ = start.next_page - start.block_begin;
}

DumpPosition DumpReader::position() const {
  return {.pages_begin = dump_.pages_begin(),
          .next_page = dump_.page_end(),
          .block = page_block_,
          .block_begin = page_block_begin_};
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
  while (bytes_to_skip_ > 0 && !block.empty()) {
    const auto skipped = std::min<uint64_t>(bytes_to_skip_, block.size());
    block.remove_prefix(skipped);
    bytes_to_skip_ -= skipped;
    if (block.empty()) block = read_block();
  }
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
    throw_data_error("{}: {}", name_.string(), error.what());
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
