#include "data/creation/record_options.h"

#include "base/error.h"
#include "data/sequence.h"
#include "data/token_store/token_store.h"
#include "formats/json.h"

namespace cloze::data {
namespace {

// Goes up with every change of the records that are made of the same text and options.
constexpr int kRecordsVersion = 2;

void check_share(const char* option, double value) {
  if (!(value >= 0 && value <= 1)) throw_user_error("{} {} must be in [0, 1]", option, value);
}

void check_remasking(const RecordOptions& options) {
  const RecordLayout& layout = options.layout;
  if (layout.pad_position_value < layout.sequence_length) {
    throw_user_error(
        "--pad-position-value {0} is a position of a sequence of {1}; choose at least {1}",
        layout.pad_position_value, layout.sequence_length);
  }
  if (options.google_compatible) {
    throw_user_error(
        "--remask needs room for the slots, which Google's masking does not leave; "
        "drop --remask or --google-compatible");
  }
  if (options.whole_word_masking) {
    throw_user_error(
        "--remask needs room for the slots, which whole words may not leave; drop --remask or "
        "--do-whole-word-mask");
  }
}

}  // namespace

// Re-masked, the slots take room that the text then does not have.
MaskingOptions masking_of(const RecordOptions& options) {
  MaskingOptions masking{.sequence_length = options.layout.sequence_length,
                         .max_predictions = options.layout.max_predictions,
                         .probability = options.masking_probability,
                         .whole_words = options.whole_word_masking};
  if (options.layout.remask) masking.sequence_length = longest_with_slots(masking);
  return masking;
}

// Google's script knows sentences only, and cuts a long one from both ends.
CorpusOptions corpus_options_of(const RecordOptions& options) {
  CorpusOptions input = options.input;
  if (!options.google_compatible) {
    input.longest_sentence = masking_of(options).sequence_length - kPairBorders;
  }
  return input;
}

void check_record_options(const RecordOptions& options) {
  const RecordLayout& layout = options.layout;
  const int64_t S = layout.sequence_length;
  const int64_t M = layout.max_predictions;
  if (S < kShortestPair || S > (1 << 20)) {
    throw_user_error("--sequence-length {} must be in [{}, 2^20]", S, kShortestPair);
  }
  if (M < 1 || M > S - kPairBorders) {
    throw_user_error("--mask-tokens {} must be in [1, {}], for sequences of {}", M,
                     S - kPairBorders, S);
  }
  if (options.duplication_factor < 1 || options.duplication_factor > (1 << 20)) {
    throw_user_error("--duplication-factor {} must be in [1, 2^20]", options.duplication_factor);
  }
  if (options.max_samples == 0 || options.max_samples < -1) {
    throw_user_error("--max-samples {} makes no record; give 1 or more, or -1 for all",
                     options.max_samples);
  }
  check_share("--mlm-prob", options.masking_probability);
  check_share("--short-seq-prob", options.short_sequence_probability);
  if (layout.remask) check_remasking(options);
  if (const int64_t left = masking_of(options).sequence_length; left < kShortestPair) {
    throw_user_error(
        "--mask-tokens {} leaves room for {} tokens in re-masked sequences of {}; they need {}: "
        "lower --mask-tokens",
        M, left, S, kShortestPair);
  }
}

formats::Json record_identity(const RecordOptions& options, const text::Tokenizer& tokenizer) {
  const text::TokenizerOptions& rules = tokenizer.options();
  formats::Json identity{{"records version", kRecordsVersion},
                         {"--input-format", text_format_name(options.input.form.format)},
                         {"--vocab-file", vocabulary_hash(tokenizer.vocabulary())},
                         {"--profile", text::profile_name(rules.profile)},
                         {"--do-lower-case", rules.lower_case},
                         {"--strip-accents", rules.strips_accents()},
                         {"tokenize_chinese_chars", rules.tokenize_chinese_chars},
                         {"--sequence-length", options.layout.sequence_length},
                         {"--mask-tokens", options.layout.max_predictions},
                         {"--remask", options.layout.remask},
                         {"--pad-position-value", options.layout.pad_position_value},
                         {"--seed", options.seed},
                         {"--duplication-factor", options.duplication_factor},
                         {"--mlm-prob", options.masking_probability},
                         {"--short-seq-prob", options.short_sequence_probability},
                         {"--max-samples", options.max_samples},
                         {"--do-whole-word-mask", options.whole_word_masking},
                         {"--google-compatible", options.google_compatible},
                         {"window_tokens", options.window_tokens}};
  // Absent where they are as usual, as in the journals of earlier versions.
  const TextForm& form = options.input.form;
  if (form.json_key != TextForm().json_key) identity["--json-key"] = form.json_key;
  if (form.skip_bad_lines) identity["--skip-bad-lines"] = true;
  return identity;
}

}  // namespace cloze::data
