// WordPiece: the pieces of a word, each the longest that the vocabulary has at that point.
//
// One walk over the bytes of a word finds them, whatever the vocabulary: a trie of the tokens where
// each node knows where to go on when the next byte does not fit (its failure link) and which
// pieces are settled by then (its pops). Bytes will do for code points, since tokens and words are
// UTF-8. Thread-safe: immutable after construction. Source: Song et al., "Fast WordPiece
// Tokenization", EMNLP 2021 (arXiv 2012.15524), section 3.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"
#include "text/whole_words.h"

namespace cloze::text {

class WordPiece {
 public:
  explicit WordPiece(const Vocabulary& vocabulary);

  // Appends the pieces of a word, not empty. Returns false, and appends nothing, when it has none.
  bool append_pieces(std::string_view word, std::vector<int32_t>& ids) const {
    if (const int32_t id = whole_words_.find(word); id != WholeWords::kNone) {
      ids.push_back(id);
      return true;
    }
    return walk(word, ids);
  }

 private:
  friend class WordPieceBuilder;

  bool walk(std::string_view word, std::vector<int32_t>& ids) const {
    const size_t old_size = ids.size();
    uint32_t node = kWordRoot;
    for (const char byte : word) {
      uint32_t next = child(node, static_cast<uint8_t>(byte));
      while (next == kNoNode) {
        if (!fail(node, ids)) return give_up(old_size, ids);
        next = child(node, static_cast<uint8_t>(byte));
      }
      node = next;
    }
    while (node != kContinuationRoot) {
      if (!fail(node, ids)) return give_up(old_size, ids);
    }
    return true;
  }

  static constexpr uint32_t kNoNode = 0;
  static constexpr uint32_t kWordRoot = 1;          // nothing of the word read yet
  static constexpr uint32_t kContinuationRoot = 2;  // at a border between pieces

  // The trie as a double array: the child of n by byte b is at base(n) + b, if its parent is n.
  struct Node {
    uint32_t base = 0;
    uint32_t parent = kNoNode;
  };
  // The place to go on when no child fits: pieces [pops_begin, pops_end) of pops_ are settled.
  struct Failure {
    uint32_t target = kNoNode;  // kNoNode: the word has no pieces
    uint32_t pops_begin = 0, pops_end = 0;
  };

  uint32_t child(uint32_t node, uint8_t byte) const {
    const uint32_t place = nodes_[node].base + byte;
    return nodes_[place].parent == node ? place : kNoNode;
  }
  bool fail(uint32_t& node, std::vector<int32_t>& ids) const {
    const Failure& failure = failures_[node];
    if (failure.target == kNoNode) return false;
    for (uint32_t i = failure.pops_begin; i < failure.pops_end; ++i) ids.push_back(pops_[i]);
    node = failure.target;
    return true;
  }
  static bool give_up(size_t old_size, std::vector<int32_t>& ids) {
    ids.resize(old_size);
    return false;
  }

  WholeWords whole_words_;
  std::vector<Node> nodes_;
  std::vector<Failure> failures_;
  std::vector<int32_t> pops_;
};

}  // namespace cloze::text
