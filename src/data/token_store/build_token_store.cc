#include "data/token_store/build_token_store.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "data/corpus/array_corpus.h"
#include "data/corpus/learned_habits.h"
#include "data/token_store/text_piece.h"
#include "data/token_store/token_shard.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

// A shard's name, or what a killed process left of one: 32 hexadecimal digits, the suffix and
// whatever follows it. Other files may end in the same word, as WikiText's do.
bool is_shard_name(std::string_view name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() > kKeyDigits && std::ranges::all_of(name.substr(0, kKeyDigits), is_digit) &&
         name.substr(kKeyDigits).starts_with(kShardSuffix);
}

// Manifests have strip_accents only where it does not follow lower_case.
text::TokenizerOptions as_in_manifests(text::TokenizerOptions rules) {
  if (rules.strips_accents() == rules.lower_case) rules.strip_accents.reset();
  return rules;
}

class TokenStoreBuilder {
 public:
  TokenStoreBuilder(const TokenStoreOptions& options, const text::Tokenizer& tokenizer,
                    CreationProgress& progress)
      : options_(options),
        tokenizer_(tokenizer),
        progress_(progress),
        rules_{.vocabulary = vocabulary_hash(tokenizer.vocabulary()),
               .tokenizer = as_in_manifests(tokenizer.options())} {}

  TokenStoreBuilt build() {
    std::optional<platform::MadeFolder> made;
    std::optional<platform::FolderLock> lock;
    const auto take_folder = [&] {
      made.emplace(options_.folder);
      lock.emplace(options_.folder);
      require_own_vocabulary();
    };
    std::vector<std::string> kept = shards_to_keep();  // a refusal comes before the text is read
    const bool is_store = is_token_store(options_.folder);
    if (!is_store) take_folder();
    const CutText text = cut_text();
    settle_rules(text.sources);
    if (is_store) {
      built_.manifest.shards = shards_after(std::move(kept), keys_of(text));
      if (is_built()) {
        progress_.text_bytes = progress_.total_text_bytes.load();
        count();
        return built_;
      }
      take_folder();
      const TokenRules before = kept_rules_;
      kept = shards_to_keep();  // another process may have appended some
      if (kept_rules_ != before) settle_rules(text.sources);
    }
    built_.manifest.shards = shards_after(std::move(kept), make_shards(text));
    count();
    write_manifest();
    remove_other_shards();
    return built_;
  }

 private:
  struct CutText {
    std::vector<TextSource> sources;
    std::vector<TextPiece> pieces;  // of them
  };

  CutText cut_text() {
    CutText text{.sources = open_text_sources(options_.files,
                                              {.form = options_.form,
                                               .max_invalid_percent = options_.max_invalid_percent,
                                               .threads = options_.threads},
                                              progress_)};
    if (options_.examine) options_.examine(text.sources);
    text.pieces = cut_into_pieces(text.sources, options_.piece_bytes);
    for (const TextPiece& piece : text.pieces) progress_.total_text_bytes += piece.bytes();
    return text;
  }

  // Decides how the text's sentences are split. Those that a store has stay as they are.
  void settle_rules(const std::vector<TextSource>& sources) {
    const TokenRules& old = kept_rules_;
    const TokenRules added{.formats = formats_of(sources)};
    if (is_split(added) && !is_split_as_now(old)) {
      throw_user_error(
          "the sentences in {} were split by an earlier version, and this text would be split "
          "otherwise; make the store again from all of the text, without --append",
          options_.folder.string());
    }
    if (is_split(old)) {
      rules_.habits = old.habits;
      rules_.splitter = old.splitter;
    } else {
      rules_.habits = told_habits(sources, progress_);
    }
    rules_.formats.clear();
    std::ranges::set_union(old.formats, added.formats, std::back_inserter(rules_.formats));
    built_.manifest.rules = rules_;
  }

  static std::vector<TextFormat> formats_of(const std::vector<TextSource>& sources) {
    std::set<TextFormat> formats;
    for (const TextSource& source : sources) formats.insert(source.format());
    return {formats.begin(), formats.end()};
  }

  std::vector<std::string> keys_of(const CutText& text) const {
    std::vector<std::string> keys(text.pieces.size());
    platform::parallel_for(std::ssize(keys), options_.threads, [&](int64_t i) {
      keys[i] = text.pieces[i].key(rules_);
    });
    return keys;
  }

  // Text that a store has is not appended again; text that occurs twice in the input counts twice.
  static std::vector<std::string> shards_after(std::vector<std::string> kept,
                                               const std::vector<std::string>& keys) {
    const std::set<std::string> known(kept.begin(), kept.end());
    std::ranges::copy_if(keys, std::back_inserter(kept),
                         [&](const std::string& key) { return !known.contains(key); });
    return kept;
  }

  // Says whether the store is there as it would be built. Nothing is written then: several
  // processes may ask for it at a time, and its folder need not be writable.
  bool is_built() const {
    const TokenStoreManifest& wanted = built_.manifest;
    if (!other_shards().empty()) return false;
    try {
      const TokenStore store(options_.folder);
      const TokenStoreManifest& there = store.manifest();
      if (there.rules != wanted.rules || there.shards != wanted.shards) return false;
      platform::parallel_for(std::ssize(store.shards()), options_.threads,
                             [&](int64_t i) { store.shards()[i].verify(); });
      return true;
    } catch (const UserError&) {
      return false;  // damaged
    }
  }

  fs::path vocabulary_path() const { return options_.folder / kStoreVocabularyName; }

  // A vocabulary in a folder that never was a store is somebody's own.
  void require_own_vocabulary() const {
    const fs::path path = vocabulary_path();
    if (is_token_store(options_.folder) || !fs::exists(path)) return;
    for (const auto& entry : fs::directory_iterator(options_.folder)) {
      if (is_shard_name(entry.path().filename().string())) return;
    }
    if (has_own_tokens(path)) return;
    throw_user_error("{} would be overwritten by the vocabulary of the store; name another folder",
                     path.string());
  }

  bool has_own_tokens(const fs::path& vocabulary) const {
    try {
      return vocabulary_hash(text::Vocabulary::load(vocabulary)) == rules_.vocabulary;
    } catch (const std::exception&) {
      return false;
    }
  }

  // The shards of a store that is appended to, whose rules are kept in mind.
  std::vector<std::string> shards_to_keep() {
    if (!options_.append) return {};
    const TokenStoreManifest old = read_token_store_manifest(options_.folder);
    if (old.rules.vocabulary != rules_.vocabulary || old.rules.tokenizer != rules_.tokenizer) {
      throw_user_error(
          "{} was made with another vocabulary or other rules (profile {}, do_lower_case {}, "
          "strip_accents {}); appending needs the same ones",
          options_.folder.string(), text::profile_name(old.rules.tokenizer.profile),
          old.rules.tokenizer.lower_case, old.rules.tokenizer.strips_accents());
    }
    kept_rules_ = old.rules;
    return old.shards;
  }

  std::vector<std::string> make_shards(const CutText& text) {
    std::vector<std::string> keys(text.pieces.size());
    platform::parallel_for(std::ssize(keys), options_.threads, [&](int64_t i) {
      keys[i] = make_shard(text.pieces[i]);
      progress_.text_bytes += text.pieces[i].bytes();
    });
    return keys;
  }

  std::string make_shard(const TextPiece& piece) {
    const std::string key = piece.key(rules_);
    {
      const std::lock_guard lock(mutex_);
      if (!claimed_.insert(key).second) return key;  // the same text came before
    }
    const fs::path path = shard_path(options_.folder, key);
    if (is_good_shard(path, key)) return key;
    MemoryCorpus corpus(tokenizer_.vocabulary().size());
    const int64_t invalid = piece.tokenize(tokenizer_, rules_, corpus);
    platform::write_file_atomically(path, token_shard_bytes(corpus, key, piece.bytes(), invalid));
    const std::lock_guard lock(mutex_);
    ++built_.shards_written;
    return key;
  }

  static bool is_good_shard(const fs::path& path, const std::string& key) {
    if (!fs::exists(path)) return false;
    try {
      const TokenShard shard(path);
      shard.verify();
      return shard.header().key == key;
    } catch (const DataError&) {
      return false;
    }
  }

  void count() {
    TokenStoreManifest& manifest = built_.manifest;
    for (const std::string& key : manifest.shards) {
      const fs::path path = shard_path(options_.folder, key);
      const TokenShardHeader header = TokenShard(path).header();
      manifest.documents += header.documents;
      manifest.sentences += header.sentences;
      manifest.tokens += header.tokens;
      manifest.text_bytes += header.text_bytes;
      manifest.invalid_utf8 += header.invalid_utf8;
      built_.bytes += static_cast<int64_t>(fs::file_size(path));
    }
    if (manifest.documents == 0) {
      throw_user_error("the corpus is empty: no sentence in {} file(s)", options_.files.size());
    }
  }

  // The old manifest is removed before the vocabulary under it changes, and the new one is written
  // last.
  void write_manifest() {
    const fs::path path = options_.folder / kStoreName;
    const std::string vocabulary = tokenizer_.vocabulary().to_text();
    const bool is_new = !fs::exists(vocabulary_path());
    if (!is_new && platform::read_file(vocabulary_path()) != vocabulary) fs::remove(path);
    platform::write_file_atomically(vocabulary_path(), vocabulary);
    platform::write_file_atomically(path, token_store_manifest_text(built_.manifest));
  }

  // Shards in the folder that the store does not have, and what killed processes left of some.
  std::vector<fs::path> other_shards() const {
    const std::vector<std::string>& shards = built_.manifest.shards;
    const std::set<std::string> kept(shards.begin(), shards.end());
    std::vector<fs::path> others;
    for (const auto& entry : fs::directory_iterator(options_.folder)) {
      const std::string name = entry.path().filename().string();
      if (!is_shard_name(name)) continue;
      if (name.ends_with(kShardSuffix) && kept.contains(name.substr(0, name.find('.')))) continue;
      others.push_back(entry.path());
    }
    return others;
  }

  // Nobody else writes here now.
  void remove_other_shards() {
    for (const fs::path& other : other_shards()) {
      fs::remove(other);
      ++built_.shards_removed;
    }
  }

  const TokenStoreOptions& options_;
  const text::Tokenizer& tokenizer_;
  CreationProgress& progress_;
  TokenRules rules_;
  TokenRules kept_rules_;  // of the store that is appended to
  TokenStoreBuilt built_;
  std::mutex mutex_;  // of what follows, and of shards_written
  std::set<std::string> claimed_;
};

}  // namespace

TokenStoreBuilt build_token_store(const TokenStoreOptions& options,
                                  const text::Tokenizer& tokenizer, CreationProgress& progress) {
  return TokenStoreBuilder(options, tokenizer, progress).build();
}

}  // namespace cloze::data
