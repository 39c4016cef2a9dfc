#include "data/token_store/build_token_store.h"

#include <fmt/ranges.h>

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
#include "data/token_store/token_shard.h"
#include "formats/xxh3.h"
#include "platform/files/atomic_file.h"
#include "platform/files/file.h"
#include "platform/files/folder.h"
#include "platform/parallel_for.h"

namespace cloze::data {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxDocumentPieces = 8;
// Any change that gives other tokens for the same text and rules must change this, or, where only
// sentences are split otherwise, kSplitterVersion.
constexpr std::string_view kTokenizerVersion = "cloze tokens 2";

// Bytes [begin, end) of a file.
struct Extent {
  size_t file = 0;
  size_t begin = 0;
  size_t end = 0;
};

// A shard's name, or what a killed process left of one: 32 hexadecimal digits, the suffix and
// whatever follows it. Other files may end in the same word, as WikiText's do.
bool is_shard_name(std::string_view name) {
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  return name.size() > kKeyDigits && std::ranges::all_of(name.substr(0, kKeyDigits), is_digit) &&
         name.substr(kKeyDigits).starts_with(kShardSuffix);
}

// The piece of text that becomes one shard.
struct Piece {
  std::vector<Extent> extents;
  size_t bytes = 0;
};

class PieceCutter {
 public:
  explicit PieceCutter(int64_t piece_bytes) : piece_bytes_(static_cast<size_t>(piece_bytes)) {}

  void add_file(size_t file, const TextSource& source) {
    const std::string_view text = source.text();
    const size_t bytes = text.size();
    if (bytes <= piece_bytes_) return add({file, 0, bytes});
    for (size_t begin = 0; begin < bytes;) {
      const size_t end = piece_end(text, begin, source.format());
      add({file, begin, end});
      begin = end;
    }
  }

  std::vector<Piece> finish() {
    if (open_.bytes > 0) close();
    return std::move(pieces_);
  }

 private:
  size_t piece_end(std::string_view text, size_t begin, TextFormat format) const {
    if (text.size() - begin <= piece_bytes_) return text.size();
    // A line of JSON is one document, and half of it is none.
    const bool may_cut = format != TextFormat::kJsonLines;
    const size_t longest =
        may_cut ? std::min(text.size(), begin + kMaxDocumentPieces * piece_bytes_) : text.size();
    const size_t end = next_document(text.substr(0, longest), begin + piece_bytes_, format);
    if (end < longest || longest == text.size()) return end;
    return last_paragraph(text, begin, longest, format);
  }

  void add(Extent extent) {
    open_.extents.push_back(extent);
    open_.bytes += extent.end - extent.begin;
    if (open_.bytes >= piece_bytes_) close();
  }
  void close() { pieces_.push_back(std::exchange(open_, {})); }

  size_t piece_bytes_;
  Piece open_;
  std::vector<Piece> pieces_;
};

// Manifests have strip_accents only where it does not follow lower_case.
text::TokenizerOptions as_in_manifests(text::TokenizerOptions rules) {
  if (rules.strips_accents() == rules.lower_case) rules.strip_accents.reset();
  return rules;
}

// The part of a key for rules that are not the usual ones. Empty for the usual ones, so that shards
// of earlier versions keep their names.
std::string unusual_rules(const text::TokenizerOptions& rules) {
  std::string text;
  if (rules.strips_accents() != rules.lower_case) {
    text += fmt::format("strip_accents {}\n", rules.strips_accents());
  }
  if (!rules.tokenize_chinese_chars) text += "tokenize_chinese_chars false\n";
  return text;
}

// The same for what is read of JSON Lines.
std::string unusual_reading(const TextForm& form) {
  if (form.format != TextFormat::kJsonLines) return "";
  std::string text;
  if (form.json_key != TextForm().json_key) text += fmt::format("json_key {}\n", form.json_key);
  if (form.skip_bad_lines) text += "skip_bad_lines\n";
  return text;
}

class PieceText {
 public:
  PieceText(const Piece& piece, const std::vector<TextSource>& sources) {
    for (const Extent& extent : piece.extents) {
      const TextSource& source = sources[extent.file];
      parts_.push_back({source.text().substr(extent.begin, extent.end - extent.begin), &source});
    }
  }

  std::string key(const TokenRules& rules) const {
    formats::Xxh3Digest digest;
    digest.update(fmt::format("{}\n{}\n{}\n{}\n{}\n", kTokenizerVersion, rules.vocabulary,
                              text::profile_name(rules.tokenizer.profile),
                              rules.tokenizer.lower_case, formats()));
    if (std::ranges::any_of(parts_, [](const Part& part) { return is_split(part.format()); })) {
      digest.update(fmt::format("{}\n{}\n{}\n{}\n", rules.splitter,
                                fmt::join(rules.habits.abbreviations, " "),
                                fmt::join(rules.habits.openers, " "), rules.habits.has_ordinals));
    }
    digest.update(unusual_rules(rules.tokenizer));
    for (const Part& part : parts_) {
      digest.update(unusual_reading(part.source->form()));
      digest.update(fmt::format("{}\n", part.text.size()));
      digest.update(part.text);
    }
    return digest.hex();
  }

  // Appends the documents to `corpus` and returns the number of invalid UTF-8 sequences.
  int64_t tokenize(const text::Tokenizer& tokenizer, const TokenRules& rules,
                   CorpusSink& corpus) const {
    const SentenceReader reader(rules.habits);
    uint64_t invalid = 0;
    std::vector<int32_t> ids;
    const auto append_sentence = [&](std::string_view sentence) {
      ids.clear();
      invalid += tokenizer.append_ids(sentence, ids);
      corpus.append_sentence(ids);
    };
    for (const Part& part : parts_) {
      try {
        reader.visit(part.text, part.source->form(),
                     {append_sentence, [&] { corpus.end_document(); }});
      } catch (const BadText& bad) {
        bad.rethrow_if_in(part.source->text(), part.source->path());
        throw;
      }
      corpus.end_document();
    }
    return static_cast<int64_t>(invalid);
  }

 private:
  struct Part {
    std::string_view text;
    const TextSource* source = nullptr;
    TextFormat format() const { return source->format(); }
  };

  // "paragraphs", or "sentences jsonl" of parts of several forms.
  std::string formats() const {
    std::vector<std::string_view> names;
    for (const Part& part : parts_) names.push_back(text_format_name(part.format()));
    if (std::ranges::count(names, names.front()) == std::ssize(names)) names.resize(1);
    return fmt::format("{}", fmt::join(names, " "));
  }

  std::vector<Part> parts_;
};

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
    std::vector<Piece> pieces;  // of them
  };

  CutText cut_text() {
    CutText text{.sources = open_text_sources(options_.files,
                                              {.form = options_.form,
                                               .max_invalid_percent = options_.max_invalid_percent,
                                               .threads = options_.threads},
                                              progress_)};
    if (options_.examine) options_.examine(text.sources);
    PieceCutter cutter(options_.piece_bytes);
    for (size_t i = 0; i < text.sources.size(); ++i) cutter.add_file(i, text.sources[i]);
    text.pieces = cutter.finish();
    for (const Piece& piece : text.pieces) {
      progress_.total_text_bytes += static_cast<int64_t>(piece.bytes);
    }
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
      keys[i] = PieceText(text.pieces[i], text.sources).key(rules_);
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
      keys[i] = make_shard(text.pieces[i], text.sources);
      progress_.text_bytes += static_cast<int64_t>(text.pieces[i].bytes);
    });
    return keys;
  }

  std::string make_shard(const Piece& piece, const std::vector<TextSource>& sources) {
    const PieceText text(piece, sources);
    const std::string key = text.key(rules_);
    {
      const std::lock_guard lock(mutex_);
      if (!claimed_.insert(key).second) return key;  // the same text came before
    }
    const fs::path path = shard_path(options_.folder, key);
    if (is_good_shard(path, key)) return key;
    MemoryCorpus corpus(tokenizer_.vocabulary().size());
    const int64_t invalid = text.tokenize(tokenizer_, rules_, corpus);
    platform::write_file_atomically(
        path, token_shard_bytes(corpus, key, static_cast<int64_t>(piece.bytes), invalid));
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
