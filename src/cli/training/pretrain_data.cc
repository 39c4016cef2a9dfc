#include "cli/training/pretrain_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/console/say.h"
#include "cli/data/data_options.h"
#include "cli/run/resumed_text.h"
#include "data/generated_dataset.h"
#include "data/id_count.h"
#include "data/records/record_dataset.h"
#include "data/row_limited_dataset.h"
#include "data/token_store/token_store_dataset.h"
#include "platform/available_threads.h"
#include "platform/files/input_paths.h"
#include "text/vocabulary.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct PretrainData {
  std::shared_ptr<const data::Dataset> dataset;
  std::vector<std::string> tokens;  // the vocabulary; empty when nothing names it
  text::TokenizerOptions tokenizer;
};

// The folder of the weights that the run starts or goes on from; empty: none.
fs::path start_folder(const PretrainOptions& options) {
  const train::TrainingOptions& training = options.training;
  if (training.restore_from) return training.restore_from->path;
  if (training.init_checkpoint.empty()) return {};
  return checkpoints::folder_of(training.init_checkpoint);
}

using StartTokenizer = std::optional<checkpoints::StoredTokenizer>;

// The tokenizer of start_folder(). Weights may come from a model whose text is tokenised by other
// rules.
StartTokenizer start_tokenizer(const PretrainOptions& options) {
  const fs::path folder = start_folder(options);
  if (folder.empty() || !checkpoints::vocabulary_file_in(folder)) return std::nullopt;
  try {
    return checkpoints::read_tokenizer(folder);
  } catch (const UserError& error) {
    say("note: the vocabulary of {} is not used: {}\n", folder.string(), error.what());
    return std::nullopt;
  }
}

// Each row of the embeddings belongs to the token that it was trained for.
void note_other_tokens(const checkpoints::StoredTokenizer& start,
                       const std::vector<std::string>& tokens, const PretrainOptions& options) {
  const std::vector<std::string>& rows = start.vocabulary.tokens();
  const auto [here, there] = std::ranges::mismatch(tokens, rows);
  if (tokens.empty() || (here == tokens.end() && there == rows.end())) return;
  const std::string& file = options.tokenizer.vocabulary_file;
  const auto shown = [](const auto& token, const auto& all) {
    return token == all.end() ? std::string("absent") : fmt::format("'{}'", *token);
  };
  say("note: token {} is {} in {}, but {} in {}, where this run starts\n", here - tokens.begin(),
      shown(here, tokens), file.empty() ? store_folder(options).string() : file, shown(there, rows),
      start.vocabulary_file.string());
}

text::Tokenizer tokenizer_of_start(const PretrainOptions& options, const StartTokenizer& start) {
  if (!start) {
    throw_user_error("input_file {} has to be tokenised; give vocab_file", options.input_file);
  }
  const std::string& profile = options.tokenizer.profile;
  text::TokenizerOptions rules = start->options;
  rules.profile = text::profile_from_name(profile.empty() ? "hf" : profile);
  return {start->vocabulary, rules};
}

// A run goes on with the form of text that it began with, as far as all of its files have one.
data::TextFormat format_of_run(const PretrainOptions& options) {
  const data::TextFormat asked = options.store.form.format;
  const bool goes_on = options.training.restore_from && data::is_token_store(store_folder(options));
  if (!goes_on || asked != data::TextFormat::kAuto) return asked;
  const auto formats = data::read_token_store_manifest(store_folder(options)).rules.formats;
  return formats.size() == 1 ? formats.front() : asked;
}

void build_store(const PretrainOptions& options, const StartTokenizer& start) {
  require_text(options);
  const auto tokenizer = options.tokenizer.vocabulary_file.empty()
                             ? tokenizer_of_start(options, start)
                             : make_tokenizer(options.tokenizer, "hf");
  data::TokenStoreOptions store = options.store;
  store.form.format = format_of_run(options);
  store.files = platform::expand_paths(options.input_file);
  store.folder = store_folder(options);
  store.threads = platform::available_threads();
  build_with_display(store, tokenizer, options.tokenizer.max_unknown_percent);
}

// The id in all published vocabularies of BERT.
constexpr int32_t kPublishedUnknownId = 100;

// The data with [UNK] for ids without a row. `named` says where the ids come from; `missing`, the
// sentence on their vocabulary, is empty where none is known.
std::shared_ptr<const data::Dataset> limited_to_rows(std::shared_ptr<const data::Dataset> dataset,
                                                     const data::RowLimit& limit,
                                                     const std::string& missing) {
  const data::IdCount count = data::count_ids(*dataset, data::kCountedSamples,
                                              [&](int32_t id) { return id >= limit.rows; });
  auto limited = std::make_shared<data::RowLimitedDataset>(std::move(dataset), limit);
  if (!missing.empty() || count.found > 0) {
    say("note: {}; {} of {} tokens in {} of {} samples\n",
        missing.empty() ? fmt::format("ids from vocab_size {} on are read as [UNK], id {}",
                                      limit.rows, limit.unknown_id)
                        : missing,
        count.found, count.tokens, count.samples, limited->size());
  }
  return limited;
}

std::optional<std::string> missing_rows(const text::Vocabulary& vocabulary,
                                        const std::string& source, const PretrainOptions& options) {
  return text::missing_rows(vocabulary, options.model().vocab_size, source);
}

void check_same_vocabulary(const data::TokenStore& store, const PretrainOptions& options) {
  if (options.tokenizer.vocabulary_file.empty()) return;
  if (checkpoints::load_vocabulary(options.tokenizer.vocabulary_file).to_text() ==
      store.vocabulary().to_text())
    return;
  throw_user_error(
      "vocab_file {} is not the vocabulary of the token store {}; leave it out, or make the store "
      "again with cloze data tokens",
      options.tokenizer.vocabulary_file, store.folder().string());
}

// A run goes on with the sentences that it began with.
bool is_split_otherwise(const PretrainOptions& options) {
  return !options.input_file.empty() && options.training.restore_from &&
         data::is_token_store(store_folder(options)) &&
         !data::is_split_as_now(data::read_token_store_manifest(store_folder(options)).rules);
}

// Reports on data that were cut before this run.
void report_ready(const data::Dataset& dataset, int32_t unknown_id, const PretrainOptions& options,
                  std::string_view command) {
  report_ids(
      dataset, unknown_id,
      {.max_unknown_percent = options.tokenizer.max_unknown_percent,
       .source = options.input_file.empty() ? options.train_file : store_folder(options).string(),
       .cure = fmt::format("make them again with the vocabulary that was made for their text: {}",
                           command)});
}

// Makes the store of input_file, where that is to be read. Returns whether its text was cut, and
// thus reported on.
bool make_store(const PretrainOptions& options, const StartTokenizer& start) {
  if (const std::string reason = reason_not_to_read(options); !reason.empty()) {
    say("note: {}: {} has its tokens\n", reason, store_folder(options).string());
  } else if (is_split_otherwise(options)) {
    say("note: input_file is not read again: an earlier version made the tokens in {}, and split "
        "sentences otherwise\n",
        store_folder(options).string());
  } else if (!options.input_file.empty()) {
    build_store(options, start);
    return true;
  }
  return false;
}

PretrainData open_store(const PretrainOptions& options, const StartTokenizer& start) {
  const bool is_reported = make_store(options, start);
  auto store = std::make_shared<const data::TokenStore>(store_folder(options));
  check_same_vocabulary(*store, options);
  const auto missing = missing_rows(store->vocabulary(), store->folder().string(), options);
  const data::RowLimit limit{.rows = options.model().vocab_size,
                             .unknown_id = store->vocabulary().unknown_id()};
  const data::TokenStoreManifest manifest = store->manifest();
  PretrainData opened{.tokens = store->vocabulary().tokens(),
                      .tokenizer = manifest.rules.tokenizer};
  data::DrawingOptions drawing = options.drawing;
  drawing.pairs.masking.sequence_length = options.seq_length;
  drawing.seed = options.training.step.seed;
  const auto drawn = std::make_shared<data::TokenStoreDataset>(std::move(store), drawing);
  say("{} documents, {:.1f} million tokens, {} samples an epoch\n", manifest.documents,
      static_cast<double>(manifest.tokens) / 1e6, drawn->size());
  print_pair_notice(drawn->pairs_inside_a_sentence(),
                    "the pairs are cut inside a sentence, because no other sentence begins nearby",
                    ", otherwise --next-sentence none");
  if (!is_reported) report_ready(*drawn, limit.unknown_id, options, "cloze data tokens");
  opened.dataset = drawn;
  if (missing) opened.dataset = limited_to_rows(opened.dataset, limit, *missing);
  return opened;
}

std::shared_ptr<const data::Dataset> open_generated(const PretrainRun& run) {
  const PretrainOptions& options = run.options;
  data::GeneratedOptions generated{.sequence_length = options.seq_length,
                                   .max_predictions = options.max_predictions(),
                                   .vocabulary_size = options.model().vocab_size,
                                   .seed = options.training.step.seed};
  if (options.training.synthetic_data) generated.size = run.batch.full_sequences;
  return std::make_shared<data::GeneratedDataset>(generated);
}

std::shared_ptr<const data::Dataset> open_records(const PretrainOptions& options) {
  data::RecordDatasetOptions reading = options.records;
  reading.shape = {.sequence_length = options.seq_length,
                   .max_predictions = options.max_predictions(),
                   .vocabulary_size = text::max_ids(options.model().vocab_size)};
  if (options.static_mask) reading.shape.static_mask = true;
  reading.threads = platform::available_threads();
  auto records =
      std::make_shared<data::RecordDataset>(platform::expand_paths(options.train_file), reading);
  print_defects(records->skipped());
  if (reading.skip_bad) {
    say("{} samples; {} bad records left out\n", records->size(), records->skipped().size());
  }
  return records;
}

// Its text has already been tokenised, by whatever rules.
checkpoints::StoredTokenizer named_tokenizer(const PretrainOptions& options) {
  auto tokenizer = checkpoints::read_tokenizer("", options.tokenizer.vocabulary_file);
  checkpoints::take_rules(options.tokenizer.rules, tokenizer);
  for (const std::string& note : tokenizer.notes) say("note: {}\n", note);
  return tokenizer;
}

// Records and generated samples, which have no vocabulary of their own.
PretrainData open_without_text(const PretrainRun& run, const StartTokenizer& start) {
  const PretrainOptions& options = run.options;
  const bool is_named = !options.tokenizer.vocabulary_file.empty();
  const StartTokenizer tokenizer = is_named ? named_tokenizer(options) : start;
  PretrainData opened{.tokenizer = options.tokenizer.rules.over({})};
  std::optional<std::string> missing;
  if (tokenizer) {
    const std::string source = tokenizer->vocabulary_file.string();
    missing =
        missing_rows(tokenizer->vocabulary, is_named ? "vocab_file " + source : source, options);
    opened.tokens = tokenizer->vocabulary.tokens();
    opened.tokenizer = tokenizer->options;
  }
  if (!options.made_data().empty()) {
    opened.dataset = open_generated(run);
    return opened;
  }
  const int32_t unknown_id = tokenizer ? tokenizer->vocabulary.unknown_id() : kPublishedUnknownId;
  opened.dataset = open_records(options);
  report_ready(*opened.dataset, tokenizer ? unknown_id : data::likely_unknown_id(*opened.dataset),
               options, "cloze data records");
  if (unknown_id < options.model().vocab_size) {
    opened.dataset = limited_to_rows(opened.dataset,
                                     {.rows = options.model().vocab_size, .unknown_id = unknown_id},
                                     missing.value_or(""));
  }
  return opened;
}

PretrainData open_pretrain_data(const PretrainRun& run, const StartTokenizer& start) {
  if (run.options.draws_samples()) return open_store(run.options, start);
  return open_without_text(run, start);
}

// The samples of on_the_spot_validation_files, read as those of train_file.
std::shared_ptr<const data::Dataset> open_validation_data(const PretrainRun& run,
                                                          const StartTokenizer& start) {
  PretrainOptions held_out = run.options;
  held_out.train_file = run.options.validation.files;
  held_out.input_file.clear();
  held_out.generated_data = held_out.training.synthetic_data = false;
  return open_pretrain_data(PretrainRun(held_out), start).dataset;
}

// Where no vocab_file is given, the start model's folder determines the tokens and the rules.
void check_rules_of_start(const PretrainRun& run, const StartTokenizer& start) {
  const bool has_own = !run.options.tokenizer.vocabulary_file.empty() || run.options.has_store();
  if (has_own || !start) return;
  const auto other = other_rule(run.stated_rules, start->options);
  if (!other) return;
  throw_user_error("{} is {}, but {} requires {}; leave it out, or give vocab_file", other->option,
                   other->stated, start->vocabulary_file.string(), other->there);
}

// The evaluation, where there is a set for it.
void add_evaluation(train::TrainingOptions& training, const PretrainRun& run,
                    const StartTokenizer& start) {
  const ValidationOptions& validation = run.options.validation;
  if (validation.files.empty()) return;
  training.evaluation_set = open_validation_data(run, start);
  training.evaluation_steps =
      validation_steps(validation, run.batch.sequences_per_step, training.num_steps);
  training.target = validation.target;
}

}  // namespace

train::TrainingOptions with_data(const PretrainRun& run) {
  const PretrainOptions& options = run.options;
  const StartTokenizer start = start_tokenizer(options);
  check_rules_of_start(run, start);
  PretrainData data = open_pretrain_data(run, start);
  if (start) note_other_tokens(*start, data.tokens, options);
  const bool has_copies = !options.draws_samples() && !options.training.synthetic_data;
  const int64_t copies = has_copies ? options.training.duplicate_factor : 1;
  const int64_t steps = scheduled_steps(run, data.dataset->size(), copies);
  train::TrainingOptions training = training_of(run, steps);
  training.dataset = data.dataset;
  training.duplicate_factor = copies;
  training.tokens = std::move(data.tokens);
  training.tokenizer = data.tokenizer;
  // Only what the options did not say.
  const auto now_known = [&](const std::optional<int64_t>& before) {
    return before ? std::nullopt : std::optional(steps);
  };
  print_length_notes(run, now_known(run.length.scheduled), now_known(run.length.planned()));
  add_evaluation(training, run, start);
  return training;
}

}  // namespace cloze::cli
