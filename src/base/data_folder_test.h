// Where tests find real data: the folder that CLOZE_DATA names. Those that need it skip without.
#pragma once

#include <cstdlib>

namespace cloze {

// Null when the variable is not set, or empty.
inline const char* data_folder() {
  const char* folder = std::getenv("CLOZE_DATA");
  return folder == nullptr || *folder == '\0' ? nullptr : folder;
}

}  // namespace cloze
