#include "data/creation/window_records.h"

#include <iterator>
#include <utility>

#include "data/instances/random_source.h"
#include "data/shuffle.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr uint64_t kWindowStream = uint64_t{1} << 63;
constexpr int kDuplicateShift = 40;  // streams: duplicate above, document below

class WindowRecords {
 public:
  WindowRecords(const RecordOptions& options, const Corpus& corpus, const RecordMaker& maker)
      : options_(options), corpus_(corpus), maker_(maker) {}

  int64_t window_end(int64_t begin) const {
    const int64_t passes = options_.duplication_factor * corpus_.documents();
    int64_t end = begin;
    for (int64_t tokens = 0; end < passes && tokens < options_.window_tokens; ++end) {
      tokens += corpus_.tokens_in(document_of(end));
    }
    return end;
  }

  // The records of passes [begin, end), in the order of the passes.
  std::vector<EncodedRecord> records(int64_t begin, int64_t end) const {
    std::vector<std::vector<EncodedRecord>> by_pass(static_cast<size_t>(end - begin));
    platform::parallel_for(end - begin, options_.input.threads, [&](int64_t i) {
      const int64_t document = document_of(begin + i);
      const auto duplicate = static_cast<uint64_t>((begin + i) / corpus_.documents());
      PhiloxSource random(options_.seed,
                          duplicate << kDuplicateShift | static_cast<uint64_t>(document));
      maker_.append(document, random, by_pass[static_cast<size_t>(i)]);
    });
    std::vector<EncodedRecord> records;
    for (std::vector<EncodedRecord>& pass : by_pass) {
      std::move(pass.begin(), pass.end(), std::back_inserter(records));
    }
    return records;
  }

 private:
  // Pass p visits this document.
  int64_t document_of(int64_t pass) const {
    const auto documents = static_cast<uint64_t>(corpus_.documents());
    const auto p = static_cast<uint64_t>(pass);
    return static_cast<int64_t>(
        Permutation(documents, options_.seed, p / documents)(p % documents));
  }

  const RecordOptions& options_;
  const Corpus& corpus_;
  RecordMaker maker_;
};

}  // namespace

void make_records_in_windows(const RecordOptions& options, const Corpus& corpus,
                             const text::Vocabulary& vocabulary, CreationProgress& progress,
                             RecordOutput& output) {
  const WindowRecords windows(options, corpus, {options, corpus, vocabulary, progress});
  RecordState& state = output.state();
  while (state.passes < progress.total_passes && !output.is_full()) {
    const int64_t end = windows.window_end(state.passes);
    std::vector<EncodedRecord> records = windows.records(state.passes, end);
    PhiloxSource random(options.seed, kWindowStream | static_cast<uint64_t>(state.windows));
    shuffle(records, random);
    for (const EncodedRecord& record : records) output.append(record);
    state.passes = end;
    state.made += std::ssize(records);
    ++state.windows;
    output.save();
  }
}

}  // namespace cloze::data
