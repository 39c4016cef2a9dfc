#include "cli/inspect.h"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "formats/model_tensors.h"

namespace cloze::cli {
namespace {

void inspect(const std::string& path) {
  const formats::ModelTensors model(path);
  std::vector<formats::TensorView> tensors = model.tensors();
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  int64_t elements = 0, bytes = 0;
  for (const formats::TensorView& tensor : tensors) {
    fmt::print("{}  {} {}\n", tensor.name, name_of(tensor.dtype), tensor.shape.to_string());
    elements += tensor.shape.elements();
    bytes += std::ssize(tensor.bytes);
  }
  for (const std::string& entry : model.other_entries()) fmt::print("{}  no tensor\n", entry);
  fmt::print("{}: {} tensors, {} elements, {:.1f} MiB\n", model.path().string(), tensors.size(),
             elements, static_cast<double>(bytes) / (1 << 20));
}

}  // namespace

void add_inspect(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "inspect",
      "List the tensors of a model: safetensors or pytorch_model.bin, whole or in shards");
  const auto path = std::make_shared<std::string>();
  command.add_option("path", *path, "A model's folder or file").required();
  command.set_action([path] { inspect(*path); });
}

}  // namespace cloze::cli
