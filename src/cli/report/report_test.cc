#include "cli/report/report.h"

#include <gtest/gtest.h>

#include "cli/report/report_pictures.h"
#include "cli/report/step_profile.h"
#include "forecast/sums_program_test.h"
#include "formats/json.h"

namespace cloze::cli {
namespace {

constexpr int64_t kTBytes = 4 * 16 * 4;
constexpr int64_t kYBytes = 4 * 8 * 4;

const MemoryBand& band(const std::vector<MemoryBand>& bands, const std::string& name) {
  for (const MemoryBand& one : bands) {
    if (one.name == name) return one;
  }
  throw std::out_of_range(name);
}

TEST(MemoryPicture, StacksKindsByLaunch) {
  const plan::Program program = forecast::sums_program();
  const plan::ProgramUse use = plan::use_of(program);
  const std::vector<MemoryBand> bands = memory_bands(program, use);
  EXPECT_EQ(band(bands, "inputs").bytes, std::vector<int64_t>(3, kTBytes + 8 * 16 * 4));
  EXPECT_EQ(band(bands, "activations outside the layers").bytes,
            (std::vector<int64_t>{kTBytes, kTBytes, kTBytes}));
  EXPECT_EQ(band(bands, "activations of layer 0").bytes, (std::vector<int64_t>{0, kYBytes, 0}));
  EXPECT_THROW(band(bands, "gradients"), std::out_of_range);  // there are none
  const std::string svg = memory_picture(program, use, bands);
  EXPECT_NE(svg.find("launch 1, layer.linear"), std::string::npos) << svg;
  EXPECT_NE(svg.find("micro_step: launches 0 to 1"), std::string::npos);
  EXPECT_NE(svg.find("update: launches 2 to 2"), std::string::npos);
}

TEST(OperatorTimes, AreSumsOfTheStepTheLongestFirst) {
  const plan::Program program = forecast::sums_program();
  const plan::ProgramUse use = plan::use_of(program);
  const forecast::StepSeconds estimated{.calls = {1.0, 20.0, 3.0}};
  const forecast::StepSeconds measured{.calls = {1.0, 2.0, 30.0}, .host = 0.5};
  const auto times = operator_times(use, 2, estimated, measured);
  ASSERT_EQ(times.size(), 3u);
  EXPECT_EQ(times[0].name, "add");
  EXPECT_EQ(times[0].calls, 3);
  EXPECT_EQ(times[0].bytes, 3 * forecast::kSumBytes);
  EXPECT_DOUBLE_EQ(times[0].estimated, 2 * 1 + 3);
  EXPECT_DOUBLE_EQ(times[0].measured, 2 * 1 + 30);
  EXPECT_EQ(times[1].name, "linear");
  EXPECT_DOUBLE_EQ(times[1].flops, 2 * forecast::kProductFlops);
  EXPECT_EQ(times[2].name, forecast::kHostWork);
  const std::string svg = time_picture(times);
  EXPECT_NE(svg.find("5000.00 ms estimated"), std::string::npos) << svg;
  EXPECT_NE(svg.find("32000.00 ms measured"), std::string::npos);
}

TEST(Report, HasEveryLaunchAndTheValuesOfThePeak) {
  const plan::Program program = forecast::sums_program();
  const Report report{.title = "a < b",
                      .facts = {{"name", "value & more"}},
                      .program = program,
                      .use = plan::use_of(program),
                      .estimated = {.calls = {0.001, 0.002, 0.003}, .source = "a guess"}};
  const std::string html = report_html(report);
  for (const plan::LaunchUse& use : report.use.launches) {
    EXPECT_NE(html.find("<td>" + use.launch->kernel_name + "</td>"), std::string::npos);
  }
  EXPECT_NE(html.find("<h1>a &lt; b</h1>"), std::string::npos);
  EXPECT_NE(html.find("<dd>value &amp; more</dd>"), std::string::npos);
  EXPECT_NE(html.find("<td>output of add</td><td>[4, 16] f32</td>"), std::string::npos) << html;
  EXPECT_NE(html.find("<td>y</td>"), std::string::npos);
  EXPECT_NE(html.find("<li>6.00 ms a step, a guess</li>"), std::string::npos);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos);
}

TEST(ChromeTrace, HasAnEventForEachSpan) {
  const plan::Program program = forecast::sums_program();
  const std::vector<runtime::LaunchSpan> spans{
      {.program = &program, .phase = 0, .launch = 1, .begin = 0.5, .seconds = 0.25},
      {.program = &program, .phase = 1, .launch = 0, .begin = 1.0, .seconds = 0.125}};
  const std::string text = chrome_trace(program, spans);
  const auto events = formats::parse_json(text).value().at("traceEvents");
  ASSERT_EQ(events.size(), 4u);  // the names of both phases first
  EXPECT_EQ(events[2]["name"], "layer.linear");
  EXPECT_EQ(events[2]["ph"], "X");
  EXPECT_EQ(events[2]["ts"], 500000.0);
  EXPECT_EQ(events[2]["dur"], 250000.0);
  EXPECT_EQ(events[2]["args"]["layer"], 0);
  EXPECT_EQ(events[3]["cat"], "add");
  EXPECT_EQ(events[3]["tid"], 1);
}

}  // namespace
}  // namespace cloze::cli
