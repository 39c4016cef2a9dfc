// The sample world's readings as SQuAD 1.1 files, what fine-tuning reads and what scores it:
//   squad-train.json, squad-dev.json   one article for each kind of subject, of many paragraphs
// No paragraph and no subject of one file is in the other. Files begin alike whatever their size:
// dev takes the first readings, train those after them.
// Errors: UserError for more questions than the readings have; those of AtomicFile when a file
// cannot be written. Format: tasks/squad/squad_data.h.
#pragma once

#include <cstdint>
#include <filesystem>

namespace cloze::data {

struct SampleSquadOptions {
  std::filesystem::path directory;
  uint64_t seed = 42;
  int64_t num_train_questions = 7000;
  int64_t num_dev_questions = 500;
  int64_t num_subjects = 1;  // of each paragraph, 1 to 3; see sample_world/readings.h
};

// Throws the error that write_sample_squad would throw about the sizes; writes nothing.
void validate(const SampleSquadOptions& options);
void write_sample_squad(const SampleSquadOptions& options);

}  // namespace cloze::data
