#include "platform/process.h"

#include <unistd.h>

namespace cloze::platform {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

int64_t process_id() { return ::getpid(); }

}  // namespace cloze::platform
