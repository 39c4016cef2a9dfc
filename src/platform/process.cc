#include "platform/process.h"

#include <sys/resource.h>
#include <unistd.h>

namespace cloze::platform {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

int64_t process_id() { return ::getpid(); }

// For Linux a thread is a process here: the others keep their priority.
void lower_priority_of_thread() {
  constexpr int kLow = 10;
  ::setpriority(PRIO_PROCESS, 0, kLow);
}

}  // namespace cloze::platform
