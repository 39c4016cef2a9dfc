#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/console/say.h"
#include "cli/inference/embedding_options.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"

namespace cloze::cli {
namespace {

struct Options {
  EncoderOptions encoder;
  std::vector<std::string> texts;
  std::string input_file;
};

std::vector<std::string> pairs_of(const Options& options) {
  note_invalid_texts(options.texts);
  const std::vector<std::string> pairs =
      options.texts.empty() ? input_lines(options.input_file) : options.texts;
  if (pairs.empty()) throw_user_error("there is no pair of texts; give --text, or lines to read");
  return pairs;
}

// The two texts of a pair, one after the other.
std::vector<std::string> texts_of(std::span<const std::string> pairs) {
  std::vector<std::string> texts;
  for (const std::string& pair : pairs) {
    const size_t tab = pair.find('\t');
    if (tab == std::string::npos || pair.find('\t', tab + 1) != std::string::npos) {
      throw_user_error("\"{}\" is not a pair; separate two texts by one tab", pair);
    }
    texts.push_back(pair.substr(0, tab));
    texts.push_back(pair.substr(tab + 1));
  }
  return texts;
}

void run(const Options& o) {
  tasks::TextEmbedder embedder = open_embedder(o.encoder);
  const std::vector<std::string> pairs = pairs_of(o);
  const tasks::EmbeddingOptions how = embedding_options(o.encoder, embedder);
  const tasks::Similarity similarity =
      tasks::similarity_named(embedder.model().pretrained().sentences.similarity);
  TruncationNote cut("text");
  for_each_portion<std::string>(pairs, [&](std::span<const std::string> portion) {
    const std::vector<tasks::TextEmbedding> made = embedder.embed(texts_of(portion), how);
    for (size_t i = 0; i < made.size(); i += 2) {
      fmt::print("{:.6f}\n", similarity(made[i].values, made[i + 1].values));
      cut.count(made[i].text);
      cut.count(made[i + 1].text);
    }
  });
  cut.print();
}

void add_options(OptionTable& table, Options& o) {
  table.add("text", &o.texts, "Two texts, separated by a tab. May be given several times",
            {.is_repeatable = true});
  table.add("input_file", &o.input_file,
            "Two texts separated by a tab on each line; default: standard input",
            {.excludes = {"text"}});
  add_encoder_options(table, o.encoder);
}

}  // namespace

void add_similarity(Subcommand program) {
  program.add_command("similarity",
                      {"Say how alike two texts are",
                       "printf 'a fine film\\ta good movie\\n' | cloze similarity "
                       "--init-checkpoint bert"},
                      add_options, run);
}

}  // namespace cloze::cli
