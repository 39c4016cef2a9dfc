// Tells who is running: names for files that several processes or machines may write side by side;
// and how urgent it is.
#pragma once

#include <cstdint>
#include <string>

namespace cloze::platform {

std::string host_name();  // "localhost" when the system does not say
int64_t process_id();
bool is_superuser();
// Says whether the kernel lets one process copy from another that it did not start
// (process_vm_readv): in containers it often does not.
bool can_read_other_processes();

// The calling thread gets the processors that other threads leave idle, and little else.
void lower_priority_of_thread();

}  // namespace cloze::platform
