#include "formats/pickle.h"

#include <gtest/gtest.h>

namespace cloze::formats {
namespace {

using Kind = PickleNode::Kind;

Result<Pickle> parse(const std::string& text) {
  return parse_pickle(std::as_bytes(std::span(text)), [](std::string_view global) {
    return global == "collections.OrderedDict" || global == "torch.FloatStorage";
  });
}

std::string refusal(const std::string& text) {
  const auto pickle = parse(text);
  return pickle ? "taken" : pickle.error().message;
}

TEST(PickleTest, Values) {
  // {'a': (1, -2, True, None), 'b': [0.5, 300]} by pickle.dumps(..., protocol=2).
  const std::string text(
      "\x80\x02}q\x00(X\x01\x00\x00\x00"
      "aq\x01(K\x01J\xfe\xff\xff\xff\x88Ntq\x02X\x01\x00\x00\x00"
      "bq\x03]q\x04(G?\xe0\x00\x00\x00\x00\x00\x00M,\x01"
      "eu.rest",
      58);
  const auto pickle = parse(text);
  ASSERT_TRUE(pickle) << pickle.error().message;
  EXPECT_EQ(pickle->bytes, text.size() - 4) << "what follows is not touched";
  const PickleNode* a = pickle->root->find("a");
  ASSERT_TRUE(a != nullptr && a->is(Kind::kTuple));
  EXPECT_EQ(a->items[0]->integer, 1);
  EXPECT_EQ(a->items[1]->integer, -2);
  EXPECT_EQ(a->items[2]->integer, 1);
  EXPECT_TRUE(a->items[3]->is(Kind::kNone));
  const PickleNode* b = pickle->root->find("b");
  ASSERT_TRUE(b != nullptr && b->is(Kind::kList));
  EXPECT_EQ(b->items[0]->number, 0.5);
  EXPECT_EQ(b->items[1]->integer, 300);
}

TEST(PickleTest, CallsAreNotedNotMade) {
  const auto pickle = parse(
      "\x80\x02"
      "ctorch\nFloatStorage\nK\x05\x85R.");
  ASSERT_TRUE(pickle) << pickle.error().message;
  EXPECT_TRUE(pickle->root->is_call_of("torch.FloatStorage"));
  EXPECT_EQ(pickle->root->items[1]->items[0]->integer, 5);
}

// Ways to run something, by functions that could be harmful.
TEST(PickleTest, WhateverWouldRunSomethingIsRefused) {
  int tried = 0;
  for (const char* function :
       {"os\nsystem", "posix\nsystem", "nt\nsystem", "subprocess\nPopen", "subprocess\ncall",
        "builtins\neval", "builtins\nexec", "builtins\ngetattr", "builtins\n__import__",
        "__builtin__\neval", "torch\nload", "torch.serialization\nload", "importlib\nimport_module",
        "runpy\nrun_path", "shutil\nrmtree", "socket\nsocket", "collections\nOrderedDict.__init__",
        "torch._utils\n_rebuild_tensor_v2.__globals__"}) {
    const std::string global = std::string("c") + function + "\n";
    const std::string name(function);
    const size_t border = name.find('\n');
    const auto text = [](const std::string& value) {
      return std::string("\x8c") + static_cast<char>(value.size()) + value;
    };
    const std::string by_stack =
        text(name.substr(0, border)) + text(name.substr(border + 1)) + "\x93";
    for (const std::string& start : {global, by_stack}) {
      for (const std::string& end : {std::string("X\x02\x00\x00\x00id\x85R.", 11),
                                     std::string(")\x81."), std::string("}b.")}) {
        const std::string message = refusal("\x80\x04" + start + end);
        EXPECT_TRUE(message.starts_with("it calls for ")) << message;
        ++tried;
      }
    }
  }
  EXPECT_GE(tried, 50);
  for (const char* opcode :
       {"i", "o", "R", "b",    "\x82\x01", "\x83\x01", "\x84\x01", "P",    "V",    "S",
        "I", "L", "F", "g0\n", "p0\n",     "\x92",     "\x97",     "\x98", "\x8f", "\x91"}) {
    EXPECT_NE(refusal(std::string("\x80\x04") + opcode + "\n."), "taken") << opcode;
  }
}

TEST(PickleTest, MalformedPicklesAreRefused) {
  EXPECT_EQ(refusal(""), "the pickle ends inside an instruction");
  EXPECT_EQ(refusal("."), "a value is missing on the stack");
  EXPECT_EQ(refusal("\x80\x09."), "a protocol after 5");
  EXPECT_EQ(refusal("t."), "a mark is missing");
  EXPECT_EQ(refusal("}(\x85."), "a value is missing on the stack") << "not through a mark";
  EXPECT_EQ(refusal("h\x07."), "nothing was remembered as 7");
  EXPECT_EQ(refusal("}(K\x01u."), "a key without a value");
  EXPECT_EQ(refusal("K\x01K\x02"
                    "a."),
            "a value of another kind is expected");
  EXPECT_EQ(refusal("K\x01)R."), "a call of something that is not a function");
  EXPECT_EQ(refusal(std::string("X\xff\xff\xff\x7f", 5)), "the pickle ends inside an instruction");
  EXPECT_EQ(refusal("cabc"), "the pickle ends inside a name");
}

}  // namespace
}  // namespace cloze::formats
