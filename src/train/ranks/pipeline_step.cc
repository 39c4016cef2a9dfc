#include "train/ranks/pipeline_step.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/error.h"
#include "base/seconds.h"
#include "platform/phase.h"

namespace cloze::train {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<int> parts_of(const passes::PipelinePlan& plan, int rank) {
  std::vector<int> parts;
  for (size_t part = 0; part < plan.part_ranks.size(); ++part) {
    if (plan.part_ranks[part] == rank) parts.push_back(static_cast<int>(part));
  }
  return parts;
}

bool is_gradient(const graph::Graph& graph, graph::Value value) {
  const graph::ValueInfo& info = graph.info(value);
  return info.kind == graph::ValueKind::kVariable && info.role == graph::VariableRole::kGradient;
}

}  // namespace

PipelineStep::PipelineStep(passes::PipelinePlan plan, PipelineSchedule schedule,
                           comm::Communicator& stages, MicroBatchSessions& sessions,
                           ReproducibleSums* sums)
    : plan_(std::move(plan)),
      schedule_(schedule),
      stages_(stages),
      first_place_(sessions),
      first_(sessions.full().session()),
      sums_(sums),
      own_parts_(parts_of(plan_, stages.rank())),
      free_{&sessions} {
  CLOZE_CHECK(own_parts_.size() == plan_.part_ends.size(), "rank {} has {} parts, not {}",
              stages.rank(), plan_.part_ends.size(), own_parts_.size());
  if (sums_ == nullptr) return;
  plan_.crossings.insert(plan_.crossings.end(), plan_.gradient_links.begin(),
                         plan_.gradient_links.end());
  for (size_t own = 0; own < own_parts_.size(); ++own) finished_.push_back(finished_in(own));
}

size_t PipelineStep::own_index(int part) const {
  return static_cast<size_t>(std::ranges::find(own_parts_, part) - own_parts_.begin());
}

size_t PipelineStep::begin_of(size_t own_part) const {
  return own_part == 0 ? 0 : end_of(own_part - 1);
}

size_t PipelineStep::end_of(size_t own_part) const {
  return static_cast<size_t>(plan_.part_ends[own_part]);
}

// The variables that this part adds to and no later part of a micro-batch does.
std::vector<graph::Value> PipelineStep::finished_in(size_t own_part) const {
  std::vector<graph::Value> values =
      summed_variables(first_.graph(), begin_of(own_part), end_of(own_part));
  for (const passes::Crossing& link : plan_.gradient_links) {
    if (link.from == own_parts_[own_part]) std::erase(values, first_.value(link.name));
  }
  return values;
}

void PipelineStep::run(std::vector<const data::MicroBatch*> micro_batches, int64_t most,
                       const Write& write) {
  micro_batches_ = std::move(micro_batches);
  const int64_t count = std::ssize(micro_batches_);
  if (std::exchange(most_, most) != most) {
    tasks_ = pipeline_tasks(plan_.part_ranks, schedule_, most);
  }
  expect_messages(count);
  waited_seconds_ = 0.0;
  for (const PipelineTask& task : tasks_[static_cast<size_t>(stages_.rank())]) {
    const bool has_own = task.micro_batch < count;
    if (has_own) run_task(task, write);
    if (sums_ != nullptr) sums_->add(finished_[own_index(task.part)], has_own);
  }
}

void PipelineStep::run_task(const PipelineTask& task, const Write& write) {
  engine::Session& session = begin(task.micro_batch, write);
  receive(session, task);
  platform::enter_phase("computing a part of a micro-batch");
  const size_t own = own_index(task.part);
  session.executor().run_part(graph::kMicroStep, begin_of(own), end_of(own));
  send(session, task);
  if (task.part != own_parts_.back()) return;
  free_.push_back(begun_.extract(task.micro_batch).mapped().place);
}

engine::Session& PipelineStep::session_in(MicroBatchSessions& place, int64_t micro_batch) const {
  return place.holding(*micro_batches_[static_cast<size_t>(micro_batch)]).session();
}

// The session of the micro-batch, with its inputs.
engine::Session& PipelineStep::begin(int64_t micro_batch, const Write& write) {
  if (const auto found = begun_.find(micro_batch); found != begun_.end()) {
    return *found->second.session;
  }
  if (free_.empty()) {
    others_.push_back(first_place_.another());
    free_.push_back(others_.back().get());
  }
  MicroBatchSessions& place = *free_.back();
  free_.pop_back();
  engine::Session& session = session_in(place, micro_batch);
  begun_[micro_batch] = {&place, &session};
  write(session, *micro_batches_[static_cast<size_t>(micro_batch)]);
  return session;
}

std::vector<std::byte> PipelineStep::message_of(const Key& key) const {
  const engine::Session& session = session_in(first_place_, key.micro_batch);
  const graph::Value value = session.value(plan_.crossings[key.crossing].name);
  return std::vector<std::byte>(static_cast<size_t>(session.graph().type(value).bytes()));
}

// A gradient that a later part adds to goes on with the micro-batch.
void PipelineStep::send(engine::Session& session, const PipelineTask& task) {
  for (size_t i = 0; i < plan_.crossings.size(); ++i) {
    const passes::Crossing& crossing = plan_.crossings[i];
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

void PipelineStep::receive(engine::Session& session, const PipelineTask& task) {
  for (size_t i = 0; i < plan_.crossings.size(); ++i) {
    const passes::Crossing& crossing = plan_.crossings[i];
    if (crossing.to != task.part) continue;
    session.executor().write(session.value(crossing.name), taken({task.micro_batch, i}));
  }
}

// A rank with several parts may send data for a later part of this rank first.
std::vector<std::byte> PipelineStep::taken(const Key& key) {
  const auto sender = static_cast<size_t>(rank_of(plan_.crossings[key.crossing].from));
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

void PipelineStep::expect_messages(int64_t count) {
  expected_.assign(tasks_.size(), {});
  arrived_.assign(tasks_.size(), 0);
  for (size_t rank = 0; rank < tasks_.size(); ++rank) {
    for (const PipelineTask& task : tasks_[rank]) {
      if (task.micro_batch >= count) continue;
      for (size_t i = 0; i < plan_.crossings.size(); ++i) {
        const passes::Crossing& crossing = plan_.crossings[i];
        if (crossing.from != task.part || rank_of(crossing.to) != stages_.rank()) continue;
        expected_[rank].push_back({task.micro_batch, i});
      }
    }
  }
}

int64_t PipelineStep::in_flight(int64_t count) const {
  const auto tasks = pipeline_tasks(plan_.part_ranks, schedule_, count);
  return most_in_flight(tasks[static_cast<size_t>(stages_.rank())]);
}

PipelineBubble PipelineStep::bubble() const {
  return {.waited_seconds = waited_seconds_,
          .expected_share = pipeline_bubble(stages_.size(), schedule_, most_)};
}

bool PipelineStep::is_first_with(const std::string& parameter) const {
  const auto shared = std::ranges::find(plan_.shared, parameter, &passes::SharedParameter::name);
  if (shared != plan_.shared.end()) return shared->ranks.front() == stages_.rank();
  return first_.has(parameter);
}

// A variable goes from rank to rank in slices, so that neither keeps a copy of it.
template <typename Body>
void PipelineStep::change_in_slices(const std::string& name, const Body& body) {
  const graph::Value variable = first_.value(name);
  const int64_t count = first_.graph().type(variable).shape.elements();
  std::vector<float> slice;
  for (int64_t begin = 0; begin < count; begin += comm::kSliceFloats) {
    slice.resize(static_cast<size_t>(std::min(comm::kSliceFloats, count - begin)));
    const std::span<std::byte> bytes = std::as_writable_bytes(std::span(slice));
    const int64_t offset = begin * int64_t{sizeof(float)};
    first_.executor().read_part(variable, offset, bytes);
    if (body(slice)) first_.executor().write_part(variable, offset, bytes);
  }
}

bool PipelineStep::sum_on_first(std::span<const int> ranks, std::span<float> slice) {
  if (stages_.rank() != ranks.front()) {
    stages_.send_when_there_is_room(std::as_bytes(slice), ranks.front());
    return false;
  }
  std::vector<float> theirs(slice.size());
  for (const int other : ranks.subspan(1)) {
    stages_.receive(std::as_writable_bytes(std::span(theirs)), other);
    std::ranges::transform(slice, theirs, slice.begin(), std::plus<>());
  }
  return true;
}

bool PipelineStep::give_to_others(std::span<const int> ranks, std::span<float> slice) {
  if (stages_.rank() != ranks.front()) {
    stages_.receive(std::as_writable_bytes(slice), ranks.front());
    return true;
  }
  for (const int other : ranks.subspan(1)) {
    stages_.send_when_there_is_room(std::as_bytes(slice), other);
  }
  return false;
}

void PipelineStep::sum_shared_gradients() {
  for (const passes::SharedParameter& shared : plan_.shared) {
    if (!std::ranges::binary_search(shared.ranks, stages_.rank())) continue;
    change_in_slices(shared.gradient,
                     [&](std::span<float> slice) { return sum_on_first(shared.ranks, slice); });
  }
}

void PipelineStep::share_parameters() {
  for (const passes::SharedParameter& shared : plan_.shared) {
    if (!std::ranges::binary_search(shared.ranks, stages_.rank())) continue;
    change_in_slices(shared.name,
                     [&](std::span<float> slice) { return give_to_others(shared.ranks, slice); });
  }
}

}  // namespace cloze::train
