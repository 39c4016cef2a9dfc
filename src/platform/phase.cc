#include "platform/phase.h"

#include <atomic>

namespace cloze::platform {
namespace {

std::atomic<const char*> phase_name{Phase().name};
std::atomic<int64_t> phase_step{0};
std::atomic<int64_t> phases_entered{0};
std::atomic<bool> phase_waits{false};

void enter(const char* name, bool waits_for_others) {
  phase_name = name;
  phase_waits = waits_for_others;
  ++phases_entered;
}

}  // namespace

void enter_step(int64_t step) { phase_step = step; }
void enter_phase(const char* name) { enter(name, false); }
void enter_wait(const char* name) { enter(name, true); }

Phase current_phase() {
  return {.name = phase_name,
          .step = phase_step,
          .entered = phases_entered,
          .waits_for_others = phase_waits};
}

}  // namespace cloze::platform
