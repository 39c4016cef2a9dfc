// Pipelines: the micro-step cut into parts that ranks compute one after the other.
//
//   stages        0: embeddings, layers    1: layers    2: layers, heads
//   a micro-batch    part 0 ─────────────► part 1 ────► part 2
//                    part 4 ◄───────────── part 3 ◄────     (backward)
//
// A part is what one rank computes of a micro-batch without a message from another rank. The
// forward and backward passes of the last stage are one part. A value that crosses from one rank to
// another is an output of one graph and an input of the other. A parameter is on every rank that
// reads it. The tied word embeddings may be on the first and the last stage: the first rank that
// has them updates them, with the gradients of all ranks that have them.
//
// Run it on the whole graph, before the update is added: nodes keep their random sites.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace cloze::passes {

// The layers of each stage, and the rank that computes it. The first has the embeddings too, the
// last the heads.
struct Stages {
  std::vector<int64_t> layers;  // of the encoder, by stage
  std::vector<int> ranks;       // by stage; a rank may have several

  int num_ranks() const;  // 1 without stages
};

// One stage a rank: layers shared out evenly; with more stages than layers the heads are alone,
// then the embeddings too. Takes 1 to num_layers + 2 stages.
Stages even_stages(int num_stages, int64_t num_layers);

// A value that one rank makes in a part and another first reads in a later one.
struct Crossing {
  std::string name;  // in both graphs
  int from = 0, to = 0;  // parts
};

// A parameter that several ranks have.
struct SharedParameter {
  std::string name, gradient;  // of the two variables
  std::vector<int> ranks;      // ascending; the first updates it
};

// The same on all ranks, apart from what is said to be of this one.
struct PipelinePlan {
  std::vector<int> part_ranks;      // who computes each part
  std::vector<Crossing> crossings;  // in the order in which they are made
  // Gradients that several parts of one or two ranks add to: a link from each such part to the
  // next, under the variable's name. For callers that want the sum of each micro-batch.
  std::vector<Crossing> gradient_links;
  std::vector<SharedParameter> shared;
  std::vector<int64_t> part_ends;  // by part of this rank: launches of the micro-step until then
  // The number of each gradient of this rank in the whole graph; kUpdatedElsewhere: another
  // updates.
  std::vector<int32_t> gradient_numbers;

  int num_ranks() const;
};
inline constexpr int32_t kUpdatedElsewhere = -1;

struct PipelineCut {
  graph::Graph graph;
  PipelinePlan plan;
};
// The part of the whole graph that `rank` computes, and its plan.
PipelineCut cut_to_rank(const graph::Graph& whole, const Stages& stages, int rank);

// The place of each node of the micro-step on the path of a micro-batch through S stages: 0 to S-1
// in the forward pass, then on to 2(S-1), the backward pass of the first stage. The forward and
// backward passes of the last stage share one place. `layers`: as in Stages.
std::vector<int> places_on_way(const graph::Graph& graph, const std::vector<int64_t>& layers);

}  // namespace cloze::passes
