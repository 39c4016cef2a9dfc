// Builds a token store: tokenises text once and writes it as shards.
//
// The text is cut into pieces of some 8 MiB (`piece_bytes`) at the borders of documents, small
// files together. A piece's key is the hash of its text and of the rules, and its shard bears that
// name: a shard that is there already is kept if its checksums hold, so that a build that was
// stopped goes on where it was, and a build after a change of the text redoes only what changed.
// Appending at the end leaves all but the last shard as they are. The bytes of the store are the
// same for any number of threads and any history.
//
// A document never runs on into the next file. One that is longer than
// eight pieces is cut, except for a line of JSON.
//
// Text that is appended is split by what the store has learned, or, if none of its text was split,
// by what this text shows.
//
// Nothing but shards of a store is ever removed from the folder.
//
// Errors: UserError for an empty corpus, for `append` to a store of other rules, or of text to be
// split to a store whose sentences an earlier version has split, and for a folder
// without a store or shards that holds a vocab.txt of other tokens; DataError that names file, line
// and column of bad text; EnvironmentError when another process builds there; for a folder that
// cannot be written to, those of platform::make_writable_directory. The folder holds its old store
// until the new one is complete. A store that is there as it would be built is left alone: any
// number of processes may ask for it at a time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "data/corpus/creation_progress.h"
#include "data/corpus/text_source.h"
#include "data/token_store/token_store.h"

namespace cloze::data {

struct TokenStoreOptions {
  std::vector<std::filesystem::path> files;
  TextForm form;
  double max_invalid_percent = kMaxInvalidPercent;  // as text_source.h has it
  std::filesystem::path folder;
  bool append = false;  // keep what the store has and put these files after it
  int threads = 1;
  int64_t piece_bytes = 8 << 20;
  TextExamination examine = {};  // of the text, before it is tokenised
};

struct TokenStoreBuilt {
  TokenStoreManifest manifest;
  int64_t shards_written = 0;
  int64_t shards_removed = 0;  // of an older store, or damaged
  int64_t bytes = 0;           // of all shards
};

TokenStoreBuilt build_token_store(const TokenStoreOptions& options,
                                  const text::Tokenizer& tokenizer, CreationProgress& progress);

}  // namespace cloze::data
