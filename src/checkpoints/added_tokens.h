// Tokens that were added to a tokenizer beside its vocab.txt, where there is no tokenizer.json that
// has them all. Text is not cut into them here, but the model has rows for them:
//
//   added_tokens.json       {"<ent>": 30522}, until transformers 4.33
//   tokenizer_config.json   {"added_tokens_decoder": {"30522": {"content": "<ent>"}}}, since then
//
// Errors: UserError that names the file when something in it is not an object.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace cloze::checkpoints {

// The added tokens by id, from `first_id` on: smaller ids are the vocabulary's own. The tokens are
// in quotation marks, as JSON has them.
std::map<int64_t, std::string> added_tokens_in(const std::filesystem::path& folder,
                                               int64_t first_id);

// A sentence for each, for the user.
std::vector<std::string> notes_on(const std::map<int64_t, std::string>& added_tokens,
                                  const std::filesystem::path& folder);

}  // namespace cloze::checkpoints
