#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "formats/json.h"
#include "tasks/text_chooser.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::string text;
  std::vector<std::string> choices;
  std::string input_file;
  bool json = false;
  int threads = 0;
};

std::vector<tasks::TextAndChoices> texts_in_file(const std::string& path) {
  std::vector<tasks::TextAndChoices> texts;
  for (const formats::Json& object : read_json_lines(path, {"text"}, {"text_pair"})) {
    const formats::Json* choices = object.find("choices");
    const bool are_texts =
        choices && choices->is_array() &&
        std::ranges::all_of(*choices, [](const formats::Json& one) { return one.is_string(); });
    if (!are_texts || choices->size() < 2) {
      throw_data_error("{}: text {}, '{}', has no \"choices\"; give a list of two or more texts",
                       path, texts.size() + 1, object.at("text").get<std::string>());
    }
    texts.push_back({.text = object.at("text").get<std::string>(),
                     .pair = object.value("text_pair", ""),
                     .choices = choices->get<std::vector<std::string>>()});
  }
  return texts;
}

std::vector<tasks::TextAndChoices> texts_of(const Options& options) {
  if (!options.input_file.empty()) return texts_in_file(options.input_file);
  if (options.text.empty()) throw_user_error("there is no text; give text, or input_file");
  note_invalid_texts({options.text});
  note_invalid_texts(options.choices);
  if (options.choices.size() < 2) {
    throw_user_error("`choice` is given {} times; give two or more of them to choose from",
                     options.choices.size());
  }
  const size_t tab = options.text.find('\t');
  if (tab == std::string::npos) return {{.text = options.text, .choices = options.choices}};
  return {{.text = options.text.substr(0, tab),
           .pair = options.text.substr(tab + 1),
           .choices = options.choices}};
}

void print(const tasks::Choice& one, const std::vector<std::string>& choices, bool as_json) {
  if (as_json) return fmt::print("{}\n", formats::json_line(tasks::choice_json(one)));
  const auto number = static_cast<size_t>(one.number);
  fmt::print("{}\t{:.4f}\n", choices[number], one.probabilities[number]);
}

void run(const Options& options) {
  tasks::TextChooser chooser(open_model(options.model, options.threads), options.threads);
  const std::vector<tasks::TextAndChoices> texts = texts_of(options);
  TruncationNote cut("text");
  UnknownNote unknown("text");
  for_each_portion<tasks::TextAndChoices>(
      texts, [&](std::span<const tasks::TextAndChoices> portion) {
        const std::vector<tasks::Choice> chosen = chooser.choose(portion);
        for (size_t i = 0; i < chosen.size(); ++i) {
          print(chosen[i], portion[i].choices, options.json);
          cut.count(chosen[i].texts);
          unknown.count(chosen[i].unknown);
        }
      });
  cut.print();
  unknown.print();
}

void add_options(OptionTable& table, Options& o) {
  table.add("text", &o.text, "A text, such as a question; or two of a pair, separated by a tab");
  table.add("choice", &o.choices, "A choice. Is given several times", {.is_repeatable = true});
  table.add("input_file", &o.input_file,
            R"(JSON lines of {"text", "choices"}, and perhaps "text_pair")",
            {.excludes = {"text", "choice"}});
  table.add("json", &o.json,
            "Print the probabilities of all choices, one JSON object per line, in the server's "
            "format");
  add_model_options(table, o.model, o.threads);
}

}  // namespace

void add_choose(Subcommand program) {
  program.add_command("choose",
                      {"Choose the right one of several texts",
                       "cloze choose --init-checkpoint quiz --text 'Who grinds?' --choice 'the "
                       "mill' --choice 'the fair'"},
                      add_options, run);
}

}  // namespace cloze::cli
