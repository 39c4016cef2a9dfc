#include "platform/process.h"

#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cloze::platform {

std::string host_name() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

int64_t process_id() { return ::getpid(); }
bool is_superuser() { return ::geteuid() == 0; }

// Tested with a child: it relates to its parent as unrelated processes do to each other.
bool can_read_other_processes() {
  const int64_t value = 0x1234;
  const pid_t child = ::fork();
  if (child == 0) {
    int64_t copy = 0;
    const iovec here{&copy, sizeof copy}, there{const_cast<int64_t*>(&value), sizeof value};
    const bool is_copied = ::process_vm_readv(::getppid(), &here, 1, &there, 1, 0) == sizeof copy;
    ::_exit(is_copied && copy == value ? 0 : 1);
  }
  int status = 1;
  return child > 0 && ::waitpid(child, &status, 0) == child && status == 0;
}

// For Linux a thread is a process here: the others keep their priority.
void lower_priority_of_thread() {
  constexpr int kLow = 10;
  ::setpriority(PRIO_PROCESS, 0, kLow);
}

}  // namespace cloze::platform
