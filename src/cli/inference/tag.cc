#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "formats/json.h"
#include "tasks/tagging/text_tagger.h"

namespace cloze::cli {
namespace {

struct Options {
  ModelOptions model;
  std::vector<std::string> texts;
  std::string input_file;
  tasks::TagAggregation aggregation = tasks::TagAggregation::kFirst;
  bool json = false;
  int threads = 0;
};

std::vector<std::string> texts_of(const Options& options) {
  std::vector<std::string> texts = options.texts;
  note_invalid_texts(texts);
  if (texts.empty()) texts = input_lines(options.input_file);
  if (texts.empty()) throw_user_error("there is no text; give --text, or lines to read");
  return texts;
}

void print_tags(const tasks::TextTags& tags, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", formats::json_line(tasks::text_tags_json(tags)));
    return;
  }
  for (const tasks::TextTag& one : tags.tags) {
    fmt::print("{}\t{:.4f}\t{}\t[{}, {})\n", one.tag, one.probability, one.text, one.start,
               one.end);
  }
  if (tags.tags.empty()) fmt::print("no part of the text has a tag\n");
}

void run(const Options& options) {
  tasks::TextTagger tagger(open_model(options.model, options.threads), options.threads);
  const std::vector<std::string> texts = texts_of(options);
  UnknownNote unknown("text");
  bool is_first = true;
  for_each_portion<std::string>(texts, [&](std::span<const std::string> portion) {
    for (const tasks::TextTags& one : tagger.tag(portion, options.aggregation)) {
      if (!is_first && !options.json) fmt::print("\n");
      print_tags(one, options.json);
      unknown.count(one.unknown);
      is_first = false;
    }
  });
  unknown.print();
}

void add_options(OptionTable& table, Options& o) {
  const std::vector<std::string> aggregations(std::begin(tasks::kTagAggregations),
                                              std::end(tasks::kTagAggregations));
  table.add("text", &o.texts, "A text. May be given several times", {.is_repeatable = true});
  table.add("input_file", &o.input_file, "A text on each line; default: standard input",
            {.excludes = {"text"}});
  table.add("aggregation", enumerated(o.aggregation, aggregations),
            "How the pieces of a word share a tag: that of the first, of the largest mean, of the "
            "most certain; simple: each its own; none: not joined to entities either",
            {.choices = aggregations});
  table.add("json", &o.json, "Print one JSON object per line, in the server's format");
  add_model_options(table, o.model, o.threads);
}

}  // namespace

void add_tag(Subcommand program) {
  program.add_command("tag",
                      {"Find names and other tagged parts of texts",
                       "cloze tag --init-checkpoint ner --text 'Anna Berg lives in Ulm.'"},
                      add_options, run);
}

}  // namespace cloze::cli
