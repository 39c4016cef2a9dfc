// HTML character references in running text: &nbsp; &#233; &#xE9;
// Source: HTML Living Standard, "Named character references" (those that occur in prose).
#pragma once

#include <string>
#include <string_view>

namespace cloze::text {

// `text` with its references replaced; what is not a reference, or has an unknown name, stays as it
// is.
std::string decode_html_entities(std::string_view text);

}  // namespace cloze::text
