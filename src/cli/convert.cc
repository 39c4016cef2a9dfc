#include "cli/convert.h"

#include <fmt/core.h>

#include <memory>
#include <string>

#include "checkpoints/conversion.h"
#include "formats/safetensors_shards.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string action;
  std::string max_shard_size = "5GB";
  checkpoints::ConversionOptions conversion;
};

void run(Options& options) {
  checkpoints::ConversionOptions& conversion = options.conversion;
  const checkpoints::ConversionAction action = checkpoints::conversion_action(options.action);
  conversion.from = action.from;
  conversion.to = action.to;
  conversion.max_shard_bytes = formats::shard_bytes(options.max_shard_size);
  const checkpoints::ConversionReport report = checkpoints::convert_checkpoint(conversion);
  for (const std::string& note : report.notes) fmt::print("{}\n", note);
  for (const std::string& file : report.files) {
    fmt::print("wrote {}\n", (conversion.output_dir / file).string());
  }
  fmt::print("{} tensors, {} elements\n", report.tensors, report.elements);
}

void add_graphcore_options(Subcommand& command, checkpoints::ConversionOptions& conversion) {
  command
      .add_option("--num-embeddings-splits", conversion.num_embeddings_splits,
                  "Graphcore's: tables that the word embeddings are cut into")
      .at_least(1);
  command.add_option("--use-qkv-bias", conversion.use_qkv_bias,
                     "Graphcore's: keep the biases of query, key and value");
  command.add_option("--use-attention-bias", conversion.use_attention_bias,
                     "Graphcore's: keep the bias of the attention's projection");
  command.add_option("--use-cls-layer", conversion.use_cls_layer,
                     "Graphcore's: keep the layer before the MLM projection");
  command.add_option("--use-qkv-split", conversion.use_qkv_split,
                     "Graphcore's: kernels of query, key and value apart; false: one [H, 3H]");
}

}  // namespace

void add_convert(Subcommand parent) {
  Subcommand command = parent.add_subcommand(
      "convert", "Convert a model between Hugging Face folders and TensorFlow 1 checkpoints");
  const auto options = std::make_shared<Options>();
  checkpoints::ConversionOptions& conversion = options->conversion;
  conversion.output_dir = "converted_ckpt";
  command
      .add_option("action", options->action,
                  "FROM2TO, each hf, google or graphcore: google2hf, hf2graphcore, hf2hf ...")
      .required();
  command
      .add_option("checkpoint", conversion.checkpoint,
                  "A model's folder or file, or a TensorFlow checkpoint's prefix")
      .required();
  command.add_option("--output-dir", conversion.output_dir, "A new folder").shows_default();
  command.add_option("--config", conversion.config_file,
                     "config.json or bert_config.json; default: the one beside the checkpoint");
  command.add_option("--vocab-file", conversion.vocabulary_file,
                     "vocab.txt or tokenizer.json; default: the one beside the checkpoint");
  command.add_option("--vocab-size", conversion.vocab_size,
                     "Rows of the word table; new ones are the mean of the others. Default: as "
                     "they are; to graphcore at most 30400");
  command.add_option("--precision", conversion.precision,
                     "Bits of a weight, 16 or 32; default: as they are; to graphcore 16");
  command
      .add_option("--max-shard-size", options->max_shard_size,
                  "Largest Hugging Face file, such as 500MB or 5GB")
      .shows_default();
  add_graphcore_options(command, conversion);
  command.set_action([options] { run(*options); });
}

}  // namespace cloze::cli
