// Embeds many texts into a file, which goes on after an interruption (data/resumable_output.h).
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "formats/json.h"
#include "tasks/text_embedder.h"

namespace cloze::tasks {

// Says whether the file is one of JSON Lines: its name ends with .jsonl, or that and .gz or .zst.
bool holds_json_lines(const std::filesystem::path& file);

// Row i of the vectors is that of text i: of line i, empty or not, or of object i of JSON Lines,
// which holds it under `field`. "-" is standard input. DataError that names file and line for an
// object without such a text; UserError for a file without any.
std::vector<std::string> read_texts(const std::filesystem::path& file, const std::string& field);

// Counts what one thread does and another shows.
struct EmbeddingProgress {
  std::atomic<int64_t> texts = 0;   // done, with those of an interrupted run
  std::atomic<int64_t> before = 0;  // of these, those of the interrupted run
  std::atomic<int64_t> tokens = 0;  // of this run
};

struct EmbeddingFile {
  std::filesystem::path path;  // vector_file.h
  EmbeddingOptions options = {};
  formats::Json identity = {};  // of the model and the options: what decides the numbers
  int64_t texts_at_once = 1024;
  std::chrono::milliseconds between_saves{30'000};
  // Called for each text of this run, in order.
  std::function<void(const TextEmbedding&)> visit = {};
};

// Errors: those of TextEmbedder and of ResumableOutput; Interruption after a signal, when all that is
// done is kept.
void embed_into_file(TextEmbedder& embedder, std::span<const std::string> texts,
                     const EmbeddingFile& file, EmbeddingProgress& progress);

}  // namespace cloze::tasks
