// The graph of an optimiser step of BERT with a head: built, differentiated, transformed by the
// passes, with its update; before it is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/kernel.h"
#include "comm/communicator.h"
#include "data/micro_batch.h"
#include "engine/session.h"
#include "feed/step_inputs.h"
#include "models/bert_config.h"
#include "models/bert_heads.h"
#include "models/vector_loss.h"
#include "optim/optimizer.h"
#include "passes/pipeline.h"
#include "train/ranks/pipeline_schedule.h"

namespace cloze::train {

using feed::kLossGradient;
using feed::LossTerm;

struct TrainingStepOptions {
  models::BertConfig model;
  models::BertHead head;
  data::MicroBatchCapacity capacity;
  optim::OptimizerOptions optimizer;
  DType compute_dtype = DType::kF32;  // kF32, kBF16 or kF16
  bool recompute = false;             // of activations: passes/recompute.h
  bool eager = false;                 // stop at the first operator that writes what is not finite
  uint32_t seed = 1234;               // of start values, order of samples and dropout
  engine::CompileOptions compile;
  // Ranks that share the micro-batches of a step: each computes every size-th of them, and their
  // gradients and losses are summed, so that all make the same update. Outlives the step.
  comm::Communicator* ranks = &comm::alone();
  // Each rank has the optimiser states of a part of the parameters, updates those, and gets the
  // others from the ranks that do.
  bool shards_states = false;
  DType gradient_transport = DType::kF32;  // of the sums over ranks
  bool reproducible_sums = false;  // train/ranks/reproducible_sums.h; no eager step, f32 transport
  // Pipeline stages: with several, each rank holds only its part of the model. Each replica takes
  // stages.num_ranks() ranks, one after the other. A single rank ignores the stages.
  passes::Stages stages;
  PipelineSchedule schedule = PipelineSchedule::kInterleaved;
  models::VectorLoss vector_loss = {};  // of a head that makes vectors; such a step has no stages

  // A single replica has no other to divide them with.
  bool divides_states() const { return shards_states && num_replicas() > 1; }
  int num_stages() const { return ranks->size() > 1 ? stages.num_ranks() : 1; }
  int num_replicas() const { return ranks->size() / num_stages(); }
};

// The passes over the differentiated graph, in the order in which they run: the device's, sums
// in place, and recomputation.
std::vector<backend::GraphPass> training_passes(const TrainingStepOptions& options);

// The whole training graph after all passes, for compile() and `cloze plan`.
struct TrainingGraph {
  graph::Graph graph;
  std::vector<LossTerm> terms;
  optim::UpdateShare update;                     // that this rank has
  std::vector<optim::RateInput> rates;           // that it reads
  std::optional<passes::PipelinePlan> pipeline;  // the graph is one rank's
};
TrainingGraph training_graph(const TrainingStepOptions& options);
TrainingGraph training_graph(const TrainingStepOptions& options,
                             const std::vector<backend::GraphPass>& passes);

// The forward pass alone, without dropout: a TrainingStep of it accumulates, and updates nothing.
TrainingGraph evaluation_graph(TrainingStepOptions options);

}  // namespace cloze::train
