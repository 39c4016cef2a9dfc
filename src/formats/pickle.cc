#include "formats/pickle.h"

#include <bit>
#include <cstring>
#include <unordered_map>

#include "formats/refusal.h"

namespace cloze::formats {
namespace {

using Kind = PickleNode::Kind;

constexpr size_t kMaxNodes = 2'000'000;  // of 130 bytes; a tensor takes seven
constexpr std::string_view kOrderedDict = "collections.OrderedDict";
constexpr std::string_view kDefaultDict = "collections.defaultdict";

class Machine {
 public:
  Machine(std::span<const std::byte> bytes, const std::function<bool(std::string_view)>& is_allowed)
      : bytes_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        is_allowed_(is_allowed) {}

  uint64_t offset() const { return opcode_at_; }

  Pickle run() {
    while (true) {
      opcode_at_ = at_;
      const auto opcode = number<uint8_t>();
      if (opcode == '.') break;  // STOP
      const auto found = kInstructions.find(opcode);
      if (found == kInstructions.end()) {
        refuse("instruction 0x{:02x}, which torch does not write", opcode);
      }
      (this->*found->second)();
    }
    pickle_.root = pop();
    pickle_.bytes = at_;
    return std::move(pickle_);
  }

 private:
  static const std::unordered_map<uint8_t, void (Machine::*)()> kInstructions;

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

  PickleNode& push(Kind kind) {
    if (pickle_.nodes.size() >= kMaxNodes) refuse("more values than any checkpoint has");
    PickleNode& node = pickle_.nodes.emplace_back();
    node.kind = kind;
    stack_.push_back(&node);
    return node;
  }
  template <Kind kKind>
  void push_empty() {
    push(kKind);
  }
  template <bool kValue>
  void push_bool() {
    push(Kind::kBool).integer = kValue ? 1 : 0;
  }
  template <typename T>
  void push_integer() {
    push(Kind::kInteger).integer = number<T>();
  }
  void push_float() {  // big-endian
    push(Kind::kFloat).number = std::bit_cast<double>(__builtin_bswap64(number<uint64_t>()));
  }
  template <typename Length, Kind kKind>
  void push_text() {
    push(kKind).text = take(number<Length>());
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

  void mark() { marks_.push_back(stack_.size()); }
  void push_marked_tuple() { push(Kind::kTuple).items = pop_to_mark(); }
  template <size_t kCount>
  void push_tuple() {
    std::vector<const PickleNode*> items(kCount);
    for (size_t i = kCount; i > 0; --i) items[i - 1] = pop();
    push(Kind::kTuple).items = std::move(items);
  }

  void push_global(std::string name) {
    if (!is_allowed_(name)) {
      refuse("it calls for {}, which is not read; save the state_dict() alone, and give that",
             name);
    }
    push(Kind::kGlobal).text = std::move(name);
  }
  void push_written_global() {
    const std::string module(line());
    push_global(module + "." + std::string(line()));
  }
  void push_stack_global() {
    const PickleNode* name = pop();
    const PickleNode* module = pop();
    if (!name->is(Kind::kText) || !module->is(Kind::kText)) refuse("a name that is not a string");
    push_global(module->text + "." + name->text);
  }
  void push_reference() { push(Kind::kReference).items = {pop()}; }

  void call() {
    const PickleNode* arguments = pop();
    const PickleNode* callee = pop();
    if (!callee->is(Kind::kGlobal) || !arguments->is(Kind::kTuple)) {
      refuse("a call of something that is not a function");
    }
    const bool is_dictionary =
        (callee->text == kOrderedDict && arguments->items.empty()) || callee->text == kDefaultDict;
    if (is_dictionary) {
      push(Kind::kDictionary);
    } else {
      push(Kind::kCall).items = {callee, arguments};
    }
  }
  void build() {
    pop();
    if (stack_.empty()) refuse("nothing to build");
  }

  void extend(Kind kind, const std::vector<const PickleNode*>& items) {
    if (kind == Kind::kDictionary && items.size() % 2 != 0) refuse("a key without a value");
    auto& all = top(kind).items;
    all.insert(all.end(), items.begin(), items.end());
  }
  template <Kind kKind>
  void extend_by_marked() {
    extend(kKind, pop_to_mark());
  }
  void append() { extend(Kind::kList, {pop()}); }
  void set_item() {
    const PickleNode* value = pop();
    const PickleNode* key = pop();
    extend(Kind::kDictionary, {key, value});
  }

  void memoize(uint32_t place) {
    if (stack_.empty()) refuse("nothing to remember");
    if (memo_.size() >= kMaxNodes) refuse("more memories than any checkpoint has");
    memo_[place] = stack_.back();
  }
  template <typename Place>
  void memoize_at() {
    memoize(number<Place>());
  }
  void memoize_next() { memoize(static_cast<uint32_t>(memo_.size())); }
  template <typename Place>
  void recall() {
    const uint32_t place = number<Place>();
    const auto found = memo_.find(place);
    if (found == memo_.end()) refuse("nothing was remembered as {}", place);
    stack_.push_back(found->second);
  }

  void push_long() { push(Kind::kInteger).integer = long_integer(take(number<uint8_t>())); }
  static int64_t long_integer(std::string_view digits) {
    const size_t length = digits.size();
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

  void check_protocol() {
    if (number<uint8_t>() > 5) refuse("a protocol after 5");
  }
  void skip_frame() { take(8); }

  std::string_view bytes_;
  const std::function<bool(std::string_view)>& is_allowed_;
  Pickle pickle_;
  uint64_t at_ = 0;
  uint64_t opcode_at_ = 0;
  std::vector<PickleNode*> stack_;
  std::vector<size_t> marks_;
  std::unordered_map<uint32_t, PickleNode*> memo_;
};

// Under their names in pickletools.
const std::unordered_map<uint8_t, void (Machine::*)()> Machine::kInstructions{
    {'(', &Machine::mark},                                 // MARK
    {'N', &Machine::push_empty<Kind::kNone>},              // NONE
    {0x88, &Machine::push_bool<true>},                     // NEWTRUE
    {0x89, &Machine::push_bool<false>},                    // NEWFALSE
    {'J', &Machine::push_integer<int32_t>},                // BININT
    {'K', &Machine::push_integer<uint8_t>},                // BININT1
    {'M', &Machine::push_integer<uint16_t>},               // BININT2
    {0x8a, &Machine::push_long},                           // LONG1
    {'G', &Machine::push_float},                           // BINFLOAT
    {'X', &Machine::push_text<uint32_t, Kind::kText>},     // BINUNICODE
    {'T', &Machine::push_text<uint32_t, Kind::kText>},     // BINSTRING
    {0x8c, &Machine::push_text<uint8_t, Kind::kText>},     // SHORT_BINUNICODE
    {'U', &Machine::push_text<uint8_t, Kind::kText>},      // SHORT_BINSTRING
    {'B', &Machine::push_text<uint32_t, Kind::kBytes>},    // BINBYTES
    {'C', &Machine::push_text<uint8_t, Kind::kBytes>},     // SHORT_BINBYTES
    {')', &Machine::push_tuple<0>},                        // EMPTY_TUPLE
    {0x85, &Machine::push_tuple<1>},                       // TUPLE1
    {0x86, &Machine::push_tuple<2>},                       // TUPLE2
    {0x87, &Machine::push_tuple<3>},                       // TUPLE3
    {'t', &Machine::push_marked_tuple},                    // TUPLE
    {']', &Machine::push_empty<Kind::kList>},              // EMPTY_LIST
    {'a', &Machine::append},                               // APPEND
    {'e', &Machine::extend_by_marked<Kind::kList>},        // APPENDS
    {'}', &Machine::push_empty<Kind::kDictionary>},        // EMPTY_DICT
    {'s', &Machine::set_item},                             // SETITEM
    {'u', &Machine::extend_by_marked<Kind::kDictionary>},  // SETITEMS
    {'c', &Machine::push_written_global},                  // GLOBAL
    {0x93, &Machine::push_stack_global},                   // STACK_GLOBAL
    {'R', &Machine::call},                                 // REDUCE
    {0x81, &Machine::call},                                // NEWOBJ
    {'b', &Machine::build},                                // BUILD
    {'Q', &Machine::push_reference},                       // BINPERSID
    {'q', &Machine::memoize_at<uint8_t>},                  // BINPUT
    {'r', &Machine::memoize_at<uint32_t>},                 // LONG_BINPUT
    {0x94, &Machine::memoize_next},                        // MEMOIZE
    {'h', &Machine::recall<uint8_t>},                      // BINGET
    {'j', &Machine::recall<uint32_t>},                     // LONG_BINGET
    {0x80, &Machine::check_protocol},                      // PROTO
    {0x95, &Machine::skip_frame},                          // FRAME
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
  } catch (const Refusal& bad) {
    return ParseError{bad.message, machine.offset()};
  }
}

}  // namespace cloze::formats
