#include <filesystem>
#include <string>
#include <vector>

#include "checkpoints/sentence_folder.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/options/commands.h"
#include "cli/training/finetune_models.h"
#include "cli/training/finetune_runs.h"
#include "platform/available_threads.h"
#include "tasks/contrastive/contrastive_finetuning.h"

namespace cloze::cli {
namespace {

constexpr const char* kPoolingOfModel = "model";  // as the start model's folder says

struct EmbedOptions : OwnDataOptions {
  tasks::ContrastiveFinetuningOptions contrastive;
  std::string pooling = kPoolingOfModel;
  std::string triplet_distance = "euclidean";
  std::vector<double> matryoshka_dims;
  EmbedOptions() { head = models::HeadKind::kEmbedding; }
};

void add_data_options(OptionTable& table, tasks::ContrastiveFinetuningOptions& contrastive) {
  table.add_common("train_file", &contrastive.train_file,
                   "Table to learn from: CSV, TSV or JSON Lines, with texts that belong together "
                   "in each row");
  table.add_common("dev_file", &contrastive.dev_file,
                   "Table to score while training and after it (a part of train_file)");
  table.add_common("dev_share", &contrastive.dev_share,
                   "Part of train_file that is held out to be scored when there is no dev_file",
                   {.minimum = 0, .maximum = 0.9});
  table.add_common(
      "text_columns", &contrastive.table.text_columns,
      "Columns of the texts: anchor, positive, then negatives, with commas between them "
      "(guessed: anchor,positive, sentence1,sentence2, ..., negative...)");
  table.add_common("score_column", &contrastive.table.score_column,
                   "Column of how alike two texts are, 0 to 1 or 0 to 5 (guessed: score, "
                   "similarity, label; else none)");
  table.add("quotes", &contrastive.table.quotes,
            "Whether double quotes enclose fields of CSV and TSV");
}

void add_loss_options(OptionTable& table, EmbedOptions& o) {
  tasks::ContrastiveObjective& objective = o.contrastive.objective;
  std::vector<std::string> losses = tasks::contrastive_loss_names();
  losses.emplace_back(tasks::kLossOfTable);
  table.add_common("loss", &objective.loss,
                   "What is learned; auto: cosent of a table with scores, else multiple_negatives",
                   {.choices = losses});
  const auto idle_for = [&objective](auto... names) {
    return [&objective, names...]() -> std::string {
      const bool is_one = ((objective.loss == names) || ...);
      return is_one ? "with --loss " + objective.loss : "";
    };
  };
  table.add("scale", &objective.settings.scale,
            "What cosines are multiplied by before a softmax; 20 is a temperature of 0.05",
            {.minimum = 1e-3, .idle = idle_for("triplet", "cosine")});
  table.add("margin", &objective.settings.margin,
            "How much farther than the positive a negative has to be, of triplets",
            {.minimum = 0, .idle = idle_for("multiple_negatives", "cosent", "cosine")});
  table.add("triplet_distance", &o.triplet_distance, "How far two vectors of triplets are",
            {.choices = {"euclidean", "cosine"},
             .idle = idle_for("multiple_negatives", "cosent", "cosine")});
  table.add_common("matryoshka_dims", &o.matryoshka_dims,
                   "The loss is summed over the vectors' first so many numbers, so that they serve "
                   "as shorter vectors: 384,256,128,64",
                   {.minimum = 1});
  table.add("matryoshka_weights", &objective.weights,
            "Weights of these, with commas between them (1 each)",
            {.minimum = 0, .idle = [&o] {
               return o.matryoshka_dims.empty() ? "without --matryoshka-dims" : "";
             }});
  std::vector<std::string> pooling = checkpoints::pooling_names();
  pooling.emplace_back(kPoolingOfModel);
  table.add("pooling", &o.pooling,
            "How a text's tokens become its vector; model: as the start model says",
            {.choices = pooling});
}

void add_options(OptionTable& table, EmbedOptions& o) {
  table.begin_group("Task");
  add_data_options(table, o.contrastive);
  add_loss_options(table, o);
  add_finetune_options(table, o, "embed");
  table.find("on_high_loss")->option.rules.idle = [] {
    return "what an untrained model loses depends on the texts of a step";
  };
}

std::vector<std::filesystem::path> inputs_of(EmbedOptions& options) {
  tasks::ContrastiveObjective& objective = options.contrastive.objective;
  objective.settings.is_cosine = options.triplet_distance == "cosine";
  objective.dimensions.assign(options.matryoshka_dims.begin(), options.matryoshka_dims.end());
  return {options.vocab_file, options.contrastive.train_file, options.contrastive.dev_file};
}

// The layers of the start model, with the pooling that an option asks for.
models::BertHead head_of(const EmbedOptions& options, models::BertHead start) {
  if (options.pooling != kPoolingOfModel) {
    checkpoints::replace_pooling(start.embedding, checkpoints::pooling_named(options.pooling),
                                 options.training.init_checkpoint);
  }
  return start;
}

void run(EmbedOptions& options, OptionTable& table) {
  const FinetuneRun run = resolve(options, table, [&] { return inputs_of(options); });
  tasks::ContrastiveFinetuningOptions contrastive = options.contrastive;
  contrastive.split_seed = run.training.step.seed;
  contrastive.prompt = run.start.sentences.default_text();
  contrastive.max_sequence_length = options.seq_length;
  contrastive.threads = platform::resolved_threads(run.training.step.compile.target.threads);
  tasks::ContrastiveFinetuning task(contrastive, run.start.tokenizer, task_output(run));
  const tasks::FinetuningPhases phases = phases_of(options, task.possible_phases());
  task.prepare(head_of(options, run.start.head), run.training.step.model.hidden_size, phases);
  if (options.compile_only) return print_plan(run, task);
  finetune(run, phases, task);
}

}  // namespace

void add_finetune_embed(Subcommand finetune) {
  finetune.add_command("embed",
                       {"Fine-tune a model that makes vectors of texts, on pairs that are alike",
                        "cloze finetune embed --train-file pairs.tsv --init-checkpoint run "
                        "--save-path vectors"},
                       add_options, run);
}

void add_finetune_embed_configuration(ConfigurationCommands& finetune) {
  finetune.add("embed", add_options);
}

}  // namespace cloze::cli
