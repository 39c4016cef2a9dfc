// Tells markup and JSON by the beginning of a text.
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

#include "data/corpus/corpus_text.h"

namespace cloze::data {

// The form that markup or JSON at the beginning shows; nothing for plain text.
std::optional<TextFormat> form_by_markup(std::string_view text);

// UserError when the beginning of a file, before anything is made of it, shows that it is of
// another form, or HTML. That a file is not a dump is found out where dumps are read.
void check_text_form(std::string_view text, TextFormat format, const std::filesystem::path& file);

}  // namespace cloze::data
