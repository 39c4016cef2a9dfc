#include "train/ranks/pipeline_step.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "platform/phase.h"
#include "train/ranks/reproducible_sums.h"

namespace cloze::train {
namespace {

std::vector<int> parts_of(const passes::PipelinePlan& plan, int rank) {
  std::vector<int> parts;
  for (size_t part = 0; part < plan.part_ranks.size(); ++part) {
    if (plan.part_ranks[part] == rank) parts.push_back(static_cast<int>(part));
  }
  return parts;
}

// Gradients of each micro-batch go from part to part with it.
std::vector<passes::Crossing> crossings_of(const passes::PipelinePlan& plan, bool sums_each) {
  std::vector<passes::Crossing> crossings = plan.crossings;
  if (sums_each) {
    crossings.insert(crossings.end(), plan.gradient_links.begin(), plan.gradient_links.end());
  }
  return crossings;
}

}  // namespace

PipelineStep::PipelineStep(passes::PipelinePlan plan, PipelineSchedule schedule,
                           comm::Communicator& stages, engine::SizedSessions& sessions,
                           bool sums_each)
    : plan_(std::move(plan)),
      schedule_(schedule),
      stages_(stages),
      first_place_(sessions),
      own_parts_(parts_of(plan_, stages.rank())),
      finished_(own_parts_.size()),
      messages_(crossings_of(plan_, sums_each), plan_.part_ranks, stages),
      free_{&sessions} {
  CLOZE_CHECK(own_parts_.size() == plan_.part_ends.size(), "rank {} has {} parts, not {}",
              stages.rank(), plan_.part_ends.size(), own_parts_.size());
  if (!sums_each) return;
  for (size_t own = 0; own < own_parts_.size(); ++own) finished_[own] = finished_in(own);
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
  const engine::Session& full = first_place_.full();
  std::vector<graph::Value> values =
      summed_variables(full.graph(), begin_of(own_part), end_of(own_part));
  for (const passes::Crossing& link : plan_.gradient_links) {
    if (link.from == own_parts_[own_part]) std::erase(values, full.value(link.name));
  }
  return values;
}

void PipelineStep::run(feed::StepInputs& inputs, std::vector<int64_t> passes, int64_t most,
                       const AfterPart& after_part) {
  passes_ = std::move(passes);
  if (std::exchange(most_, most) != most) {
    tasks_ = pipeline_tasks(plan_.part_ranks, schedule_, most);
  }
  std::vector<const engine::Session*> sessions;
  for (const int64_t pass : passes_) {
    sessions.push_back(&first_place_.holding(feed::size_of(inputs.micro_batch(pass))));
  }
  messages_.expect(tasks_, std::move(sessions));
  for (const PipelineTask& task : tasks_[static_cast<size_t>(stages_.rank())]) {
    if (task.micro_batch < std::ssize(passes_)) run_task(inputs, task);
    after_part(finished_[own_index(task.part)]);
  }
}

void PipelineStep::run_task(feed::StepInputs& inputs, const PipelineTask& task) {
  engine::Session& session = begin(inputs, task.micro_batch);
  messages_.receive(session, task);
  platform::enter_phase("computing a part of a micro-batch");
  const size_t own = own_index(task.part);
  session.executor().run_part(graph::kMicroStep, begin_of(own), end_of(own));
  messages_.send(session, task);
  if (task.part != own_parts_.back()) return;
  free_.push_back(begun_.extract(task.micro_batch).mapped().place);
}

// The session of the micro-batch, with its inputs.
engine::Session& PipelineStep::begin(feed::StepInputs& inputs, int64_t micro_batch) {
  if (const auto found = begun_.find(micro_batch); found != begun_.end()) {
    return *found->second.session;
  }
  if (free_.empty()) {
    others_.push_back(first_place_.another());
    free_.push_back(others_.back().get());
  }
  engine::SizedSessions& place = *free_.back();
  free_.pop_back();
  engine::Session& session = inputs.session_with(passes_[static_cast<size_t>(micro_batch)], place);
  begun_[micro_batch] = {&place, &session};
  return session;
}

int64_t PipelineStep::in_flight(int64_t count) const {
  const auto tasks = pipeline_tasks(plan_.part_ranks, schedule_, count);
  return most_in_flight(tasks[static_cast<size_t>(stages_.rank())]);
}

PipelineBubble PipelineStep::bubble() const {
  return {.waited_seconds = messages_.waited_seconds(),
          .expected_share = pipeline_bubble(stages_.size(), schedule_, most_)};
}

}  // namespace cloze::train
