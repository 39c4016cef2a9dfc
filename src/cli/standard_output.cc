#include "cli/standard_output.h"

#include <cstdio>

#include "base/error.h"

namespace cloze::cli {

void flush_standard_output() {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return;
  throw_environment_error("standard output cannot be written to; is it full or closed?");
}

}  // namespace cloze::cli
