#include "formats/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <unordered_map>

namespace cloze::formats {
namespace {

using Kind = PickleNode::Kind;

constexpr size_t kMaxNodes = 10'000'000;
constexpr std::string_view kOrderedDict = "collections.OrderedDict";

struct BadPickle {
  std::string message;
};

// Opcodes by the names of pickletools.
enum Opcode : uint8_t {
  kMark = '(',
  kStop = '.',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kNone = 'N',
  kBinPersId = 'Q',
  kReduce = 'R',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kBuild = 'b',
  kGlobal = 'c',
  kEmptyDict = '}',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kEmptyTuple = ')',
  kSetItems = 'u',
  kBinFloat = 'G',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kProto = 0x80,
  kNewObj = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8a,
  kShortBinUnicode = 0x8c,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::function<bool(std::string_view)>& is_allowed)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        is_allowed_(is_allowed) {}

  uint64_t offset() const { return opcode_at_; }

  Pickle run() {
    while (true) {
      opcode_at_ = at_;
      const auto opcode = static_cast<uint8_t>(take(1)[0]);
      if (opcode == kStop) break;
      step(opcode);
    }
    pickle_.root = pop();
    pickle_.bytes = at_;
    return std::move(pickle_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& message) { throw BadPickle{message}; }

  std::string_view take(uint64_t count) {
    if (count > bytes_.size() - at_) refuse("the pickle ends inside an instruction");
    const std::string_view part = bytes_.substr(at_, count);
    at_ += count;
    return part;
  }
  template <typename T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  std::string_view line() {
    const size_t end = bytes_.find('\n', at_);
    if (end == std::string_view::npos) refuse("the pickle ends inside a name");
    const std::string_view text = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return text;
  }

  PickleNode& make(Kind kind) {
    if (pickle_.nodes.size() >= kMaxNodes) refuse("more values than any checkpoint has");
    PickleNode& node = pickle_.nodes.emplace_back();
    node.kind = kind;
    return node;
  }
  PickleNode& push(Kind kind) {
    PickleNode& node = make(kind);
    stack_.push_back(&node);
    return node;
  }
  void push_integer(int64_t value, Kind kind = Kind::kInteger) { push(kind).integer = value; }
  void push_text(uint64_t length, Kind kind) {
    const std::string_view text = take(length);
    push(kind).text = text;
  }

  PickleNode* pop() {
    if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) {
      refuse("a value is missing on the stack");
    }
    PickleNode* node = stack_.back();
    stack_.pop_back();
    return node;
  }
  PickleNode& top(Kind kind) {
    if (stack_.empty() || !stack_.back()->is(kind)) refuse("a value of another kind is expected");
    return *stack_.back();
  }
  std::vector<const PickleNode*> pop_to_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) refuse("a mark is missing");
    std::vector<const PickleNode*> items(stack_.begin() + static_cast<int64_t>(marks_.back()),
                                         stack_.end());
    stack_.resize(marks_.back());
    marks_.pop_back();
    return items;
  }

  void push_tuple(size_t count) {
    std::vector<const PickleNode*> items(count);
    for (size_t i = count; i > 0; --i) items[i - 1] = pop();
    push(Kind::kTuple).items = std::move(items);
  }

  void push_global(std::string name) {
    if (!is_allowed_(name)) refuse(fmt::format("it calls for {}, which no checkpoint needs", name));
    push(Kind::kGlobal).text = std::move(name);
  }

  void call() {
    const PickleNode* arguments = pop();
    const PickleNode* callee = pop();
    if (!callee->is(Kind::kGlobal) || !arguments->is(Kind::kTuple)) {
      refuse("a call of something that is not a function");
    }
    if (callee->text == kOrderedDict && arguments->items.empty()) {
      push(Kind::kDictionary);
    } else {
      push(Kind::kCall).items = {callee, arguments};
    }
  }

  void extend(Kind kind, const std::vector<const PickleNode*>& items) {
    if (kind == Kind::kDictionary && items.size() % 2 != 0) refuse("a key without a value");
    auto& all = top(kind).items;
    all.insert(all.end(), items.begin(), items.end());
  }

  void memoize(uint32_t place) {
    if (stack_.empty()) refuse("nothing to remember");
    if (memo_.size() >= kMaxNodes) refuse("more memories than any checkpoint has");
    memo_[place] = stack_.back();
  }
  void recall(uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) refuse(fmt::format("nothing was remembered as {}", place));
    stack_.push_back(found->second);
  }

  int64_t long_integer(uint8_t length) {
    const std::string_view digits = take(length);
    if (length > 8) {
      // torch's magic number, the one long that matters, is known by its last bytes.
      int64_t tail = 0;
      std::memcpy(&tail, digits.data(), sizeof tail);
      return tail;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < length; ++i) {
      value |= static_cast<uint64_t>(static_cast<uint8_t>(digits[i])) << (8 * i);
    }
    const bool is_negative = length > 0 && length < 8 && (digits.back() & 0x80) != 0;
    if (is_negative) value |= ~uint64_t{0} << (8 * length);
    return static_cast<int64_t>(value);
  }

  void step(uint8_t opcode) {
    if (step_value(opcode) || step_container(opcode)) return;
    switch (opcode) {
      case kProto:
        if (number<uint8_t>() > 5) refuse("a protocol after 5");
        return;
      case kFrame:
        take(8);
        return;
      case kGlobal: {
        const std::string module(line());
        return push_global(module + "." + std::string(line()));
      }
      case kStackGlobal: {
        const PickleNode* name = pop();
        const PickleNode* module = pop();
        if (!name->is(Kind::kText) || !module->is(Kind::kText)) {
          refuse("a name that is not a string");
        }
        return push_global(module->text + "." + name->text);
      }
      case kReduce:
      case kNewObj:
        return call();
      case kBuild:
        pop();
        if (stack_.empty()) refuse("nothing to build");
        return;
      case kBinPersId: {
        const PickleNode* id = pop();
        push(Kind::kReference).items = {id};
        return;
      }
      case kBinPut:
        return memoize(number<uint8_t>());
      case kLongBinPut:
        return memoize(number<uint32_t>());
      case kMemoize:
        return memoize(static_cast<uint32_t>(memo_.size()));
      case kBinGet:
        return recall(number<uint8_t>());
      case kLongBinGet:
        return recall(number<uint32_t>());
      default:
        refuse(fmt::format("instruction 0x{:02x}, which torch does not write", opcode));
    }
  }

  bool step_value(uint8_t opcode) {
    switch (opcode) {
      case kNone:
        push(Kind::kNone);
        return true;
      case kNewTrue:
      case kNewFalse:
        push_integer(opcode == kNewTrue ? 1 : 0, Kind::kBool);
        return true;
      case kBinInt:
        push_integer(number<int32_t>());
        return true;
      case kBinInt1:
        push_integer(number<uint8_t>());
        return true;
      case kBinInt2:
        push_integer(number<uint16_t>());
        return true;
      case kLong1:
        push_integer(long_integer(number<uint8_t>()));
        return true;
      case kBinFloat: {  // big-endian
        const uint64_t bits = __builtin_bswap64(number<uint64_t>());
        push(Kind::kFloat).number = std::bit_cast<double>(bits);
        return true;
      }
      case kBinUnicode:
      case kBinString:
        push_text(number<uint32_t>(), Kind::kText);
        return true;
      case kShortBinUnicode:
      case kShortBinString:
        push_text(number<uint8_t>(), Kind::kText);
        return true;
      case kBinBytes:
        push_text(number<uint32_t>(), Kind::kBytes);
        return true;
      case kShortBinBytes:
        push_text(number<uint8_t>(), Kind::kBytes);
        return true;
      default:
        return false;
    }
  }

  bool step_container(uint8_t opcode) {
    switch (opcode) {
      case kMark:
        marks_.push_back(stack_.size());
        return true;
      case kEmptyTuple:
        push_tuple(0);
        return true;
      case kTuple1:
      case kTuple2:
      case kTuple3:
        push_tuple(opcode - kTuple1 + 1);
        return true;
      case kTuple: {
        auto items = pop_to_mark();
        push(Kind::kTuple).items = std::move(items);
        return true;
      }
      case kEmptyList:
        push(Kind::kList);
        return true;
      case kAppend:
        extend(Kind::kList, {pop()});
        return true;
      case kAppends:
        extend(Kind::kList, pop_to_mark());
        return true;
      case kEmptyDict:
        push(Kind::kDictionary);
        return true;
      case kSetItem: {
        const PickleNode* value = pop();
        const PickleNode* key = pop();
        extend(Kind::kDictionary, {key, value});
        return true;
      }
      case kSetItems:
        extend(Kind::kDictionary, pop_to_mark());
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  const std::function<bool(std::string_view)>& is_allowed_;
  Pickle pickle_;
  uint64_t at_ = 0;
  uint64_t opcode_at_ = 0;
  std::vector<PickleNode*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, PickleNode*> memo_;
};

}  // namespace

bool PickleNode::is_call_of(std::string_view global) const {
  return kind == Kind::kCall && items[0]->text == global;
}

const PickleNode* PickleNode::find(std::string_view key) const {
  if (kind != Kind::kDictionary) return nullptr;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i]->is(Kind::kText) && items[i]->text == key) return items[i + 1];
  }
  return nullptr;
}

Result<Pickle> parse_pickle(std::span<const std::byte> bytes,
                            const std::function<bool(std::string_view global)>& is_allowed) {
  Machine machine(bytes, is_allowed);
  try {
    return machine.run();
  } catch (const BadPickle& bad) {
    return ParseError{bad.message, machine.offset()};
  }
}

}  // namespace cloze::formats
