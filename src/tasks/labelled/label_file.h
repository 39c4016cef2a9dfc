// A file of a user's own labels: plain or compressed (gzip, Zstandard), from a path or standard
// input ("-"); the objects of one that holds JSON; and the order of labels.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "formats/json.h"

namespace cloze::tasks {

// Its text, decompressed, without a byte order mark. Not checked to be UTF-8.
std::string read_label_file(const std::filesystem::path& file);

// DataError "FILE:LINE: WHAT".
[[noreturn]] void refuse_line(const std::filesystem::path& file, int64_t line,
                              const std::string& what);

// Visits the objects of an array (text that begins with "[") with their number, or of JSON Lines with
// their line, both from 1. DataError that names file and line for what is no JSON, or no object.
void for_each_json_object(
    std::string_view text, const std::filesystem::path& file,
    const std::function<void(const formats::Json& object, int64_t line)>& visit);

// The order in which labels are numbered: by value if all are whole numbers, else by their bytes.
std::vector<std::string> ordered_labels(const std::set<std::string>& labels);

}  // namespace cloze::tasks
