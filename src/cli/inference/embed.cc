#include <fmt/core.h>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "checkpoints/sentence_folder.h"
#include "cli/console/say.h"
#include "cli/console/work_display.h"
#include "cli/inference/embedding_options.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "tasks/embedding/embedding_file.h"
#include "tasks/embedding/vector_file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  EncoderOptions encoder;
  std::vector<std::string> texts;
  fs::path input_file = "-";
  std::string text_field = "text";
  fs::path output_file;
};

// Says what the texts were like, once all are done.
class TextNotes {
 public:
  void count(const tasks::TextEmbedding& one) {
    cut_.count(one.text);
    unknown_.count(one.unknown);
  }
  void print() const {
    cut_.print();
    unknown_.print();
  }

 private:
  TruncationNote cut_{"text"};
  UnknownNote unknown_{"text"};
};

void print_vectors(tasks::TextEmbedder& embedder, const std::vector<std::string>& texts,
                   const tasks::EmbeddingOptions& options) {
  TextNotes notes;
  for_each_portion<std::string>(texts, [&](std::span<const std::string> portion) {
    for (const tasks::TextEmbedding& one : embedder.embed(portion, options)) {
      std::string line;
      tasks::append_json_vector(one.values, line);
      fmt::print("{}\n", line);
      notes.count(one);
    }
  });
  notes.print();
}

std::string described(const tasks::EmbeddingProgress& progress, int64_t total, double seconds) {
  const int64_t done = progress.texts;
  return fmt::format("{:.0f} % of {} texts, {:.0f} tokens/s, {} left", percent(done, total), total,
                     static_cast<double>(progress.tokens) / seconds,
                     time_left(done, total, seconds, progress.before));
}

void write_vectors(tasks::TextEmbedder& embedder, const std::vector<std::string>& texts,
                   const Options& o) {
  TextNotes notes;
  tasks::EmbeddingProgress progress;
  const auto start = std::chrono::steady_clock::now();
  {
    const WorkDisplay display(
        [&](double seconds) { return described(progress, std::ssize(texts), seconds); });
    tasks::embed_into_file(embedder, texts,
                           {.path = o.output_file,
                            .options = embedding_options(o.encoder, embedder),
                            .identity = embedding_identity(o.encoder, embedder),
                            .visit = [&](const tasks::TextEmbedding& one) { notes.count(one); }},
                           progress);
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  notes.print();
  say("{}: {} vectors, {:.0f} texts/s and {:.0f} tokens/s in {:.2f} s\n", o.output_file.string(),
      texts.size(), static_cast<double>(progress.texts - progress.before) / seconds.count(),
      static_cast<double>(progress.tokens) / seconds.count(), seconds.count());
}

void run(const Options& o) {
  if (!o.output_file.empty()) tasks::vector_form_of(o.output_file);  // refused before any work
  tasks::TextEmbedder embedder = open_embedder(o.encoder);
  note_invalid_texts(o.texts);
  const std::vector<std::string> texts =
      o.texts.empty() ? tasks::read_texts(o.input_file, o.text_field) : o.texts;
  if (o.output_file.empty()) {
    print_vectors(embedder, texts, embedding_options(o.encoder, embedder));
  } else {
    write_vectors(embedder, texts, o);
  }
}

void add_options(OptionTable& table, Options& o) {
  table.add("text", &o.texts, "A text. May be given several times", {.is_repeatable = true});
  table.add("input_file", &o.input_file,
            "A text on each line or, with a name that ends with .jsonl, a JSON object; plain, gzip "
            "or Zstandard; \"-\": standard input",
            {.excludes = {"text"}});
  table.add("text_field", &o.text_field, "Key of the text in JSON objects",
            {.excludes = {"text"}, .misplaced = [&o] {
               return tasks::holds_json_lines(o.input_file)
                          ? ""
                          : "needs an --input-file whose name ends with .jsonl";
             }});
  table.add(
      "output_file", &o.output_file,
      "File for the vectors, a row for each text: .npy, .jsonl or .bin (the rows alone, f32); "
      "an interrupted one goes on where it was. Default: lines of JSON, printed");
  add_encoder_options(table, o.encoder);
}

}  // namespace

void add_embed(Subcommand program) {
  program.add_command("embed",
                      {"Make vectors of texts",
                       "cloze embed --init-checkpoint bert --text 'how do I reset my card?'"},
                      add_options, run);
}

}  // namespace cloze::cli
