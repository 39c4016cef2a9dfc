#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "tasks/mask_filler.h"
#include "text/ascii.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string score_file;
  int64_t top_k = 5;
  int threads = 0;
};

// A line of a --score file: {"text": "... [MASK] ...", "answer": "word", "context": "..."}.
struct Question {
  std::string text;
  std::string answer;
};

std::vector<Question> read_questions(const std::string& path) {
  std::vector<Question> questions;
  for (const formats::Json& item : read_json_lines(path, {"text", "answer"}, {"context"})) {
    const auto text = item.at("text").get<std::string>();
    const std::string context = item.value("context", "");
    questions.push_back(
        {context.empty() ? text : context + " " + text, item.at("answer").get<std::string>()});
  }
  return questions;
}

// Prints a few examples and, last, the share of blanks whose answer comes first.
void print_score(tasks::MaskFiller& filler, const std::vector<Question>& questions) {
  constexpr size_t kExamples = 5;
  std::vector<std::string> texts;
  for (const Question& question : questions) texts.push_back(question.text);
  size_t correct = 0;
  const tasks::FilledTexts filled = filler.fill(texts, 1);
  const std::vector<tasks::Blank>& blanks = filled.blanks;
  for (const tasks::Blank& blank : blanks) {
    const Question& question = questions[blank.text];
    const std::string& guess = blank.candidates[0].token;
    const std::vector<int32_t> answer = filler.ids_of(question.answer);
    correct += answer == std::vector{blank.candidates[0].id} ? 1 : 0;
    if (blank.text < kExamples) {
      fmt::print("{}\n  {} ({:.0f} %), the text has {}\n", question.text, guess,
                 100 * blank.candidates[0].probability, question.answer);
    }
  }
  fmt::print("top-1 {:.1f} % ({} of {})\n",
             100.0 * static_cast<double>(correct) / static_cast<double>(blanks.size()), correct,
             blanks.size());
  UnknownNote unknown("text");
  for (const tasks::UnknownTokens& one : filled.unknown) unknown.count(one);
  unknown.print();
}

void print_blanks(std::span<const tasks::Blank> blanks, std::span<const std::string> texts) {
  size_t last_text = texts.size();
  int number = 0;  // of the blank in its text
  for (const tasks::Blank& blank : blanks) {
    if (blank.text != last_text) fmt::print("{}\n", texts[blank.text]);
    number = blank.text == last_text ? number + 1 : 1;
    last_text = blank.text;
    fmt::print("  blank {}  [{}, {})\n", number, blank.start, blank.end);
    for (const tasks::Candidate& candidate : blank.candidates) {
      fmt::print("  {:6.2f} %  {}\n", 100 * candidate.probability, candidate.token);
    }
  }
}

// A blank line between texts is not a text.
std::vector<std::string> texts_to_read() {
  std::vector<std::string> lines = input_lines();
  std::erase_if(lines, [](const std::string& line) { return text::trim_ascii(line).empty(); });
  return lines;
}

void run(const Options& options) {
  tasks::MaskFiller filler(open_model(options.model, options.threads), options.threads);
  if (!options.score_file.empty()) {
    print_score(filler, read_questions(options.score_file));
    return;
  }
  const std::vector<std::string> texts = options.texts.empty() ? texts_to_read() : options.texts;
  if (texts.empty()) throw_user_error("there is no text; give --text, or lines to read");
  note_invalid_texts(options.texts);
  UnknownNote unknown("text");
  for_each_portion<std::string>(texts, [&](std::span<const std::string> portion) {
    const tasks::FilledTexts filled = filler.fill(portion, options.top_k);
    print_blanks(filled.blanks, portion);
    for (const tasks::UnknownTokens& one : filled.unknown) unknown.count(one);
  });
  unknown.print();
}

void add_options(OptionTable& table, Options& o) {
  table.add("text", &o.texts,
            "Text with [MASK], may be given several times; default: lines of standard input",
            {.is_repeatable = true});
  table.add("top_k", &o.top_k, "Candidates per blank", {.minimum = 1});
  table.add("score", &o.score_file,
            "JSONL of text, answer and context: print how many answers come first",
            {.excludes = {"text", "top_k"}});
  add_model_options(table, o.model, o.threads);
}

}  // namespace

void add_fill(Subcommand program) {
  program.add_command(
      "fill",
      {"Fill in the [MASK]s of texts",
       "cloze fill --init-checkpoint run --text 'the capital of france is [MASK] .'"},
      add_options, run);
}

}  // namespace cloze::cli
