#include "train/ranks/stage_messages.h"

#include <chrono>
#include <utility>

#include "base/seconds.h"
#include "platform/phase.h"

namespace cloze::train {
namespace {

using Clock = std::chrono::steady_clock;

bool is_gradient(const graph::Graph& graph, graph::Value value) {
  const graph::ValueInfo& info = graph.info(value);
  return info.kind == graph::ValueKind::kVariable && info.role == graph::VariableRole::kGradient;
}

}  // namespace

StageMessages::StageMessages(std::vector<passes::Crossing> crossings, std::vector<int> part_ranks,
                             comm::Communicator& stages)
    : crossings_(std::move(crossings)), part_ranks_(std::move(part_ranks)), stages_(stages) {}

void StageMessages::expect(std::span<const std::vector<PipelineTask>> tasks,
                           std::vector<const engine::Session*> sessions) {
  sessions_ = std::move(sessions);
  expected_.assign(tasks.size(), {});
  arrived_.assign(tasks.size(), 0);
  waited_seconds_ = 0.0;
  for (size_t rank = 0; rank < tasks.size(); ++rank) {
    for (const PipelineTask& task : tasks[rank]) {
      if (task.micro_batch >= std::ssize(sessions_)) continue;
      for (size_t i = 0; i < crossings_.size(); ++i) {
        const passes::Crossing& crossing = crossings_[i];
        if (crossing.from != task.part || rank_of(crossing.to) != stages_.rank()) continue;
        expected_[rank].push_back({task.micro_batch, i});
      }
    }
  }
}

std::vector<std::byte> StageMessages::message_of(const Key& key) const {
  const engine::Session& session = *sessions_[static_cast<size_t>(key.micro_batch)];
  const graph::Value value = session.value(crossings_[key.crossing].name);
  return std::vector<std::byte>(static_cast<size_t>(session.graph().type(value).bytes()));
}

void StageMessages::send(engine::Session& session, const PipelineTask& task) {
  for (size_t i = 0; i < crossings_.size(); ++i) {
    const passes::Crossing& crossing = crossings_[i];
    if (crossing.from != task.part) continue;
    const graph::Value value = session.value(crossing.name);
    std::vector<std::byte> bytes = message_of({task.micro_batch, i});
    session.executor().read(value, bytes);
    if (is_gradient(session.graph(), value)) session.executor().clear(value);
    if (rank_of(crossing.to) == stages_.rank()) {
      early_[{task.micro_batch, i}] = std::move(bytes);
    } else {
      stages_.send(bytes, rank_of(crossing.to));
    }
  }
}

void StageMessages::receive(engine::Session& session, const PipelineTask& task) {
  for (size_t i = 0; i < crossings_.size(); ++i) {
    const passes::Crossing& crossing = crossings_[i];
    if (crossing.to != task.part) continue;
    session.executor().write(session.value(crossing.name), taken({task.micro_batch, i}));
  }
}

std::vector<std::byte> StageMessages::taken(const Key& key) {
  const auto sender = static_cast<size_t>(rank_of(crossings_[key.crossing].from));
  while (!early_.contains(key)) {
    const Key next = expected_[sender][arrived_[sender]++];
    std::vector<std::byte>& bytes = early_[next] = message_of(next);
    platform::enter_wait("waiting for another stage");
    const Clock::time_point start = Clock::now();
    stages_.receive(bytes, static_cast<int>(sender));
    waited_seconds_ += seconds_since(start);
  }
  return std::move(early_.extract(key).mapped());
}

}  // namespace cloze::train
