#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "formats/json.h"
#include "tasks/text_classifier.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string input_file;
  std::optional<double> threshold;
  bool json = false;
  int threads = 0;
};

// A line is a text, or two separated by a tab.
tasks::TextAndPair text_of(std::string_view line) {
  const size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return {.text = std::string(line), .pair = ""};
  return {.text = std::string(line.substr(0, tab)), .pair = std::string(line.substr(tab + 1))};
}

std::vector<tasks::TextAndPair> texts_of(const Options& options) {
  std::vector<tasks::TextAndPair> texts;
  note_invalid_texts(options.texts);
  for (const std::string& text : options.texts) texts.push_back(text_of(text));
  if (!texts.empty()) return texts;
  for (const std::string& line : input_lines(options.input_file)) texts.push_back(text_of(line));
  if (texts.empty()) throw_user_error("there is no text; give --text, or lines to read");
  return texts;
}

// A model that has not learned to tell texts apart answers them all alike.
class SamenessNote {
 public:
  void count(const tasks::ClassProbability& best) {
    if (++texts_ == 1) first_ = best;
    is_same_ = is_same_ && best.label == first_.label;
    least_ = std::min(least_, best.value);
    most_ = std::max(most_, best.value);
  }
  void print() const {
    constexpr int64_t kFewTexts = 10;
    constexpr double kNearly = 0.02;
    if (texts_ < kFewTexts || !is_same_ || most_ - least_ > kNearly) return;
    say("note: all {} texts are {}, with nearly the same probability ({:.4f} to {:.4f}): the model "
        "may not have learned to tell texts apart\n",
        texts_, first_.label, least_, most_);
  }

 private:
  int64_t texts_ = 0;
  tasks::ClassProbability first_;
  bool is_same_ = true;
  double least_ = 1.0, most_ = 0.0;
};

// The labels that hold, each with its probability; "-" where none does.
std::string labels_text(const tasks::Classification& one) {
  if (one.num_holding == 0) return "-";
  std::vector<std::string> fields;
  for (int64_t i = 0; i < one.num_holding; ++i) {
    const tasks::ClassProbability& holding = one.classes[static_cast<size_t>(i)];
    fields.push_back(fmt::format("{}\t{:.4f}", holding.label, holding.value));
  }
  return fmt::format("{}", fmt::join(fields, "\t"));
}

void print_classes(const tasks::Classification& one, const models::BertHead& head, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", formats::json_line(tasks::classification_json(one, head)));
  } else if (head.is_regression()) {
    fmt::print("{:.4f}\n", one.classes.front().value);
  } else {
    fmt::print("{}\n", labels_text(one));
  }
}

void run(const Options& options) {
  tasks::TextClassifier classifier(open_model(options.model, options.threads), options.threads,
                                   options.threshold);
  const std::vector<tasks::TextAndPair> texts = texts_of(options);
  TruncationNote cut("text");
  UnknownNote unknown("text");
  SamenessNote sameness;
  for_each_portion<tasks::TextAndPair>(texts, [&](std::span<const tasks::TextAndPair> portion) {
    for (const tasks::Classification& one : classifier.classify(portion)) {
      print_classes(one, classifier.head(), options.json);
      cut.count(one.texts);
      unknown.count(one.unknown);
      if (!classifier.head().is_regression()) sameness.count(one.classes.front());
    }
  });
  cut.print();
  unknown.print();
  sameness.print();
}

void add_options(OptionTable& table, Options& o) {
  table.add("text", &o.texts,
            "A text; or two of a pair, separated by a tab. May be given several times",
            {.is_repeatable = true});
  table.add("input_file", &o.input_file,
            "A text, or a pair separated by a tab, on each line; default: standard input",
            {.excludes = {"text"}});
  table.add(
      "threshold", &o.threshold,
      "Probability above which a label of several holds (0.5); \"-\" is printed where none does",
      {.minimum = 0, .maximum = 1});
  table.add("json", &o.json, "Print all classes, one JSON object per line, in the server's format");
  add_model_options(table, o.model, o.threads);
}

}  // namespace

void add_classify(Subcommand program) {
  program.add_command("classify",
                      {"Classify texts and pairs of texts",
                       "cloze classify --init-checkpoint sst2 --text 'a fine film'"},
                      add_options, run);
}

}  // namespace cloze::cli
