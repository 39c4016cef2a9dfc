// Base64: RFC 4648, section 4.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace cloze::serve {

std::string base64(std::span<const std::byte> bytes);

}  // namespace cloze::serve
