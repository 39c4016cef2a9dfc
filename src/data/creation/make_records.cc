#include "data/creation/make_records.h"

#include <cstring>
#include <iterator>
#include <limits>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "data/instances/pair_instances.h"
#include "data/instances/python_random.h"
#include "data/shuffle.h"
#include "platform/files/file.h"
#include "platform/parallel_for.h"
#include "platform/signals.h"

namespace cloze::data {
namespace {

// Makes records of documents; thread-safe.
class RecordMaker {
 public:
  // Keeps references to all.
  RecordMaker(const RecordOptions& options, const Corpus& corpus,
              const text::Vocabulary& vocabulary, CreationProgress& progress)
      : options_(options),
        instances_(corpus, vocabulary_ids(vocabulary),
                   {.short_sequence_probability = options.short_sequence_probability,
                    .masking = masking_of(options)}),
        progress_(progress) {}

  void append(int64_t document, RandomSource& random, std::vector<EncodedRecord>& records) const {
    std::vector<Sample> samples;
    instances_.append(document, random, samples);
    for (const Sample& sample : samples) {
      records.push_back({.bytes = encode_record(sample, options_.layout),
                         .tokens = std::ssize(sample.input_ids),
                         .predictions = std::ssize(sample.masked_positions)});
    }
    progress_.instances += std::ssize(samples);
    progress_.passes += 1;
  }

 private:
  const RecordOptions& options_;
  PairInstances instances_;
  CreationProgress& progress_;
};

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

// [0, count) in the order that the script's random.shuffle makes of it.
std::vector<uint32_t> shuffled_numbers(int64_t count, PythonRandom& random) {
  std::vector<uint32_t> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  shuffle(numbers, random);
  return numbers;
}

// The documents of a corpus in another order.
class ReorderedCorpus final : public Corpus {
 public:
  ReorderedCorpus(const Corpus& corpus, std::vector<uint32_t> order)
      : corpus_(corpus), order_(std::move(order)) {}
  int64_t documents() const override { return std::ssize(order_); }
  int64_t sentences_in(int64_t place) const override { return corpus_.sentences_in(order_[place]); }
  int64_t tokens_in(int64_t place) const override { return corpus_.tokens_in(order_[place]); }
  int64_t tokens_before(int64_t place, int64_t sentence) const override {
    return corpus_.tokens_before(order_[place], sentence);
  }
  void append_tokens(int64_t place, int64_t begin, int64_t end,
                     std::vector<int32_t>& ids) const override {
    corpus_.append_tokens(order_[place], begin, end, ids);
  }

 private:
  const Corpus& corpus_;
  std::vector<uint32_t> order_;
};

// The header before each record in the file of records that are not shuffled yet.
struct RecordHeader {
  uint32_t bytes = 0;
  uint32_t tokens = 0;
  uint32_t predictions = 0;
};

void store(const EncodedRecord& record, RecordOutput& output) {
  const uint64_t place = output.records().bytes();
  const RecordHeader header{.bytes = static_cast<uint32_t>(record.bytes.size()),
                            .tokens = static_cast<uint32_t>(record.tokens),
                            .predictions = static_cast<uint32_t>(record.predictions)};
  output.records().append({reinterpret_cast<const char*>(&header), sizeof header});
  output.records().append(record.bytes);
  output.places().append({reinterpret_cast<const char*>(&place), sizeof place});
}

class StoredRecords {
 public:
  explicit StoredRecords(RecordOutput& output)
      : records_(output.records().map()), places_(output.places().map()) {}

  EncodedRecord operator[](uint32_t index) const {
    uint64_t place = 0;
    std::memcpy(&place, places_.text().data() + sizeof place * index, sizeof place);
    RecordHeader header;
    std::memcpy(&header, records_.text().data() + place, sizeof header);
    return {.bytes = std::string(records_.text().substr(place + sizeof header, header.bytes)),
            .tokens = header.tokens,
            .predictions = header.predictions};
  }

 private:
  platform::MappedFile records_;
  platform::MappedFile places_;
};

// Saves every so many tokens, and when a signal has asked to stop.
class Saving {
 public:
  Saving(int64_t tokens, RecordOutput& output) : most_(tokens), output_(output) {}
  bool is_due(int64_t tokens) {
    tokens_ += tokens;
    return tokens_ >= most_ || platform::stop_requested();
  }
  void save() {
    output_.save();
    tokens_ = 0;
  }

 private:
  int64_t most_;
  int64_t tokens_ = 0;
  RecordOutput& output_;
};

// All records, in the order in which the script makes them, into the file of those to be shuffled.
void store_records(const Corpus& documents, const RecordMaker& maker, PythonRandom& random,
                   int64_t total_passes, Saving& saving, RecordOutput& output) {
  RecordState& state = output.state();
  std::vector<EncodedRecord> records;
  while (state.passes < total_passes) {
    const int64_t document = state.passes % documents.documents();
    maker.append(document, random, records);
    for (const EncodedRecord& record : records) store(record, output);
    state.made += std::ssize(records);
    ++state.passes;
    records.clear();
    if (state.made > std::numeric_limits<uint32_t>::max()) {
      throw_user_error(
          "--google-compatible: 2^32 records or more; lower --duplication-factor or split the "
          "text");
    }
    if (saving.is_due(documents.tokens_in(document)) || state.passes == total_passes) {
      state.random = random.state();
      saving.save();
    }
  }
}

void write_shuffled(PythonRandom& random, Saving& saving, RecordOutput& output) {
  RecordCounts& counts = output.state().counts;
  const StoredRecords stored(output);
  const std::vector<uint32_t> order = shuffled_numbers(output.state().made, random);
  while (counts.instances < output.state().made && !output.is_full()) {
    const EncodedRecord record = stored[order[static_cast<size_t>(counts.instances)]];
    output.append(record);
    if (saving.is_due(record.tokens)) saving.save();
  }
}

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

void make_records_as_google(const RecordOptions& options, const Corpus& corpus,
                            const text::Vocabulary& vocabulary, CreationProgress& progress,
                            RecordOutput& output) {
  PythonRandom random(options.seed);
  const ReorderedCorpus documents(corpus, shuffled_numbers(corpus.documents(), random));
  if (!output.state().random.empty()) random.go_on_at(output.state().random);
  const RecordMaker maker(options, documents, vocabulary, progress);
  Saving saving(options.window_tokens, output);
  store_records(documents, maker, random, progress.total_passes, saving, output);
  write_shuffled(random, saving, output);
}

}  // namespace cloze::data
