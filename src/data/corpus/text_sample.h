// Paragraphs from all over a text, to look at before anything is made of it: all of a text of up to
// 4 MiB, else 64 parts of 64 KiB at equal distances. Bad text is passed over: it is refused where
// the whole is read. A line of the form `sentences` counts as a paragraph.
#pragma once

#include <string>
#include <vector>

#include "data/corpus/text_source.h"

namespace cloze::data {

struct TextSample {
  std::vector<std::string> paragraphs;
  bool is_whole = true;
};

TextSample sample_of(const std::vector<TextSource>& sources);

}  // namespace cloze::data
