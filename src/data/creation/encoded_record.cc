#include "data/creation/encoded_record.h"

namespace cloze::data {

RecordMaker::RecordMaker(const RecordOptions& options, const Corpus& corpus,
                         const text::Vocabulary& vocabulary, CreationProgress& progress)
    : options_(options),
      instances_(corpus, vocabulary_ids(vocabulary),
                 {.short_sequence_probability = options.short_sequence_probability,
                  .masking = masking_of(options)}),
      progress_(progress) {}

void RecordMaker::append(int64_t document, RandomSource& random,
                         std::vector<EncodedRecord>& records) const {
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

}  // namespace cloze::data
