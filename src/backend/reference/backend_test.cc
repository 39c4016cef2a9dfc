// The f32 and bf16 forms of the reference kernels against their double form, over all kernel cases;
// and that there is a kernel, with cases, for every operator that src/ops declares.
#include "backend/reference/backend.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <regex>
#include <set>

#include "backend/testing/check_kernel.h"
#include "platform/files/file.h"

namespace cloze::backend::reference {
namespace {

class ReferenceOperator : public ::testing::TestWithParam<const graph::OpDefinition*> {};

TEST_P(ReferenceOperator, IsWithinToleranceInEveryDtype) {
  EXPECT_EQ(testing::check_operator(backend(), *GetParam()), "");
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceOperator, ::testing::ValuesIn(operators()),
                         [](const auto& info) { return std::string(info.param->name); });

// All headers of src/ops, one after the other.
std::string headers() {
  std::string text;
  for (const auto& file :
       std::filesystem::directory_iterator(std::string(CLOZE_SOURCE_DIR) + "/src/ops")) {
    if (file.path().extension() == ".h") text += platform::read_file(file.path());
  }
  return text;
}

// "LinearInputGradient", "linear_input_gradient": "linearinputgradient".
std::string without_case(std::string_view name) {
  std::string letters;
  for (const char letter : name) {
    if (letter != '_') letters += static_cast<char>(std::tolower(letter));
  }
  return letters;
}

// body(match) for every match in the text.
template <typename Body>
void for_each_match(const std::string& text, const char* pattern, const Body& body) {
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    body(*match);
  }
}

TEST(Operators, EachHasAReferenceKernel) {
  std::set<std::string> declared;
  for_each_match(headers(), "extern const graph::OpDefinition k(\\w+);",
                 [&](const auto& match) { declared.insert(without_case(match[1].str())); });
  std::set<std::string> served;
  for (const graph::OpDefinition* op : operators()) served.insert(without_case(op->name));
  EXPECT_GT(declared.size(), 0u);
  EXPECT_EQ(served, declared);
}

// Operators name their inputs in messages as kernels do in code. Operators that repeat their last
// input describe it in words instead.
TEST(Operators, HaveOneSetOfNames) {
  std::map<std::string, std::vector<std::string>> names;
  for_each_match(headers(), "struct (\\w+) \\{\\s*(?://.*\\s*)?enum Input \\{([^}]*)\\}",
                 [&](const auto& match) {
                   std::vector<std::string>& inputs = names[without_case(match[1].str())];
                   for_each_match(match[2].str(), "k(\\w+)", [&](const auto& input) {
                     inputs.push_back(without_case(input[1].str()));
                   });
                 });
  for (const char* update : {"lamb", "lambnorms", "adamw"})
    names[update] = names["optimizerupdate"];
  for (const graph::OpDefinition* op : operators()) {
    if (op->repeats_last_input) continue;
    std::vector<std::string> inputs;
    for (const std::string_view input : op->inputs) inputs.push_back(without_case(input));
    EXPECT_EQ(inputs, names[without_case(op->name)]) << op->name;
  }
}

}  // namespace
}  // namespace cloze::backend::reference
