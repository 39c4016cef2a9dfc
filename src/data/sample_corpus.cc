#include "data/sample_corpus.h"

#include <string>

#include "base/error.h"
#include "data/sample_world.h"
#include "formats/json.h"
#include "platform/files/atomic_file.h"
#include "platform/files/folder.h"

namespace cloze::data {
namespace {

constexpr double kBytesPerMegabyte = 1e6;
constexpr double kMaxMegabytes = 1e6;

bool is_full(const SampleCorpusSize& size, const SampleCorpusOptions& options) {
  if (options.num_documents && size.num_documents >= *options.num_documents) return true;
  return options.megabytes &&
         static_cast<double>(size.num_bytes) >= *options.megabytes * kBytesPerMegabyte;
}

void write_documents(const SampleWorld& world, const SampleCorpusOptions& options,
                     SampleCorpusSize& size) {
  platform::AtomicFile file(options.directory / "corpus.txt");
  std::string text;
  while (!is_full(size, options)) {
    text.clear();
    for (const std::string& sentence : world.document(size.num_documents)) {
      text += sentence;
      text += '\n';
      ++size.num_sentences;
    }
    text += '\n';
    file.write(text);
    ++size.num_documents;
    size.num_bytes += std::ssize(text);
  }
  file.commit();
}

void write_cloze_items(const SampleWorld& world, const SampleCorpusOptions& options) {
  std::string lines;
  for (const ClozeItem& item : world.cloze_items(options.num_cloze_items)) {
    const formats::Json line = {{"answer", item.answer},
                                {"context", item.context},
                                {"kind", item.kind},
                                {"text", item.text}};
    lines += line.dump();
    lines += '\n';
  }
  platform::write_file_atomically(options.directory / "cloze.jsonl", lines);
}

}  // namespace

void validate(const SampleCorpusOptions& options) {
  if (!options.num_documents && !options.megabytes) {
    throw_user_error("the sample corpus needs a size: give --documents or --megabytes");
  }
  if (options.num_documents && *options.num_documents < 1) {
    throw_user_error("--documents is {}; give at least 1", *options.num_documents);
  }
  if (options.megabytes && !(*options.megabytes > 0 && *options.megabytes <= kMaxMegabytes)) {
    throw_user_error("--megabytes is {}; give more than 0 and at most {}", *options.megabytes,
                     kMaxMegabytes);
  }
}

SampleCorpusSize write_sample_corpus(const SampleCorpusOptions& options) {
  validate(options);
  platform::make_writable_directory(options.directory);
  const SampleWorld world(options.seed);
  write_cloze_items(world, options);
  SampleCorpusSize size;
  write_documents(world, options, size);
  return size;
}

}  // namespace cloze::data
