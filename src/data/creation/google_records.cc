#include "data/creation/google_records.h"

#include <cstring>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "data/instances/python_random.h"
#include "platform/signals.h"

namespace cloze::data {
namespace {

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

// What precedes a record's bytes in the file of those that are not shuffled yet.
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
          "--google-compatible: more than 2^32 records; lower --duplication-factor or split the "
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
