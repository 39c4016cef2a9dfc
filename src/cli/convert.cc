#include <fmt/core.h>

#include <string>

#include "checkpoints/conversion.h"
#include "checkpoints/sentence_folder.h"
#include "cli/options/commands.h"
#include "formats/model_tensors.h"

namespace cloze::cli {
namespace {

struct Options {
  std::string action;
  std::string pooling;  // "": as the model's folder says
  std::string max_shard_size = "5GB";
  checkpoints::ConversionOptions conversion{.output_dir = "converted_ckpt"};
};

void run(Options& options) {
  checkpoints::ConversionOptions& conversion = options.conversion;
  const checkpoints::ConversionAction action = checkpoints::conversion_action(options.action);
  conversion.from = action.from;
  conversion.to = action.to;
  if (!options.pooling.empty()) conversion.pooling = checkpoints::pooling_named(options.pooling);
  conversion.max_shard_bytes = formats::shard_bytes(options.max_shard_size);
  const checkpoints::ConversionReport report = checkpoints::convert_checkpoint(conversion);
  for (const std::string& note : report.notes) fmt::print("{}\n", note);
  for (const std::string& file : report.files) {
    fmt::print("wrote {}\n", (conversion.output_dir / file).string());
  }
  fmt::print("{} tensors, {} elements\n", report.tensors, report.elements);
}

// Why an option of Hugging Face's form may not be there.
std::string for_another_form(const std::string& named) {
  const checkpoints::ConversionAction action = checkpoints::conversion_action(named);
  if (action.to == checkpoints::CheckpointForm::kHuggingFace) return "";
  return fmt::format("is for Hugging Face's files; leave it out, or choose {}2hf",
                     checkpoints::short_name(action.from));
}

void add_graphcore_options(OptionTable& table, checkpoints::ConversionOptions& conversion) {
  table.add("num_embeddings_splits", &conversion.num_embeddings_splits,
            "Graphcore's: tables that the word embeddings are cut into", {.minimum = 1});
  table.add("use_qkv_bias", &conversion.use_qkv_bias,
            "Graphcore's: keep the biases of query, key and value");
  table.add("use_attention_bias", &conversion.use_attention_bias,
            "Graphcore's: keep the bias of the attention's projection");
  table.add("use_cls_layer", &conversion.use_cls_layer,
            "Graphcore's: keep the layer before the MLM projection");
  table.add("baseline", &conversion.is_baseline,
            "Graphcore's: the model is a BERT; not needed, as its tensors say so");
  table.add("use_qkv_split", &conversion.use_qkv_split,
            "Graphcore's: separate kernels for query, key and value; false: one [H, 3H]");
}

void add_options(OptionTable& table, Options& o) {
  checkpoints::ConversionOptions& conversion = o.conversion;
  const OptionRules word{.is_required = true, .is_positional = true};
  table.add(
      "action", &o.action,
      "FROM2TO, each hf, google, graphcore (apps) or research: google2hf, hf2graphcore, hf2hf ...",
      word);
  table.add("checkpoint", &conversion.checkpoint,
            "A model's folder or file, or a TensorFlow checkpoint's prefix", word);
  table.add("output_dir", &conversion.output_dir, "A new folder");
  table.add("config", &conversion.config_file,
            "config.json or bert_config.json; default: the one beside the checkpoint");
  table.add("vocab_file", &conversion.vocabulary_file,
            "vocab.txt or tokenizer.json; default: the one beside the checkpoint");
  table.add("vocab_size", &conversion.vocab_size,
            "Rows of the word table; new ones are the mean of the others. Default: unchanged; to "
            "graphcore at most 30400");
  table.add("precision", &conversion.precision,
            "Bits per weight, 16 or 32; default: unchanged; to graphcore 16");
  table.add("max_shard_size", &o.max_shard_size, "Largest Hugging Face file, such as 500MB or 5GB",
            {.misplaced = [&o] { return for_another_form(o.action); }});
  table.add("pooling", &o.pooling,
            "Write a folder of sentence-transformers, whose vectors are pooled in this way: cls, "
            "mean, max, "
            "mean_sqrt_len_tokens, weightedmean or lasttoken. Default: if the model's folder is "
            "one, as it says",
            {.choices = checkpoints::pooling_names(),
             .misplaced = [&o] { return for_another_form(o.action); }});
  add_graphcore_options(table, conversion);
}

}  // namespace

void add_convert(Subcommand program) {
  program.add_command("convert",
                      {"Convert a model between Hugging Face folders and TensorFlow 1 checkpoints",
                       "cloze convert hf2google bert --output-dir google"},
                      add_options, run);
}

}  // namespace cloze::cli
