#include <fmt/core.h>

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "tasks/squad/question_answerer.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string question;
  std::string context;
  std::string context_file;
  std::string input_file;
  int64_t top_k = 5;
  tasks::AnswerOptions answer;
  int threads = 0;
};

// A line of an input file: {"question": "...", "context": "..."}.
std::vector<tasks::QuestionAndContext> read_questions(const std::string& path, int64_t top_k) {
  std::vector<tasks::QuestionAndContext> questions;
  for (const formats::Json& item : read_json_lines(path, {"question", "context"})) {
    questions.push_back(
        {item.at("question").get<std::string>(), item.at("context").get<std::string>(), top_k});
  }
  return questions;
}

std::vector<tasks::QuestionAndContext> questions_of(const Options& options,
                                                    const OptionTable& table) {
  if (table.is_given("input_file")) return read_questions(options.input_file, options.top_k);
  const bool is_file = table.is_given("context_file");
  const bool is_text = table.is_given("context");
  if (is_file && is_text)
    throw_user_error("--context and --context-file both give the text; give one");
  if (!is_file && !is_text) {
    throw_user_error(
        "there is no text to answer from; give --context, --context-file or --input-file");
  }
  std::string context = is_file ? platform::read_file(options.context_file) : options.context;
  note_invalid_utf8(options.question, "the question");
  note_invalid_utf8(context, is_file ? options.context_file : "the context");
  return {{options.question, std::move(context), options.top_k}};
}

void print_answers(const std::vector<tasks::Answer>& answers) {
  if (answers.empty()) fmt::print("no part of the text can be an answer\n");
  for (const tasks::Answer& answer : answers) {
    fmt::print("{:6.2f} %  {}  [{}, {})\n", 100 * answer.probability,
               answer.text.empty() ? "(no answer)" : answer.text, answer.start, answer.end);
  }
}

void run(const Options& options, const OptionTable& table) {
  const std::vector<tasks::QuestionAndContext> questions = questions_of(options, table);
  tasks::QuestionAnswerer answerer(open_model(options.model, options.threads), options.threads);
  const std::vector<tasks::Answers> all = answerer.answer(questions, options.answer);
  TruncationNote cut("question");
  UnknownNote unknown("input");
  for (const tasks::Answers& one : all) {
    cut.count(one.question);
    unknown.count(one.unknown);
    if (table.is_given("input_file")) {
      fmt::print("{}\n", formats::json_line(tasks::answers_json(one)));
    } else {
      print_answers(one.answers);
    }
  }
  cut.print();
  unknown.print();
}

void add_options(OptionTable& table, Options& o) {
  table.add("question", &o.question, "The question");
  table.add("context", &o.context, "The text that answers it");
  table.add("context_file", &o.context_file, "File with that text");
  table.add("input_file", &o.input_file,
            "JSONL of question and context; prints a JSON line for each",
            {.excludes = {"question", "context", "context_file"}});
  table.add("top_k", &o.top_k, "Maximum number of answers", {.minimum = 1});
  table.add("max_answer_length", &o.answer.max_answer_length, "Maximum number of tokens per answer",
            {.minimum = 1});
  table.add("version_2_with_negative", &o.answer.may_have_no_answer,
            "A question may have no answer; for models trained on SQuAD 2.0");
  add_model_options(table, o.model, o.threads);
}

}  // namespace

void add_answer(Subcommand program) {
  program.add_command(
      "answer",
      {"Answer questions on texts of any length",
       "cloze answer --init-checkpoint squad --question 'Who keeps the mill?' --context-file "
       "town.txt"},
      add_options, run);
}

}  // namespace cloze::cli
