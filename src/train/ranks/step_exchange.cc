#include "train/ranks/step_exchange.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/division.h"
#include "base/error.h"
#include "optim/optimizer.h"
#include "platform/phase.h"
#include "platform/signals.h"
#include "train/ranks/gradient_exchange.h"
#include "train/ranks/pipeline_step.h"
#include "train/ranks/reproducible_sums.h"
#include "train/ranks/shared_parameters.h"

namespace cloze::train {
namespace {

using graph::Graph;
using graph::Value;
using optim::kGradientNorm;
using optim::kUpdateCheck;

// The root of the sum of squares, in the order of the ranks.
float norm_over(comm::Communicator& ranks, float own_norm) {
  double squares = 0.0;
  for (const float norm : ranks.all_gather(own_norm)) squares += double{norm} * norm;
  return static_cast<float>(std::sqrt(squares));
}

std::vector<Value> all_summed_variables(engine::Session& session) {
  return summed_variables(session.graph(), 0, session.executor().num_launches(graph::kMicroStep));
}

class Eager final : public StepExchange {
 public:
  using StepExchange::StepExchange;

  void begin() override { non_finite_.reset(); }
  void share_update(size_t /*done*/) override { run_phase(session(), graph::kUpdate); }
  std::optional<runtime::NonFiniteOutput> non_finite() const override { return non_finite_; }

 protected:
  void run(engine::Session& micro_batch, bool /*is_last*/) override {
    run_phase(micro_batch, graph::kMicroStep);
  }

 private:
  // After an operator that wrote what is not finite the rest of the step is left out.
  void run_phase(engine::Session& session, std::string_view phase) {
    if (!non_finite_) non_finite_ = session.executor().run_until_non_finite(phase);
  }

  std::optional<runtime::NonFiniteOutput> non_finite_;
};

class Replicas final : public StepExchange {
 public:
  Replicas(engine::Session& session, const StepRanks& ranks, const StepLayout& layout)
      : StepExchange(session, ranks),
        divides_states_(layout.divides_states),
        gradients_(session, ranks.replicas(), layout.owners, layout.divides_states,
                   layout.gradient_transport) {}

  void finish() override {
    if (!std::exchange(is_summed_, false)) gradients_.sum();
    StepExchange::finish();
  }
  bool shares_norm() const override { return divides_states_ || StepExchange::shares_norm(); }
  float norm(float own) override {
    return divides_states_ ? norm_over(ranks().all(), own) : StepExchange::norm(own);
  }
  void share_update(size_t done) override {
    divides_states_ ? gradients_.update_and_share(done) : StepExchange::share_update(done);
  }
  std::optional<CommunicationTime> take_time() override { return gradients_.take_time(); }

 protected:
  void run(engine::Session& micro_batch, bool is_last) override {
    if (!is_last) return StepExchange::run(micro_batch, is_last);
    gradients_.run_and_sum(micro_batch);
    is_summed_ = true;
  }

 private:
  bool divides_states_;
  GradientExchange gradients_;
  bool is_summed_ = false;  // of this step
};

class ReproducibleReplicas final : public StepExchange {
 public:
  ReproducibleReplicas(engine::Session& session, const StepRanks& ranks, StepLayout layout)
      : StepExchange(session, ranks),
        summed_(all_summed_variables(session)),
        norm_numbers_(std::move(layout.norm_numbers)),
        sums_(session, ranks.replicas()) {
    if (!layout.divides_states || layout.owners.empty()) return;
    states_ =
        std::make_unique<GradientExchange>(session, ranks.replicas(), layout.owners,
                                           /*for_owners_only=*/true, layout.gradient_transport);
  }

  void begin() override { sums_.begin(); }
  void after_micro_batch() override { sums_.add(summed_); }
  void after_part(std::span<const Value> variables) override { sums_.add(variables); }
  void finish() override {
    sums_.end();
    sum_metrics_over(ranks().stages());  // all replicas have the same already
  }
  bool shares_norm() const override { return true; }
  float norm(float /*own*/) override {
    return reproducible_norm(session(), norm_numbers_, ranks().all());
  }
  void share_update(size_t done) override {
    states_ ? states_->update_and_share(done) : StepExchange::share_update(done);
  }
  std::optional<CommunicationTime> take_time() override {
    if (ranks().replicas().size() == 1) return std::nullopt;
    CommunicationTime time = sums_.take_time();
    if (states_) time.add(states_->take_time());
    return time;
  }

 private:
  std::vector<Value> summed_;
  std::vector<int32_t> norm_numbers_;
  ReproducibleSums sums_;
  std::unique_ptr<GradientExchange> states_;  // where these are divided
};

class Pipeline final : public StepExchange {
 public:
  // `replicas`: the exchange between the replicas of this rank's stage.
  Pipeline(engine::SizedSessions& sessions, const StepRanks& ranks, const StepLayout& layout,
           std::unique_ptr<StepExchange> replicas)
      : StepExchange(sessions.full(), ranks),
        replicas_(std::move(replicas)),
        sums_rounds_(layout.reproducible_sums),
        parts_(*layout.pipeline, layout.schedule, ranks.stages(), sessions,
               layout.reproducible_sums),
        shared_(layout.pipeline->shared, ranks.stages(), session()) {}

  void begin() override { replicas_->begin(); }
  void compute(feed::StepInputs& inputs) override;
  // Rounds have summed over the replicas already, and the sum of a shared gradient is where its
  // last part was computed.
  void finish() override {
    if (sums_rounds_) replicas_->finish();
    shared_.sum_gradients();
    if (!sums_rounds_) replicas_->finish();
  }
  bool shares_norm() const override { return replicas_->shares_norm(); }
  float norm(float own) override { return replicas_->norm(own); }
  void share_update(size_t done) override {
    replicas_->share_update(done);
    shared_.share_parameters();
  }
  void read_parameter(const std::string& name, int64_t first, std::span<float> values) override;
  std::optional<CommunicationTime> take_time() override { return replicas_->take_time(); }
  std::optional<PipelineBubble> bubble() const override { return parts_.bubble(); }
  int64_t in_flight(int64_t micro_batches) const override {
    return parts_.in_flight(divide_up(micro_batches, int64_t{ranks().replicas().size()}));
  }

 private:
  std::unique_ptr<StepExchange> replicas_;
  bool sums_rounds_;
  PipelineStep parts_;
  SharedParameters shared_;
};

void Pipeline::compute(feed::StepInputs& inputs) {
  const comm::Communicator& replicas = ranks().replicas();
  std::vector<int64_t> own;
  for (int64_t pass = replicas.rank(); pass < inputs.num_passes(); pass += replicas.size()) {
    own.push_back(pass);
  }
  const int64_t most = divide_up(inputs.num_passes(), int64_t{replicas.size()});
  parts_.run(inputs, own, most,
             [&](std::span<const Value> variables) { replicas_->after_part(variables); });
}

void Pipeline::read_parameter(const std::string& name, int64_t first, std::span<float> values) {
  std::ranges::fill(values, 0.0f);
  if (ranks().replicas().rank() == 0 && shared_.is_first_with(name)) {
    StepExchange::read_parameter(name, first, values);
  }
  ranks().all().all_reduce(values);
}

std::unique_ptr<StepExchange> make_replicas(engine::Session& session, const StepRanks& ranks,
                                            const StepLayout& layout) {
  if (layout.reproducible_sums) {
    return std::make_unique<ReproducibleReplicas>(session, ranks, layout);
  }
  const bool has_gradients = !layout.owners.empty();
  if (has_gradients && ranks.replicas().size() > 1) {
    return std::make_unique<Replicas>(session, ranks, layout);
  }
  if (layout.is_eager) return std::make_unique<Eager>(session, ranks);
  return std::make_unique<StepExchange>(session, ranks);
}

}  // namespace

// Each replica takes every size-th pass of a step.
void StepExchange::compute(feed::StepInputs& inputs) {
  const int64_t count = inputs.num_passes();
  const int64_t size = ranks_.replicas().size();
  const int64_t rank = ranks_.replicas().rank();
  for (int64_t pass = rank; pass < count + rank; pass += size) {
    if (pass < count) {
      if (pass > 0 && size == 1) platform::stop_if_requested();
      platform::enter_phase("computing a micro-batch");
      run(inputs.session_with(pass), pass + size >= count);
    }
    after_micro_batch();
  }
}

void StepExchange::run(engine::Session& micro_batch, bool /*is_last*/) {
  runtime::Executor& executor = micro_batch.executor();
  executor.run_part(graph::kMicroStep, std::exchange(launches_done_, 0),
                    executor.num_launches(graph::kMicroStep));
}

// Each rank's norm is that of the gradients it updates with, until all norms are combined.
void StepExchange::update() {
  if (!shares_norm()) return share_update(0);
  const size_t to_norm = launches_to(session_.graph(), graph::kUpdate, kGradientNorm);
  session_.executor().run_part(graph::kUpdate, 0, to_norm);
  platform::enter_wait("summing the norm");
  session_.write_scalar(kGradientNorm, norm(session_.read_scalar<float>(kGradientNorm)));
  share_update(to_norm);
  float check[] = {session_.read_scalar<float>(kUpdateCheck)};
  ranks_.all().all_reduce(check);
  session_.write_scalar(kUpdateCheck, check[0]);
}

float StepExchange::norm(float own) { return norm_over(ranks_.stages(), own); }

void StepExchange::share_update(size_t done) {
  runtime::Executor& executor = session_.executor();
  executor.run_part(graph::kUpdate, done, executor.num_launches(graph::kUpdate));
}

void StepExchange::read_parameter(const std::string& name, int64_t first, std::span<float> values) {
  session_.executor().read_part(session_.value(name), first * int64_t{sizeof(float)},
                                std::as_writable_bytes(values));
}

void StepExchange::sum_metrics_over(comm::Communicator& ranks) {
  if (ranks.size() == 1) return;
  constexpr auto kMetrics = plan::Arena::kMetrics;
  const auto bytes = static_cast<size_t>(session_.program().bytes_of(kMetrics));
  std::vector<float> metrics(bytes / sizeof(float));
  session_.executor().read(kMetrics, std::as_writable_bytes(std::span(metrics)));
  ranks.all_reduce(metrics);
  session_.executor().write(kMetrics, std::as_bytes(std::span(metrics)));
}

size_t launches_to(const Graph& graph, std::string_view phase, std::string_view name) {
  const std::optional<Value> value = graph.find(name);
  CLOZE_CHECK(value.has_value(), "the graph has no {}", name);
  size_t launches = 0;
  for (const graph::Node* node : graph.nodes_of(phase)) {
    ++launches;
    if (std::ranges::find(node->outputs, *value) != node->outputs.end()) return launches;
  }
  CLOZE_CHECK(false, "{} without {}", phase, name);
}

std::unique_ptr<StepExchange> make_step_exchange(engine::SizedSessions& sessions,
                                                 const StepRanks& ranks, StepLayout layout) {
  CLOZE_CHECK(!layout.is_eager || (ranks.all().size() == 1 && !layout.reproducible_sums),
              "an eager step has one rank, and adds up in place");
  std::unique_ptr<StepExchange> replicas = make_replicas(sessions.full(), ranks, layout);
  if (!layout.pipeline) return replicas;
  return std::make_unique<Pipeline>(sessions, ranks, layout, std::move(replicas));
}

}  // namespace cloze::train
