#include "cli/run/finetune_run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/error.h"
#include "checkpoints/hugging_face_config.h"
#include "checkpoints/stored_head.h"
#include "checkpoints/stored_model.h"
#include "checkpoints/stored_tokenizer.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/subcommand.h"
#include "cli/run/export_options.h"
#include "cli/run/resumed_options.h"
#include "cli/run/start_shape.h"
#include "text/vocabulary.h"
#include "train/saving/checkpoint.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

// Without a start model the defaults would make it a BERT-base, whatever was meant.
void require_sizes(const OptionTable& table) {
  std::vector<std::string> missing;
  for (const char* name :
       {"hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size"}) {
    if (!table.is_given(name)) missing.emplace_back(name);
  }
  if (missing.empty()) return;
  throw_user_error(
      "there is no model to start from; give init_checkpoint, or for random weights {}",
      fmt::join(missing, ", "));
}

fs::path folder_of_seed(const FinetuneOptions& options, const fs::path& folder, int64_t seed) {
  return options.num_seeds == 1 ? folder : run_of_seed(folder, seed);
}

// The model the run starts from; empty: none.
fs::path start_path(FinetuneOptions& options) {
  train::TrainingOptions& training = options.training;
  if (!training.init_checkpoint.empty()) {
    training.init_checkpoint = model_path(training.init_checkpoint);
    return training.init_checkpoint;
  }
  if (training.restore_dir.empty()) return {};
  // Only its shape and vocabulary are needed: a damaged best checkpoint does not matter here.
  const fs::path folder = folder_of_seed(options, training.restore_dir, training.step.seed);
  if (checkpoints::has_configuration(folder)) return folder;
  return train::checkpoint_in(folder, training.restore_from).path;
}

// The head of a classifier; other heads contribute nothing. A head that is not ours does no harm: a
// new one is initialised.
models::BertHead start_head(const fs::path& path) {
  const fs::path configuration = checkpoints::configuration_of(path);
  const auto architecture = checkpoints::architecture_in(formats::read_json_file(configuration));
  if (!architecture) return checkpoints::read_stored_head(path);
  const models::HeadTraits* head = models::head_of_architecture(*architecture);
  if (head == nullptr || !head->has_dropout) return {};
  try {
    return checkpoints::read_hugging_face_head(configuration);
  } catch (const UserError&) {
    return {.kind = head->kind};
  }
}

// The layers that make vectors of texts: those of the folder, else the mean over tokens. Adds what the
// folder says of texts, to the settings and to the tokenizer.
models::BertHead start_encoder(const fs::path& path, checkpoints::SentenceSettings& sentences,
                               text::TokenizerOptions& rules) {
  const fs::path folder = checkpoints::folder_of(path);
  const bool has_layers = !path.empty() && checkpoints::has_modules(folder);
  models::BertHead head{.kind = models::HeadKind::kEmbedding};
  if (!has_layers) {
    say("note: the start model has no modules.json: the vector of a text is the mean over its "
        "tokens\n");
    return head;
  }
  const models::BertConfig config =
      checkpoints::read_hugging_face_config(checkpoints::configuration_of(path));
  head.embedding = checkpoints::read_embedding_layers(folder, config);
  sentences = checkpoints::read_sentence_settings(folder, config);
  checkpoints::take_sentence_rules(sentences, rules);
  return head;
}

// The classifier of another head, such as that of tokens, cannot initialise the task's.
void note_other_classifier(const fs::path& path, models::HeadKind found, models::HeadKind wanted) {
  const models::HeadTraits& head = models::traits_of(wanted);
  if (!head.has_dropout || found == wanted) return;
  if (!checkpoints::StoredModel(path).find(fmt::format("{}weight", head.parameters))) return;
  say("note: the classifier of {} does not fit a {}; training initialises it afresh\n",
      path.string(), head.architecture);
}

// Also sets options.rules. Prints its notes.
checkpoints::StoredTokenizer start_tokenizer(FinetuneOptions& options, const fs::path& folder) {
  if (options.vocab_file.empty() && folder.empty()) {
    throw_user_error("there is no vocabulary; give vocab_file, or a model folder to start from");
  }
  checkpoints::StoredTokenizer stored = checkpoints::read_tokenizer(folder, options.vocab_file);
  checkpoints::take_rules(options.rules, stored);
  options.rules = {stored.options.lower_case, stored.options.strips_accents()};
  const std::string source = stored.vocabulary_file.string();
  for (const std::string& note : stored.notes) say("note: {}\n", note);
  const auto missing = text::missing_rows(stored.vocabulary, options.model().vocab_size, source);
  if (missing) say("note: {}\n", *missing);
  return stored;
}

// Before the start model is read.
void settle(OptionTable& table, FinetuneOptions& options) {
  take_options_of_run(table, options);
  const fs::path start = options.training.init_checkpoint;
  settle_rivals(options, table);
  if (precedence_of(table, "epochs") > precedence_of(table, "min_train_steps")) {
    options.min_train_steps = 0;
  }
  validate(ResolvedRun(options));
  validate_exports_of_seeds(options, options.num_seeds);
  limit_instruction_set(options.instruction_set);
  const uint32_t seed = options.training.step.seed;
  if (options.num_seeds - 1 > std::numeric_limits<uint32_t>::max() - seed) {
    throw_user_error("`seed` {} leaves no room for num_seeds {} after it; lower `seed`", seed,
                     options.num_seeds);
  }
  if (options.num_seeds == 1) {
    validate_start(options);
  } else {
    options.training.init_checkpoint = start;  // when resuming, for the seeds that have not begun
  }
}

void require_layers(const FinetuneOptions& options) {
  const int64_t frozen = options.training.step.optimizer.depth.frozen_layers;
  const int64_t layers = options.training.step.model.num_hidden_layers;
  if (frozen == layers && options.head == models::HeadKind::kEmbedding) {
    throw_user_error(
        "freeze_layers is {}, all layers of the model, which has no others to train; "
        "freeze fewer",
        frozen);
  }
  if (frozen <= layers) return;
  throw_user_error("freeze_layers is {}, but the model has {} layers; freeze at most these", frozen,
                   layers);
}

// Also sets the model, seq_length and init_checkpoint of the options.
StartModel start_model(FinetuneOptions& options, const OptionTable& table) {
  const fs::path path = start_path(options);
  const fs::path folder = path.empty() ? fs::path() : checkpoints::folder_of(path);
  if (path.empty()) {
    require_sizes(table);
    validate_model(options);
  } else {
    options.model() = config_of_start(path, options.model(), table, OtherArithmetic::kRefused);
    fit_seq_length(options, table);
  }
  require_layers(options);
  checkpoints::StoredTokenizer stored = start_tokenizer(options, folder);
  const int64_t rows = options.model().vocab_size;
  models::BertHead found;
  checkpoints::SentenceSettings sentences;
  if (options.head == models::HeadKind::kEmbedding) {
    found = start_encoder(path, sentences, stored.options);
  } else if (!path.empty()) {
    found = start_head(path);
    note_other_classifier(path, found.kind, options.head);
  }
  return {.head = std::move(found),
          .tokenizer = text::Tokenizer(std::move(stored.vocabulary), stored.options, rows),
          .sentences = std::move(sentences)};
}

}  // namespace

FinetuneRun resolve(FinetuneOptions& options, OptionTable& table,
                    const std::function<std::vector<fs::path>()>& inputs) {
  settle(table, options);
  const std::vector<fs::path> files = inputs();
  for (const std::string& note : table.notes()) say("note: {}\n", note);
  check_use(table);
  require_other_inputs(options, files);
  FinetuneRun run(options, start_model(options, table));
  run.values = table.values();
  run.origins = table.origins();
  for (const char* name : {"evaluations_per_epoch", "early_stopping_patience"}) {
    const bool is_asked_for = table.is_asked_for(name) && !table.comes_from_run(name);
    if (is_asked_for) run.asked_of_evaluations.emplace_back(name);
  }
  run.resumes_seeds = table.comes_from_run("num_seeds");
  return run;
}

fs::path FinetuneRun::folder_of(const fs::path& folder, int64_t seed) const {
  return folder_of_seed(options, folder, seed);
}

std::vector<train::TextFile> FinetuneRun::files_of(int64_t seed) const {
  formats::Json of_seed = values;
  of_seed["seed"] = seed;
  return option_files(of_seed, origins);
}

std::vector<int64_t> evaluation_steps(const FinetuneRun& run, int64_t num_samples,
                                      int64_t num_steps) {
  double steps_per_epoch =
      static_cast<double>(num_samples) / static_cast<double>(run.batch.sequences_per_step);
  // More epochs than `epochs`, to have min_train_steps, are evaluated as often as those would be.
  if (run.length.least == num_steps && run.options.epochs) {
    steps_per_epoch =
        std::max(steps_per_epoch, static_cast<double>(num_steps) / *run.options.epochs);
  }
  const auto rounded = std::llround(steps_per_epoch / run.options.evaluations_per_epoch);
  const auto period = std::max<int64_t>(rounded, 1);
  std::vector<int64_t> steps;
  for (int64_t step = period; step < num_steps; step += period) steps.push_back(step);
  return steps;
}

}  // namespace cloze::cli
