// Who is running: names for files that several processes or machines may write side by side.
#pragma once

#include <cstdint>
#include <string>

namespace cloze::platform {

std::string host_name();  // "localhost" when the system does not say
int64_t process_id();

}  // namespace cloze::platform
