// Pickles, as torch.save writes them, read without executing anything: a pickle is a program, and
// this is a machine that knows no functions. What it would call is kept as a note of the call.
//
// Read: protocols up to 5 as far as torch uses them: none, booleans, integers of up to 64 bits,
// floats, texts, bytes, tuples, lists, dictionaries, the memo, persistent ids, calls (REDUCE,
// NEWOBJ), BUILD (the state is left out). Every other opcode is refused, and every global name that
// is not allowed. Nodes number at most two million.
//
// Source: CPython Lib/pickletools.py (opcodes); torch/serialization.py (what torch writes).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cloze::formats {

struct PickleNode {
  enum class Kind {
    kNone,
    kBool,
    kInteger,
    kFloat,
    kText,
    kBytes,
    kTuple,
    kList,
    kDictionary,  // items: key, value, key, value ...
    kGlobal,      // text: "module.name"
    kCall,        // items: the global and the tuple of its arguments
    kReference,   // items: the persistent id
  };
  Kind kind = Kind::kNone;
  int64_t integer = 0;  // also 0 and 1 of a bool
  double number = 0;
  std::string text;
  std::vector<const PickleNode*> items;

  bool is(Kind other) const { return kind == other; }
  bool is_call_of(std::string_view global) const;
  // The value of a dictionary's text key; nullptr when there is none.
  const PickleNode* find(std::string_view key) const;
};

struct Pickle {
  std::deque<PickleNode> nodes;  // owns them all
  const PickleNode* root = nullptr;
  uint64_t bytes = 0;  // read; another pickle may follow
};

// Calls of collections.defaultdict, and of OrderedDict without arguments, become dictionaries. Errors carry the offset.
Result<Pickle> parse_pickle(std::span<const std::byte> bytes,
                            const std::function<bool(std::string_view global)>& is_allowed);

}  // namespace cloze::formats
