// How two JSON objects of named values differ, for a message.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace cloze::formats {

// "seed 1234, this run has 5; ...": the names of both whose values differ, `word` ("this run has")
// between the two. Empty when none does; a name that only one of them has is left alone.
std::string value_differences(const nlohmann::json& stored, const nlohmann::json& current,
                              std::string_view word);

}  // namespace cloze::formats
