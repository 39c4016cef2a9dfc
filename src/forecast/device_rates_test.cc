#include "forecast/device_rates.h"

#include <gtest/gtest.h>

#include "base/error.h"
#include "engine/session.h"
#include "ops/elementwise.h"
#include "ops/linear.h"
#include "platform/files/atomic_file.h"

namespace cloze::forecast {
namespace {

DeviceRates made() {
  return {.device = "a device",
          .source = "a test",
          .gflops = {{"f32", 2.0}},
          .gigabytes_per_second = 4.0,
          .operators = {{{"linear", "f32"}, {{100.0, 1.0}, {400.0, 3.0}}}}};
}

std::filesystem::path file_with(const std::string& text) {
  const std::filesystem::path path = testing::TempDir() + "device.json";
  platform::write_file_atomically(path, text);
  return path;
}

void expect_refused(const std::string& text, const std::string& part) {
  try {
    read_device_file(file_with(text));
    ADD_FAILURE() << text;
  } catch (const DataError& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find("device.json"), std::string::npos) << error.what();
  }
}

TEST(DeviceRates, BetweenMeasuredWorkSecondsAreInterpolated) {
  const DeviceRates rates = made();
  EXPECT_DOUBLE_EQ(rates.seconds("linear", "f32", 100), 1.0);
  EXPECT_DOUBLE_EQ(rates.seconds("linear", "f32", 400), 3.0);
  EXPECT_DOUBLE_EQ(rates.seconds("linear", "f32", 200), std::sqrt(3.0));  // halfway, log by log
  EXPECT_DOUBLE_EQ(rates.seconds("linear", "f32", 50), 0.5);
  EXPECT_DOUBLE_EQ(rates.seconds("linear", "f32", 800), 6.0);
  EXPECT_DOUBLE_EQ(rates.seconds("tanh", "f32", 800), 0.0);
}

// y [4, 8] = x [4, 16] w^T: 1024 FLOPs. Then y + y: 256 bytes read, 128 written.
TEST(DeviceRates, WhatWasNotMeasuredTakesTheLongerOfProductsAndBytes) {
  graph::Graph graph;
  const auto x = graph.add_input("x", {DType::kF32, {4, 16}});
  const auto w = graph.add_input("w", {DType::kF32, {8, 16}});
  const auto y = ops::linear(graph, {.x = x, .weight = w});
  graph.mark_output(graph.add_one(ops::kAdd, {y, y}), "z");
  const plan::Program program = engine::compile(std::move(graph), {.target = {.threads = 1}});
  const plan::ProgramUse use = plan::use_of(program);
  ASSERT_EQ(use.launches.size(), 2u);
  DeviceRates rates = made();
  rates.operators.clear();
  EXPECT_DOUBLE_EQ(rates.seconds(program, use.launches[0]), 1024 / 2e9);
  EXPECT_DOUBLE_EQ(rates.seconds(program, use.launches[1]), 384 / 4e9);
  rates.operators[{"linear", "f32"}] = {{1024.0, 7.0}};
  EXPECT_DOUBLE_EQ(rates.seconds(program, use.launches[0]), 7.0);
}

TEST(DeviceRates, AFileGivesTheSameRates) {
  const DeviceRates read = read_device_file(file_with(device_text(made())));
  EXPECT_EQ(read.device, "a device");
  EXPECT_EQ(read.source, "a test");
  EXPECT_EQ(read.gflops, made().gflops);
  EXPECT_EQ(read.gigabytes_per_second, 4.0);
  EXPECT_EQ(read.operators, made().operators);
}

// Those that are shipped.
TEST(DeviceRates, KnownDevicesHaveSources) {
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(CLOZE_SOURCE_DIR "/configs/devices")) {
    const DeviceRates rates = read_device_file(entry.path());
    EXPECT_FALSE(rates.source.empty()) << entry.path();
    EXPECT_GT(rates.gflops.at("bf16"), rates.gflops.at("f32")) << entry.path();
    ++files;
  }
  EXPECT_GE(files, 2);
}

TEST(DeviceRates, OtherFilesAreRefused) {
  expect_refused("{}", "schema and version are not cloze.device 1");
  expect_refused("[1]", "is not a device file");
  const std::string head = R"({"schema": "cloze.device", "version": 1, "device": "d", )";
  expect_refused(head + R"("gflops": {}})", "gigabytes_per_second");
  expect_refused(head + R"("gflops": {"f32": 0}, "gigabytes_per_second": 1})",
                 "gflops is 0; it must be above 0");
  expect_refused(head + R"("gflops": {}, "gigabytes_per_second": "fast"})", "not a number");
}

}  // namespace
}  // namespace cloze::forecast
