// After the import of an older system's configuration, 20 steps of the optimiser and the schedule are
// what that system computes: scripts/check_optimizers computed the fixture in double, from the
// system's formula.
#include <gtest/gtest.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>

#include "cli/options/subcommand.h"
#include "cli/run/finetune_options.h"
#include "cli/run/pretrain_options.h"
#include "configuration/import.h"
#include "engine/session.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "platform/files/atomic_file.h"

namespace cloze::cli {
namespace {

namespace fs = std::filesystem;
using Values = std::vector<double>;
using Tensors = std::map<std::string, Values>;  // by the parameter's name

constexpr int kSteps = 20;
constexpr double kRate = 0.01;

const formats::SafetensorsFile& fixture() {
  static const formats::SafetensorsFile file(fs::path(CLOZE_SOURCE_DIR) /
                                             "tests/fixtures/optimizers.safetensors");
  return file;
}

Values values_of(const formats::TensorView& tensor) {
  Values values(static_cast<size_t>(tensor.shape.elements()));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

Values values_of(const std::string& name) { return values_of(*fixture().find(name)); }

// Those whose names begin with the prefix, without it.
Tensors tensors_of(const std::string& prefix) {
  Tensors tensors;
  for (const formats::TensorView& tensor : fixture().tensors()) {
    if (tensor.name.starts_with(prefix))
      tensors[tensor.name.substr(prefix.size())] = values_of(tensor);
  }
  return tensors;
}

struct Recipe {
  std::string name;                // in the fixture
  std::vector<std::string> files;  // below configs/
};

// The run that a configuration asks for, of as many steps as the fixture's schedule.
class ImportedRun {
 public:
  explicit ImportedRun(const Recipe& recipe) {
    std::vector<fs::path> paths;
    for (const std::string& file : recipe.files) {
      paths.push_back(fs::path(CLOZE_SOURCE_DIR) / "configs" / file);
    }
    const configuration::ForeignFile file = configuration::read_foreign_files(paths);
    const auto conversion = configuration::converted(configuration::recognised_system(file), file);
    RunOptions& options = conversion.task() == "pretraining"
                              ? static_cast<RunOptions&>(pretraining_)
                              : static_cast<RunOptions&>(finetuning_);
    OptionTable table;
    add_run_options(table, options, "");
    formats::Json known = formats::Json::object();
    for (const auto& [option, value] : conversion.options().items()) {
      const bool sets_length = option == "num_train_steps" || option == "epochs";
      if (table.has(option) && !sets_length) known[option] = value;
    }
    const std::string path = testing::TempDir() + "imported_optimizers_test.json";
    platform::write_file_atomically(path, formats::json_text(known));
    resolve_words(table, {"--config", path});
    fs::remove(path);
    const auto length = static_cast<int64_t>(values_of(recipe.name + ".length")[0]);
    options.training.schedule.validate();
    schedule = options.training.schedule.over(length);
    optimizer = options.training.step.optimizer;
  }

  optim::Schedule schedule;
  optim::OptimizerOptions optimizer;

 private:
  PretrainOptions pretraining_;
  FinetuneOptions finetuning_;
};

// The fixture's parameters with gradients, and their update.
graph::Graph update_graph(const optim::OptimizerOptions& options) {
  graph::Graph graph;
  for (const formats::TensorView& tensor : fixture().tensors()) {
    if (!tensor.name.starts_with("start.")) continue;
    const std::string name = tensor.name.substr(std::string("start.").size());
    const graph::Value parameter = graph.add_parameter(
        name, tensor.shape, graph::Init::zeros(),
        tensor.shape.rank() == 1 ? graph::kVectorTraits : graph::ParameterTraits{});
    graph.add_variable({.name = "gradient." + name,
                        .type = graph.type(parameter),
                        .role = graph::VariableRole::kGradient,
                        .master = parameter});
  }
  optim::add_optimizer(graph, options,
                       {.loss_scale = graph.add_input("loss_scale", graph::kScalar),
                        .random_key = graph.add_input("random_key", {DType::kI32, {2}})});
  return graph;
}

void write(engine::Session& session, const std::string& name, const double* values, size_t count) {
  const std::vector<float> floats(values, values + count);
  session.write<float>(name, floats);
}

Tensors weights_after(const optim::OptimizerOptions& options, const std::string& device) {
  engine::Session session(update_graph(options), {.device = device, .target = {.threads = 1}});
  const Tensors start = tensors_of("start.");
  const Tensors gradients = tensors_of("gradient.");
  for (const auto& [name, values] : start) write(session, name, values.data(), values.size());
  session.write_scalar("loss_scale", 1.0f);
  session.write_scalar(optim::kLearningRate, static_cast<float>(kRate));
  for (int32_t step = 0; step < kSteps; ++step) {
    for (const auto& [name, values] : start) {
      write(session, "gradient." + name, gradients.at(name).data() + step * values.size(),
            values.size());
    }
    const int32_t index[] = {step + 1};
    session.write<int32_t>(optim::kUpdateIndex, index);
    session.run(graph::kUpdate);
  }
  Tensors weights;
  for (const auto& [name, values] : start) {
    const std::vector<float> floats = session.read<float>(name);
    weights[name] = Values(floats.begin(), floats.end());
  }
  return weights;
}

// In units of what one rounding a step makes of a weight and of its way, which is about
// `most_moved`: 1 and less is as good as exact.
double difference(const Tensors& weights, const Tensors& expected) {
  const Tensors start = tensors_of("start.");
  double largest = 0.0;
  for (const auto& [name, values] : expected) {
    const Values& first = start.at(name);
    double most_moved = kRate;
    for (size_t i = 0; i < values.size(); ++i) {
      most_moved = std::max(most_moved, std::abs(values[i] - first[i]));
    }
    for (size_t i = 0; i < values.size(); ++i) {
      const double unit = kSteps * unit_roundoff(DType::kF32) *
                          (std::abs(first[i]) + std::abs(values[i]) + most_moved);
      largest = std::max(largest, std::abs(weights.at(name)[i] - values[i]) / unit);
    }
  }
  return largest;
}

class ImportedOptimizers : public testing::TestWithParam<Recipe> {};

TEST_P(ImportedOptimizers, MoveWeightsAsTheirSystemDoes) {
  optim::OptimizerOptions options = ImportedRun(GetParam()).optimizer;
  options.first_moment = DType::kF32;  // f16 would hide what is compared behind its rounding
  const Tensors expected = tensors_of(GetParam().name + ".weight.");
  ASSERT_EQ(expected.size(), 12u);
  for (const std::string device : {"cpu", "reference", "walled"}) {
    const double found = difference(weights_after(options, device), expected);
    EXPECT_LE(found, 1.0) << device;
    fmt::print("{}: {} on {}: {:.2f} of what rounding may do\n", GetParam().name,
               fmt::join(GetParam().files, ", "), device, found);
  }
}

// Each option that an import sets is seen: without it the weights are others.
TEST_P(ImportedOptimizers, NeedWhatTheImportSets) {
  const optim::OptimizerOptions options = ImportedRun(GetParam()).optimizer;
  const Tensors expected = tensors_of(GetParam().name + ".weight.");
  for (bool optim::OptimizerOptions::*const option :
       {&optim::OptimizerOptions::adapts_vectors, &optim::OptimizerOptions::joins_qkv,
        &optim::OptimizerOptions::decays_layer_norm_scale, &optim::OptimizerOptions::use_debiasing,
        &optim::OptimizerOptions::debiases_epsilon}) {
    const bool is_of_epsilon = option == &optim::OptimizerOptions::debiases_epsilon;
    if (is_of_epsilon && !options.debiases_epsilon) continue;  // it may be too small to be seen
    optim::OptimizerOptions changed = options;
    changed.first_moment = DType::kF32;
    const bool is_of_lamb = !is_of_epsilon && option != &optim::OptimizerOptions::use_debiasing;
    if (options.name != "lamb" && is_of_lamb) continue;
    changed.*option = !(changed.*option);
    EXPECT_GT(difference(weights_after(changed, "cpu"), expected), 10.0);
  }
}

TEST_P(ImportedOptimizers, FollowTheScheduleOfTheirSystem) {
  const optim::Schedule schedule = ImportedRun(GetParam()).schedule;
  const std::string name = GetParam().name;
  const Values steps = values_of(name + ".steps"), rates = values_of(name + ".rates");
  ASSERT_EQ(steps.size(), rates.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    EXPECT_NEAR(optim::learning_rate(schedule, static_cast<int64_t>(steps[i])), rates[i],
                8.0 * std::numeric_limits<double>::epsilon() * schedule.base_learning_rate)
        << "step " << steps[i];
  }
}

INSTANTIATE_TEST_SUITE_P(
    Recipes, ImportedOptimizers,
    testing::Values(
        Recipe{"tensorflow1_lamb", {"pretrain_base_128_phase1.json"}},
        Recipe{"tensorflow1_groupbert", {"groupbert/pretrain_base_groupbert_128.json"}},
        Recipe{"tensorflow1_adamw", {"squad_base.json"}},
        Recipe{"tensorflow2_lamb", {"tensorflow2/pretrain_base_128_phase1.json"}},
        Recipe{"tensorflow2_v2.4.0_lamb", {"tensorflow2_v2.4.0/pretrain_base_128_phase1.json"}},
        Recipe{"tensorflow2_adamw", {"tensorflow2/glue_base.json"}},
        Recipe{"habana_lamb", {"habana/pretrain_8.sh"}},
        Recipe{"habana_adamw", {"habana/finetune_squad_8.sh"}},
        Recipe{"optimum_lamb",
               {"optimum/bert_large_ipu.json", "optimum/pretrain_bert_base_128.sh"}},
        Recipe{"optimum_adamw", {"optimum/bert_large_ipu.json", "optimum/squad_arguments.json"}},
        Recipe{"mlperf_lamb", {"mlperf/pod16-closed.json"}}),
    [](const auto& info) {
      std::string name = info.param.name;
      std::ranges::replace(name, '.', '_');
      return name;
    });

}  // namespace
}  // namespace cloze::cli
