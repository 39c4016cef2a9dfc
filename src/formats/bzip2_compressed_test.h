// For tests: a text compressed with libbz2.
#pragma once

#include <bzlib.h>

#include <string>

#include "base/error.h"

namespace cloze::formats {

// In blocks of up to `level` times 100 kB.
inline std::string bzip2_compressed(std::string text, int level = 9) {
  std::string result(text.size() + text.size() / 100 + 600, '\0');
  auto size = static_cast<unsigned>(result.size());
  const int status = BZ2_bzBuffToBuffCompress(result.data(), &size, text.data(),
                                              static_cast<unsigned>(text.size()), level, 0, 0);
  CLOZE_CHECK(status == BZ_OK, "libbz2's status {}", status);
  result.resize(size);
  return result;
}

}  // namespace cloze::formats
