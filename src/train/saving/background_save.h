// Saves checkpoints while training goes on: what goes into one is copied first, and a thread of low
// priority writes the copy. So training changes nothing of a checkpoint, and saving nothing of
// training.
// One checkpoint is under way at a time. It is on the disk once outcome() gives its path, and not
// before.
// Threads: the store belongs to this object from start() until the outcome is taken.
#pragma once

#include <filesystem>
#include <future>
#include <optional>

#include "graph/graph.h"
#include "platform/memory.h"
#include "train/saving/checkpoint.h"

namespace cloze::train {

// The memory that a copy of a checkpoint's tensors takes, for this training graph.
int64_t checkpoint_tensor_bytes(const graph::Graph& graph);

class BackgroundSave {
 public:
  // The store must outlive this object.
  explicit BackgroundSave(CheckpointStore& store) : store_(store) {}

  // The tensors have been read when this returns; the rest of the content is the thread's. Their
  // copy keeps its memory for the next save. Take the outcome of the save before this one first.
  void start(CheckpointContent content);

  // Of the save that was started, and only once: the path of its checkpoint. Throws what
  // CheckpointStore::save() threw. Nothing while it goes on, or when none was started.
  std::optional<std::filesystem::path> outcome();
  // The same, after waiting for its end.
  std::optional<std::filesystem::path> wait();

 private:
  CheckpointStore& store_;
  platform::MemoryBlock copy_;                 // of all tensors, end to end
  std::future<std::filesystem::path> saving_;  // waits when it is destroyed, so it comes last
};

}  // namespace cloze::train
