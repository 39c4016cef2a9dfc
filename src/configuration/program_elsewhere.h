// Programs of other systems by their names: those that train, and those whose work another command
// does here.
#pragma once

#include <string>

namespace cloze::configuration {

// Says whether it trains a model as its options say: "run_squad.py".
bool is_training_program(const std::string& name);

// Ends a sentence on what does the work of a program that does not train; null when it is not
// known.
const char* counterpart_of(const std::string& name);

// The family of a model that is not a BERT: "RoBERTa" for roberta-base or org/roberta-large; null
// for others. `name` is one of the Hugging Face hub or a path, whose last part counts.
const char* foreign_family(const std::string& name);

}  // namespace cloze::configuration
