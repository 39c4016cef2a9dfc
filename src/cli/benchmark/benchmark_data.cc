#include "cli/benchmark/benchmark_data.h"

#include <fmt/format.h>

#include <fstream>

#include "data/sample_corpus.h"
#include "data/sample_squad.h"
#include "platform/file.h"
#include "text/vocabulary_trainer.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDatasets = "$DATASETS_DIR";

// MRPC's columns. Whether a sentence follows the other is chance here.
void write_pairs(const fs::path& corpus, const fs::path& folder) {
  std::string rows = "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String\n";
  std::ifstream lines(corpus);
  std::string first, second;
  for (int i = 0; std::getline(lines, second); first = second) {
    if (first.empty() || second.empty()) continue;
    rows += fmt::format("{}\t{}\t{}\t{}\t{}\n", i % 2, i, i + 1, first, second);
    ++i;
  }
  platform::make_writable_directory(folder);
  platform::write_file_atomically(folder / "train.tsv", rows);
}

void write_world(const fs::path& folder) {
  constexpr int64_t kDocuments = 200, kQuestions = 500, kTokens = 2048;
  if (fs::exists(folder / "vocab.txt")) return;
  data::write_sample_corpus({.directory = folder, .num_documents = kDocuments, .megabytes = {}});
  data::write_sample_squad({.directory = folder,
                            .num_train_questions = kQuestions,
                            .num_dev_questions = kQuestions / 10});
  write_pairs(folder / "corpus.txt", folder / "MRPC");
  text::VocabularyTrainer trainer({.tokenizer = {}, .size = kTokens});
  trainer.add_text(platform::read_file(folder / "corpus.txt"));
  platform::write_file_atomically(folder / "vocab.txt", trainer.train().to_text());
}

void take_world(BenchmarkRun& run, const fs::path& made) {
  write_world(made);
  run.options["vocab_file"] = made / "vocab.txt";
  if (run.command == "glue") {
    run.options["data_dir"] = made / "MRPC";
    return;
  }
  run.options["train_file"] = made / "squad-train.json";
  run.options["predict_file"] = made / "squad-dev.json";
}

}  // namespace

void give_data(BenchmarkRun& run, const fs::path& datasets, const fs::path& made) {
  for (auto& [name, value] : run.options) {
    const size_t at = value.find(kDatasets);
    if (at == std::string::npos) continue;
    if (!datasets.empty()) {
      value.replace(at, std::string(kDatasets).size(), datasets.string());
      continue;
    }
    fmt::print("data: made, as no --datasets-dir is given\n");
    if (run.command != "pretrain") return take_world(run, made);
    run.options.erase(name);
    run.options["generated_data"] = "true";
    return;
  }
}

}  // namespace cloze::cli
