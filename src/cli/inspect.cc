#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/byte_size.h"
#include "cli/options/commands.h"
#include "formats/model_tensors.h"

namespace cloze::cli {
namespace {

// Lists what there is, and says how much it is.
class Listing {
 public:
  void print(const std::string& name, DType dtype, const Shape& shape) {
    fmt::print("{}  {} {}\n", name, name_of(dtype), shape.to_string());
    ++tensors_;
    elements_ += shape.elements();
    bytes_ += shape.elements() * bytes_of(dtype);
  }
  void print_rest(const std::vector<std::string>& other_entries, const std::string& path) const {
    for (const std::string& entry : other_entries) fmt::print("{}  no tensor\n", entry);
    fmt::print("{}: {} tensors, {} elements, {:.1f} MiB\n", path, tensors_, elements_,
               mebibytes(bytes_));
  }

 private:
  int64_t tensors_ = 0, elements_ = 0, bytes_ = 0;
};

// An index says all that is listed here, so its data may be elsewhere.
bool print_index_without_data(const std::string& path) {
  const auto prefix = formats::find_tf_checkpoint(path);
  if (!prefix) return false;
  const formats::TfCheckpointIndex index(*prefix);
  const std::filesystem::path data = index.data_file(0);
  if (std::filesystem::exists(data)) return false;
  Listing listing;
  for (const auto& entry : index.entries()) listing.print(entry.name, entry.dtype, entry.shape);
  listing.print_rest(index.other_entries(), prefix->string());
  fmt::print("the values are not here: {} is missing\n", data.string());
  return true;
}

void inspect(const std::string& path) {
  if (print_index_without_data(path)) return;
  const formats::ModelTensors model(path);
  std::vector<formats::TensorView> tensors = model.tensors();
  std::sort(tensors.begin(), tensors.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  Listing listing;
  for (const auto& tensor : tensors) listing.print(tensor.name, tensor.dtype, tensor.shape);
  listing.print_rest(model.other_entries(), model.path().string());
}

void add_options(OptionTable& table, std::string& path) {
  table.add("path", &path, "A model's folder or file, or a checkpoint's prefix",
            {.is_required = true, .is_positional = true});
}

}  // namespace

void add_inspect(Subcommand program) {
  program.add_command(
      "inspect",
      {"List the tensors of a model: safetensors or pytorch_model.bin, whole or in shards, or a "
       "TensorFlow checkpoint",
       "cloze inspect bert"},
      add_options, inspect);
}

}  // namespace cloze::cli
