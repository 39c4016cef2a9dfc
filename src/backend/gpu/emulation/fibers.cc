#include "backend/gpu/emulation/fibers.h"

#include <cstdint>
#include <cstring>

#include "base/error.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#else
#define ASAN_UNPOISON_MEMORY_REGION(begin, bytes) static_cast<void>(begin)
#define __sanitizer_start_switch_fiber(kept, stack, bytes) static_cast<void>(kept)
#define __sanitizer_finish_switch_fiber(kept, stack, bytes) static_cast<void>(kept)
#endif

// Saves the registers that a function must keep and its stack pointer, and takes those of another
// stack. The calling convention is that of System V on x86-64.
extern "C" void cloze_switch_stack(void** saved, void* next);
asm(R"(
.text
.globl cloze_switch_stack
.hidden cloze_switch_stack
.type cloze_switch_stack, @function
cloze_switch_stack:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cloze_switch_stack, .-cloze_switch_stack
)");

namespace cloze::backend::gpu::emulation {
namespace {

constexpr int kSavedRegisters = 6;
constexpr uint64_t kLastWord = 0x5ca1ab1e0ddba11u;  // at the end of a stack, which grows down to it

thread_local Fibers* t_entered = nullptr;

// The stack of a fiber that will begin with a call of `enter`, as cloze_switch_stack reads it. At
// the beginning of a function the stack pointer is 8 less than a multiple of 16.
void* fresh_stack(std::byte* stack, void (*enter)()) {
  ASAN_UNPOISON_MEMORY_REGION(stack, Fibers::kStackBytes);
  std::memcpy(stack, &kLastWord, sizeof(kLastWord));
  auto* const top = reinterpret_cast<uint64_t*>(stack + Fibers::kStackBytes);
  top[-1] = 0;
  top[-2] = reinterpret_cast<uint64_t>(enter);
  for (int i = 0; i < kSavedRegisters; ++i) top[-3 - i] = 0;
  return top - 2 - kSavedRegisters;
}

}  // namespace

void Fibers::begin(int count, const std::function<void()>& body) {
  if (count > num_stacks_) {
    const size_t bytes = static_cast<size_t>(count) * kStackBytes;
    stacks_.reset(new std::byte[bytes]);
    num_stacks_ = count;
  }
  contexts_.assign(static_cast<size_t>(count), {});
  body_ = &body;
  for (int i = 0; i < count; ++i) {
    contexts_[static_cast<size_t>(i)].stack_pointer = fresh_stack(stack_of(i), enter);
  }
}

void Fibers::resume(int fiber) {
  running_ = fiber;
  t_entered = this;
  __sanitizer_start_switch_fiber(&caller_.sanitizer, stack_of(fiber), kStackBytes);
  cloze_switch_stack(&caller_.stack_pointer, contexts_[static_cast<size_t>(fiber)].stack_pointer);
  __sanitizer_finish_switch_fiber(caller_.sanitizer, nullptr, nullptr);
  CLOZE_CHECK(std::memcmp(stack_of(fiber), &kLastWord, sizeof(kLastWord)) == 0,
              "a fiber took more than its stack of {} bytes", kStackBytes);
}

void Fibers::pause() {
  Context& context = contexts_[static_cast<size_t>(running_)];
  __sanitizer_start_switch_fiber(&context.sanitizer, caller_stack_, caller_bytes_);
  leave(context);
  __sanitizer_finish_switch_fiber(context.sanitizer, &caller_stack_, &caller_bytes_);
}

void Fibers::leave(Context& context) {
  cloze_switch_stack(&context.stack_pointer, caller_.stack_pointer);
}

void Fibers::enter() {
  Fibers& fibers = *t_entered;
  __sanitizer_finish_switch_fiber(nullptr, &fibers.caller_stack_, &fibers.caller_bytes_);
  (*fibers.body_)();
  Context& context = fibers.contexts_[static_cast<size_t>(fibers.running_)];
  context.has_ended = true;
  __sanitizer_start_switch_fiber(nullptr, fibers.caller_stack_, fibers.caller_bytes_);
  fibers.leave(context);
  __builtin_unreachable();
}

}  // namespace cloze::backend::gpu::emulation
