// Sessions of one graph in several sizes, for micro-batches that are not full.
//
// A program computes all slots that it was compiled for, used or not. So a micro-batch goes through
// a program with little more than the slots that it needs; the owner says which sizes there are. A
// size's program is made when it is first needed, in a few milliseconds. It shares all memory with
// the full one except the inputs (runtime/executor.h).
#pragma once

#include <cstddef>
#include <functional>
#include <list>
#include <memory>

#include "engine/session.h"
#include "models/bert.h"

namespace cloze::engine {

class SizedSessions {
 public:
  using Size = models::BatchShape;
  // So many sizes are kept beside the full one, those used last.
  static constexpr size_t kMostKept = 32;

  struct Options {
    Size full;
    CompileOptions compile;
    // The graph of the full session for another size. If empty, the full session computes every
    // micro-batch.
    std::function<graph::Graph(const Size& size)> make_graph;
    // The size for a micro-batch that needs so much: no less than that, no more than `full`.
    std::function<Size(const Size& need)> round_up;
  };

  // `full` outlives it.
  SizedSessions(Session& full, Options options);
  SizedSessions(std::unique_ptr<Session> full, Options options);

  // Sessions for a micro-batch at the same time, which share all but inputs and activations.
  // This object outlives them and records their spans.
  std::unique_ptr<SizedSessions> another();

  Session& full() { return full_; }
  Size size_for(const Size& need) const;
  // The session of that size. It stays where it is while fewer than kMostKept others are used.
  Session& holding(const Size& need);

 private:
  struct Sized {
    Size size;
    std::unique_ptr<Session> session;
  };

  std::unique_ptr<Session> make(plan::Program program, runtime::SharedMemory memory);

  std::unique_ptr<Session> own_full_;  // or the caller's
  Session& full_;
  Options options_;
  std::list<Sized> sessions_;  // the one used last first
};

}  // namespace cloze::engine
