#include "cli/training/pretrain_data.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>

#include "base/error.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/data/data_options.h"
#include "cli/say.h"
#include "cli/training/resumed_text.h"
#include "cli/training/training_run.h"
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

// Whether samples are drawn from text, rather than read as they were written.
bool draws_samples(const PretrainOptions& options) {
  return !options.input_file.empty() || data::is_token_store(options.train_file);
}

// Whether they are drawn from a store that was made before.
bool is_store(const PretrainOptions& options) {
  return options.input_file.empty() && draws_samples(options);
}

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

std::shared_ptr<const data::Dataset> open_generated(const PretrainOptions& options) {
  data::GeneratedOptions generated{.sequence_length = options.seq_length,
                                   .max_predictions = options.max_predictions(),
                                   .vocabulary_size = options.model().vocab_size,
                                   .seed = options.training.step.seed};
  if (options.training.synthetic_data)
    generated.size = full_sequences(options, batch_plan(options));
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
PretrainData open_without_text(const PretrainOptions& options, const StartTokenizer& start) {
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
    opened.dataset = open_generated(options);
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

PretrainData open_pretrain_data(const PretrainOptions& options, const StartTokenizer& start) {
  if (draws_samples(options)) return open_store(options, start);
  return open_without_text(options, start);
}

// The samples of on_the_spot_validation_files, read as those of train_file.
std::shared_ptr<const data::Dataset> open_validation_data(const PretrainOptions& options,
                                                          const StartTokenizer& start) {
  PretrainOptions held_out = options;
  held_out.train_file = options.validation.files;
  held_out.input_file.clear();
  held_out.generated_data = held_out.training.synthetic_data = false;
  return open_pretrain_data(held_out, start).dataset;
}

// Where other data override input_file, the options that came with input_file do not count.
bool is_overridden(const OptionTable& table, const std::string& name) {
  const int precedence = precedence_of(table, name.c_str());
  return std::ranges::any_of(
      std::array{"train_file", "generated_data", "synthetic_data"},
      [&](const char* data) { return precedence < precedence_of(table, data); });
}

// A rule that the options state must be the one that the text was cut by, or will be. Calls
// refuse(option, asked, there) for each that is not.
template <typename Refuse>
void check_rules(const PretrainOptions& options, const OptionTable& table,
                 const text::TokenizerOptions& there, const Refuse& refuse) {
  const text::StatedRules& asked = options.tokenizer.rules;
  const auto check = [&](const char* option, std::optional<bool> here, bool is_there) {
    if (!here || *here == is_there || is_overridden(table, option)) return;
    refuse(option, *here, is_there);
  };
  check("do_lower_case", asked.lower_case, there.lower_case);
  check("strip_accents", asked.strip_accents, there.strips_accents());
}

// The text of a token store has been tokenised.
void check_rules_of_store(const PretrainOptions& options, const OptionTable& table) {
  const auto refuse = [&](const char* option, bool asked, bool there) {
    throw_user_error(
        "{} is {}, but the token store {} was made with {}; leave it out, or make the store again "
        "with cloze data tokens",
        option, asked, options.train_file, there);
  };
  check_rules(options, table, data::read_token_store_manifest(options.train_file).rules.tokenizer,
              refuse);
}

// Where no vocab_file is given, the start model's folder determines the tokens and the rules.
void check_rules_of_start(const PretrainOptions& options, const OptionTable& table,
                          const StartTokenizer& start) {
  const bool has_own = !options.tokenizer.vocabulary_file.empty() || is_store(options);
  if (has_own || !start) return;
  check_rules(options, table, start->options, [&](const char* option, bool asked, bool there) {
    throw_user_error("{} is {}, but {} requires {}; leave it out, or give vocab_file", option,
                     asked, start->vocabulary_file.string(), there);
  });
}

// For samples that are made here; those of records may all be single sentences.
void check_token_types(const PretrainOptions& options) {
  const bool draws = draws_samples(options);
  const bool has_pairs = draws ? options.drawing.pairs.next_sentence != data::NextSentence::kNone
                               : !options.made_data().empty();
  if (!has_pairs || options.model().type_vocab_size > 1) return;
  throw_user_error(
      "type_vocab_size is {}, but the sentences of a pair have token types 0 and 1; raise it{}",
      options.model().type_vocab_size, draws ? ", or set next_sentence to none" : "");
}

// Random ids have no [UNK].
void check_unknown_limit(const PretrainOptions& options, const OptionTable& table) {
  constexpr const char* kOption = "max_unknown_tokens";
  const bool has_data = options.made_data().empty() || !options.validation.files.empty();
  if (has_data || !table.is_asked_for(kOption) || is_overridden(table, kOption)) return;
  throw_user_error("{} needs text, or data made of text; {} has none", kOption,
                   options.made_data());
}

void check_loading(const OptionTable& table) {
  if (const auto name = table.first_asked_for({"loader_threads", "loader_memory"})) {
    throw_user_error("{} is set, but synthetic_data loads nothing; leave one of them out", *name);
  }
}

// Notes on triggers that training ends before reaching, and on a schedule that ends before training
// does. `scheduled` and `trained` are the steps of both, as far as they are known.
std::vector<std::string> length_notes(const PretrainOptions& options,
                                      std::optional<int64_t> scheduled,
                                      std::optional<int64_t> trained) {
  std::vector<std::string> notes, unreached;
  const int64_t end = trained.value_or(0) * batch_plan(options).sequences_per_step;
  for (const double trigger : options.validation.triggers) {
    if (trigger > static_cast<double>(end)) unreached.push_back(fmt::format("{}", trigger));
  }
  if (trained && !unreached.empty()) {
    notes.push_back(
        fmt::format("on_the_spot_validation_triggers has {}, but training ends after {} sequences",
                    fmt::join(unreached, ", "), end));
  }
  if (scheduled && options.last_step > scheduled) {
    notes.push_back(fmt::format(
        "max_training_sequences {} takes {} steps, but the learning rate is scheduled for {}; "
        "raise {}",
        *options.max_training_sequences, *options.last_step, *scheduled,
        options.epochs ? "`epochs`" : "num_train_steps"));
  }
  return notes;
}

// Standard input is one process's own, and mpirun gives it to the first one alone.
void check_standard_input(const PretrainOptions& options) {
  const comm::Communicator& ranks = *options.training.step.ranks;
  if (options.input_file != "-" || ranks.size() == 1 || !reason_not_to_read(options).empty())
    return;
  throw_user_error(
      "input_file is standard input, which several processes cannot read; make a token store of it "
      "with cloze data tokens --input-file - first, and give that as train_file");
}

}  // namespace

train::TrainingOptions pretraining_options(const PretrainOptions& options,
                                           const OptionTable& table) {
  const StartTokenizer start = start_tokenizer(options);
  check_rules_of_start(options, table, start);
  PretrainData data = open_pretrain_data(options, start);
  if (start) note_other_tokens(*start, data.tokens, options);
  const bool has_copies = !draws_samples(options) && !options.training.synthetic_data;
  const int64_t copies = has_copies ? options.training.duplicate_factor : 1;
  const int64_t num_steps = training_steps(options, data.dataset->size(), copies);
  train::TrainingOptions training = training_options(options, num_steps);
  training.step.capacity.predictions = prediction_room(options, batch_plan(options));
  training.dataset = data.dataset;
  training.duplicate_factor = copies;
  training.tokens = std::move(data.tokens);
  training.tokenizer = data.tokenizer;
  const int64_t sequences = training.global_batch_size;
  if (options.last_step) training.num_steps = *options.last_step;
  // What check_data_options() could not know.
  const auto now_known = [&](const std::optional<int64_t>& before) {
    return before ? std::nullopt : std::optional(num_steps);
  };
  for (const std::string& note : length_notes(options, now_known(schedule_steps(options)),
                                              now_known(planned_steps(options)))) {
    say("note: {}\n", note);
  }
  if (options.validation.files.empty()) return training;
  training.evaluation_set = open_validation_data(options, start);
  training.evaluation_steps = validation_steps(options.validation, sequences, training.num_steps);
  training.target = options.validation.target;
  return training;
}

std::vector<std::string> check_data_options(const PretrainOptions& options,
                                            const OptionTable& table) {
  check_standard_input(options);
  std::vector<std::string> notes =
      length_notes(options, schedule_steps(options), planned_steps(options));
  if (options.input_file.empty()) {
    for (const std::string& name :
         table.asked_for({"token_store", "input_format", "json_key", "skip_bad_lines",
                          "max_invalid_utf8", "profile"})) {
      if (is_overridden(table, name)) continue;
      throw_user_error("{} needs input_file, which is not given", name);
    }
  }
  check_unknown_limit(options, table);
  check_token_types(options);
  if (is_store(options)) check_rules_of_store(options, table);
  const std::string& held_out = options.validation.files;
  const bool trains_on_records = !draws_samples(options) && options.made_data().empty();
  const bool evaluates_records = !held_out.empty() && !data::is_token_store(held_out);
  for (const std::string& name : table.asked_for({"static_mask", "duplicate_factor", "skip_bad"})) {
    const bool is_of_copies = name == "duplicate_factor";
    if (trains_on_records || (is_of_copies ? options.generated_data : evaluates_records)) continue;
    notes.push_back(fmt::format(
        "{} is an option for records, and has no effect with {}", name,
        options.made_data().empty() ? "samples that are drawn from text" : options.made_data()));
  }
  if (draws_samples(options)) return notes;
  if (options.training.synthetic_data) check_loading(table);
  if (data::is_token_store(held_out) || options.compile_only) return notes;
  if (const auto name = table.first_asked_for(
          {"mlm_prob", "short_seq_prob", "do_whole_word_mask", "next_sentence"})) {
    throw_user_error(
        "{} is set, but the samples of {} are already made; drop it, or give input_file or a token "
        "store",
        *name, options.made_data().empty() ? options.train_file : options.made_data());
  }
  return notes;
}

}  // namespace cloze::cli
