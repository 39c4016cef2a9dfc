// Other systems that train BERT, and what becomes of every key of their configurations here. Each
// system has a file for that (system_file.h). `cloze config import` converts by it, `--config` takes
// files of the TensorFlow 1 form by it, and key_document.h prints it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configuration/computations.h"
#include "formats/json.h"

namespace cloze::configuration {

// The words of docs/fidelity/options.md.
enum class Fate { kSupported, kMapped, kNoEffect, kPlanned };

struct KeyRule {
  std::string key;  // nested keys joined by dots; "wandb_opts.*" is all keys beneath wandb_opts
  Fate fate;
  std::string option;  // ours that takes the value; empty: none, or a statement takes the key
  std::string note;    // of kMapped where the meaning went; of kNoEffect and kPlanned why
  formats::Json agreeing = nullptr;  // the value that asks for what is done here anyway
  bool is_missing = false;           // setting it is an error, not just a note
};

// Keys of one program, or of all programs of the system: a table of the document.
struct KeyGroup {
  std::string heading;  // of the document
  std::string task;     // "SQuAD", "GLUE"; empty: any
  std::vector<KeyRule> rules;
};

// A value of an option of ours that has another name there.
struct Meaning {
  std::string option;
  formats::Json there, here;
};

struct ForeignSystem {
  std::string id;    // "tensorflow1"
  std::string name;  // "Graphcore's TensorFlow 1 programs"
  std::vector<KeyGroup> groups;
  formats::Json defaults;  // options of ours that a file leaves out
  std::vector<Meaning> meanings;
  std::vector<std::string> marks;  // keys that tell a file of this system: find_mark() in import.h
  formats::Json constants;         // what the computations read
  std::vector<formats::Json> statements;  // what several keys mean together: statement.h
  Computations computations;

  // The rule of a key for a task, or null: looked up in the task's own group, the general one, and
  // those of other tasks, in this order.
  const KeyRule* find(std::string_view key, std::string_view task) const;
  // A value of theirs as our option takes it.
  formats::Json meant(const std::string& option, const formats::Json& value) const;
  // Says whether the task's own group or the general one has the key.
  bool is_for(std::string_view key, std::string_view task) const;
};

// All, in the order in which a tie between them is decided.
const std::vector<const ForeignSystem*>& foreign_systems();

const ForeignSystem& tensorflow1();
const ForeignSystem& habana();
const ForeignSystem& optimum();

// Hugging Face's names of arguments, which commands also take as names of our options.
const KeyGroup& training_arguments();

// Asks for nothing: null, false, 0, "" or "false".
bool is_off(const formats::Json& value);

}  // namespace cloze::configuration
