#include <filesystem>
#include <vector>

#include "cli/configuration/configuration_commands.h"
#include "cli/options/commands.h"
#include "cli/training/finetune_models.h"
#include "cli/training/finetune_runs.h"
#include "tasks/tagging/tagging_finetuning.h"

namespace cloze::cli {
namespace {

struct TagOptions : OwnDataOptions {
  tasks::TaggingFinetuningOptions tagging;
  TagOptions() { head = tagging.head.kind; }
};

void add_options(OptionTable& table, TagOptions& o) {
  tasks::TaggingFinetuningOptions& tagging = o.tagging;
  table.begin_group("Task");
  table.add_common("train_file", &tagging.train_file,
                   "Sentences to learn from: CoNLL, CoNLL-U or JSON Lines, a tag for each word");
  table.add_common("dev_file", &tagging.dev_file,
                   "Sentences to score while training and after it (a part of train_file); those "
                   "without tags are only tagged");
  table.add_common("dev_share", &tagging.dev_share,
                   "Part of train_file that is held out to be scored when there is no dev_file",
                   {.minimum = 0, .maximum = 0.9});
  table.add_common("word_column", &tagging.columns.word,
                   "Column of the words, by its number, or of JSON by its name (the first; "
                   "CoNLL-U 2; tokens)");
  table.add_common("tag_column", &tagging.columns.tag,
                   "Column of the tags, likewise (the last; CoNLL-U 4; ner_tags, tags, ...)");
  table.add("tag_names", &tagging.columns.tag_names,
            "Names of the tags 0, 1, ... where JSON has numbers, with commas between them");
  table.add("classifier_dropout", &tagging.head.classifier_dropout, "Dropout before the classifier",
            {.minimum = 0, .maximum = 0.9999999});
  add_class_loss_options(table, tagging.head.label_smoothing, tagging.class_weights, nullptr);
  add_finetune_options(table, o, "tag");
}

std::vector<std::filesystem::path> inputs_of(const TagOptions& options) {
  return {options.vocab_file, options.tagging.train_file, options.tagging.dev_file};
}

void run(TagOptions& options, OptionTable& table) {
  const FinetuneRun run = resolve(options, table, [&] { return inputs_of(options); });
  tasks::TaggingFinetuningOptions tagging = options.tagging;
  tagging.split_seed = run.training.step.seed;
  tagging.max_sequence_length = options.seq_length;
  tasks::TaggingFinetuning task(tagging, run.start.tokenizer, task_output(run));
  const tasks::FinetuningPhases phases = phases_of(options, task.possible_phases());
  task.prepare(run.start.head, phases);
  if (options.compile_only) return print_plan(run, task);
  finetune(run, phases, task);
}

}  // namespace

void add_finetune_tag(Subcommand finetune) {
  finetune.add_command("tag",
                       {"Fine-tune a model that gives each word a tag: names, parts of speech",
                        "cloze finetune tag --train-file train.conll --dev-file dev.conll "
                        "--init-checkpoint run --save-path tags"},
                       add_options, run);
}

void add_finetune_tag_configuration(ConfigurationCommands& finetune) {
  finetune.add("tag", add_options);
}

}  // namespace cloze::cli
