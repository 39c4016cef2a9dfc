// Batch files: a JSON object on each line.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace cloze::cli {

// The objects of a file, each of which has these members, as texts; it may have the optional ones,
// and others as well (an id). DataError that names file and line when one has not; UserError when
// the file is empty.
std::vector<nlohmann::json> read_json_lines(const std::filesystem::path& path,
                                            const std::vector<std::string>& texts,
                                            const std::vector<std::string>& optional_texts = {});

}  // namespace cloze::cli
