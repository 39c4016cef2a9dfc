#include <fmt/core.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <string>

#include "base/byte_size.h"
#include "checkpoints/sentence_folder.h"
#include "cli/console/say.h"
#include "cli/inference/inference_options.h"
#include "cli/options/commands.h"
#include "onnx/export_model.h"

namespace cloze::cli {
namespace {

struct Options {
  std::filesystem::path checkpoint;
  std::filesystem::path output_file;
  std::string pooling;  // "": as the model's folder says
};

void run(const Options& o) {
  require_trained(o.checkpoint);
  onnx::ExportOptions options{.model = model_path(o.checkpoint), .output = o.output_file};
  if (!o.pooling.empty()) options.pooling = checkpoints::pooling_named(o.pooling);
  const onnx::ExportReport report = onnx::export_model(options);
  for (const std::string& note : report.notes) say("note: {}\n", note);
  for (const std::filesystem::path& file : report.files) {
    fmt::print("wrote {}, {:.1f} MiB\n", file.string(),
               mebibytes(std::filesystem::file_size(file)));
  }
  fmt::print("{}: {} -> {}\n", report.architecture, fmt::join(report.inputs, ", "),
             fmt::join(report.outputs, ", "));
}

void add_options(OptionTable& table, Options& o) {
  table.add("init_checkpoint", &o.checkpoint, std::string("The ") + kModelHelp,
            {.is_required = true});
  table.add("output_file", &o.output_file,
            "The file to write, NAME.onnx; default: onnx/model.onnx in the model's folder. Weights "
            "of more "
            "than 2 GiB go into a file beside it, NAME.onnx_data");
  table.add("pooling", &o.pooling,
            "Have the model's encoder make vectors of texts, pooled in this way: cls, mean, max, "
            "mean_sqrt_len_tokens, weightedmean or lasttoken. Default: if the model's folder is "
            "one of sentence-transformers, as it says",
            {.choices = checkpoints::pooling_names()});
}

}  // namespace

void add_export(Subcommand program) {
  Subcommand group = program.add_group(
      "export", {"Write a model for other runtimes", "cloze export onnx --init-checkpoint run"});
  group.add_command("onnx",
                    {"Write a BERT with its head as a file of ONNX, which ONNX Runtime and others "
                     "run",
                     "cloze export onnx --init-checkpoint run"},
                    add_options, run);
}

}  // namespace cloze::cli
