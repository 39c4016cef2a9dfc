// The sequences of a GLUE task's file, for scripts/check_glue_features.
//
// Usage: glue_driver TASK FOLDER SPLIT VOCABULARY LENGTH
// Prints one line per example: the ids; the types change from 0 to 1 after the first [SEP].
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <span>
#include <string>

#include "base/error.h"
#include "driver_main.h"
#include "tasks/glue/glue_features.h"
#include "tasks/glue/glue_task.h"

namespace cloze::tasks {
namespace {

GlueSplit split_from(const std::string& name) {
  for (const GlueSplit split : {GlueSplit::kTrain, GlueSplit::kDev, GlueSplit::kTest}) {
    if (name_of(split) == name) return split;
  }
  throw_user_error("no split '{}'", name);
}

void run(const std::span<char* const> arguments) {
  if (arguments.size() != 6) {
    throw_user_error("usage: glue_driver TASK FOLDER SPLIT VOCABULARY LENGTH");
  }
  const GlueTask& task = glue_task(arguments[1]);
  const auto examples = read_glue(glue_file(arguments[2], task, split_from(arguments[3])), task);
  const text::Tokenizer tokenizer(text::Vocabulary::load(arguments[4]), {});
  const SequenceSamples features = make_glue_features(
      examples, task, tokenizer, {.max_sequence_length = std::atoll(arguments[5])});
  for (const data::Sample& sample : features.samples) {
    fmt::print("{}\n", fmt::join(sample.input_ids, " "));
  }
}

}  // namespace
}  // namespace cloze::tasks

int main(int argc, char** argv) { return cloze::driver_main(argc, argv, cloze::tasks::run); }
