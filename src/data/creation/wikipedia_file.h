// Writes the text of Wikipedia into a file. After an interruption the same command goes on, to the
// same bytes (resumable_output.h).
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "data/wikipedia/wikipedia_text.h"

namespace cloze::data {

struct WikipediaFileOptions {
  WikipediaOptions input;
  std::filesystem::path output_file;
  int64_t save_bytes = 64 << 20;  // of the input's text, between two saves
};

// `notice` is told of each broken file that is skipped, and what an interrupted run has left.
// Errors are those of read_wikipedia and ResumableOutput.
WikipediaCounts write_wikipedia_text(const WikipediaFileOptions& options,
                                     WikipediaProgress& progress,
                                     const std::function<void(const std::string&)>& notice);

}  // namespace cloze::data
