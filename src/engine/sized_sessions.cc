#include "engine/sized_sessions.h"

#include <algorithm>
#include <utility>

namespace cloze::engine {

SizedSessions::SizedSessions(Session& full, Options options)
    : full_(full), options_(std::move(options)) {}

SizedSessions::SizedSessions(std::unique_ptr<Session> full, Options options)
    : SizedSessions(*full, std::move(options)) {
  own_full_ = std::move(full);
}

std::unique_ptr<Session> SizedSessions::make(plan::Program program, runtime::SharedMemory memory) {
  runtime::Executor& full = full_.executor();
  auto session = std::make_unique<Session>(std::move(program), full.device(), std::move(memory));
  session->executor().record_spans_in(full);
  return session;
}

std::unique_ptr<SizedSessions> SizedSessions::another() {
  return std::make_unique<SizedSessions>(
      make(full_.program(), full_.executor().memory_beside_a_batch()), options_);
}

SizedSessions::Size SizedSessions::size_for(const Size& need) const {
  return options_.make_graph ? options_.round_up(need) : options_.full;
}

Session& SizedSessions::holding(const Size& need) {
  const Size size = size_for(need);
  if (size == options_.full) return full_;
  const auto found = std::ranges::find(sessions_, size, &Sized::size);
  if (found != sessions_.end()) {
    sessions_.splice(sessions_.begin(), sessions_, found);
  } else {
    sessions_.push_front({size, make(compile(options_.make_graph(size), options_.compile),
                                     full_.executor().memory_beside_inputs())});
    if (sessions_.size() > kMostKept) sessions_.pop_back();
  }
  return *sessions_.front().session;
}

}  // namespace cloze::engine
