// Fibers: one function on many stacks of one thread. A fiber runs until it pauses or ends; then the
// caller of resume() goes on.
//
//   fibers.begin(2, body);
//   fibers.resume(0);        body runs on the first stack until it calls fibers.pause()
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace cloze::backend::gpu::emulation {

class Fibers {
 public:
  static constexpr size_t kStackBytes = size_t{64} << 10;

  // None has begun; those of before are forgotten, where they are. No exception may leave the body,
  // which must last until all have ended.
  void begin(int count, const std::function<void()>& body);
  // Goes on with one that has not ended. InternalError when it ran out of its stack.
  void resume(int fiber);
  // Pauses the fiber that calls it.
  void pause();
  int running() const { return running_; }
  bool has_ended(int fiber) const { return contexts_[static_cast<size_t>(fiber)].has_ended; }

 private:
  struct Context {
    void* stack_pointer = nullptr;
    void* sanitizer = nullptr;  // what AddressSanitizer keeps of a stack that is left
    bool has_ended = false;
  };

  static void enter();
  std::byte* stack_of(int fiber) const { return stacks_.get() + fiber * kStackBytes; }
  void leave(Context& context);

  std::unique_ptr<std::byte[]> stacks_;
  int num_stacks_ = 0;
  std::vector<Context> contexts_;
  Context caller_;
  const void* caller_stack_ = nullptr;
  size_t caller_bytes_ = 0;
  const std::function<void()>* body_ = nullptr;
  int running_ = 0;
};

}  // namespace cloze::backend::gpu::emulation
