// Tells an observer what this process is doing. The observer is another thread, or another process
// that this thread informs (comm/heartbeat.h). The main thread announces it in a few stores.
#pragma once

#include <cstdint>

namespace cloze::platform {

struct Phase {
  const char* name = "starting";  // of static storage
  int64_t step = 0;               // of the run, counted from 1; 0: before the first
  int64_t entered = 0;            // phases so far: while it grows, work goes on
  bool waits_for_others = false;  // other processes have to do their part
};

// The step that the phases from now on belong to.
void enter_step(int64_t step);
void enter_phase(const char* name);
void enter_wait(const char* name);  // a phase that waits for others
// May be called from any thread. It may mix parts of two consecutive phases.
Phase current_phase();

}  // namespace cloze::platform
