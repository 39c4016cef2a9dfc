#include "formats/onnx_file.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string_view>

#include "base/error.h"
#include "formats/wire_message.h"
#include "platform/files/file.h"
#include "platform/files/own_folder_test.h"

namespace cloze::formats {
namespace {

namespace fs = std::filesystem;

std::vector<WireField> fields_in(std::string_view message, uint64_t number) {
  auto fields = wire_fields(message).value();
  std::erase_if(fields, [&](const WireField& field) { return field.number != number; });
  return fields;
}

WireField only_field(std::string_view message, uint64_t number) {
  const auto fields = fields_in(message, number);
  EXPECT_EQ(fields.size(), 1u) << "of number " << number;
  return fields.empty() ? WireField() : fields.front();
}

// The tensor of this name in a graph.
std::string_view tensor_named(std::string_view graph, std::string_view name) {
  for (const WireField& tensor : fields_in(graph, 5)) {
    if (only_field(tensor.bytes, 8).bytes == name) return tensor.bytes;
  }
  ADD_FAILURE() << "no tensor " << name;
  return {};
}

std::map<std::string, std::string> place_of(std::string_view tensor) {
  std::map<std::string, std::string> place;
  for (const WireField& entry : fields_in(tensor, 13)) {
    place.emplace(only_field(entry.bytes, 1).bytes, only_field(entry.bytes, 2).bytes);
  }
  return place;
}

// A tensor of f32 whose elements are this number.
OnnxTensor filled(std::string name, int64_t elements, float value) {
  return {
      .name = std::move(name), .shape = {elements}, .read = [value](std::span<std::byte> bytes) {
        for (size_t at = 0; at < bytes.size(); at += sizeof value) {
          std::memcpy(&bytes[at], &value, sizeof value);
        }
      }};
}

OnnxGraph small_graph() {
  return {.name = "small",
          .nodes = {{.name = "first",
                     .op_type = "Some",
                     .inputs = {"x", "large"},
                     .output = "y",
                     .attributes = {{"axis", int64_t{0}},
                                    {"epsilon", 0.5f},
                                    {"perm", std::vector<int64_t>{1, 0, -1}}}}},
          .tensors = {filled("little", 2, 3.0f), filled("large", 300, 1.5f),
                      filled("other", 256, -2.0f)},
          .inputs = {{.name = "x",
                      .dtype = DType::kI64,
                      .axes = {{.name = "batch_size"}, {.length = 7}}}},
          .outputs = {{.name = "y", .axes = {{.name = "batch_size"}}}}};
}

class OnnxFileTest : public platform::OwnFolderTest {
 protected:
  fs::path path() const { return folder_ / "model.onnx"; }
  std::string written() const { return platform::read_file(path()); }
};

TEST_F(OnnxFileTest, HasTheFieldsOfTheForm) {
  EXPECT_EQ(write_onnx(path(), small_graph()), std::vector{path()});
  const std::string model = written();
  EXPECT_EQ(only_field(model, 1).value, 8u);
  EXPECT_EQ(only_field(model, 2).bytes, "cloze");
  EXPECT_EQ(only_field(only_field(model, 8).bytes, 2).value, 17u);
  const std::string_view graph = only_field(model, 7).bytes;
  EXPECT_EQ(only_field(graph, 2).bytes, "small");

  const std::string_view node = only_field(graph, 1).bytes;
  EXPECT_EQ(fields_in(node, 1).back().bytes, "large");
  EXPECT_EQ(only_field(node, 2).bytes, "y");
  EXPECT_EQ(only_field(node, 4).bytes, "Some");
  const auto attributes = fields_in(node, 5);
  ASSERT_EQ(attributes.size(), 3u);
  EXPECT_EQ(only_field(attributes[0].bytes, 3).value, 0u) << "a 0 is written";
  EXPECT_EQ(only_field(attributes[0].bytes, 20).value, 2u);
  EXPECT_EQ(only_field(attributes[1].bytes, 2).value, 0x3f000000u);
  EXPECT_EQ(only_field(attributes[1].bytes, 20).value, 1u);
  const auto numbers = fields_in(attributes[2].bytes, 8);
  ASSERT_EQ(numbers.size(), 3u);
  EXPECT_EQ(numbers[1].value, 0u);
  EXPECT_EQ(static_cast<int64_t>(numbers[2].value), -1);

  const std::string_view input = only_field(graph, 11).bytes;
  const std::string_view type = only_field(only_field(input, 2).bytes, 1).bytes;
  EXPECT_EQ(only_field(type, 1).value, 7u);
  const auto axes = fields_in(only_field(type, 2).bytes, 1);
  ASSERT_EQ(axes.size(), 2u);
  EXPECT_EQ(only_field(axes[0].bytes, 2).bytes, "batch_size");
  EXPECT_EQ(only_field(axes[1].bytes, 1).value, 7u);
  EXPECT_EQ(only_field(only_field(graph, 12).bytes, 1).bytes, "y");

  const std::string_view tensor = tensor_named(graph, "little");
  EXPECT_EQ(only_field(tensor, 1).value, 2u);
  EXPECT_EQ(only_field(tensor, 2).value, 1u);
  const std::string_view bytes = only_field(tensor, 9).bytes;
  EXPECT_EQ(bytes, std::string_view("\0\0\x40\x40\0\0\x40\x40", 8));
  EXPECT_TRUE(fields_in(tensor, 14).empty());
}

TEST_F(OnnxFileTest, LargeModelsHaveTheirWeightsInAnotherFile) {
  const fs::path data = folder_ / "model.onnx_data";
  EXPECT_EQ(write_onnx(path(), small_graph(), 1000), (std::vector{path(), data}));
  const std::string model = written();
  const std::string_view graph = only_field(model, 7).bytes;
  EXPECT_EQ(only_field(tensor_named(graph, "little"), 9).bytes.size(), 8u) << "stays";
  const std::string weights = platform::read_file(data);
  for (const auto& [name, number, offset] :
       {std::tuple{"large", 1.5f, "0"}, {"other", -2.0f, "4096"}}) {
    const std::string_view tensor = tensor_named(graph, name);
    EXPECT_TRUE(fields_in(tensor, 9).empty());
    EXPECT_EQ(only_field(tensor, 14).value, 1u);
    auto place = place_of(tensor);
    EXPECT_EQ(place["location"], "model.onnx_data");
    EXPECT_EQ(place["offset"], offset) << "a whole page";
    float first = 0;
    std::memcpy(&first, &weights.at(std::stoul(place["offset"])), sizeof first);
    EXPECT_EQ(first, number);
    EXPECT_LE(std::stoul(place["offset"]) + std::stoul(place["length"]), weights.size());
  }
  EXPECT_EQ(weights.size(), 4096u + 4 * 256);
}

// What a model may have at most is counted to the byte.
TEST_F(OnnxFileTest, AModelOfTheLargestSizeIsOneFile) {
  write_onnx(path(), small_graph());
  const uint64_t bytes = fs::file_size(path());
  EXPECT_EQ(write_onnx(path(), small_graph(), bytes).size(), 1u);
  EXPECT_EQ(write_onnx(path(), small_graph(), bytes - 1).size(), 2u);
}

TEST_F(OnnxFileTest, APathThatCannotBeWrittenIsNamed) {
  const fs::path missing = folder_ / "no" / "model.onnx";
  try {
    write_onnx(missing, small_graph());
    FAIL();
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find(missing.string()), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace cloze::formats
