// A number that is not finite, put into a run at many places: the step in which it appears is the
// one that is caught, the place is named, no weight ever sees it, and each policy of
// train/watch/step_watch.h does what it says.
//
// Faults come from a device: it has the CPU's kernels and memory, and puts a bad number into the
// result of one chosen launch or copy. This program links its own device_named()
// (engine/devices.h), so that none of this is in the product. Weights and moments are written
// through the session.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include "backend/cpu/backend.h"
#include "backend/host/host_device.h"
#include "base/bfloat16.h"
#include "data/loader.h"
#include "engine/change_values_test.h"
#include "engine/devices.h"
#include "formats/json.h"
#include "platform/files/file.h"
#include "small_run.h"
#include "train/training.h"

namespace cloze {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Fault {
  const backend::Kernel* kernel = nullptr;  // after whose launch it appears, or before
  size_t output = 0;                        // of the kernel
  std::optional<size_t> input = {};         // of the kernel, instead
  DType dtype = DType::kF32;
  int64_t element = 0;
  float value = kNaN;
  bool is_armed = false;
  int waits =
      0;  // until so many steps have begun; the check of gradients before a save counts as one
  bool passes = false;  // does not come back when the step is computed again
};
Fault fault;

void put(std::byte* tensor) {
  std::byte* const target = tensor + fault.element * bytes_of(fault.dtype);
  const bfloat16 half(fault.value);
  if (fault.dtype == DType::kF32) std::memcpy(target, &fault.value, sizeof(float));
  if (fault.dtype == DType::kBF16) std::memcpy(target, &half, sizeof(half));
}

class FaultyStream final : public backend::Stream {
 public:
  void copy_in(backend::DeviceAddress target, std::span<const std::byte> source) override {
    host_.copy_in(target, source);
  }
  void copy_out(backend::DeviceAddress source, std::span<std::byte> target) override {
    host_.copy_out(source, target);
  }
  void copy(backend::DeviceAddress target, backend::DeviceAddress source, size_t bytes) override {
    host_.copy(target, source, bytes);
  }
  void fill_with_zeros(backend::DeviceAddress target, size_t bytes) override {
    host_.fill_with_zeros(target, bytes);
    has_cleared_ = true;
  }
  void launch(std::span<const backend::BoundLaunch> launches, std::string_view name) override {
    // The first micro-batch after gradients or metrics were cleared: a step begins.
    if (name == graph::kMicroStep && std::exchange(has_cleared_, false) && fault.waits > 0) {
      --fault.waits;
    }
    for (const backend::BoundLaunch& launch : launches) {
      const bool is_place = is_due() && fault.kernel == launch.kernel;
      if (is_place && fault.input) put(launch.inputs[*fault.input].as<std::byte>());
      host_.launch({&launch, 1}, name);
      if (!is_place) continue;
      if (!fault.input) put(launch.outputs[fault.output].as<std::byte>());
      if (fault.passes) fault.is_armed = false;
    }
  }
  std::unique_ptr<backend::Event> record() override { return host_.record(); }
  void wait(const backend::Event&) override {}
  void finish() override {}

 private:
  static bool is_due() { return fault.is_armed && fault.waits == 0; }

  backend::host::HostStream host_;
  bool has_cleared_ = false;
};

class FaultyDevice final : public backend::Device {
 public:
  const backend::Backend& backend() const override { return backend::cpu::backend(); }
  std::unique_ptr<backend::DeviceMemory> allocate(size_t bytes) override {
    return backend::cpu::device().allocate(bytes);
  }
  std::unique_ptr<backend::HostBlock> allocate_host(size_t bytes) override {
    return backend::cpu::device().allocate_host(bytes);
  }
  std::unique_ptr<backend::Stream> make_stream() override {
    return std::make_unique<FaultyStream>();
  }
  double seconds_between(const backend::Event& begin, const backend::Event& end) override {
    return backend::cpu::device().seconds_between(begin, end);
  }
};

}  // namespace

backend::Device& engine::device_named(std::string_view) {
  static FaultyDevice device;
  return device;
}
std::vector<std::string> engine::device_names() { return {"cpu"}; }

namespace tests {
namespace {

namespace fs = std::filesystem;
using graph::VariableRole;
using train::WatchPolicy;

constexpr int64_t kSteps = 8;
constexpr int64_t kCheckpoints = 2;  // steps between them

// Where, in which step (from 0), and what. A weight, moment or input by its name; the output of a
// node, which is named in the graph.
struct Site {
  std::string place;
  int64_t step = 0;
  float value = kNaN;
  size_t output = 0;
  int64_t element = 0;
  bool is_input = false;
  std::string named_as = {};  // in the message; empty: the node and what it wrote
};

// A weight can only be set between steps, after a step without a checkpoint.
const Site kStates[] = {
    {"bert.embeddings.LayerNorm.bias", 1, kNaN, 0, 3},
    {"bert.encoder.layer.1.attention.self.query.weight", 3, kInfinity, 0, 17},
    {"bert.pooler.dense.weight", 5, -kInfinity, 0, 255},
    {"cls.seq_relationship.bias", 7, kNaN, 0, 1},
    {"optimizer.m.bert.encoder.layer.0.intermediate.dense.weight", 1, kNaN, 0, 30},
    {"optimizer.v.bert.encoder.layer.2.output.dense.bias", 3, kInfinity, 0, 2},
    {"optimizer.v.bert.embeddings.word_embeddings.weight", 5, kInfinity, 0, 900},
};

const Site kFaults[] = {
    // Activations
    {"bert.embeddings.layer_norm", 0, kNaN},
    {"bert.encoder.layer.0.attention.self.query.linear", 1, kInfinity, 0, 5},
    {"bert.encoder.layer.1.attention.self.attention", 2, kNaN, 0, 7},
    {"bert.encoder.layer.2.intermediate.dense.linear", 3, kNaN, 0, 1},
    {"bert.encoder.layer.0.output.dropout_add_layer_norm", 4, -kInfinity, 0, 2},
    {"bert.pooler.dense.linear", 5, kNaN, 0, 3},
    {"cls.predictions.transform.layer_norm", 6, kInfinity, 0, 4},
    {"cls.seq_relationship.linear", 7, kNaN, 0, 1},
    // Losses
    {"mlm_loss", 2, kInfinity},
    {"nsp_loss", 5, kNaN},
    // Gradients
    {"cross_entropy_gradient", 5, kNaN, 0, 0},
    {"bert.encoder.layer.2.attention.self.attention_gradient", 6, kInfinity, 1, 3},
    {"bert.encoder.layer.1.intermediate.gelu_gradient", 0, kNaN, 0, 20},
    {"gradient.cls.predictions.bias", 1, kNaN, 0, 33},
    {"gradient.bert.encoder.layer.2.attention.output.LayerNorm.weight", 3, kInfinity, 0, 9},
    {"gradient.bert.encoder.layer.1.intermediate.dense.weight", 4, kNaN, 0, 200},
    {"gradient.bert.encoder.layer.0.attention.self.key.bias", 6, kNaN, 0, 11},
    {"gradient.bert.embeddings.word_embeddings.weight", 7, -kInfinity, 0, 100},
    {"gradient_norm", 2, kNaN, 0, 0, false, "Every gradient is finite, but their global norm"},
    // Inputs
    {"loss_gradient", 3, kNaN, 0, 0, true, "It began in "},
    {"mlm_normalizer", 4, kInfinity, 0, 0, true, "(element 0 is inf)"},
    {"nsp_normalizer", 6, kNaN, 0, 0, true, "(element 0 is nan)"},
};

class Lines : public train::MetricsSink {
 public:
  void write(const train::StepMetrics& metrics) override { lines.push_back(metrics); }
  void forget_after(int64_t step) override {
    std::erase_if(lines, [&](const auto& line) { return line.step > step; });
  }
  std::vector<train::StepMetrics> lines;
};

// All that an update writes.
std::vector<float> state_of(engine::Session& session) {
  std::vector<float> all;
  for (const VariableRole role : {VariableRole::kParameter, VariableRole::kOptimizerState}) {
    for (const graph::Value value : session.graph().variables(role)) {
      const auto values = session.read<float>(session.graph().info(value).name);
      all.insert(all.end(), values.begin(), values.end());
    }
  }
  return all;
}

// Hundreds of checkpoints would each wait for a disk: this uses a folder in memory where there is
// one.
fs::path scratch() {
  const fs::path memory = "/dev/shm";
  return fs::is_directory(memory) ? memory : fs::path(testing::TempDir());
}

std::string number(float value) { return fmt::format("{}", value); }

class Injection : public testing::TestWithParam<DType> {
 protected:
  void SetUp() override { fs::remove_all(folder_); }
  void TearDown() override {
    fault = {};
    fs::remove_all(folder_);
  }

  train::TrainingOptions options(WatchPolicy policy) const {
    train::TrainingOptions run = small_run(GetParam(), kSteps, folder_ / "run");
    run.step.model.num_hidden_layers = 3;
    run.step.capacity.tokens = 48;  // two full micro-batches: faults are in the session's kernels
    run.step.compile.target.threads = 1;
    run.watch.on_non_finite = policy;
    run.steps_per_checkpoint = kCheckpoints;
    return run;
  }

  // The state after a run on the batches before `taken`, and then on those from `next` on.
  const std::vector<float>& expected(int64_t taken, int64_t next) {
    std::vector<float>& state = expected_[{taken, next}];
    if (!state.empty()) return state;
    const train::TrainingOptions run = options(WatchPolicy::kStop);
    train::TrainingStep step(run.step);
    step.session().initialize_parameters(run.step.seed);
    for (int64_t i = 0; i < kSteps; ++i) {
      const int64_t batch = i < taken ? i : i - taken + next;
      step.run(data::load_step({.dataset = run.dataset,
                                .global_batch_size = run.global_batch_size,
                                .capacity = run.step.capacity,
                                .seed = run.step.seed},
                               batch),
               i, optim::learning_rate(run.schedule, i));
    }
    return state = state_of(step.session());
  }

  struct Outcome {
    std::string message;  // of the error; empty: it came to its end
    std::vector<std::string> notices;
    std::vector<train::StepMetrics> lines;
    std::vector<float> before, after;  // state_of(), before the bad step and at the end
    std::vector<int64_t> checkpoints;
  };

  // begin(session) puts the fault in place when the step before the site's is done.
  template <typename Begin>
  Outcome run(const Site& site, WatchPolicy policy, Begin begin) {
    fs::remove_all(folder_);
    fault = {};
    Outcome outcome;
    train::Training* running = nullptr;
    bool has_begun = false;
    train::TrainingOptions run = options(policy);
    if (policy == WatchPolicy::kSkip) run.steps_per_checkpoint = kSteps;  // they are not examined
    const auto begin_once = [&](int64_t steps_done) {
      if (steps_done != site.step || has_begun) return;
      has_begun = true;
      outcome.before = state_of(running->session());
      begin(running->session());
      const bool is_saved = steps_done > 0 && steps_done % run.steps_per_checkpoint == 0;
      fault.waits = is_saved ? 2 : 1;
    };
    run.after_step = [&](const train::StepMetrics& line) { begin_once(line.step); };
    train::Training training(run, [&](const std::string& line) {
      if (line.starts_with("saved ")) return;
      outcome.notices.push_back(line);
      fault.is_armed = false;
    });
    running = &training;
    begin_once(0);
    Lines lines;
    try {
      training.run({&lines});
    } catch (const train::DivergenceError& error) {
      outcome.message = error.what();
    }
    outcome.lines = lines.lines;
    outcome.after = state_of(training.session());
    outcome.checkpoints = train::checkpoint_steps(run.save_path);
    return outcome;
  }

  static void expect_steps(const Outcome& outcome, int64_t skipped) {
    EXPECT_EQ(outcome.message, "");
    ASSERT_EQ(std::ssize(outcome.lines), kSteps);
    for (int64_t i = 0; i < kSteps; ++i) EXPECT_EQ(outcome.lines[i].step, i + 1);
    EXPECT_EQ(outcome.lines.back().skipped_steps, skipped);
    EXPECT_EQ(outcome.lines.back().samples, 8 * (kSteps + skipped));
  }

  // The newest checkpoint is of `step`, and finite.
  void expect_rolled_back(const Outcome& outcome, const Site& site, const std::string& where) {
    const int64_t saved = site.step - site.step % kCheckpoints;
    ASSERT_EQ(outcome.notices.size(), 1u);
    EXPECT_EQ(outcome.notices[0].find(where), 0u) << outcome.notices[0];
    EXPECT_TRUE(outcome.notices[0].ends_with(
        fmt::format(". The run goes back to {} and continues with other data",
                    (folder_ / "run" / fmt::format("checkpoint-{}", saved)).string())))
        << outcome.notices[0];
    expect_steps(outcome, site.step + 1 - saved);
    EXPECT_TRUE(outcome.after == expected(saved, site.step + 1));
  }

  std::map<std::pair<int64_t, int64_t>, std::vector<float>> expected_;
  const fs::path folder_ = scratch() / fmt::format("cloze_injection_test_{}", ::getpid());
};

// Arms the fault at the launch that writes the site's node or variable, or that is the first to read
// its input; returns how a message names it.
std::string arm(const Site& site, engine::Session& session) {
  fault = {.output = site.output, .element = site.element, .value = site.value, .is_armed = true};
  const graph::Graph& graph = session.graph();
  std::vector<size_t> launches(graph.phases().size());
  for (const graph::Node& node : graph.nodes()) {
    const auto phase = static_cast<size_t>(node.phase.index);
    const plan::Launch& launch = session.program().phases[phase][launches[phase]++];
    for (size_t input = 0; input < node.inputs.size(); ++input) {
      if (!site.is_input || graph.info(node.inputs[input]).name != site.place) continue;
      fault.kernel = launch.kernel.get();
      fault.input = input;
      return site.named_as;
    }
    for (size_t output = 0; output < node.outputs.size(); ++output) {
      const graph::ValueInfo& info = graph.info(node.outputs[output]);
      const bool is_variable = info.kind == graph::ValueKind::kVariable;
      const bool is_site = is_variable ? info.name == site.place
                                       : node.name() == site.place && output == site.output;
      if (!is_site) continue;
      fault.kernel = launch.kernel.get();
      fault.output = output;
      fault.dtype = info.type.dtype;
      if (!site.named_as.empty()) return site.named_as;
      const std::string tensor = is_variable ? info.name : "its output " + info.type.to_string();
      EXPECT_LT(site.element, info.type.shape.elements());
      return fmt::format(": {} (element {} is {})", tensor, site.element, number(site.value));
    }
  }
  std::string all;
  for (const graph::Node& node : graph.nodes()) all += node.name() + "\n";
  ADD_FAILURE() << "nothing is called " << site.place << " among\n" << all;
  return "";
}

// Kernels and copies that go wrong in one step.
TEST_P(Injection, FaultsAreCaughtInTheirStep) {
  for (const Site& site : kFaults) {
    SCOPED_TRACE(site.place);
    std::string origin;
    const auto begin = [&](engine::Session& session) { origin = arm(site, session); };
    const std::string where = fmt::format("step {} is not finite: loss ", site.step + 1);
    const auto expect_named = [&](const std::string& message) {
      EXPECT_EQ(message.find(where), 0u) << message;
      EXPECT_NE(message.find("; nothing was updated. "), std::string::npos) << message;
      EXPECT_NE(message.find(origin), std::string::npos) << message << "\nlacks " << origin;
      if (site.place.starts_with("bert.") || site.place.starts_with("cls.")) {
        EXPECT_NE(message.find("It began in " + site.place), std::string::npos) << message;
      }
    };

    const Outcome stopped = run(site, WatchPolicy::kStop, begin);
    expect_named(stopped.message);
    EXPECT_TRUE(stopped.after == stopped.before) << "a weight or a moment has changed";
    EXPECT_EQ(std::ssize(stopped.lines), site.step);
    EXPECT_EQ(stopped.checkpoints.empty() ? 0 : stopped.checkpoints.front(),
              site.step - site.step % kCheckpoints);

    const Outcome skipped = run(site, WatchPolicy::kSkip, begin);
    ASSERT_EQ(skipped.notices.size(), 1u);
    expect_named(skipped.notices[0]);
    EXPECT_TRUE(skipped.notices[0].ends_with(". The step is skipped")) << skipped.notices[0];
    expect_steps(skipped, 1);
    EXPECT_TRUE(skipped.after == expected(site.step, site.step + 1));

    const Outcome back = run(site, WatchPolicy::kRollBack, begin);
    expect_rolled_back(back, site, where);
    expect_named(back.notices.at(0));
  }
}

// The search for a fault that has passed computes the step again, and must not update anything
// either.
TEST_P(Injection, AFaultThatPassesLeavesNoTrace) {
  const Site site{.place = "bert.pooler.dense.linear", .step = 3};
  const auto begin = [&](engine::Session& session) {
    arm(site, session);
    fault.passes = true;
  };
  const char* origin =
      ". The step is finite when it is computed again; the machine may be faulty. ";
  const Outcome stopped = run(site, WatchPolicy::kStop, begin);
  EXPECT_NE(stopped.message.find(origin), std::string::npos) << stopped.message;
  EXPECT_TRUE(stopped.after == stopped.before);
  const Outcome skipped = run(site, WatchPolicy::kSkip, begin);
  expect_steps(skipped, 1);
  EXPECT_NE(skipped.notices.at(0).find(origin), std::string::npos) << skipped.notices[0];
  EXPECT_TRUE(skipped.after == expected(site.step, site.step + 1));
}

// Weights and moments that are not finite any more: no other data would help.
TEST_P(Injection, StateThatIsNotFiniteIsCaughtInTheNextStep) {
  for (const Site& site : kStates) {
    SCOPED_TRACE(site.place);
    const auto begin = [&](engine::Session& session) {
      engine::change_values<float>(session, site.place,
                                   [&](auto values) { values[site.element] = site.value; });
    };
    const bool is_weight = !site.place.starts_with("optimizer.");
    const std::string where = is_weight ? fmt::format("step {} is not finite: loss ", site.step + 1)
                                        : fmt::format("the update of step {} (", site.step + 1);
    const std::string origin = fmt::format("{} {} (element {} is {})",
                                           is_weight ? "The problem was there before the step, "
                                                       "in"
                                                     : "produced numbers that are not finite in",
                                           site.place, site.element, number(site.value));
    for (const WatchPolicy policy : {WatchPolicy::kStop, WatchPolicy::kSkip}) {
      const Outcome stopped = run(site, policy, begin);
      EXPECT_EQ(stopped.message.find(where), 0u) << stopped.message;
      EXPECT_NE(stopped.message.find(origin), std::string::npos) << stopped.message;
      EXPECT_EQ(stopped.message.find("Skipping the step would not help. ") != std::string::npos,
                policy == WatchPolicy::kSkip);
      EXPECT_EQ(std::ssize(stopped.lines), site.step);
      if (!is_weight) continue;
      int64_t different = 0;
      for (size_t i = 0; i < stopped.after.size(); ++i) {
        different += stopped.after[i] != stopped.before[i] ? 1 : 0;
      }
      EXPECT_EQ(different, 1) << "more than what was put there";
    }
    const Outcome back = run(site, WatchPolicy::kRollBack, begin);
    expect_rolled_back(back, site, where);
    EXPECT_NE(back.notices.at(0).find(origin), std::string::npos) << back.notices[0];
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Injection, testing::Values(DType::kF32, DType::kBF16),
                         [](const auto& info) { return std::string(name_of(info.param)); });

// A fault that stays.
class Policies : public Injection {};

TEST_P(Policies, SkippingEndsAfterSixteenInARow) {
  const Site site{.place = "bert.pooler.dense.linear", .step = 3};
  fs::remove_all(folder_);
  train::TrainingOptions run = options(WatchPolicy::kSkip);
  std::vector<std::string> notices;
  train::Training* running = nullptr;
  run.after_step = [&](const train::StepMetrics& line) {
    if (line.step == site.step) arm(site, running->session());
  };
  train::Training training(run, [&](const std::string& line) {
    if (!line.starts_with("saved ")) notices.push_back(line);
  });
  running = &training;
  std::string message;
  try {
    training.run({});
  } catch (const train::DivergenceError& error) {
    message = error.what();
  }
  EXPECT_EQ(std::ssize(notices), train::kMostSkips);
  EXPECT_EQ(training.state().skipped_steps, train::kMostSkips);
  EXPECT_NE(
      message.find(". 16 steps in a row have already been skipped. The newest checkpoint is "),
      std::string::npos)
      << message;
  EXPECT_TRUE(message.ends_with("Lower base_learning_rate, or start from other weights"));
}

TEST_P(Policies, RollingBackEndsAfterThreeTimesToTheSameCheckpoint) {
  train::TrainingOptions run = options(WatchPolicy::kRollBack);
  run.schedule = {.name = "custom", .rates_by_step = {{0, 0.01}, {5, 1e300}}};
  std::vector<std::string> notices;
  train::Training training(run, [&](const std::string& line) {
    if (!line.starts_with("saved ")) notices.push_back(line);
  });
  train::MetricsLog log(run.save_path / "metrics.jsonl", 0);
  std::string message;
  try {
    training.run({&log});
  } catch (const train::DivergenceError& error) {
    message = error.what();
  }
  EXPECT_EQ(std::ssize(notices), train::kMostRollBacks);
  EXPECT_EQ(message.find("the update of step 6 ("), 0u) << message;
  EXPECT_NE(message.find("; it was not saved. The run has already gone back 3 times to step 4. "
                         "The newest checkpoint "
                         "is "),
            std::string::npos)
      << message;
  EXPECT_EQ(train::checkpoint_steps(run.save_path).front(), 4);
  // One line for each step that counts.
  std::string text = platform::read_file(run.save_path / "metrics.jsonl");
  EXPECT_EQ(std::ranges::count(text, '\n'), 1 + 5);
}

// Losses that hardly move, and then a step whose learning rate breaks the model.
TEST_P(Policies, ALossSpikeIsWarnedOfSkippedTakenBackOrStops) {
  constexpr int64_t kBreaks = 70;
  const auto spiking = [&](WatchPolicy policy, std::vector<std::string>& notices) {
    fs::remove_all(folder_);
    train::TrainingOptions run = options(WatchPolicy::kStop);
    run.watch.on_loss_spike = policy;
    run.num_steps = kBreaks + 10;
    run.steps_per_checkpoint = 30;
    run.schedule = {.name = "custom",
                    .rates_by_step = {{0, 1e-7}, {kBreaks, 3.0}, {kBreaks + 1, 1e-7}}};
    auto training = std::make_unique<train::Training>(run, [&](const std::string& line) {
      if (!line.starts_with("saved ")) notices.push_back(line);
    });
    training->run({});
    return training;
  };
  const std::string what = fmt::format("step {}: the loss ", kBreaks + 2);
  std::vector<std::string> notices;
  const auto ignored = spiking(WatchPolicy::kIgnore, notices);
  EXPECT_TRUE(notices.empty());

  const auto warned = spiking(WatchPolicy::kWarn, notices);
  ASSERT_FALSE(notices.empty());
  EXPECT_EQ(notices[0].find(what), 0u) << notices[0];
  EXPECT_NE(notices[0].find(" deviations above "), std::string::npos) << notices[0];
  EXPECT_TRUE(state_of(warned->session()) == state_of(ignored->session()));

  notices.clear();
  const auto back = [&] {
    try {
      spiking(WatchPolicy::kRollBack, notices);
    } catch (const train::DivergenceError& error) {
      return std::string(error.what());
    }
    return std::string();
  }();
  EXPECT_EQ(std::ssize(notices), train::kMostRollBacks) << "the learning rate stays what it was";
  EXPECT_NE(notices[0].find("The run goes back to "), std::string::npos);
  EXPECT_NE(back.find("The run has already gone back 3 times to step 60"), std::string::npos)
      << back;

  notices.clear();
  for (const WatchPolicy policy : {WatchPolicy::kStop, WatchPolicy::kSkip}) {
    std::string message;
    try {
      spiking(policy, notices);
    } catch (const train::DivergenceError& error) {
      message = error.what();
    }
    if (policy == WatchPolicy::kStop) {
      EXPECT_EQ(message.find(what), 0u) << message;
      EXPECT_TRUE(message.ends_with("Lower base_learning_rate, or set on_loss_spike warn"));
      EXPECT_TRUE(notices.empty());
    } else {
      EXPECT_FALSE(notices.empty());
      EXPECT_TRUE(notices[0].ends_with(". The step is skipped")) << notices[0];
    }
  }
}

// What the watch knows of the losses so far is saved with the run.
TEST_P(Policies, ARunThatSkipsSpikesResumesWithTheSameBytes) {
  std::vector<float> whole;
  for (const std::vector<int64_t>& stops : {std::vector<int64_t>{75}, {40, 69, 71, 75}}) {
    fs::remove_all(folder_);
    train::TrainingOptions run = options(WatchPolicy::kStop);
    run.watch.on_loss_spike = WatchPolicy::kSkip;
    run.steps_per_checkpoint = 100;
    run.schedule = {.name = "custom", .rates_by_step = {{0, 1e-7}, {68, 0.3}, {69, 1e-7}}};
    std::vector<float> state;
    for (const int64_t stop : stops) {
      run.num_steps = stop;
      if (fs::exists(run.save_path)) run.restore_dir = run.save_path;
      train::Training training(run, [](const std::string&) {});
      training.run({});
      state = state_of(training.session());
      if (stop == 75) {
        EXPECT_GT(training.state().skipped_steps, 0);
      }
    }
    if (whole.empty()) whole = state;
    EXPECT_TRUE(state == whole);
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, Policies, testing::Values(DType::kF32),
                         [](const auto& info) { return std::string(name_of(info.param)); });

}  // namespace
}  // namespace tests
}  // namespace cloze
