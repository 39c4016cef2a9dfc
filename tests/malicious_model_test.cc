// Files of torch.save that were made to harm whoever reads them, or that break the format in ways a
// flipped bit does not reach: each is refused, with the file's name, by the function that opens
// every model.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "formats/model_tensors.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;

template <typename T>
std::string little_endian(T value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

// --- Pickles -----------------------------------------------------------------------------------

std::string text(const std::string& value) {
  return "X" + little_endian(static_cast<uint32_t>(value.size())) + value;
}
std::string integer(int64_t value) { return "\x8a\x08"s + little_endian(value); }
std::string tuple(const std::vector<std::string>& items) {
  std::string all = "(";
  for (const std::string& item : items) all += item;
  return all + "t";
}
std::string integers(const std::vector<int64_t>& values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}

struct Tensor {
  std::string type = global("torch", "FloatStorage");
  std::string key = "0";
  int64_t storage_elements = 4;
  int64_t offset = 0;
  std::vector<int64_t> sizes = {2, 2};
  std::vector<int64_t> strides = {2, 1};
};
std::string persistent_id(const Tensor& t) {
  return tuple({text("storage"), t.type, text(t.key), text("cpu"), integer(t.storage_elements)});
}
std::string call(const std::string& function, const std::string& arguments) {
  return function + arguments + "R";
}
const std::string kRebuild = global("torch._utils", "_rebuild_tensor_v2");
const std::string kHooks = call(global("collections", "OrderedDict"), ")");

std::string rebuild(const std::string& storage, const std::string& offset, const std::string& sizes,
                    const std::string& strides) {
  return call(kRebuild, tuple({storage, offset, sizes, strides, "\x89", kHooks}));
}
std::string pickled(const Tensor& t) {
  return rebuild(persistent_id(t) + "Q", integer(t.offset), integers(t.sizes), integers(t.strides));
}
// {"w": value}
std::string dictionary(const std::string& value) { return "\x80\x02}" + text("w") + value + "s."; }

// --- Zip files ---------------------------------------------------------------------------------

uint32_t crc32(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) ? 0xEDB88320u : 0);
  }
  return ~crc;
}

struct Entry {
  std::string name;
  std::string bytes;  // as stored
  uint16_t method = 0;
  uint16_t flags = 0;
  int64_t size = -1;            // as declared; -1: that of the bytes
  std::string local_name = {};  // empty: the same
  int64_t crc = -1;             // -1: the right one
  int64_t local_header = -1;    // where the central directory says it is; -1: where it is
};

// A header of the entry, without its signature.
std::string header(const Entry& entry, const std::string& name) {
  const auto size = static_cast<uint32_t>(entry.size < 0 ? entry.bytes.size() : entry.size);
  const auto crc = static_cast<uint32_t>(entry.crc < 0 ? crc32(entry.bytes) : entry.crc);
  return little_endian<uint16_t>(20) + little_endian(entry.flags) + little_endian(entry.method) +
         little_endian<uint32_t>(0) + little_endian(crc) +
         little_endian(static_cast<uint32_t>(entry.bytes.size())) + little_endian(size) +
         little_endian(static_cast<uint16_t>(name.size())) + little_endian<uint16_t>(0);
}

std::string zip(const std::vector<Entry>& entries) {
  std::string file;
  std::string directory;
  for (const Entry& entry : entries) {
    const int64_t at = entry.local_header < 0 ? std::ssize(file) : entry.local_header;
    directory += "PK\x01\x02" + little_endian<uint16_t>(20) + header(entry, entry.name) +
                 std::string(10, '\0') + little_endian(static_cast<uint32_t>(at)) + entry.name;
    if (entry.local_header >= 0) continue;
    const std::string name = entry.local_name.empty() ? entry.name : entry.local_name;
    file += "PK\x03\x04" + header(entry, name) + name + entry.bytes;
  }
  const auto count = static_cast<uint16_t>(entries.size());
  return file + directory + "PK\x05\x06" + std::string(4, '\0') + little_endian(count) +
         little_endian(count) + little_endian(static_cast<uint32_t>(directory.size())) +
         little_endian(static_cast<uint32_t>(file.size())) + std::string(2, '\0');
}

const std::string kFour(16, '\x01');  // the storage of a Tensor

std::vector<Entry> entries_of(const std::string& pickle) {
  return {{"m/data.pkl", pickle}, {"m/byteorder", "little"}, {"m/data/0", kFour}};
}
std::string torch_zip(const std::string& pickle) { return zip(entries_of(pickle)); }
std::string torch_zip(const Tensor& tensor) { return torch_zip(dictionary(pickled(tensor))); }

std::string with_entry(size_t index, const Entry& entry) {
  std::vector<Entry> entries = entries_of(dictionary(pickled({})));
  entries[index] = entry;
  return zip(entries);
}

// Deflate's shortest way to say many zeros: 13 bits for 258 of them.
std::string deflated_zeros(size_t repetitions) {
  std::string bytes;
  int used = 8;
  const auto put = [&](const char* bits) {
    for (; *bits != 0; ++bits, ++used) {
      if (used == 8) {
        bytes += '\0';
        used = 0;
      }
      if (*bits == '1') bytes.back() |= static_cast<char>(1 << used);
    }
  };
  put("11000110000");                                             // last block, fixed codes; a zero
  for (size_t i = 0; i < repetitions; ++i) put("1100010100000");  // 258 more
  put("0000000");
  return bytes;
}

// --- The files ---------------------------------------------------------------------------------

using Files = std::map<std::string, std::string>;

void add_calls(Files& files) {
  for (const auto& [module, name] : std::vector<std::pair<const char*, const char*>>{
           {"os", "system"},
           {"posix", "system"},
           {"nt", "system"},
           {"os", "execv"},
           {"subprocess", "Popen"},
           {"subprocess", "check_output"},
           {"builtins", "eval"},
           {"builtins", "exec"},
           {"builtins", "getattr"},
           {"builtins", "__import__"},
           {"builtins", "open"},
           {"__builtin__", "apply"},
           {"importlib", "import_module"},
           {"runpy", "_run_code"},
           {"pty", "spawn"},
           {"socket", "create_connection"},
           {"shutil", "rmtree"},
           {"ctypes", "CDLL"},
           {"pickle", "loads"},
           {"marshal", "loads"},
           {"torch", "load"},
           {"torch.hub", "load"},
           {"torch.utils.cpp_extension", "load"},
           {"operator", "attrgetter"},
           {"functools", "partial"},
           {"types", "FunctionType"},
           {"sys", "modules"},
           {"numpy.core.multiarray", "_reconstruct"}}) {
    files[fmt::format("call of {}.{}", module, name)] =
        torch_zip(dictionary(call(global(module, name), tuple({text("touch harmed")}))));
  }
}

void add_ways_to_call(Files& files) {
  const std::string system = global("os", "system");
  const std::string touch = tuple({text("touch harmed")});
  files["INST"] = torch_zip(dictionary("(" + text("touch harmed") + "ios\nsystem\n"));
  files["OBJ"] = torch_zip(dictionary("(" + system + text("touch harmed") + "o"));
  files["NEWOBJ"] = torch_zip(dictionary(system + touch + "\x81"));
  files["NEWOBJ_EX"] = torch_zip(dictionary(system + touch + "}\x92"));
  files["STACK_GLOBAL"] = torch_zip(dictionary(text("os") + text("system") + "\x93" + touch + "R"));
  files["a name from the memo"] =
      torch_zip("\x80\x04" + text("os") + "q\x01" + text("system") + "q\x02h\x01h\x02\x93.");
  files["a call behind the tensors"] =
      torch_zip("\x80\x02}" + text("w") + pickled({}) + "s" + call(system, touch) + "0.");
  files["BUILD of a function"] = torch_zip(dictionary(system + touch + "b"));
  files["a persistent id that calls"] = torch_zip(
      dictionary(rebuild(call(system, touch) + "Q", integer(0), integers({2}), integers({1}))));
  files["PERSID of old"] = torch_zip(dictionary("Ptouch harmed\n"));
  files["attributes of what is allowed"] =
      torch_zip(dictionary(call(global("torch._utils", "_rebuild_tensor_v2.__globals__"), touch)));
  files["a method of what is allowed"] =
      torch_zip(dictionary(call(global("collections", "OrderedDict.fromkeys"), touch)));
  files["a chain of getattr"] = torch_zip(
      dictionary(call(global("builtins", "getattr"), tuple({kRebuild, text("__globals__")}))));
  files["EXT1"] = torch_zip(dictionary("\x82\x01"));
  files["EXT2"] = torch_zip(dictionary("\x83\x01\x01"));
  files["EXT4"] = torch_zip(dictionary("\x84\x01\x01\x01\x01"));
  files["a line break in a name"] = torch_zip(dictionary("\x8c\x03os\n\x8c\x06system\x93)R"));
  files["a tensor that is called"] = torch_zip(dictionary(call(pickled({}), touch)));
}

void add_lying_tensors(Files& files) {
  constexpr int64_t kHuge = int64_t{1} << 62;
  const auto add = [&](const char* name, const Tensor& tensor) { files[name] = torch_zip(tensor); };
  add("a negative size", {.sizes = {-2, 2}});
  add("more elements than stored", {.sizes = {3, 2}});
  add("sizes whose product overflows", {.sizes = {kHuge, 4}, .strides = {4, 1}});
  add("a size that overflows", {.sizes = {INT64_MAX}, .strides = {1}});
  add("a negative stride", {.strides = {-2, 1}});
  add("a stride outside", {.strides = {3, 1}});
  add("a stride that overflows", {.strides = {kHuge, kHuge}});
  add("strides of zero that multiply", {.sizes = {4, 4}, .strides = {0, 0}});
  add("an offset outside", {.offset = 1});
  add("a negative offset", {.offset = -1});
  add("an offset that overflows", {.offset = INT64_MAX});
  add("fewer strides than sizes", {.strides = {1}});
  add("nine dimensions",
      {.sizes = std::vector<int64_t>(9, 1), .strides = std::vector<int64_t>(9, 1)});
  add("a storage of negative size", {.storage_elements = -4});
  add("a storage of exabytes", {.storage_elements = kHuge});
  add("a storage larger than its file", {.storage_elements = 5});
  add("a storage smaller than its file", {.storage_elements = 3, .sizes = {1}, .strides = {1}});
  add("a storage that is not there", {.key = "1"});
  add("a storage outside the archive", {.key = "../../../etc/passwd"});
  add("a storage that is the pickle", {.key = "../data.pkl"});
  add("a storage of an unknown type", {.type = global("torch", "QInt8Storage")});
  add("a storage type that is text", {.type = text("torch.FloatStorage")});
  files["sizes that are text"] = torch_zip(
      dictionary(rebuild(persistent_id({}) + "Q", integer(0), tuple({text("2")}), integers({1}))));
  files["sizes that are no tuple"] = torch_zip(
      dictionary(rebuild(persistent_id({}) + "Q", integer(0), integer(2), integers({1}))));
  files["a storage without an id"] =
      torch_zip(dictionary(rebuild(text("0"), integer(0), integers({2}), integers({1}))));
  files["an id that is text"] =
      torch_zip(dictionary(rebuild(text("0") + "Q", integer(0), integers({2}), integers({1}))));
  files["a rebuild without arguments"] = torch_zip(dictionary(call(kRebuild, ")")));
  const auto looked_at_often = [](const std::vector<int64_t>& strides) {
    std::string views = "\x80\x02}";
    for (int i = 0; i < 1000; ++i) {
      views += text("w" + std::to_string(i)) +
               pickled({.storage_elements = 4096, .sizes = {64, 64}, .strides = strides}) + "s";
    }
    return zip({{"m/data.pkl", views + "."}, {"m/data/0", std::string(4 * 4096, '\1')}});
  };
  files["a storage copied without end"] = looked_at_often({1, 64});
  files["a storage written without end"] = looked_at_often({64, 1});
}

void add_broken_pickles(Files& files) {
  const auto add = [&](const char* name, const std::string& pickle) {
    files[name] = torch_zip("\x80\x02" + pickle);
  };
  add("no pickle", "");
  add("no STOP", "}");
  add("STOP on an empty stack", ".");
  add("protocol 9", "\x80\x09}.");
  add("a memory that was never made", "h\x07.");
  add("a key without a value", "}(" + text("w") + "u.");
  add("a tuple through a mark", "}(\x85.");
  add("no mark", "t.");
  add("a text of 4 GB", "X\xff\xff\xff\xff");
  add("a text that is longer than the pickle",
      "X\xff\x00\x00\x00"
      "w."s);
  add("a list and no dictionary", "].");
  add("a dictionary without tensors", "}.");
  add("an opcode of Python's that torch does not use", "\x97.");
  add("a million marks", std::string(1'000'000, '(') + ".");
  files["tuples inside tuples"] = torch_zip(dictionary(")" + std::string(1'000'000, '\x85')));
}

void add_broken_archives(Files& files) {
  const std::string good = torch_zip(Tensor{});
  for (const double part : {0.1, 0.5, 0.9, 0.99}) {
    files[fmt::format("cut at {} of its bytes", part)] =
        good.substr(0, static_cast<size_t>(part * static_cast<double>(good.size())));
  }
  files["only a first signature"] = "PK\x03\x04";
  files["no data.pkl"] = zip({{"m/byteorder", "little"}, {"m/data/0", kFour}});
  files["the highest byte first"] = with_entry(1, {"m/byteorder", "big"});
  files["a wrong CRC"] = with_entry(2, {.name = "m/data/0", .bytes = kFour, .crc = 1});
  files["encrypted"] = with_entry(2, {.name = "m/data/0", .bytes = kFour, .flags = 1});
  files["compressed by an unknown method"] =
      with_entry(2, {.name = "m/data/0", .bytes = kFour, .method = 99});
  files["a size that is not the stored one"] =
      with_entry(2, {.name = "m/data/0", .bytes = kFour, .size = 1 << 30});
  files["two names for an entry"] =
      with_entry(2, {.name = "m/data/0", .bytes = kFour, .local_name = "m/data/9"});
  const std::string zeros = deflated_zeros(40'000);
  const int64_t unpacked = 1 + 258 * 40'000;
  files["a bomb for a storage"] =
      zip({{"m/data.pkl",
            dictionary(pickled({.storage_elements = unpacked / 4, .sizes = {1}, .strides = {1}}))},
           {.name = "m/data/0", .bytes = zeros, .method = 8, .size = unpacked - unpacked % 4}});
  files["a bomb for a pickle"] =
      zip({{.name = "m/data.pkl", .bytes = zeros, .method = 8, .size = unpacked}});
  std::string pickle = "\x80\x02}";
  for (int i = 0; i < 100; ++i) {
    pickle += text("w" + std::to_string(i)) + pickled({.key = std::to_string(i)}) + "s";
  }
  std::vector<Entry> overlapping = {{"m/data.pkl", pickle + "."}};
  const int64_t at = std::ssize(zip(overlapping)) - 22 - 46 - 10;
  overlapping.push_back({"m/data/0", kFour});
  for (int i = 1; i < 100; ++i) {
    overlapping.push_back(
        {.name = "m/data/" + std::to_string(i), .bytes = kFour, .local_header = at});
  }
  files["a hundred entries in one place"] = zip(overlapping);
  files["a directory outside the file"] =
      good.substr(0, good.size() - 6) + little_endian<uint32_t>(0x7fffffff) + std::string(2, '\0');
}

void add_others(Files& files) {
  const std::string magic = "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19."s;
  const std::string head = magic + "\x80\x02M\xe9\x03.\x80\x02}.";
  const std::string keys = "\x80\x02]" + text("0") + "a.";
  files["legacy: the magic number alone"] = magic;
  files["legacy: a call for a system"] =
      magic + "\x80\x02M\xe9\x03." + dictionary(call(global("os", "system"), ")"));
  files["legacy: a call among the keys"] =
      head + dictionary(pickled({})) + dictionary(call(global("os", "system"), ")"));
  files["legacy: no keys"] = head + dictionary(pickled({}));
  files["legacy: exabytes in a storage"] =
      head + dictionary(pickled({})) + keys + little_endian(uint64_t{1} << 62) + kFour;
  files["legacy: a storage cut short"] =
      head + dictionary(pickled({})) + keys + little_endian(uint64_t{4}) + kFour.substr(1);
  files["legacy: a storage nobody asked for"] = head + dictionary(pickled({})) + "\x80\x02]" +
                                                text("7") + "a." + little_endian(uint64_t{4}) +
                                                kFour;
  files["nothing"] = "";
  files["a bare pickle"] = dictionary(call(global("os", "system"), ")"));
  files["a program"] =
      "\x7f"
      "ELF\x02\x01\x01" +
      std::string(64, '\0');
  files["a script"] = "#!/bin/sh\ntouch harmed\n";
}

std::string refusal(const std::string& bytes) {
  const std::string test = testing::UnitTest::GetInstance()->current_test_info()->name();
  const fs::path path = fs::path(testing::TempDir()) / ("malicious_model_test_" + test + ".bin");
  fs::remove(path);
  std::ofstream(path, std::ios::binary) << bytes;
  try {
    ModelTensors{path};
  } catch (const UserError& error) {
    const std::string message = error.what();
    EXPECT_TRUE(message.starts_with(path.string())) << message;
    return message;
  }
  return "taken";
}

TEST(MaliciousModel, TheFilesAreOtherwiseGood) {
  EXPECT_EQ(refusal(torch_zip(Tensor{})), "taken");
  EXPECT_EQ(refusal(torch_zip(Tensor{.strides = {1, 2}})), "taken");
}

TEST(MaliciousModel, CompressedStoragesAreNotRead) {
  const std::string said = refusal(zip(
      {{"m/data.pkl", dictionary(pickled({.storage_elements = 1, .sizes = {1}, .strides = {1}}))},
       {.name = "m/data/0",
        .bytes = std::string("\1\4\0\xfb\xff", 5) + "\1\1\1\1",
        .method = 8,
        .size = 4,
        .crc = crc32("\1\1\1\1")}}));
  EXPECT_TRUE(
      said.ends_with("m/data/0 is compressed, which torch does not do; save the file again"))
      << said;
}

TEST(MaliciousModel, EveryFileIsRefused) {
  Files files;
  add_calls(files);
  add_ways_to_call(files);
  add_lying_tensors(files);
  add_broken_pickles(files);
  add_broken_archives(files);
  add_others(files);
  EXPECT_GE(files.size(), 100u);
  for (const auto& [name, bytes] : files) EXPECT_NE(refusal(bytes), "taken") << name;
  EXPECT_FALSE(fs::exists("harmed"));
  RecordProperty("files", static_cast<int>(files.size()));
}

}  // namespace
}  // namespace cloze::formats
