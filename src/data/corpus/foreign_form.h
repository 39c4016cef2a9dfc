// Files that are not text, by what they begin with.
#pragma once

#include <filesystem>
#include <string_view>

namespace cloze::data {

// UserError for a file that begins as one of another form does (UTF-16, archives, documents,
// models, tables): it names the form, and what to do.
void check_not_foreign(std::string_view text, const std::filesystem::path& file);

}  // namespace cloze::data
