#include "passes/pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/error.h"
#include "graph/copier.h"

namespace cloze::passes {
namespace {

using graph::Graph;
using graph::Node;
using graph::Value;
using graph::ValueInfo;
using graph::ValueKind;
using graph::VariableRole;

int most(const std::vector<int>& ranks) {
  return ranks.empty() ? 1 : 1 + *std::ranges::max_element(ranks);
}

// A micro-batch's way through the stages.
class Way {
 public:
  Way(const Graph& graph, const std::vector<int64_t>& layers)
      : graph_(graph), last_stage_(static_cast<int>(layers.size()) - 1) {
    for (size_t stage = 0; stage < layers.size(); ++stage) {
      stage_of_layer_.insert(stage_of_layer_.end(), static_cast<size_t>(layers[stage]),
                             static_cast<int>(stage));
    }
  }

  // The place of the next node; call this for the nodes in order. Nodes of no layer belong to the
  // embeddings or the heads; those that write metrics belong to the heads wherever they are.
  int place_of(const Node& node) {
    if (node.layer >= 0) {
      if (leg_ == Leg::kBefore) leg_ = Leg::kForward;
      if (leg_ == Leg::kHeads) leg_ = Leg::kBackward;
      const int stage = stage_of_layer_.at(static_cast<size_t>(node.layer));
      return leg_ == Leg::kForward ? stage : 2 * last_stage_ - stage;
    }
    if (leg_ == Leg::kForward) leg_ = Leg::kHeads;
    if (leg_ == Leg::kBefore) return 0;
    return leg_ == Leg::kHeads || writes_metric(node) ? last_stage_ : 2 * last_stage_;
  }

 private:
  enum class Leg { kBefore, kForward, kHeads, kBackward };

  bool writes_metric(const Node& node) const {
    return std::ranges::any_of(node.outputs, [&](Value output) {
      const ValueInfo& info = graph_.info(output);
      return info.kind == ValueKind::kVariable && info.role == VariableRole::kMetric;
    });
  }

  const Graph& graph_;
  int last_stage_;
  std::vector<int> stage_of_layer_;
  Leg leg_ = Leg::kBefore;
};

// A node of the micro-step.
struct Step {
  const Node* node = nullptr;
  int part = 0;
};

class Cutter {
 public:
  Cutter(const Graph& whole, const Stages& stages, int rank) : whole_(whole), rank_(rank) {
    share_out(stages);
    find_crossings();
    link_gradients();
    place_variables();
  }

  PipelineCut cut() && {
    graph::Copier copier(whole_);
    copy_names(copier);
    copy_micro_step(copier);
    copy_refresh(copier);
    return {std::move(copier).finish(), std::move(plan_)};
  }

 private:
  int rank_of(int part) const { return plan_.part_ranks[static_cast<size_t>(part)]; }

  void share_out(const Stages& stages) {
    const size_t last = stages.ranks.size() - 1;
    std::vector<int> part_at;  // by place; neighbours of one rank are one part
    for (size_t place = 0; place <= 2 * last; ++place) {
      const int rank = stages.ranks[std::min(place, 2 * last - place)];
      if (plan_.part_ranks.empty() || plan_.part_ranks.back() != rank) {
        plan_.part_ranks.push_back(rank);
      }
      part_at.push_back(static_cast<int>(plan_.part_ranks.size()) - 1);
    }
    const std::vector<int> places = places_on_way(whole_, stages.layers);
    auto place = places.begin();
    for (const Node* node : whole_.nodes_of(graph::kMicroStep)) {
      steps_.push_back({node, part_at[static_cast<size_t>(*place++)]});
    }
    std::ranges::stable_sort(steps_, {}, &Step::part);
  }

  void find_crossings() {
    std::vector<int> made_in(static_cast<size_t>(whole_.num_values()), -1);
    std::set<std::pair<int32_t, int>> known;  // value, rank
    for (const Step& step : steps_) {
      for (const Value input : step.node->inputs) {
        const int from = made_in[static_cast<size_t>(input.index)];
        if (from < 0 || rank_of(from) == rank_of(step.part)) continue;
        if (!known.emplace(input.index, rank_of(step.part)).second) continue;
        plan_.crossings.push_back(
            {.name = fmt::format("crossing.{}", input.index), .from = from, .to = step.part});
        crossing_values_.push_back(input);
      }
      for (const Value output : step.node->outputs) {
        if (whole_.info(output).kind != ValueKind::kIntermediate) continue;
        made_in[static_cast<size_t>(output.index)] = step.part;
      }
    }
  }

  bool is_gradient(Value value) const {
    const ValueInfo& info = whole_.info(value);
    return info.kind == ValueKind::kVariable && info.role == VariableRole::kGradient;
  }

  void link_gradients() {
    std::map<int32_t, int> written_in;  // by gradient, the last part
    for (const Step& step : steps_) {
      for (const Value output : step.node->outputs) {
        if (!is_gradient(output)) continue;
        int& part = written_in.try_emplace(output.index, step.part).first->second;
        const int from = std::exchange(part, step.part);
        if (from == step.part) continue;
        plan_.gradient_links.push_back(
            {.name = whole_.info(output).name, .from = from, .to = step.part});
      }
    }
  }

  // A parameter is on the ranks that make its gradient.
  void place_variables() {
    ranks_.resize(static_cast<size_t>(whole_.num_values()));
    for (const Step& step : steps_) {
      for (const Value output : step.node->outputs) {
        if (!is_gradient(output)) continue;
        ranks_[static_cast<size_t>(whole_.info(output).master.index)].insert(rank_of(step.part));
      }
    }
    int32_t number = 0;
    for (const Value gradient : whole_.variables(VariableRole::kGradient)) {
      place_gradient(whole_.info(gradient), ranks_having(gradient), number++);
    }
  }

  void place_gradient(const ValueInfo& gradient, const std::set<int>& ranks, int32_t number) {
    if (ranks.contains(rank_)) {
      plan_.gradient_numbers.push_back(*ranks.begin() == rank_ ? number : kUpdatedElsewhere);
    }
    if (ranks.size() == 1) return;
    plan_.shared.push_back({.name = whole_.info(gradient.master).name,
                            .gradient = gradient.name,
                            .ranks = {ranks.begin(), ranks.end()}});
  }

  const std::set<int>& ranks_having(Value variable) const {
    const Value master = whole_.info(variable).master;
    return ranks_[static_cast<size_t>((master.valid() ? master : variable).index)];
  }

  // Inputs and variables in their order. The host writes all inputs, and every rank knows the losses.
  void copy_names(graph::Copier& copier) const {
    for (int32_t i = 0; i < whole_.num_values(); ++i) {
      const ValueInfo& info = whole_.info({i});
      if (info.kind == ValueKind::kIntermediate) continue;
      const bool is_everywhere =
          info.kind == ValueKind::kInput || info.role == VariableRole::kMetric;
      if (is_everywhere || ranks_having({i}).contains(rank_)) copier.copy(Value{i});
    }
    for (size_t i = 0; i < plan_.crossings.size(); ++i) {
      const Value value = crossing_values_[i];
      if (rank_of(plan_.crossings[i].to) != rank_) continue;
      copier.replace(value, copier.graph().add_input(plan_.crossings[i].name, whole_.type(value)));
    }
  }

  void copy_micro_step(graph::Copier& copier) {
    int64_t launches = 0;
    int part = -1;
    for (const Step& step : steps_) {
      if (rank_of(step.part) != rank_) continue;
      if (part >= 0 && step.part != part) plan_.part_ends.push_back(launches);
      part = step.part;
      require_variables(copier, *step.node);
      copier.copy(*step.node);
      ++launches;
    }
    plan_.part_ends.push_back(launches);
    std::set<int32_t> marked;
    for (size_t i = 0; i < plan_.crossings.size(); ++i) {
      const Value value = crossing_values_[i];
      if (rank_of(plan_.crossings[i].from) != rank_ || !marked.insert(value.index).second) continue;
      copier.graph().mark_output(copier.copy(value), plan_.crossings[i].name);
    }
  }

  // The copies of this rank's parameters.
  void copy_refresh(graph::Copier& copier) const {
    for (const Node* node : whole_.nodes_of(graph::kRefresh)) {
      if (copier.has(node->outputs.front())) copier.copy(*node);
    }
  }

  void require_variables(const graph::Copier& copier, const Node& node) const {
    for (const Value input : node.inputs) {
      CLOZE_CHECK(whole_.info(input).kind != ValueKind::kVariable || copier.has(input),
                  "{} reads {}, which rank {} does not have", node.name(), whole_.info(input).name,
                  rank_);
    }
  }

  const Graph& whole_;
  int rank_;
  PipelinePlan plan_;
  std::vector<Step> steps_;             // of all ranks, by part
  std::vector<Value> crossing_values_;  // as plan_.crossings
  std::vector<std::set<int>> ranks_;    // by parameter
};

}  // namespace

int Stages::num_ranks() const { return most(ranks); }

int PipelinePlan::num_ranks() const { return most(part_ranks); }

std::vector<int> places_on_way(const Graph& graph, const std::vector<int64_t>& layers) {
  Way way(graph, layers);
  std::vector<int> places;
  for (const Node* node : graph.nodes_of(graph::kMicroStep)) places.push_back(way.place_of(*node));
  return places;
}

PipelineCut cut_to_rank(const Graph& whole, const Stages& stages, int rank) {
  return Cutter(whole, stages, rank).cut();
}

Stages even_stages(int num_stages, int64_t num_layers) {
  CLOZE_CHECK(num_stages >= 1 && num_stages <= num_layers + 2, "{} stages for {} layers",
              num_stages, num_layers);
  const bool heads_are_alone = num_stages > num_layers;
  const bool embeddings_are_alone = num_stages > num_layers + 1;
  const int64_t with_layers =
      num_stages - (heads_are_alone ? 1 : 0) - (embeddings_are_alone ? 1 : 0);
  Stages stages;
  if (embeddings_are_alone) stages.layers.push_back(0);
  for (int64_t i = 0; i < with_layers; ++i) {
    stages.layers.push_back(num_layers / with_layers + (i < num_layers % with_layers ? 1 : 0));
  }
  if (heads_are_alone) stages.layers.push_back(0);
  stages.ranks.resize(stages.layers.size());
  std::iota(stages.ranks.begin(), stages.ranks.end(), 0);
  return stages;
}

}  // namespace cloze::passes
