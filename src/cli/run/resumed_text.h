// A run that goes on needs the text that it began with, or its tokens, and the vocabulary, which its
// checkpoint has too. These functions say what is there, and take what can stand in.
#pragma once

#include <filesystem>
#include <string>

#include "cli/options/option_table.h"
#include "cli/run/pretrain_options.h"

namespace cloze::cli {

// The folder for the token store of text that pretrain tokenises itself; or the store it is given.
std::filesystem::path store_folder(const PretrainOptions& options);

// Whether the run goes on, and a file of its input_file cannot be found or read.
bool is_text_gone(const PretrainOptions& options);

// Why a run that goes on with the tokens in its store does not read their text again: "the text
// novels.txt is gone". Empty where it reads the text.
std::string reason_not_to_read(const PretrainOptions& options);

// UserError where the text is gone; it names the option that brings the tokens or the text back.
void require_text(const PretrainOptions& options);

// Where a run goes on and its vocab_file is gone, that of the checkpoint serves.
void take_vocabulary_of_checkpoint(PretrainOptions& options, const OptionTable& table);

}  // namespace cloze::cli
