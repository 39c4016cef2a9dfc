#include "data/creation/record_output.h"

#include "formats/tfrecord.h"

namespace cloze::data {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(CorpusReader::Position, block, invalid_utf8)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecordCounts, documents, documents_of_one_sentence, sentences,
                                   text_tokens, invalid_utf8, instances, tokens, predictions)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecordState, position, text_is_read, passes, windows, made,
                                   random, counts)

RecordOutput::RecordOutput(const RecordOptions& options, const text::Tokenizer& tokenizer,
                           CreationProgress& progress)
    : options_(options),
      progress_(progress),
      output_({.output_files = options.output_files,
               .scratch_names = {"ids", "sentences", "documents", "records", "places"},
               .identity = record_identity(options, tokenizer)}) {
  if (was_interrupted()) state_ = output_.state().get<RecordState>();
}

bool RecordOutput::is_full() const {
  return options_.max_samples >= 0 && state_.counts.instances >= options_.max_samples;
}

void RecordOutput::append(const EncodedRecord& record) {
  if (is_full()) return;
  RecordCounts& counts = state_.counts;
  const auto file = static_cast<size_t>(counts.instances) % options_.output_files.size();
  output_.output(file).append(
      formats::tfrecord_bytes(std::as_bytes(std::span<const char>(record.bytes))));
  counts.instances += 1;
  counts.tokens += record.tokens;
  counts.predictions += record.predictions;
  progress_.written += 1;
}

void RecordOutput::save() { output_.save(state_); }
void RecordOutput::commit() { output_.commit(state_); }

}  // namespace cloze::data
