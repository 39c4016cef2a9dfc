#include "tasks/glue/glue_data.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"
#include "platform/files/file.h"

namespace cloze::tasks {
namespace {

const std::filesystem::path& path() {
  static const std::filesystem::path path = testing::TempDir() + "glue_submission_test.tsv";
  return path;
}

std::string written(const char* task, const std::vector<double>& predictions) {
  write_glue_submission(path(), glue_task(task), predictions);
  return platform::read_file(path());
}

TEST(GlueSubmissionTest, NamesOfTheFiles) {
  EXPECT_EQ(glue_submission_name(glue_task("mnli")), "MNLI-m.tsv");
  EXPECT_EQ(glue_submission_name(glue_task("mnli-mm")), "MNLI-mm.tsv");
  EXPECT_EQ(glue_submission_name(glue_task("sst2")), "SST-2.tsv");
}

TEST(GlueSubmissionTest, LabelsAsTheSiteHasThem) {
  EXPECT_EQ(written("QNLI", {1, 0}), "index\tprediction\n0\tnot_entailment\n1\tentailment\n");
  EXPECT_EQ(written("AX", {2}), "index\tprediction\n0\tneutral\n");
  EXPECT_EQ(written("CoLA", {1, 0}), "index\tprediction\n0\t1\n1\t0\n");
  EXPECT_EQ(written("STS-B", {2.5, 5.2, -0.1}),
            "index\tprediction\n0\t2.500\n1\t5.000\n2\t0.000\n");
}

TEST(GlueSubmissionTest, WhatIsWrittenIsReadAgain) {
  for (const char* task : {"CoLA", "MNLI", "RTE"}) {
    written(task, {1, 0, 1});
    EXPECT_EQ(read_glue_predictions(path(), glue_task(task)), (std::vector<double>{1, 0, 1}));
  }
}

TEST(GlueSubmissionTest, ScoresAreNumbers) {
  EXPECT_THROW(written("STS-B", {std::numeric_limits<double>::quiet_NaN()}), UserError);
}

}  // namespace
}  // namespace cloze::tasks
