#include "data/creation/create_records.h"

#include <numeric>
#include <string>

#include "base/error.h"
#include "data/instances/pair_instances.h"
#include "data/instances/python_random.h"
#include "data/records/record_sink.h"
#include "data/shuffle.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

constexpr int64_t kWindowTokens = 8 << 20;
constexpr int64_t kMinSequenceLength = 5;
constexpr int64_t kSpecialTokens = 3;
constexpr uint64_t kWindowStream = uint64_t{1} << 63;
constexpr int kDuplicateShift = 40;  // streams: duplicate above, document below

void check_share(const char* option, double value) {
  if (!(value >= 0 && value <= 1)) throw_user_error("{} {} must be in [0, 1]", option, value);
}

// Re-masked, the slots take room that the text then does not have.
MaskingOptions masking_of(const RecordOptions& options) {
  MaskingOptions masking{.sequence_length = options.layout.sequence_length,
                         .max_predictions = options.layout.max_predictions,
                         .probability = options.masking_probability,
                         .whole_words = options.whole_word_masking};
  if (options.layout.remask) masking.sequence_length = longest_with_slots(masking);
  return masking;
}

void check(const RecordOptions& options) {
  const RecordLayout& layout = options.layout;
  const int64_t S = layout.sequence_length;
  const int64_t M = layout.max_predictions;
  if (S < kMinSequenceLength) {
    throw_user_error("--sequence-length {} must be at least {}", S, kMinSequenceLength);
  }
  if (M < 1 || M > S - kSpecialTokens) {
    throw_user_error("--mask-tokens {} must be in [1, {}], for sequences of {}", M,
                     S - kSpecialTokens, S);
  }
  if (options.duplication_factor < 1 || options.duplication_factor > (1 << 20)) {
    throw_user_error("--duplication-factor {} must be in [1, 2^20]", options.duplication_factor);
  }
  check_share("--mlm-prob", options.masking_probability);
  check_share("--short-seq-prob", options.short_sequence_probability);
  if (layout.remask && layout.pad_position_value < S) {
    throw_user_error(
        "--pad-position-value {} is a position of a sequence of {}; choose at least {}",
        layout.pad_position_value, S, S);
  }
  if (layout.remask && options.google_compatible) {
    throw_user_error(
        "--remask needs room for the slots, which Google's masking does not leave; "
        "drop --remask or --google-compatible");
  }
  if (layout.remask && options.whole_word_masking) {
    throw_user_error(
        "--remask needs room for the slots, which whole words may not leave; drop --remask or "
        "--do-whole-word-mask");
  }
  if (const int64_t left = masking_of(options).sequence_length; left < kMinSequenceLength) {
    throw_user_error(
        "--mask-tokens {} leaves room for {} tokens in re-masked sequences of {}; they need {}: "
        "lower --mask-tokens",
        M, left, S, kMinSequenceLength);
  }
}

// One instance, encoded; and what the counts need.
struct EncodedRecord {
  std::string bytes;
  int64_t tokens = 0;
  int64_t predictions = 0;
};

EncodedRecord encode(const Sample& sample, const RecordLayout& layout) {
  return {.bytes = encode_record(sample, layout),
          .tokens = static_cast<int64_t>(sample.input_ids.size()),
          .predictions = static_cast<int64_t>(sample.masked_positions.size())};
}

// Writes and counts, until there are as many as were asked for.
class CountingSink {
 public:
  explicit CountingSink(const RecordOptions& options)
      : max_samples_(options.max_samples), sink_(options.output_files) {}

  bool is_full() const { return max_samples_ >= 0 && counts_.instances >= max_samples_; }

  void append(const EncodedRecord& record) {
    if (is_full()) return;
    sink_.append(record.bytes);
    counts_.instances += 1;
    counts_.tokens += record.tokens;
    counts_.predictions += record.predictions;
  }

  RecordCounts commit() {
    sink_.commit();
    return counts_;
  }

 private:
  int64_t max_samples_;
  RecordSink sink_;
  RecordCounts counts_;
};

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

class RecordMaker {
 public:
  RecordMaker(const RecordOptions& options, const Corpus& corpus,
              const text::Vocabulary& vocabulary, CreationProgress& progress)
      : options_(options),
        corpus_(corpus),
        vocabulary_(vocabulary_ids(vocabulary)),
        progress_(progress) {
    progress_.total_passes = options.duplication_factor * corpus.documents();
  }

  void make_as_google(CountingSink& sink) {
    PythonRandom random(options_.seed);
    std::vector<uint32_t> order(corpus_.documents());
    std::iota(order.begin(), order.end(), 0);
    shuffle(order, random);
    const ReorderedCorpus shuffled(corpus_, std::move(order));
    std::vector<EncodedRecord> records;
    for (int64_t pass = 0; pass < progress_.total_passes; ++pass) {
      append_records(shuffled, pass % corpus_.documents(), random, records);
    }
    shuffle(records, random);
    for (const EncodedRecord& record : records) sink.append(record);
  }

  void make_in_windows(CountingSink& sink) {
    uint64_t window = 0;
    for (int64_t begin = 0; begin < progress_.total_passes && !sink.is_full(); ++window) {
      const int64_t end = window_end(begin);
      std::vector<EncodedRecord> records = window_records(begin, end);
      PhiloxSource random(options_.seed, kWindowStream | window);
      shuffle(records, random);
      for (const EncodedRecord& record : records) sink.append(record);
      begin = end;
    }
  }

 private:
  PairInstances instances_of(const Corpus& corpus) const {
    return {corpus,
            vocabulary_,
            {.short_sequence_probability = options_.short_sequence_probability,
             .masking = masking_of(options_)}};
  }

  void append_records(const Corpus& corpus, int64_t document, RandomSource& random,
                      std::vector<EncodedRecord>& records) const {
    std::vector<Sample> samples;
    instances_of(corpus).append(document, random, samples);
    for (const Sample& sample : samples) records.push_back(encode(sample, options_.layout));
    progress_.instances += static_cast<int64_t>(samples.size());
    progress_.passes += 1;
  }

  // Pass p visits this document; each duplicate has an order of its own.
  int64_t document_of(int64_t pass) const {
    const auto documents = static_cast<uint64_t>(corpus_.documents());
    const auto p = static_cast<uint64_t>(pass);
    return static_cast<int64_t>(
        Permutation(documents, options_.seed, p / documents)(p % documents));
  }

  int64_t window_end(int64_t begin) const {
    int64_t end = begin;
    for (int64_t tokens = 0; end < progress_.total_passes && tokens < kWindowTokens; ++end) {
      tokens += corpus_.tokens_in(document_of(end));
    }
    return end;
  }

  // The records of passes [begin, end), in the order of the passes.
  std::vector<EncodedRecord> window_records(int64_t begin, int64_t end) const {
    std::vector<std::vector<EncodedRecord>> by_pass(static_cast<size_t>(end - begin));
    platform::parallel_for(end - begin, options_.input.threads, [&](int64_t i) {
      const int64_t document = document_of(begin + i);
      const auto duplicate = static_cast<uint64_t>((begin + i) / corpus_.documents());
      PhiloxSource random(options_.seed,
                          duplicate << kDuplicateShift | static_cast<uint64_t>(document));
      append_records(corpus_, document, random, by_pass[static_cast<size_t>(i)]);
    });
    std::vector<EncodedRecord> records;
    for (std::vector<EncodedRecord>& pass : by_pass) {
      std::move(pass.begin(), pass.end(), std::back_inserter(records));
    }
    return records;
  }

  const RecordOptions& options_;
  const Corpus& corpus_;
  VocabularyIds vocabulary_;
  CreationProgress& progress_;
};

// Google's script knows sentences only, and cuts a long one from both ends.
CorpusOptions input_of(const RecordOptions& options) {
  CorpusOptions input = options.input;
  if (!options.google_compatible) {
    input.longest_sentence = masking_of(options).sequence_length - kSpecialTokens;
  }
  return input;
}

int64_t documents_of_one_sentence(const Corpus& corpus) {
  int64_t count = 0;
  for (int64_t document = 0; document < corpus.documents(); ++document) {
    count += corpus.sentences_in(document) == 1 ? 1 : 0;
  }
  return count;
}

}  // namespace

RecordCounts create_records(const RecordOptions& options, const text::Tokenizer& tokenizer,
                            CreationProgress& progress) {
  check(options);
  CountingSink sink(options);
  const CorpusRead read = read_corpus(input_of(options), tokenizer, progress);
  RecordMaker maker(options, read.corpus, tokenizer.vocabulary(), progress);
  options.google_compatible ? maker.make_as_google(sink) : maker.make_in_windows(sink);
  RecordCounts counts = sink.commit();
  counts.documents = read.corpus.documents();
  counts.documents_of_one_sentence = documents_of_one_sentence(read.corpus);
  counts.sentences = read.corpus.sentences();
  counts.text_tokens = read.corpus.tokens();
  counts.invalid_utf8 = read.invalid_utf8;
  return counts;
}

}  // namespace cloze::data
