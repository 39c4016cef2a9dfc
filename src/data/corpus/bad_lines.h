// Describes the lines of JSON Lines that are left out where bad lines are skipped.
#pragma once

#include <string>
#include <vector>

#include "data/corpus/text_source.h"

namespace cloze::data {

// "2 bad lines of 4711 left out, the first of them a.jsonl:7:1: has no "text", but ..."; empty
// when none is. Reads all JSON Lines among the sources, on `threads` threads.
std::string describe_bad_lines(const std::vector<TextSource>& sources, int threads);

}  // namespace cloze::data
