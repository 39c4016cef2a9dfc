#include "data/creation/record_output.h"

#include "formats/tfrecord.h"

namespace cloze::data {

constexpr auto json_members(const CorpusReader::Position*) {
  using formats::JsonName;
  using T = CorpusReader::Position;
  return std::tuple{JsonName{"block", &T::block}, JsonName{"invalid_utf8", &T::invalid_utf8}};
}
constexpr auto json_members(const RecordCounts*) {
  using formats::JsonName;
  using T = RecordCounts;
  return std::tuple{JsonName{"documents", &T::documents},
                    JsonName{"documents_of_one_sentence", &T::documents_of_one_sentence},
                    JsonName{"sentences", &T::sentences},
                    JsonName{"text_tokens", &T::text_tokens},
                    JsonName{"invalid_utf8", &T::invalid_utf8},
                    JsonName{"instances", &T::instances},
                    JsonName{"tokens", &T::tokens},
                    JsonName{"predictions", &T::predictions}};
}
constexpr auto json_members(const RecordState*) {
  using formats::JsonName;
  using T = RecordState;
  return std::tuple{JsonName{"position", &T::position}, JsonName{"text_is_read", &T::text_is_read},
                    JsonName{"passes", &T::passes},     JsonName{"windows", &T::windows},
                    JsonName{"made", &T::made},         JsonName{"random", &T::random},
                    JsonName{"counts", &T::counts}};
}

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
