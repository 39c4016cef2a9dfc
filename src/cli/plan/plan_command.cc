#include "cli/plan/plan_command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/byte_size.h"
#include "base/error.h"
#include "cli/console/say.h"
#include "cli/options/machine_options.h"
#include "cli/plan/fit.h"
#include "cli/plan/measure_rates.h"
#include "cli/plan/run_estimate.h"
#include "cli/plan/run_memory.h"
#include "cli/plan/step_plan.h"
#include "cli/report/report.h"
#include "engine/devices.h"
#include "platform/available_threads.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

// A card that is planned for is as fast as its data sheet says, unless something else is known.
void take_data_sheet(PretrainOptions& options, const PlanRequest& request) {
  if (!options.device_file.empty() || !request.measure.empty()) return;
  const auto card = engine::card_of(options.training.step.compile.device);
  if (card && !card->data_sheet.empty()) {
    options.device_file = "configs/devices/" + card->data_sheet + ".json";
  }
}

std::string threads_of(const PretrainRun& run) {
  if (card_memory(run.training.step.compile.device)) return "the card";
  const int threads = platform::resolved_threads(run.training.step.compile.target.threads);
  return fmt::format("{} thread{}", threads, threads == 1 ? "" : "s");
}

// The source of a time that is a step's useful FLOPs at the rate of the fastest product.
std::string products_alone(double flops_per_second, const std::string& threads) {
  return fmt::format(
      "matrix products alone, at {:.0f} GFLOP/s on {}; cloze plan --measure FILE times the other "
      "operators too",
      flops_per_second / 1e9, threads);
}

// Rates of products alone, which are measured when there is no device file.
forecast::DeviceRates product_rates(const PretrainRun& run) {
  const double gflops = product_rate(run) / 1e9;
  forecast::DeviceRates rates{
      .device = fmt::format("{:.0f} GFLOP/s of matrix products on {}", gflops, threads_of(run))};
  for (const DType dtype : {DType::kF32, run.training.step.compute_dtype}) {
    rates.gflops[std::string(name_of(dtype))] = gflops;
  }
  return rates;
}

forecast::DeviceRates measured_rates(const PretrainRun& run, const std::filesystem::path& path) {
  forecast::DeviceRates rates = measure_rates(run);
  platform::write_file_atomically(path, forecast::device_text(rates));
  say("wrote {}\n", path.string());
  return rates;
}

// Whether the user said how fast this device's operators are.
bool is_rated(const PretrainOptions& options, const PlanRequest& request) {
  return !request.measure.empty() || !options.device_file.empty();
}

void check_request(const PretrainOptions& options, const PlanRequest& request) {
  if (!request.measure.empty() && !options.device_file.empty()) {
    throw_user_error(
        "`measure` {} makes a device file, but device_file {} reads one; give only one of the two "
        "options",
        request.measure.string(), options.device_file.string());
  }
  require_network(request.scale);
  if (!request.scale.network_file.empty() && !is_rated(options, request)) {
    throw_user_error(
        "network_file {} says how ranks are connected, but not how fast they compute; name a "
        "device_file, or measure one",
        request.scale.network_file.string());
  }
}

forecast::DeviceRates rates_of(const PretrainRun& run, const PlanRequest& request) {
  if (!request.measure.empty()) return measured_rates(run, request.measure);
  return is_rated(run.options, request) ? device_rates(run.options) : product_rates(run);
}

// The time of the useful FLOPs alone, where no rates but those of products are known.
StepEstimate least_estimate(const PretrainRun& run, const forecast::DeviceRates& rates,
                            const RecomputeChoice& recompute) {
  const double rate = rates.gflops.at("f32") * 1e9;
  const double seconds = training_flops(run, run.batch.sequences_per_step) / rate;
  return {.seconds = seconds * (recompute.is_on ? 1.0 + recompute.added_share() : 1.0),
          .source = products_alone(rate, threads_of(run)),
          .is_least = true};
}

void print_plan(const PretrainRun& run, const PlanRequest& request,
                const forecast::MemoryForecast& before) {
  const train::TrainingStepOptions& step = run.training.step;
  const BatchPlan& batch = run.batch;
  const plan::Program program = compiled(step);
  forecast::MemoryForecast memory = memory_beside_step(run, before);
  add_planned_step(memory, run, program);
  fmt::print("{}", describe_plan(step, program, batch.sequences_per_step, memory, request.kernels));

  const forecast::DeviceRates rates = rates_of(run, request);
  Report report =
      training_report(step, {batch.sequences_per_step, run.options.seq_length, batch.micro_batches},
                      program, memory.text());
  report.estimated = forecast::estimated_seconds(program, report.use, rates);
  const double seconds = report.estimated.of_step(report.use, report.micro_batches);
  const RecomputeChoice recompute =
      recompute_choice(step, {program.total_bytes(), seconds}, rates, report.micro_batches);
  const StepEstimate estimate = is_rated(run.options, request)
                                    ? StepEstimate{seconds, report.estimated.source}
                                    : least_estimate(run, rates, recompute);
  fmt::print("{}{}", recompute.text(), describe_run(run, estimate));
  if (!request.scale.network_file.empty()) {
    fmt::print("{}", describe_scale(run, request.scale, rates, before));
  }
  if (request.report.empty()) return;
  platform::write_file_atomically(request.report, report_html(report));
  say("wrote {}\n", request.report.string());
}

}  // namespace

std::string RecomputeChoice::text() const {
  // A small model may take more.
  const int64_t saved = std::max<int64_t>(kept.bytes - recomputed.bytes, 0);
  return fmt::format(
      "recompute {} {:.1f} MiB of the {:.1f} that a step {}, and {} {:.0f} % to its time\n",
      is_on ? "saves" : "would save", mebibytes(saved), mebibytes(kept.bytes),
      is_on ? "would take without it" : "takes", is_on ? "adds" : "add", 100.0 * added_share());
}

RecomputeChoice recompute_choice(const train::TrainingStepOptions& step,
                                 const RecomputeChoice::Cost& planned,
                                 const forecast::DeviceRates& rates, int64_t micro_batches) {
  train::TrainingStepOptions other = step;
  other.recompute = !step.recompute;
  const plan::Program program = compiled(other);
  const plan::ProgramUse use = plan::use_of(program);
  const RecomputeChoice::Cost otherwise{
      program.total_bytes(),
      forecast::estimated_seconds(program, use, rates).of_step(use, micro_batches)};
  return {.kept = step.recompute ? otherwise : planned,
          .recomputed = step.recompute ? planned : otherwise,
          .is_on = step.recompute};
}

void add_plan_rows(OptionTable& table, PlanRequest& request) {
  table.add_common("kernels", &request.kernels,
                   "Also list the kernels chosen, and why others were not");
  table.add_common("fit", &request.fit,
                   "Find the largest micro-batch that fits in this much memory, such as 8GiB; the "
                   "sequences per step stay the same");
  table.add_common("report", &request.report,
                   "Write the plan as an HTML page: memory over the program, time per operator");
  table.add_common("measure", &request.measure,
                   "Run the plan's operators for a few seconds and write a device_file");
}

void print_plan(const PretrainRun& run, const PlanRequest& request) {
  PretrainOptions options = run.options;
  take_data_sheet(options, request);
  check_request(options, request);
  const forecast::MemoryForecast before;
  if (!request.fit.empty()) fmt::print("{}", fit_micro_batch(options, request.fit, before));
  print_plan(PretrainRun(options), request, before);
}

}  // namespace cloze::cli
