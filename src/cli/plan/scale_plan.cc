#include "cli/plan/scale_plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "base/byte_size.h"
#include "base/division.h"
#include "base/error.h"
#include "base/time_text.h"
#include "cli/options/shipped_files.h"
#include "cli/plan/run_memory.h"
#include "cli/plan/step_plan.h"
#include "cli/run/pipeline_options.h"
#include "forecast/step_simulation.h"
#include "forecast/step_time.h"

namespace cloze::cli {
namespace {

constexpr double kMilliseconds = 1e3;

// The encoder layers of each.
std::vector<int64_t> layers_of_stages(const PretrainOptions& options) {
  const passes::Stages stages = pipeline_stages(options.pipeline_stages, options.device_mapping,
                                                options.model().num_hidden_layers);
  if (std::ranges::adjacent_find(stages.ranks, std::greater_equal<>()) != stages.ranks.end()) {
    throw_user_error(
        "device_mapping is {}, but a plan with a network_file gives each stage a rank of its own, "
        "in their order; leave device_mapping out",
        options.device_mapping);
  }
  return stages.layers;
}

forecast::StepModel model_of(const PretrainRun& run, const forecast::DeviceRates& rates,
                             const forecast::NetworkRates& network) {
  forecast::StepModel model{.network = network};
  const train::TrainingStepOptions& step = run.training.step;
  const std::vector<int64_t> layers = layers_of_stages(run.options);
  model.layout = {.replicas = run.options.replicas,
                  .stages = std::ssize(layers),
                  .micro_batches = divide_up(run.batch.micro_batches, run.options.replicas),
                  .schedule = step.schedule,
                  .is_sharded = step.shards_states,
                  .gradient_bytes = bytes_of(step.gradient_transport)};
  const plan::Program program = compiled(step);
  const plan::ProgramUse use = plan::use_of(program);
  model.stages =
      forecast::stage_costs(program, use, forecast::estimated_seconds(program, use, rates), layers);
  model.require();
  return model;
}

// What a rank of a stage keeps for its step.
struct RankMemory {
  int64_t in_flight = 1;  // micro-batches that have activations
  int64_t parameters = 0, gradients = 0, state = 0, activations = 0, other = 0;
  int64_t total() const { return parameters + gradients + state + activations + other; }
};

// By stage.
std::vector<RankMemory> memory_of(const forecast::StepModel& model) {
  std::vector<RankMemory> memory;
  for (const int64_t in_flight : model.layout.in_flight()) {
    const int64_t stage = std::ssize(memory);
    const forecast::StageCosts& costs = model.stages[static_cast<size_t>(stage)];
    const double share = model.owned_share(stage);
    memory.push_back({.in_flight = in_flight,
                      .parameters = costs.all_parameter_bytes() + costs.copy_bytes,
                      .gradients = costs.gradient_bytes,
                      .state = static_cast<int64_t>(share * static_cast<double>(costs.state_bytes)),
                      .activations = in_flight * costs.activation_bytes,
                      .other = costs.other_bytes + costs.workspace_bytes + costs.kernel_bytes});
  }
  return memory;
}

int64_t largest_memory(const forecast::StepModel& model) {
  return std::ranges::max(memory_of(model), {}, &RankMemory::total).total();
}

double most_sent(const forecast::StepModel& model) {
  double most = 0.0;
  for (int64_t stage = 0; stage < model.layout.stages; ++stage) {
    most = std::max(most, forecast::traffic_of(model, stage).total());
  }
  return most;
}

double tokens_of_step(const PretrainRun& run) {
  return static_cast<double>(run.batch.sequences_per_step * run.options.seq_length);
}

std::string describe_layout(const forecast::StepModel& model, const PretrainRun& run) {
  const forecast::RankLayout& layout = model.layout;
  const int64_t hosts = divide_up(layout.ranks(), model.network.ranks_per_host);
  std::string text = fmt::format(
      "ranks {}: {} replicas of {} stage{}, {} micro-batches each, on {} host{} of {}\n",
      layout.ranks(), layout.replicas, layout.stages, layout.stages == 1 ? "" : "s",
      layout.micro_batches, hosts, hosts == 1 ? "" : "s", model.network.network);
  const int64_t micro_batches = run.batch.micro_batches;
  if (micro_batches % layout.replicas != 0) {
    text += fmt::format(
        "  {} micro-batches of a step do not divide evenly among {} replicas: some wait\n",
        micro_batches, layout.replicas);
  }
  return text;
}

std::string describe_stage(const forecast::StepModel& model, int64_t stage,
                           const RankMemory& memory) {
  const forecast::StageCosts& costs = model.stages[static_cast<size_t>(stage)];
  const forecast::RankTraffic traffic = forecast::traffic_of(model, stage);
  return fmt::format(
      "  stage {}: {} layers, a micro-batch forward {}, backward {}\n"
      "    keeps {:.1f} MiB: parameters {:.1f}, gradients {:.1f}, optimizer state {:.1f}, "
      "activations {:.1f} ({} x {:.1f}), other {:.1f}\n"
      "    sends {:.1f} MiB: gradients {:.1f}, parameters {:.1f}, boundaries {:.1f}, tied {:.1f}\n",
      stage, costs.layers, time_text(costs.forward), time_text(costs.backward),
      mebibytes(memory.total()), mebibytes(memory.parameters), mebibytes(memory.gradients),
      mebibytes(memory.state), mebibytes(memory.activations), memory.in_flight,
      mebibytes(costs.activation_bytes), mebibytes(memory.other), mebibytes(traffic.total()),
      mebibytes(traffic.gradients), mebibytes(traffic.parameters), mebibytes(traffic.boundaries),
      mebibytes(traffic.tied));
}

std::string describe_memory(const forecast::StepModel& model, const PretrainRun& run,
                            const forecast::MemoryForecast& before) {
  forecast::MemoryForecast memory = memory_beside_step(run, before);
  memory.add_to_device("a step", largest_memory(model));
  if (model.layout.ranks() > 1) memory.add("messages of ranks", forecast::message_bytes(model));
  return fmt::format("  per rank, {}\n", memory.text());
}

std::string describe_time(const forecast::StepModel& model, const PretrainRun& run) {
  const forecast::StepTime time = forecast::step_time(model);
  return fmt::format(
      "  step {}, {:.0f} tokens/s: computing {}, bubble {} ({:.1f} % of the pipeline), sums of "
      "gradients {}, update {}, parameters {}\n",
      time_text(time.seconds()), tokens_of_step(run) / time.seconds(), time_text(time.computing),
      time_text(time.bubble), 100.0 * time.bubble_share(), time_text(time.gradients),
      time_text(time.update), time_text(time.parameters));
}

std::string describe_simulation(const forecast::StepModel& model, double straggler) {
  const forecast::SimulatedStep played = forecast::simulated_step(model, straggler);
  const double formula = forecast::step_time(model).seconds();
  return fmt::format("  simulated {}, pipeline {}: the formula says {:+.1f} %\n",
                     time_text(played.seconds), time_text(played.pipeline),
                     100.0 * (formula / played.seconds - 1.0));
}

// A row without the efficiency, which is relative to another row, and the columns after it.
struct ScalingRow {
  std::string text;
  double rate = 0.0;  // tokens/s of a rank
};

ScalingRow scaling_row(const forecast::StepModel& model, const PretrainRun& run) {
  const forecast::StepTime time = forecast::step_time(model);
  const double tokens = tokens_of_step(run) / time.seconds();
  return {
      .text = fmt::format("| {} | {} | {} | {} | {:.0f} | {:.0f} | {:.1f} % | {:.2f} | {:.0f} |",
                          model.layout.ranks(), model.layout.replicas, model.layout.stages,
                          run.batch.sequences_per_step, mebibytes(largest_memory(model)),
                          mebibytes(most_sent(model)), 100.0 * time.bubble_share(),
                          kMilliseconds * time.seconds(), tokens),
      .rate = tokens / static_cast<double>(model.layout.ranks())};
}

// Each row has twice as many ranks; numbers of ranks that do not fit the network's hosts are listed
// after the table.
std::string scaling_table(PretrainOptions options, const ScaleRequest& request,
                          const forecast::DeviceRates& rates,
                          const forecast::NetworkRates& network) {
  std::string text =
      "| ranks | replicas | stages | sequences | MiB per rank | MiB sent | bubble | step, ms | "
      "tokens/s | efficiency |";
  if (request.simulate) text += " simulated, ms |";
  text += "\n|";
  for (int column = 0; column < (request.simulate ? 11 : 10); ++column) text += " --: |";
  text += "\n";
  const auto stages = std::ssize(layers_of_stages(options));
  std::string left_out;
  double first_rate = 0.0;
  for (options.replicas = 1; options.replicas * stages <= *request.scaling; options.replicas *= 2) {
    try {
      const PretrainRun run(options);
      const forecast::StepModel model = model_of(run, rates, network);
      const ScalingRow row = scaling_row(model, run);
      if (first_rate == 0.0) first_rate = row.rate;
      text += fmt::format("{} {:.2f} |", row.text, row.rate / first_rate);
      if (request.simulate) {
        text +=
            fmt::format(" {:.2f} |",
                        kMilliseconds * forecast::simulated_step(model, *request.simulate).seconds);
      }
      text += "\n";
    } catch (const UserError& error) {
      left_out += fmt::format("left out, {} ranks: {}\n", options.replicas * stages, error.what());
    }
  }
  return text + left_out;
}

}  // namespace

void add_scale_rows(OptionTable& table, ScaleRequest& request) {
  table.begin_group("Many ranks");
  table.add_common(
      "network_file", &request.network_file,
      "Plan replicas * pipeline_stages ranks, connected by this network and each as fast as "
      "device_file says; configs/networks/ has examples");
  table.add_common("scaling", &request.scaling,
                   "Also print a table for 1, 2, 4 ... replicas, up to N ranks",
                   {.minimum = 1, .maximum = 1 << 16});
  table.add_common(
      "simulate", &request.simulate,
      "Also simulate the step event by event, with the first rank N times slower; 1: all "
      "ranks equally fast",
      {.minimum = 1});
}

void require_network(const ScaleRequest& request) {
  if (!request.network_file.empty() || !(request.scaling || request.simulate)) return;
  throw_user_error("{} is for ranks that a network connects; name a network_file",
                   request.scaling ? "`scaling`" : "`simulate`");
}

std::string describe_scale(const PretrainRun& run, const ScaleRequest& request,
                           const forecast::DeviceRates& rates,
                           const forecast::MemoryForecast& before) {
  const forecast::NetworkRates network =
      forecast::read_network_file(find_shipped(request.network_file));
  const forecast::StepModel model = model_of(run, rates, network);
  std::string text = describe_layout(model, run);
  int64_t stage = 0;
  for (const RankMemory& memory : memory_of(model)) {
    text += describe_stage(model, stage++, memory);
  }
  text += describe_memory(model, run, before) + describe_time(model, run);
  if (request.simulate) text += describe_simulation(model, *request.simulate);
  if (request.scaling)
    text += fmt::format("\n{}", scaling_table(run.options, request, rates, network));
  return text;
}

}  // namespace cloze::cli
