// A length histogram as a picture: an SVG file of bars, some tokens wide each.
#pragma once

#include <string>

#include "data/offline_packing/length_histogram.h"

namespace cloze::data {

// The histogram holds at least one sequence.
std::string length_histogram_svg(const LengthHistogram& histogram, const std::string& title);

}  // namespace cloze::data
