#include "train/saving/background_save.h"

#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "platform/process.h"

namespace cloze::train {
namespace {

using graph::VariableRole;

size_t bytes_of(const std::vector<formats::TensorSource>& tensors) {
  size_t bytes = 0;
  for (const formats::TensorSource& tensor : tensors) bytes += static_cast<size_t>(tensor.bytes());
  return bytes;
}

// Copies the tensors to the beginning of `free`, which shrinks by that part; they are read from
// there from now on.
void copy_tensors(std::vector<formats::TensorSource>& tensors, std::span<std::byte>& free) {
  for (formats::TensorSource& tensor : tensors) {
    const std::span<std::byte> copy = free.first(static_cast<size_t>(tensor.bytes()));
    tensor.read(0, copy);
    tensor.read = [copy](int64_t offset, std::span<std::byte> target) {
      std::memcpy(target.data(), copy.data() + offset, target.size());
    };
    free = free.subspan(copy.size());
  }
}

}  // namespace

int64_t checkpoint_tensor_bytes(const graph::Graph& graph) {
  int64_t bytes = 0;
  for (const VariableRole role : {VariableRole::kParameter, VariableRole::kOptimizerState}) {
    for (const graph::Value value : graph.variables(role)) bytes += graph.type(value).bytes();
  }
  return bytes;
}

void BackgroundSave::start(CheckpointContent content) {
  CLOZE_CHECK(!saving_.valid(), "a save is started before the outcome of the last one was taken");
  const size_t bytes = bytes_of(content.model) + bytes_of(content.optimizer);
  if (copy_.size() < bytes) copy_ = platform::MemoryBlock(bytes);
  std::span<std::byte> free(copy_.data(), copy_.size());
  copy_tensors(content.model, free);
  copy_tensors(content.optimizer, free);
  saving_ = std::async(std::launch::async, [this, content = std::move(content)] {
    platform::lower_priority_of_thread();
    return store_.save(content);
  });
}

std::optional<std::filesystem::path> BackgroundSave::outcome() {
  const bool is_over =
      saving_.valid() && saving_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  return is_over ? std::optional(saving_.get()) : std::nullopt;
}

std::optional<std::filesystem::path> BackgroundSave::wait() {
  return saving_.valid() ? std::optional(saving_.get()) : std::nullopt;
}

}  // namespace cloze::train
