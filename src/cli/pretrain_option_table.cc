#include "cli/pretrain_options.h"

#include "cli/options/foreign_pretrain_options.h"
#include "cli/options/graphcore_form.h"

namespace cloze::cli {
namespace {

void add_data_options(OptionTable& table, PretrainOptions& o) {
  const std::string group = "Data";
  table.add({.name = "task",
             .target = &o.task,
             .help = "What is trained",
             .group = group,
             .choices = {"pretraining"}});
  table.add({.name = "train_file",
             .target = &o.train_file,
             .help = "Records: comma list of files, folders, patterns; or a token store",
             .group = group});
  table.add({.name = "input_file",
             .target = &o.input_file,
             .help = "Text to train on instead, plain, .gz or .zst: comma list of files, folders, "
                     "patterns; - is "
                     "standard input",
             .group = group});
  table.add({.name = "input_format",
             .target = &o.input_format,
             .help = "Form of input_file",
             .group = group,
             .choices = {"sentences", "paragraphs", "jsonl", "wikiextractor", "wikipedia"}});
  table.add({.name = "max_invalid_utf8",
             .target = &o.max_invalid_utf8,
             .help = "Refuse an input_file when more than this per cent of its bytes are not UTF-8",
             .group = group,
             .minimum = 0,
             .maximum = 100});
  table.add({.name = "token_store",
             .target = &o.token_store,
             .help = "Folder that keeps the tokens of input_file (save_path/tokens)",
             .group = group});
  table.add(
      {.name = "vocab_file",
       .target = &o.vocab_file,
       .help = "vocab.txt or tokenizer.json of the records or for the text; goes into checkpoints",
       .group = group});
  table.add({.name = "profile",
             .target = &o.profile,
             .help = "Tokenizer rules for input_file (hf)",
             .group = group,
             .choices = {"", "hf", "google"}});
  table.add({.name = "do_lower_case",
             .target = &o.do_lower_case,
             .help = "The vocabulary is uncased; goes into checkpoints",
             .group = group});
  table.add({.name = "generated_data",
             .target = &o.generated_data,
             .help = "Train on random samples instead of files",
             .group = group});
  table.add({.name = "static_mask",
             .target = &o.static_mask,
             .help = "The records were made with --remask",
             .group = group});
  table.add({.name = "skip_bad",
             .target = &o.skip_bad,
             .help = "Check all records first, and train without the bad ones",
             .group = group});
  table.add({.name = "max_predictions_per_seq",
             .target = &o.max_predictions_per_seq,
             .help = "Masked tokens of a record",
             .group = group,
             .minimum = 1});
  table.add({.name = "duplicate_factor",
             .target = &o.duplicate_factor,
             .help = "How often each text stands in the records; used by epochs",
             .group = group,
             .minimum = 1});
}

void add_drawing_options(OptionTable& table, PretrainOptions& o) {
  const std::string group = "Samples drawn from text";
  table.add({.name = "mlm_prob",
             .target = &o.mlm_prob,
             .help = "Share of the tokens to predict",
             .group = group,
             .minimum = 0,
             .maximum = 1});
  table.add({.name = "short_seq_prob",
             .target = &o.short_seq_prob,
             .help = "Share of samples that are cut shorter",
             .group = group,
             .minimum = 0,
             .maximum = 1});
  table.add({.name = "do_whole_word_mask",
             .target = &o.do_whole_word_mask,
             .help = "Mask all pieces of a word, or none",
             .group = group});
  table.add({.name = "next_sentence",
             .target = &o.next_sentence,
             .help = "Second part: random half of the time (BERT), swapped half of the time "
                     "(ALBERT), or none (only the MLM loss)",
             .group = group,
             .choices = {"random", "order", "none"}});
}

}  // namespace

OptionTable pretrain_option_table(PretrainOptions& options) {
  OptionTable table;
  add_data_options(table, options);
  add_drawing_options(table, options);
  add_run_options(table, options, "Longest sequence of the records");
  for (ForeignOption& option : foreign_pretrain_options()) table.add_foreign(std::move(option));
  table.set_file_form(graphcore_form());
  return table;
}

}  // namespace cloze::cli
