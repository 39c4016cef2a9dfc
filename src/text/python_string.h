// Does what Python 3.11's str does to a text (Unicode 14.0.0), for programs whose official results
// are made in Python. Texts are valid UTF-8 where nothing else is said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace cloze::text {

bool is_python_space(char32_t code_point);  // str.isspace(): where split() cuts
bool is_python_word(char32_t code_point);   // \w of re: str.isalnum() or "_"

std::string python_lower(std::string_view text);                    // str.lower()
std::vector<std::string_view> python_split(std::string_view text);  // str.split()
// Says whether str.strip() leaves nothing; bytes that are not UTF-8 stay.
bool is_blank(std::string_view text);
std::string python_single_spaced(std::string_view text);            // " ".join(str.split())

}  // namespace cloze::text
