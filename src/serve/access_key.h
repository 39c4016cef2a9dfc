// The key that a server may ask for: "Authorization: Bearer KEY".
#pragma once

#include <string_view>

#include "serve/http_message.h"

namespace cloze::serve {

// Says whether a request has the key. The time that this takes tells nothing of the key but its
// length.
bool has_key(const RequestHead& head, std::string_view key);

}  // namespace cloze::serve
