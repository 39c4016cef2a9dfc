// Texts of invented words for benchmarks without real data: a step computes the same whatever they say.
#pragma once

#include <filesystem>

namespace cloze::cli {

// Writes vocab.txt, squad-train.json and squad-dev.json in the form of SQuAD 1.1, and MRPC/train.tsv
// to the folder, unless it has them.
void write_generated_text(const std::filesystem::path& folder);

}  // namespace cloze::cli
