#include "cli/run/pretrain_run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoints/stored_model.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/subcommand.h"
#include "cli/run/export_options.h"
#include "cli/run/pipeline_options.h"
#include "cli/run/resumed_options.h"
#include "cli/run/resumed_text.h"
#include "cli/run/start_shape.h"
#include "platform/files/input_paths.h"

namespace cloze::cli {
namespace {

// Room for predictions in a micro-batch. No sequence has more than max_predictions_per_seq, but
// short ones have more per token: a quarter more room is left for them.
int64_t prediction_room(const PretrainOptions& options, const BatchPlan& batch) {
  return options.max_predictions() * std::min(4 * batch.sequences, 5 * batch.full_sequences) / 4;
}

// A plan needs no weights: a configuration of another system may name a folder that is not here.
bool is_planned_without_start(const PretrainOptions& options, const OptionTable& table) {
  return options.compile_only && table.origin("init_checkpoint") != kCommandLineOrigin &&
         !std::filesystem::exists(options.training.init_checkpoint);
}

// The start model, and from the configuration beside it the model's shape. Weights without one have
// the shape that the options give.
void take_start(PretrainOptions& options, const OptionTable& table) {
  std::filesystem::path& start = options.training.init_checkpoint;
  if (start.empty() || is_planned_without_start(options, table)) return;
  start = model_path(start);
  if (!checkpoints::has_configuration(checkpoints::folder_of(start))) return;
  options.model() = config_of_start(start, options.model(), table, OtherArithmetic::kNoted);
  fit_seq_length(options, table);
}

// Files and folders that the run reads: not its text, where that is gone.
std::vector<std::filesystem::path> inputs_of(const PretrainOptions& options) {
  std::vector<std::filesystem::path> inputs = {options.tokenizer.vocabulary_file};
  const std::string text = is_text_gone(options) ? "" : options.input_file;
  for (const std::string& list : {options.train_file, text, options.validation.files}) {
    if (list.empty()) continue;
    std::ranges::move(platform::expand_paths_with_folders(list), std::back_inserter(inputs));
  }
  return inputs;
}

void validate_sources(const PretrainOptions& o) {
  const std::string made = o.made_data();
  if (!made.empty() && !o.train_file.empty()) {
    throw_user_error("train_file {} and {} both give the data; give one", o.train_file, made);
  }
  if (!o.input_file.empty() && (!made.empty() || !o.train_file.empty())) {
    throw_user_error("input_file {} and {} both give the data; give one", o.input_file,
                     made.empty() ? "train_file " + o.train_file : made);
  }
  if (made.empty() && o.train_file.empty() && o.input_file.empty() && !o.compile_only) {
    throw_user_error("there is no data; give input_file, train_file or generated_data");
  }
  if (o.epochs && !made.empty()) {
    throw_user_error("`epochs` is {}, but {} has no end; give num_train_steps", *o.epochs, made);
  }
}

void validate_samples(const PretrainRun& run) {
  const BatchPlan& batch = run.batch;
  if (run.training.synthetic_data && batch.sequences_per_step % batch.full_sequences != 0) {
    throw_user_error(
        "synthetic_data computes one micro-batch, here of {} sequences, which do not divide a step "
        "of {}; change tokens_per_micro_batch",
        batch.full_sequences, batch.sequences_per_step);
  }
  if (run.options.max_predictions() > run.options.seq_length) {
    throw_user_error("max_predictions_per_seq {} is over seq_length {}; lower it",
                     run.options.max_predictions(), run.options.seq_length);
  }
}

void validate_evaluation(const ValidationOptions& v) {
  if (!v.triggers.empty() && (v.interval || v.start)) {
    throw_user_error("on_the_spot_validation_triggers and {} both say when to evaluate; give one",
                     v.interval ? "eval_iter_samples" : "eval_iter_start_samples");
  }
}

void validate_watch(const comm::WatchBounds& bounds) {
  if (bounds.silence == 0 || bounds.silence >= comm::kShortestSilence) return;
  throw_user_error(
      "heartbeat_timeout is {}, but a process reports five times a second, and may be late; "
      "give {} or more, or 0",
      bounds.silence, comm::kShortestSilence);
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

// For samples that are made here; those of records may all be single sentences.
void check_token_types(const PretrainOptions& options) {
  const bool draws = options.draws_samples();
  const bool has_pairs = draws ? options.drawing.pairs.next_sentence != data::NextSentence::kNone
                               : !options.made_data().empty();
  if (!has_pairs || options.model().type_vocab_size > 1) return;
  throw_user_error(
      "type_vocab_size is {}, but the sentences of a pair have token types 0 and 1; raise it{}",
      options.model().type_vocab_size, draws ? ", or set next_sentence to none" : "");
}

// The text of a token store has been tokenised.
void check_rules_of_store(const PretrainRun& run) {
  if (!run.options.has_store()) return;
  const std::string& store = run.options.train_file;
  const auto other =
      other_rule(run.stated_rules, data::read_token_store_manifest(store).rules.tokenizer);
  if (!other) return;
  throw_user_error(
      "{} is {}, but the token store {} was made with {}; leave it out, or make the store again "
      "with cloze data tokens",
      other->option, other->stated, store, other->there);
}

text::StatedRules rules_that_count(const PretrainOptions& options, const OptionTable& table) {
  text::StatedRules rules = options.tokenizer.rules;
  if (is_overridden(table, "do_lower_case")) rules.lower_case.reset();
  if (is_overridden(table, "strip_accents")) rules.strip_accents.reset();
  return rules;
}

}  // namespace

PretrainRun::PretrainRun(const PretrainOptions& options) : ResolvedRun(options), options(options) {
  training.step.capacity.predictions = prediction_room(options, batch);
}

PretrainRun resolve(PretrainOptions& options, OptionTable& table, comm::Communicator& ranks) {
  take_options_of_run(table, options);
  take_vocabulary_of_checkpoint(options, table);
  settle_rivals(options, table);
  take_start(options, table);
  take_rank(ranks, options, table);
  PretrainRun run(options);
  run.stated_rules = rules_that_count(options, table);
  validate(run);
  // The first rank alone writes exports.
  if (!options.compile_only && ranks.rank() == 0) require_other_inputs(options, inputs_of(options));
  limit_instruction_set(options.instruction_set);
  check_standard_input(options);
  check_token_types(options);
  check_rules_of_store(run);
  print_length_notes(run, run.length.scheduled, run.length.planned());
  for (const std::string& note : table.notes()) say("note: {}\n", note);
  check_use(table);
  if (!options.compile_only) {
    run.training.extra_files = option_files(table.values(), table.origins());
  }
  return run;
}

void validate(const PretrainRun& run) {
  const PretrainOptions& o = run.options;
  validate(static_cast<const ResolvedRun&>(run));
  validate_start(o);
  validate_model(o);
  validate_sources(o);
  validate_samples(run);
  validate_evaluation(o.validation);
  validate_watch(o.rank_watch);
}

void take_rank(comm::Communicator& ranks, PretrainOptions& options, const OptionTable& table) {
  if (ranks.size() == 1) return;
  // A run goes on with as many sequences in a step as it had, on any number of ranks. Then only a
  // `replicas` on the command line refers to the present ranks.
  const bool goes_on = options.training.restore_from.has_value();
  const bool is_given =
      table.origin("replicas") == kCommandLineOrigin || (!goes_on && table.is_given("replicas"));
  options.training.step.stages = pipeline_stages(options.pipeline_stages, options.device_mapping,
                                                 options.model().num_hidden_layers);
  const int stages = options.training.step.stages.num_ranks();
  if (ranks.size() % stages != 0) {
    throw_user_error(
        "pipeline_stages makes {} processes a replica, but mpirun started {}; start a multiple of "
        "{}, or set pipeline_stages",
        stages, ranks.size(), stages);
  }
  const int replicas = ranks.size() / stages;
  if (!is_given && !goes_on) options.replicas = replicas;
  if (is_given && options.replicas != replicas) {
    const std::string each = stages == 1 ? "" : fmt::format(" with {} stages each", stages);
    throw_user_error(
        "`replicas` is {}{}, but mpirun started {} processes; give --replicas {} "
        "--global-batch-size "
        "{} for the same step, or start {} processes",
        options.replicas, each, ranks.size(), replicas, batch_plan(options).sequences_per_step,
        options.replicas * stages);
  }
  if (options.training.step.eager) {
    throw_user_error("`eager` runs in one process; leave it out, or mpirun");
  }
  options.training.step.ranks = &ranks;
  if (ranks.rank() == 0) return;
  options.exports = {};
  options.profile_report.clear();
}

std::optional<OtherRule> other_rule(const text::StatedRules& stated,
                                    const text::TokenizerOptions& there) {
  if (stated.lower_case.value_or(there.lower_case) != there.lower_case) {
    return OtherRule{"do_lower_case", *stated.lower_case, there.lower_case};
  }
  if (stated.strip_accents.value_or(there.strips_accents()) != there.strips_accents()) {
    return OtherRule{"strip_accents", *stated.strip_accents, there.strips_accents()};
  }
  return std::nullopt;
}

void print_length_notes(const PretrainRun& run, std::optional<int64_t> scheduled,
                        std::optional<int64_t> trained) {
  const PretrainOptions& options = run.options;
  const int64_t end = trained.value_or(0) * run.batch.sequences_per_step;
  std::vector<double> unreached = options.validation.triggers;
  std::erase_if(unreached, [&](double trigger) { return trigger <= static_cast<double>(end); });
  if (trained && !unreached.empty()) {
    say("note: on_the_spot_validation_triggers has {}, but training ends after {} sequences\n",
        fmt::join(unreached, ", "), end);
  }
  if (!scheduled || run.length.last_step <= scheduled) return;
  say("note: max_training_sequences {} takes {} steps, but the learning rate is scheduled for {}; "
      "raise {}\n",
      *options.max_training_sequences, *run.length.last_step, *scheduled,
      options.epochs ? "`epochs`" : "num_train_steps");
}

}  // namespace cloze::cli
