// How long the ranks of a step communicated.
#pragma once

#include <algorithm>

namespace cloze::train {

struct CommunicationTime {
  double seconds = 0.0;  // in all
  double waited = 0.0;   // of these, while the step stood still

  void add(const CommunicationTime& other) {
    seconds += other.seconds;
    waited += other.waited;
  }
  // The share that was hidden by computing. A rank may also wait for its own thread.
  double hidden_share() const {
    return seconds > 0.0 ? std::clamp(1.0 - waited / seconds, 0.0, 1.0) : 1.0;
  }
};

}  // namespace cloze::train
