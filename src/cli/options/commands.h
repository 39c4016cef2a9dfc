// The subcommands of cloze. Each has a file of its own: its options, and what it does and prints.
#pragma once

#include "cli/options/subcommand.h"

namespace cloze::cli {

void add_answer(Subcommand program);        // answers questions on texts
void add_benchmark(Subcommand program);     // runs benchmarks by name
void add_choose(Subcommand program);        // chooses one of several texts
void add_classify(Subcommand program);      // classifies texts and pairs of texts
void add_compile(Subcommand program);       // stores a model with its weights packed
void add_convert(Subcommand program);       // converts checkpoints
void add_devices(Subcommand program);       // lists what this machine computes with
void add_embed(Subcommand program);         // makes vectors of texts
void add_export(Subcommand program);        // writes a model for other runtimes
void add_fill(Subcommand program);          // fills in blanks
void add_finetune(Subcommand program);      // fine-tunes on a table of one's own
void add_finetune_tag(Subcommand group);    // of that group: on words with tags
void add_finetune_embed(Subcommand group);  // likewise: on texts that belong together
void add_glue(Subcommand program);          // fine-tunes on a GLUE task
void add_inspect(Subcommand program);       // lists the tensors of a model
// Starts a command in several processes; `command`: what is to be started.
void add_launch(Subcommand program, std::vector<std::string> command);
void add_latency(Subcommand program);     // measures how long inference takes
void add_plan(Subcommand program);        // says what memory and time training takes
void add_pretrain(Subcommand program);    // pre-trains
void add_score(Subcommand program);       // official scores of prediction files
void add_serve(Subcommand program);       // answers over HTTP
void add_similarity(Subcommand program);  // says how alike texts are
void add_squad(Subcommand program);       // fine-tunes on SQuAD
void add_tag(Subcommand program);         // finds names and other tagged parts of texts
void add_tokenize(Subcommand program);    // prints token ids

// Of `cloze config`
void add_config_import(Subcommand config);  // a configuration of another system to ours
void add_config_keys(Subcommand config);    // what becomes of each key of other systems
class ConfigurationCommands;                // `print` and `schema`, for each command that trains
void add_finetune_configuration(ConfigurationCommands& commands);
void add_finetune_tag_configuration(ConfigurationCommands& finetune);  // of its group
void add_finetune_embed_configuration(ConfigurationCommands& finetune);
void add_glue_configuration(ConfigurationCommands& commands);
void add_pretrain_configuration(ConfigurationCommands& commands);
void add_squad_configuration(ConfigurationCommands& commands);

// Of `cloze data`
void add_data_convert(Subcommand data);     // records of any form to TFRecord
void add_data_packing(Subcommand data);     // how well sequences pack, and packs
void add_data_records(Subcommand data);     // text to records
void add_data_squad(Subcommand data);       // SQuAD to features
void add_data_stats(Subcommand data);       // counts what data hold
void add_data_tokens(Subcommand data);      // text to a token store
void add_data_verify(Subcommand data);      // checks records and token stores
void add_data_vocabulary(Subcommand data);  // trains a vocabulary
void add_data_wikipedia(Subcommand data);   // a dump to plain text

}  // namespace cloze::cli
