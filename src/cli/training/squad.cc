#include "base/error.h"
#include "cli/configuration/configuration_commands.h"
#include "cli/console/say.h"
#include "cli/options/commands.h"
#include "cli/training/finetune_models.h"
#include "cli/training/finetune_runs.h"
#include "platform/available_threads.h"
#include "tasks/squad/squad_finetuning.h"

namespace cloze::cli {
namespace {

struct SquadOptions : FinetuneOptions {
  tasks::SquadFinetuningOptions squad;

  SquadOptions() {
    head = models::HeadKind::kQuestionAnswering;
    seq_length = squad.features.max_sequence_length;
    epochs = 2.0;
    training.schedule.base_learning_rate = 3e-5;
  }
};

void add_squad_options(OptionTable& table, SquadOptions& options) {
  tasks::SquadFinetuningOptions& o = options.squad;
  const std::vector<std::string> styles{"google", "hf"};
  table.begin_group("Task");
  table.add_common("train_file", &o.train_file, "train-v1.1.json, train-v2.0.json");
  table.add_common("predict_file", &o.predict_file,
                   "dev-v1.1.json, dev-v2.0.json: answered, and scored where it has answers");
  table.add_common("version_2_with_negative", &o.version_2_with_negative,
                   "SQuAD 2.0: there may be no answer");
  table.add_common("doc_stride", &o.features.document_stride,
                   "google: tokens from a window to the next; hf: tokens that they share",
                   {.minimum = 1});
  table.add("max_query_length", &o.features.max_query_length,
            "google: maximum number of tokens of the question, the rest is cut; hf keeps all",
            {.minimum = 1, .idle = [&style = o.features.style] {
               return style == tasks::SquadStyle::kGoogle ? "" : "with feature_style hf";
             }});
  table.add("feature_style", enumerated(o.features.style, styles),
            "Windows and labels as in run_squad.py or in transformers' run_qa.py",
            {.choices = styles});
  table.add("n_best_size", &o.prediction.n_best_size, "Answers kept per question", {.minimum = 1});
  table.add("max_answer_length", &o.prediction.max_answer_length,
            "Maximum number of tokens per answer", {.minimum = 1});
  table.add("null_score_diff_threshold", &o.prediction.null_score_diff_threshold,
            "SQuAD 2.0: predict no answer where its score is better by more than this",
            {.misplaced = [&options] {
              return options.squad.version_2_with_negative || options.compile_only
                         ? ""
                         : "is for version_2_with_negative; leave it out, or set that";
            }});
}

void add_options(OptionTable& table, SquadOptions& options) {
  add_squad_options(table, options);
  add_finetune_options(table, options, "SQuAD");
}

// Reads the questions that the phases need.
tasks::FinetuningPhases prepare(const SquadOptions& options, tasks::SquadFinetuning& task) {
  const tasks::SquadFinetuningOptions& squad = options.squad;
  const bool trains = !squad.train_file.empty();
  const bool can_predict = !squad.predict_file.empty();
  if (!can_predict && !trains) {
    throw_user_error("there is nothing to do; give train_file, predict_file or both");
  }
  tasks::FinetuningPhases phases = phases_of(
      options, {.training = trains, .evaluation = can_predict, .prediction = can_predict});
  if (phases.evaluation || phases.prediction) task.read_questions();
  if (phases.evaluation && !task.can_be_scored()) {
    if (options.do_evaluation) {
      throw_user_error("do_evaluation is set, but {} has no answers", squad.predict_file);
    }
    say("note: {} has no answers, and is not scored\n", squad.predict_file);
    phases.evaluation = false;
  }
  task.set_phases(phases);
  return phases;
}

void run(SquadOptions& options, OptionTable& table) {
  const auto inputs = [&]() -> std::vector<std::filesystem::path> {
    return {options.squad.train_file, options.squad.predict_file, options.vocab_file};
  };
  const FinetuneRun run = resolve(options, table, inputs);
  tasks::SquadFinetuningOptions squad = options.squad;
  squad.features.max_sequence_length = options.seq_length;
  squad.features.threads = platform::resolved_threads(run.training.step.compile.target.threads);
  tasks::SquadFinetuning task(squad, run.start.tokenizer, task_output(run));
  if (options.compile_only) return print_plan(run, task);
  const tasks::FinetuningPhases phases = prepare(options, task);
  finetune(run, phases, task);
}

}  // namespace

void add_squad(Subcommand program) {
  program.add_command(
      "squad",
      {"Fine-tune on SQuAD, answer and score",
       "cloze squad --config finetune_squad_mini --train-file train-v1.1.json --predict-file "
       "dev-v1.1.json --init-checkpoint run --save-path squad"},
      add_options, run);
}

void add_squad_configuration(ConfigurationCommands& commands) {
  commands.add("squad", add_options);
}

}  // namespace cloze::cli
