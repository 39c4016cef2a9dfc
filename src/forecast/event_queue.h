// The coming events of a simulation in the order of time; those at the same time are in the order
// in which they were added.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

namespace cloze::forecast {

class EventQueue {
 public:
  using Action = std::function<void(double time)>;

  void add(double time, Action action) { events_.push({time, added_++, std::move(action)}); }

  void run() {
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      event.action(event.time);
    }
  }

 private:
  struct Event {
    double time;
    int64_t number;
    Action action;
    bool operator<(const Event& other) const {  // the top is the first
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  std::priority_queue<Event> events_;
  int64_t added_ = 0;
};

}  // namespace cloze::forecast
