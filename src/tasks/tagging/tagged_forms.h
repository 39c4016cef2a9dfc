// The forms of tagged_text.h, one function each. They fill in everything but scheme and counts of it.
#pragma once

#include <string_view>

#include "tasks/tagging/tagged_text.h"

namespace cloze::tasks {

bool is_tagged_json(std::string_view text);
bool is_conllu(std::string_view text);

// `text.file` and `text.columns` are what was asked for.
void read_tagged_json(std::string_view bytes, TaggedText& text);
void read_conllu(std::string_view bytes, TaggedText& text);
void read_tagged_columns(std::string_view bytes, TaggedText& text);

}  // namespace cloze::tasks
