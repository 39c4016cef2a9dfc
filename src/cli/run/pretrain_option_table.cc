#include <fmt/format.h>

#include <functional>
#include <string>
#include <vector>

#include "cli/options/foreign_options.h"
#include "cli/run/pretrain_options.h"

namespace cloze::cli {
namespace {

void add_text_options(OptionTable& table, PretrainOptions& o) {
  table.add_common(
      "input_file", &o.input_file,
      "Text to train on instead, plain, .gz or .zst: files, folders or patterns, separated "
      "by commas (a path that exists may contain them); - is standard input");
  add_text_form(table, o.store.form, o.store.max_invalid_percent);
  table.add("token_store", &o.store.folder,
            "Folder that keeps the tokens of input_file (save_path/tokens)");
  table.add_common(
      "vocab_file", &o.tokenizer.vocabulary_file,
      "vocab.txt or tokenizer.json of the records or for the text (the start model's); stored in "
      "checkpoints");
  table.add("profile", &o.tokenizer.profile, "Tokenizer rules for input_file (hf)",
            {.choices = {"", "hf", "google"}});
  add_rule_options(table, o.tokenizer.rules);
  add_unknown_limit(table, o.tokenizer.max_unknown_percent);
}

void add_data_options(OptionTable& table, PretrainOptions& o) {
  table.begin_group("Data");
  table.add(
      "task", &o.task, "What is trained",
      {.choices = {"pretraining"},
       .hint = "cloze squad takes SQuAD, cloze glue GLUE, and with --compile-only they plan"});
  table.add_common(
      "train_file", &o.train_file,
      "Records: files, folders or patterns, separated by commas (a path that exists may "
      "contain them); or a token store");
  add_text_options(table, o);
  table.add_common("generated_data", &o.generated_data, "Train on random samples instead of files");
  table.add("synthetic_data", &o.training.synthetic_data,
            "Train on one generated micro-batch again and again: nothing is read, and nothing is "
            "moved to the device after the first step");
  table.add("static_mask", &o.static_mask, "The records were made with --remask");
  table.add("skip_bad", &o.records.skip_bad,
            "Check all records first, and train without the bad ones");
  table.add_common("max_predictions_per_seq", &o.drawing.pairs.masking.max_predictions,
                   "Masked tokens per record", {.minimum = 1});
  const std::vector<std::string> bases{"pertoken", "persequence"};
  table.add("loss_averaging_basis", enumerated(o.training.step.head.loss_basis, bases),
            "The MLM loss is the mean of the step's predictions, or of its sequences' means",
            {.choices = bases});
  table.add("duplicate_factor", &o.training.duplicate_factor,
            "How many copies of each text the records hold; used by epochs", {.minimum = 1});
}

void add_validation_options(OptionTable& table, PretrainOptions& o) {
  ValidationOptions& v = o.validation;
  table.begin_group("Evaluation during training");
  table.add_common(
      "on_the_spot_validation_files", &v.files,
      "Evaluation set: records (files, folders or patterns, separated by commas, which a path "
      "that exists may contain) or a token store");
  table.add("on_the_spot_validation_triggers", &v.triggers,
            "Evaluate after these numbers of training sequences: 25000,50000", {.minimum = 1});
  table.add_common(
      "eval_iter_samples", &v.interval,
      "Or evaluate every N training sequences (MLPerf's: 0.05 * (230.23 * sequences per step + "
      "3000000), rounded down to a multiple of 25000)",
      {.minimum = 1});
  table.add("eval_iter_start_samples", &v.start,
            "First evaluation after N sequences (eval_iter_samples)", {.minimum = 1});
  table.add("target_mlm_accuracy", &v.target,
            "End the run when the MLM accuracy on the evaluation set is at least this; exit status "
            "6 if it never is",
            {.minimum = 0, .maximum = 1});
  table.add(
      "max_training_sequences", &o.max_training_sequences,
      "End the run after N sequences; the learning-rate schedule still follows num_train_steps",
      {.minimum = 1});
  train::Submission& submission = o.exports.submission;
  const auto idle = [&o] { return o.exports.mllog_file.empty() ? "without mllog_file" : ""; };
  table.add("submission_org", &submission.organisation, "mllog_file: name of the submitter",
            {.idle = idle});
  table.add("submission_division", &submission.division, "mllog_file: division whose rules apply",
            {.choices = {"closed", "open"}, .idle = idle});
  table.add("submission_platform", &submission.platform, "mllog_file: name of the machine",
            {.idle = idle});
}

void add_drawing_options(OptionTable& table, data::WindowOptions& o) {
  const std::vector<std::string> next_sentences{"random", "order", "none"};
  const OptionRules share{.minimum = 0, .maximum = 1};
  table.begin_group("Samples drawn from text");
  table.add("mlm_prob", &o.masking.probability, "Share of the tokens to predict", share);
  table.add("short_seq_prob", &o.short_sequence_probability,
            "Share of samples that are cut shorter", share);
  table.add("do_whole_word_mask", &o.masking.whole_words, "Mask all pieces of a word, or none");
  table.add("next_sentence", enumerated(o.next_sentence, next_sentences),
            "Second part: random half of the time (BERT), swapped half of the time (ALBERT), or "
            "none (only the MLM loss)",
            {.choices = next_sentences});
}

void add_rank_options(OptionTable& table, PretrainOptions& o) {
  table.begin_group("Several processes");
  table.add(
      "heartbeat_timeout", &o.rank_watch.silence,
      "Seconds that a process may be silent (stopped or cut off) before all processes end, 1 or "
      "more; 0: silence and stalls are not watched for",
      {.minimum = 0, .is_of_command = true, .idle = idle_in_one_process(o)});
  table.add("stall_timeout", &o.rank_watch.stall,
            "Seconds that a process may take for one phase of a step (a micro-batch, a save, an "
            "evaluation) before all processes end; 0: no limit",
            {.minimum = 0, .is_of_command = true, .idle = idle_in_one_process(o)});
}

using Why = std::function<std::string()>;

// Refuses options of text, which other data override with their input_file.
Why without_text(const OptionTable& table, const PretrainOptions& o, const char* name) {
  return [&table, &o, name] {
    const bool counts = !o.input_file.empty() || is_overridden(table, name);
    return counts ? "" : "needs input_file, which is not given";
  };
}

// Random ids have no [UNK].
std::string without_words(const OptionTable& table, const PretrainOptions& o) {
  const bool has_data = o.made_data().empty() || !o.validation.files.empty();
  if (has_data || is_overridden(table, "max_unknown_tokens")) return "";
  return fmt::format("needs text, or data made of text; {} has none", o.made_data());
}

// Refuses options of drawing: samples for training or evaluation may be drawn.
std::string without_drawing(const PretrainOptions& o) {
  if (o.draws_samples() || o.compile_only || data::is_token_store(o.validation.files)) return "";
  return fmt::format(
      "is set, but the samples of {} are already made; drop it, or give input_file or a token "
      "store",
      o.made_data().empty() ? o.train_file : o.made_data());
}

// Drops options of records: those to train on, or to evaluate on.
std::string without_records(const PretrainOptions& o, bool is_of_copies) {
  const bool trains = !o.draws_samples() && o.made_data().empty();
  const std::string& held_out = o.validation.files;
  const bool evaluates = !held_out.empty() && !data::is_token_store(held_out);
  if (trains || (is_of_copies ? o.generated_data : evaluates)) return "";
  return fmt::format("with {}: it is for records",
                     o.made_data().empty() ? "samples that are drawn from text" : o.made_data());
}

// Makes options idle that the data have no use for.
void set_uses(OptionTable& table, const PretrainOptions& o) {
  const auto rules = [&](const char* name) -> OptionRules& {
    return table.find(name)->option.rules;
  };
  for (const char* name : {"token_store", "input_format", "json_key", "skip_bad_lines",
                           "max_invalid_utf8", "profile"}) {
    rules(name).misplaced = without_text(table, o, name);
  }
  for (const char* name : {"on_the_spot_validation_triggers", "eval_iter_samples",
                           "eval_iter_start_samples", "target_mlm_accuracy"}) {
    rules(name).misplaced = [&o] {
      return o.validation.files.empty() ? "needs an evaluation set, and there is none; name its "
                                          "files with on_the_spot_validation_files"
                                        : "";
    };
  }
  rules("init_optimizer").misplaced = [&o, &training = o.training] {
    const bool takes = training.init_optimizer != train::InitOptimizer::kFresh;
    return takes && training.init_checkpoint.empty() && !o.compile_only
               ? "needs init_checkpoint, which is not given"
               : "";
  };
  rules("max_unknown_tokens").misplaced = [&] { return without_words(table, o); };
  for (const char* name : {"mlm_prob", "short_seq_prob", "do_whole_word_mask", "next_sentence"}) {
    rules(name).misplaced = [&o] { return without_drawing(o); };
  }
  for (const char* name : {"static_mask", "skip_bad"}) {
    rules(name).idle = [&o] { return without_records(o, false); };
  }
  rules("duplicate_factor").idle = [&o] { return without_records(o, true); };
}

}  // namespace

void add_pretrain_options(OptionTable& table, PretrainOptions& options) {
  add_data_options(table, options);
  add_drawing_options(table, options.drawing.pairs);
  add_validation_options(table, options);
  add_run_options(table, options, "Longest sequence of the records");
  const std::vector<std::string> parts{"fresh", "moments", "moments_and_step"};
  table.add("init_optimizer", enumerated(options.training.init_optimizer, parts),
            "Also take the moments of Adam or LAMB from init_checkpoint, a TensorFlow checkpoint, "
            "or both the moments and its global_step",
            {.choices = parts, .is_of_command = true});
  add_rank_options(table, options);
  add_foreign_options(table, options.task);
  set_uses(table, options);
}

}  // namespace cloze::cli
