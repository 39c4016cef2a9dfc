#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/options/commands.h"
#include "formats/json.h"
#include "tasks/glue/glue_data.h"
#include "tasks/glue/glue_score.h"
#include "tasks/glue/glue_task.h"
#include "tasks/labelled/prediction_scores.h"
#include "tasks/squad/squad_score.h"
#include "tasks/tagging/tag_prediction_scores.h"

namespace cloze::cli {
namespace {

struct SquadOptions {
  std::string data;
  std::string predictions;
  std::string no_answer;
  std::optional<double> threshold;
};

void score_squad(const SquadOptions& options) {
  const tasks::SquadData data = tasks::read_squad(options.data);
  const auto [predictions, own_no_answer] = tasks::read_squad_predictions(options.predictions);
  tasks::require_questions_of(data, predictions);
  std::optional<tasks::NoAnswerProbabilities> no_answer;
  if (data.is_version_2) no_answer = own_no_answer;
  if (!options.no_answer.empty()) {
    no_answer = tasks::read_no_answer_probabilities(options.no_answer);
  }
  if (no_answer && !data.is_version_2) {
    throw_user_error("--na-prob-file is for SQuAD 2.0; {} has no question without answer",
                     options.data);
  }
  if (options.threshold && (!no_answer || std::isnan(*options.threshold))) {
    throw_user_error("--na-prob-thresh {} is compared with the numbers of --na-prob-file; give {}",
                     *options.threshold, no_answer ? "a number" : "that too");
  }
  const tasks::SquadScores scores =
      data.is_version_2 ? tasks::score_squad_2(data, predictions, no_answer ? &*no_answer : nullptr,
                                               options.threshold.value_or(1.0))
                        : tasks::score_squad_1(data, predictions);
  if (!scores.missing.empty()) {
    say("{} questions have no prediction, the first is {}\n", scores.missing.size(),
        scores.missing.front());
  }
  if (scores.unanswered > 0)
    say("{} questions without answers are not scored\n", scores.unanswered);
  fmt::print("{}\n", tasks::squad_scores_json(scores, data.is_version_2));
}

struct GlueOptions {
  std::string task;
  std::string data;
  std::string predictions;
};

void score_glue(const GlueOptions& options) {
  const tasks::GlueTask& task = tasks::glue_task(options.task);
  std::vector<double> labels;
  for (const tasks::GlueExample& example : tasks::read_glue(options.data, task, true)) {
    labels.push_back(*example.label);
  }
  const std::vector<double> predictions = tasks::read_glue_predictions(options.predictions, task);
  if (predictions.size() != labels.size()) {
    throw_user_error("{} holds {} predictions, {} holds {} examples", options.predictions,
                     predictions.size(), options.data, labels.size());
  }
  fmt::print("{}\n", tasks::glue_scores_json(task, predictions, labels));
}

using Files = std::vector<std::filesystem::path>;

// The scores of a file; of several, an object of all of them by the names of the files.
void print_scores(const Files& files,
                  const std::function<formats::Json(const std::filesystem::path&)>& score) {
  formats::Json scores = formats::Json::object();
  for (const std::filesystem::path& file : files) scores[file.string()] = score(file);
  fmt::print("{}", formats::json_text(files.size() == 1 ? scores.items().front().value : scores));
}

struct PredictionOptions {
  Files predictions;
};

void score_classes(const PredictionOptions& options) {
  print_scores(options.predictions, tasks::score_class_predictions);
}

void score_numbers(const PredictionOptions& options) {
  print_scores(options.predictions, tasks::score_number_predictions);
}

struct LabelSetOptions : PredictionOptions {
  std::optional<double> threshold;
};

void score_label_sets(const LabelSetOptions& options) {
  print_scores(options.predictions, [&](const std::filesystem::path& file) {
    return tasks::score_label_set_predictions(file, options.threshold);
  });
}

struct TagOptions : PredictionOptions {
  std::filesystem::path data;
  tasks::EntityReading mode = tasks::EntityReading::kLenient;
};

void score_tags(const TagOptions& options) {
  print_scores(options.predictions, [&](const std::filesystem::path& file) {
    return tasks::score_tag_predictions({.predictions = file, .gold = options.data}, options.mode);
  });
}

void add_squad_options(OptionTable& table, SquadOptions& o) {
  table.add("data", &o.data, "dev-v1.1.json or dev-v2.0.json", {.is_required = true});
  table.add(
      "predictions", &o.predictions,
      "predictions.json: id to text, or to Graphcore's prediction_text and no_answer_probability",
      {.is_required = true});
  table.add("na_prob_file", &o.no_answer,
            "SQuAD 2.0: id to a score of no answer: null_odds.json (score differences) or "
            "probabilities");
  table.add("na_prob_thresh", &o.threshold,
            "SQuAD 2.0: above this score the answer counts as empty (1)");
}

void add_glue_options(OptionTable& table, GlueOptions& o) {
  table.add("task", &o.task, fmt::format("One of {}", fmt::join(tasks::glue_task_names(), ", ")),
            {.is_required = true});
  table.add("data", &o.data, "The task's dev.tsv", {.is_required = true});
  table.add("predictions", &o.predictions,
            "Submission file: index and prediction, separated by a tab", {.is_required = true});
}

void add_predictions(OptionTable& table, PredictionOptions& o, std::string help) {
  table.add("predictions", &o.predictions, std::move(help),
            {.is_required = true, .is_repeatable = true});
}

void add_class_options(OptionTable& table, PredictionOptions& o) {
  add_predictions(
      table, o,
      "JSON Lines with `label`, `predicted` and, if it is known, `probability`, as `cloze "
      "finetune` writes them");
}

void add_number_options(OptionTable& table, PredictionOptions& o) {
  add_predictions(table, o,
                  "JSON Lines with `label` and `predicted`, as `cloze finetune` writes them");
}

void add_label_set_options(OptionTable& table, LabelSetOptions& o) {
  add_predictions(table, o,
                  "JSON Lines with `label` and `predicted`, lists, and, if they are known, "
                  "`probabilities`");
  table.add("threshold", &o.threshold,
            "The predicted labels are those whose probability is above it, instead of `predicted`",
            {.minimum = 0, .maximum = 1});
}

void add_tag_options(OptionTable& table, TagOptions& o) {
  const std::vector<std::string> modes{"lenient", "iob1", "iob2", "ioe1", "ioe2", "iobes", "bilou"};
  add_predictions(table, o,
                  "CoNLL file: a token a line, the last columns its gold and its predicted tag");
  table.add("data", &o.data,
            "CoNLL file whose last column has the gold tags, which `predictions` then lacks");
  table.add("mode", enumerated(o.mode, modes),
            "Which tags make an entity: leniently, as conlleval has it, or strictly by a scheme",
            {.choices = modes});
}

}  // namespace

void add_score(Subcommand program) {
  Subcommand score = program.add_group(
      "score", {"Scores of prediction files, by the official programs' formulas",
                "cloze score squad --data dev-v1.1.json --predictions squad/predictions.json"});
  score.add_command("squad",
                    {"Exact match and F1 of SQuAD 1.1 and 2.0",
                     "cloze score squad --data dev-v1.1.json --predictions squad/predictions.json"},
                    add_squad_options, score_squad);
  score.add_command(
      "glue",
      {"The metrics of a GLUE task",
       "cloze score glue --task SST-2 --data glue_data/SST-2/dev.tsv --predictions SST-2.tsv"},
      add_glue_options, score_glue);
  score.add_command("classify",
                    {"Accuracy, precision, recall, F1 and calibration of predicted classes",
                     "cloze score classify --predictions mine/predictions.jsonl"},
                    add_class_options, score_classes);
  score.add_command("regress",
                    {"Pearson's and Spearman's correlation of predicted numbers",
                     "cloze score regress --predictions scores/predictions.jsonl"},
                    add_number_options, score_numbers);
  score.add_command("multilabel",
                    {"Precision, recall, F1 and ranking of predicted sets of labels",
                     "cloze score multilabel --predictions topics/predictions.jsonl --threshold 0.3"},
                    add_label_set_options, score_label_sets);
  score.add_command("tag",
                    {"Precision, recall and F1 of the entities in predicted tags",
                     "cloze score tag --predictions tagged.conll"},
                    add_tag_options, score_tags);
}

}  // namespace cloze::cli
