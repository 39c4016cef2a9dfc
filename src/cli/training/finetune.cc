#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/options/commands.h"
#include "cli/training/finetune_models.h"
#include "cli/training/finetune_runs.h"
#include "platform/available_threads.h"
#include "tasks/labelled/labelled_finetuning.h"

namespace cloze::cli {
namespace {

struct LabelledOptions : OwnDataOptions {
  tasks::LabelledFinetuningOptions labelled;
};

void add_options(OptionTable& table, LabelledOptions& o, const char* task) {
  tasks::LabelledFinetuningOptions& labelled = o.labelled;
  table.begin_group("Task");
  table.add_common("train_file", &labelled.train_file,
                   "Table to learn from: CSV, TSV or JSON Lines, with a row for each text");
  table.add_common("dev_file", &labelled.dev_file,
                   "Table to score while training and after it (a part of train_file)");
  table.add_common("dev_share", &labelled.dev_share,
                   "Part of train_file that is held out to be scored when there is no dev_file",
                   {.minimum = 0, .maximum = 0.9});
  table.add_common("text_column", &labelled.table.text_column,
                   "Column of the texts (guessed: text, sentence, ...)");
  table.add_common("pair_column", &labelled.table.pair_column,
                   "Column of a second text (guessed: text_pair, sentence2, ...; else none)");
  table.add_common("label_column", &labelled.table.label_column,
                   "Column of the labels (guessed: label, class, category, ...)");
  table.add("quotes", &labelled.table.quotes,
            "Whether double quotes enclose fields of CSV and TSV");
  table.add("classifier_dropout", &labelled.classifier_dropout, "Dropout before the classifier",
            {.minimum = 0, .maximum = 0.9999999});
  add_class_loss_options(table, labelled.label_smoothing, labelled.class_weights,
                         [&o]() -> std::string {
                           if (o.labelled.problem->name() == "classify") return "";
                           return fmt::format("is for classify and tag, not for {}; leave it out",
                                              o.labelled.problem->name());
                         });
  add_finetune_options(table, o, task);
}

void set_problem(std::unique_ptr<tasks::LabelProblem> problem, LabelledOptions& o) {
  o.head = problem->head().kind;
  o.labelled.problem = std::move(problem);
}

void add_classify_options(OptionTable& table, LabelledOptions& o) {
  set_problem(tasks::one_label_problem(), o);
  add_options(table, o, "classify");
}

void add_regress_options(OptionTable& table, LabelledOptions& o) {
  set_problem(tasks::number_problem(), o);
  add_options(table, o, "regress");
  table.find("on_high_loss")->option.rules.idle = [] {
    return "what an untrained model loses by regression is not known";
  };
}

void add_multilabel_options(OptionTable& table, LabelledOptions& o) {
  set_problem(tasks::label_set_problem(), o);
  o.labelled.table.has_label_sets = true;
  add_options(table, o, "multilabel");
  table.find("label_column")->option.help =
      "Column of the labels (guessed: labels, tags, ...), or a column for each label: a,b,c";
  table.add("label_separator", &o.labelled.table.label_separator,
            "What stands between the labels of a text");
}

void add_choose_options(OptionTable& table, LabelledOptions& o) {
  set_problem(tasks::choice_problem(), o);
  o.labelled.table.has_choices = true;
  add_options(table, o, "choose");
  table.find("label_column")->option.help =
      "Column of the right choice: its number from 0, its letter or its text (guessed: label, ...)";
  table.add(
      "choice_column", &o.labelled.table.choice_column,
      "Column of the lists of choices, or one for each choice, a,b (guessed: choices, choice0, "
      "ending0, ...)");
  table.find("on_high_loss")->option.rules.idle = [] {
    return "what an untrained model loses depends on how many choices there are";
  };
}

std::vector<std::filesystem::path> inputs_of(const LabelledOptions& options) {
  return {options.vocab_file, options.labelled.train_file, options.labelled.dev_file};
}

void run(LabelledOptions& options, OptionTable& table) {
  const FinetuneRun run = resolve(options, table, [&] { return inputs_of(options); });
  tasks::LabelledFinetuningOptions labelled = options.labelled;
  labelled.split_seed = run.training.step.seed;
  labelled.max_sequence_length = options.seq_length;
  labelled.threads = platform::resolved_threads(run.training.step.compile.target.threads);
  tasks::LabelledFinetuning task(labelled, run.start.tokenizer, task_output(run));
  const tasks::FinetuningPhases phases = phases_of(options, task.possible_phases());
  task.prepare(run.start.head, phases);
  if (options.compile_only) return print_plan(run, task);
  finetune(run, phases, task);
}

}  // namespace

void add_finetune(Subcommand program) {
  Subcommand finetune = program.add_group(
      "finetune",
      {"Fine-tune a model on your own table of texts",
       "cloze finetune classify --train-file data.csv --init-checkpoint run --save-path labels"});
  finetune.add_command("classify",
                       {"Fine-tune a classifier: a label for each text, or pair of texts",
                        "cloze finetune classify --train-file data.csv --init-checkpoint run "
                        "--save-path mine"},
                       add_classify_options, run);
  finetune.add_command("multilabel",
                       {"Fine-tune a classifier of which several labels may hold for a text",
                        "cloze finetune multilabel --train-file topics.jsonl --init-checkpoint run "
                        "--save-path topics"},
                       add_multilabel_options, run);
  finetune.add_command("choose",
                       {"Fine-tune a model that chooses the right one of several texts",
                        "cloze finetune choose --train-file quiz.jsonl --init-checkpoint run "
                        "--save-path quiz"},
                       add_choose_options, run);
  finetune.add_command("regress",
                       {"Fine-tune a model that predicts a number for each text, or pair of texts",
                        "cloze finetune regress --train-file pairs.tsv --init-checkpoint run "
                        "--save-path scores"},
                       add_regress_options, run);
  add_finetune_tag(finetune);
  add_finetune_embed(finetune);
}

void add_finetune_configuration(ConfigurationCommands& commands) {
  ConfigurationCommands finetune = commands.group("finetune", "classify");
  finetune.add("classify", add_classify_options);
  finetune.add("multilabel", add_multilabel_options);
  finetune.add("choose", add_choose_options);
  finetune.add("regress", add_regress_options);
  add_finetune_tag_configuration(finetune);
  add_finetune_embed_configuration(finetune);
}

}  // namespace cloze::cli
