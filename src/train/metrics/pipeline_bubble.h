// How long a rank of a pipeline waits in a step.
#pragma once

namespace cloze::train {

// Time in which a rank has nothing to do because it lacks another's results.
struct PipelineBubble {
  double waited_seconds = 0.0;
  double expected_share = 0.0;  // of the step, if all parts take equally long
};

}  // namespace cloze::train
