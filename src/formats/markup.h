// Text inside HTML, XML and SVG.
#pragma once

#include <string>
#include <string_view>

namespace cloze::formats {

// The text with &, < and " as entities: as content, and as an attribute's value between double
// quotes.
std::string escaped_markup(std::string_view text);

}  // namespace cloze::formats
