#include "cli/options/option_value.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

std::string refusal(const Option& option, const char* value) {
  try {
    set_option(option, *formats::parse_json(value), "f");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(OptionValue, WholeNumbers) {
  int64_t target = 0;
  const Option option{"n", &target, ""};
  EXPECT_EQ(refusal(option, "65536"), "accepted");
  EXPECT_EQ(target, 65536);
  EXPECT_EQ(refusal(option, "1e3"), "accepted");
  EXPECT_EQ(target, 1000);
  for (const char* bad : {"1.5", "\"1\"", "true", "[1]", "9223372036854775808", "1e300"}) {
    EXPECT_NE(refusal(option, bad).find("it must be a whole number"), std::string::npos) << bad;
  }
}

TEST(OptionValue, WholeNumbersFitTheirTarget) {
  uint32_t target = 0;
  const Option option{"seed", &target, ""};
  EXPECT_EQ(refusal(option, "4294967295"), "accepted");
  EXPECT_EQ(target, 4294967295u);
  for (const char* bad : {"4294967296", "-1", "1e10"}) {
    EXPECT_NE(refusal(option, bad).find("it must be from 0 to 4294967295"), std::string::npos)
        << refusal(option, bad);
  }
  uint64_t wide = 0;
  EXPECT_EQ(refusal({"seed", &wide, ""}, "18446744073709551615"), "accepted");
  EXPECT_EQ(wide, UINT64_MAX);
}

TEST(OptionValue, MillisecondsAreANumber) {
  std::chrono::milliseconds target{5};
  const Option option{"wait", &target, "", {.minimum = 1}};
  EXPECT_EQ(option_value(option), 5);
  EXPECT_EQ(refusal(option, "300"), "accepted");
  EXPECT_EQ(target, std::chrono::milliseconds(300));
  EXPECT_EQ(refusal(option, "0"), "f: wait is 0; it must be at least 1");
}

TEST(OptionValue, NumbersAreThoseOfF32) {
  double one = 0.5;
  std::vector<double> list;
  std::map<int64_t, double> by_step;
  for (const Option& option :
       {Option{"n", &one, ""}, Option{"n", &list, ""}, Option{"n", &by_step, ""}}) {
    const bool is_map = std::holds_alternative<std::map<int64_t, double>*>(option.target);
    const auto refusal_of = [&](const std::string& number) {
      return refusal(option, (is_map ? "{\"0\": " + number + "}" : number).c_str());
    };
    for (const char* bad : {"1e-46", "-1e-50", "1e-40", "5e-324", "1e39", "-1e300"}) {
      EXPECT_NE(refusal_of(bad).find("in f32, a number other than 0 is from 1.2e-38 to 3.4e+38"),
                std::string::npos)
          << refusal_of(bad);
    }
    for (const char* good : {"0", "-0.0", "1.2e-38", "3.4e38", "-3.4e38"}) {
      EXPECT_EQ(refusal_of(good), "accepted");
    }
  }
}

TEST(OptionValue, NumbersByStep) {
  std::map<int64_t, double> target;
  const Option option{"rates", &target, "", {.minimum = 0}};
  EXPECT_EQ(refusal(option, R"({"0": 1e-4, "1000": 5e-5})"), "accepted");
  EXPECT_EQ(target, (std::map<int64_t, double>{{0, 1e-4}, {1000, 5e-5}}));
  EXPECT_EQ(value_of_text(option.target, "0:1e-4,1000:5e-5"), option_value(option));
  for (const char* bad : {"[1]", "\"0:x\"", "{\"a\": 1}", "{\"-1\": 1}", "{\"0\": \"x\"}"}) {
    EXPECT_NE(refusal(option, bad).find("give numbers by step"), std::string::npos) << bad;
  }
  EXPECT_NE(refusal(option, "{\"0\": -1}").find("at least 0"), std::string::npos);
  for (const char* text : {"1e-4", "0:1,", "0:1,0:2"}) {
    EXPECT_EQ(value_of_text(option.target, text), text) << "which set_option refuses";
  }
}

TEST(OptionValue, NumbersStandForText) {
  std::string target;
  const Option option{"precision", &target, "", {.choices = {"16", "f32"}}};
  EXPECT_EQ(refusal(option, "16"), "accepted");
  EXPECT_EQ(target, "16");
  EXPECT_EQ(refusal(option, "64"), "f: precision is 64; choose one of 16, f32");
  EXPECT_EQ(refusal(option, "true"), "f: precision is true; it must be text");
}

TEST(OptionValue, AChoiceMayHaveANumber) {
  std::string target;
  const Option option{
      "device", &target, "", {.choices = {"cpu", "cuda"}, .are_choices_numbered = true}};
  EXPECT_EQ(refusal(option, "\"cuda:1\""), "accepted");
  EXPECT_EQ(target, "cuda:1");
  EXPECT_EQ(refusal(option, "\"gpu:1\""), "f: device is \"gpu:1\"; choose one of cpu, cuda");
}

TEST(OptionValue, AHintFollowsTheChoices) {
  std::string target;
  const Option option{"task", &target, "", {.choices = {"GLUE"}, .hint = "see task_name"}};
  EXPECT_EQ(refusal(option, "\"QQP\""), "f: task is \"QQP\"; choose one of GLUE: see task_name");
}

TEST(OptionValue, NumbersAndListsOfThem) {
  double number = 0;
  EXPECT_EQ(refusal({"x", &number, ""}, "\"a\""), "f: x is \"a\"; it must be a number");
  std::vector<double> list;
  const Option option{"p", &list, "", {.minimum = 0}};
  EXPECT_EQ(refusal(option, "0.5"), "accepted");
  EXPECT_EQ(list, std::vector<double>{0.5});
  EXPECT_EQ(refusal(option, "[1, -1]"), "f: p is [1,-1]; it must be at least 0");
  EXPECT_EQ(refusal({"x", &number, "", {.maximum = 1}}, "1.5"),
            "f: x is 1.5; it must be at most 1");
}

TEST(OptionValue, AnEmptyTextTakesAListAway) {
  std::vector<double> list = {1.0};
  std::map<int64_t, double> map = {{0, 1.0}};
  for (const Option& option : {Option{"p", &list, ""}, Option{"q", &map, ""}}) {
    EXPECT_EQ(value_of_text(option.target, ""), formats::Json());
    clear_option(option);
  }
  EXPECT_TRUE(list.empty());
  EXPECT_TRUE(map.empty());
}

TEST(OptionValue, EditDistance) {
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("warmup", "warmpu"), 1);
  EXPECT_EQ(edit_distance("seed", "seed"), 0);
}

}  // namespace
}  // namespace cloze::cli
