#include "text/word_piece.h"

#include <algorithm>

namespace cloze::text {
namespace {

constexpr int32_t kNoToken = -1;
constexpr uint32_t kAlphabet = 256;

struct Key {
  std::string_view bytes;
  int32_t token;
};

}  // namespace

// Lays the tokens out as a double array, level by level, then links the failures.
class WordPieceBuilder {
 public:
  explicit WordPieceBuilder(const Vocabulary& vocabulary) {
    std::vector<Key> words, continuations;
    for (int32_t id = 0; id < vocabulary.size(); ++id) {
      const std::string_view token = vocabulary.token(id);
      if (!token.starts_with(kContinuation)) {
        words.push_back({token, id});
      } else if (token.size() > kContinuation.size()) {
        continuations.push_back({token.substr(kContinuation.size()), id});
      }
    }
    reserve(WordPiece::kContinuationRoot);
    taken_[0] = taken_[WordPiece::kWordRoot] = taken_[WordPiece::kContinuationRoot] = true;
    add_root(WordPiece::kWordRoot, std::move(words));
    add_root(WordPiece::kContinuationRoot, std::move(continuations));
    // order_ grows while it is read: a queue, so that shorter strings come first in both tries.
    for (size_t i = 0; i < order_.size(); ++i) place_children(i);
  }

  void link(WordPiece& matcher) {
    matcher.nodes_ = std::move(nodes_);
    matcher.failures_.resize(matcher.nodes_.size());
    for (const Pending& node : order_) {
      if (node.parent != WordPiece::kNoNode) link_node(matcher, node);
    }
  }

 private:
  // A node whose children are still to be placed: keys_[begin, end) of its trie share its string.
  struct Pending {
    uint32_t node = 0, parent = 0;
    uint8_t byte = 0;
    size_t depth = 0, begin = 0, end = 0;
    int32_t token = kNoToken;
  };

  void add_root(uint32_t root, std::vector<Key> keys) {
    std::sort(keys.begin(), keys.end(),
              [](const Key& left, const Key& right) { return left.bytes < right.bytes; });
    const size_t begin = keys_.size();
    keys_.insert(keys_.end(), keys.begin(), keys.end());
    order_.push_back({.node = root, .begin = begin, .end = keys_.size()});
  }

  void reserve(size_t last) {
    if (last < nodes_.size()) return;
    nodes_.resize(std::max(last + 1, 2 * nodes_.size()));
    taken_.resize(nodes_.size());
  }

  void place_children(size_t index) {
    Pending parent = order_[index];
    // A root has no keys when no token is of its kind.
    if (parent.begin < parent.end && keys_[parent.begin].bytes.size() == parent.depth) {
      parent.token = order_[index].token = keys_[parent.begin++].token;
    }
    const std::vector<Pending> children = children_of(parent);
    const uint32_t base = find_base(children);
    nodes_[parent.node].base = base;
    for (Pending child : children) {
      child.node = base + child.byte;
      nodes_[child.node].parent = parent.node;
      taken_[child.node] = true;
      order_.push_back(child);
    }
  }

  std::vector<Pending> children_of(const Pending& parent) const {
    std::vector<Pending> children;
    for (size_t i = parent.begin; i < parent.end; ++i) {
      const auto byte = static_cast<uint8_t>(keys_[i].bytes[parent.depth]);
      if (children.empty() || children.back().byte != byte) {
        children.push_back(
            {.parent = parent.node, .byte = byte, .depth = parent.depth + 1, .begin = i});
      }
      children.back().end = i + 1;
    }
    return children;
  }

  // A base that has room for all children. Only children take the first free place: they fill
  // the holes that families leave, so families need not search from the start each time.
  uint32_t find_base(const std::vector<Pending>& children) {
    if (children.empty()) {
      reserve(kAlphabet);
      return 0;
    }
    constexpr uint32_t kPatience = 16;
    const bool is_family = children.size() > 1;
    uint32_t& begin = is_family ? family_begin_ : only_child_begin_;
    while (begin < taken_.size() && taken_[begin]) ++begin;
    const uint32_t lowest = children.front().byte;
    const uint32_t first = begin - lowest;
    for (uint32_t base = first;; ++base) {
      reserve(base + kAlphabet);
      const bool has_room = std::none_of(children.begin(), children.end(),
                                         [&](const Pending& c) { return taken_[base + c.byte]; });
      if (!has_room) continue;
      if (is_family && base - first > kPatience) begin = base + lowest;
      return base;
    }
  }

  // A node that ends a token fails to the border after it; any other node fails to where its
  // parent's failure leads with the same byte, giving up pieces on the way.
  void link_node(WordPiece& matcher, const Pending& node) {
    WordPiece::Failure& failure = matcher.failures_[node.node];
    failure.pops_begin = static_cast<uint32_t>(matcher.pops_.size());
    if (node.token != kNoToken) {
      failure.target = WordPiece::kContinuationRoot;
      matcher.pops_.push_back(node.token);
    } else {
      const WordPiece::Failure parent = matcher.failures_[node.parent];
      append_pops(matcher, parent);
      uint32_t from = parent.target;
      while (from != WordPiece::kNoNode && matcher.child(from, node.byte) == WordPiece::kNoNode) {
        append_pops(matcher, matcher.failures_[from]);
        from = matcher.failures_[from].target;
      }
      if (from != WordPiece::kNoNode) failure.target = matcher.child(from, node.byte);
      if (from == WordPiece::kNoNode) matcher.pops_.resize(failure.pops_begin);
    }
    failure.pops_end = static_cast<uint32_t>(matcher.pops_.size());
  }

  static void append_pops(WordPiece& matcher, const WordPiece::Failure& failure) {
    for (uint32_t i = failure.pops_begin; i < failure.pops_end; ++i) {
      const int32_t token = matcher.pops_[i];
      matcher.pops_.push_back(token);
    }
  }

  std::vector<Key> keys_;
  std::vector<Pending> order_;
  std::vector<WordPiece::Node> nodes_;
  std::vector<bool> taken_;
  // No free place before these. Places below kAlphabet are not used: not every byte reaches them.
  uint32_t only_child_begin_ = kAlphabet, family_begin_ = kAlphabet;
};

WordPiece::WordPiece(const Vocabulary& vocabulary) : whole_words_(vocabulary) {
  WordPieceBuilder(vocabulary).link(*this);
}

}  // namespace cloze::text
