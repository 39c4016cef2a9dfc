#include "tasks/glue/glue_data.h"

#include <gtest/gtest.h>

#include "base/data_folder_test.h"
#include "base/error.h"
#include "platform/files/atomic_file.h"

namespace cloze::tasks {
namespace {

namespace fs = std::filesystem;

fs::path stored(const std::string& text) {
  const fs::path path = testing::TempDir() + "glue_data_test.tsv";
  platform::write_file_atomically(path, text);
  return path;
}

std::string refusal(const std::string& text, const char* task) {
  const fs::path path = stored(text);
  try {
    read_glue(path, glue_task(task), true);
  } catch (const DataError& error) {
    return std::string(error.what()).substr(path.string().size());
  }
  return "taken";
}

TEST(GlueDataTest, ColumnsAreFoundByName) {
  const auto examples = read_glue(stored("\xEF\xBB\xBFQuality\t#1 ID\t#2 ID\t#1 String\t#2 "
                                         "String\n1\t3\t4\ta \"b\tc d\r\n0\t5\t6\te\tf"),
                                  glue_task("MRPC"), true);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[0].first, "a \"b");
  EXPECT_EQ(examples[0].second, "c d");
  EXPECT_EQ(examples[0].label, 1.0);
  EXPECT_EQ(examples[1].label, 0.0);
}

TEST(GlueDataTest, TestFilesHaveNoLabels) {
  const auto examples =
      read_glue(stored("index\tquestion\tsentence\n0\twhy\tso\n"), glue_task("qnli"));
  ASSERT_EQ(examples.size(), 1u);
  EXPECT_FALSE(examples[0].label.has_value());
  const std::string path = stored("index\tquestion\tsentence\tlabel\n0\twhy\tso\t-1\n");
  EXPECT_FALSE(read_glue(path, glue_task("qnli"))[0].label.has_value());
}

TEST(GlueDataTest, ColaWithAndWithoutHeader) {
  const GlueTask& cola = glue_task("cola");
  const auto train =
      read_glue(stored("gj04\t1\t\tThey drank.\ngj04\t0\t*\tThey drank the.\n"), cola);
  ASSERT_EQ(train.size(), 2u);
  EXPECT_EQ(train[0].first, "They drank.");
  EXPECT_EQ(train[1].label, 0.0);
  EXPECT_EQ(read_glue(stored("index\tsentence\n0\tBill left.\n"), cola)[0].first, "Bill left.");
}

TEST(GlueDataTest, ScoresAreNumbers) {
  const std::string header = "index\tsentence1\tsentence2\tscore\n";
  EXPECT_EQ(read_glue(stored(header + "0\ta\tb\t3.800\n"), glue_task("STS_B"), true)[0].label, 3.8);
  EXPECT_EQ(refusal(header + "0\ta\tb\thigh\n", "STS-B"),
            ":2: label 'high' of STS-B; it must be a number from 0 to 5");
  for (const char* score : {"nan", "inf", "5.1", "-1"}) {
    EXPECT_NE(refusal(header + "0\ta\tb\t" + score + "\n", "STS-B").find(score), std::string::npos);
  }
  EXPECT_THROW(read_glue_predictions(stored("index\tprediction\n0\tnan\n"), glue_task("STS-B")),
               DataError);
}

TEST(GlueDataTest, LabelsMayBeNeeded) {
  const std::string path = stored("index\tsentence1\tsentence2\n0\ta\tb\n");
  EXPECT_EQ(read_glue(path, glue_task("RTE")).size(), 1u);
  EXPECT_THROW(read_glue(path, glue_task("RTE"), true), DataError);
}

TEST(GlueDataTest, ShortLinesMayBeLeftOut) {
  const std::string header = "id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate\n";
  const std::string path =
      stored(header + "0\t1\t2\ta\tb\t1\n3\t4\t5\tcut\noff\td\t0\n6\t7\t8\te\tf\t0\n");
  std::vector<int64_t> short_lines;
  const auto examples = read_glue(path, glue_task("QQP"), true, &short_lines);
  ASSERT_EQ(examples.size(), 2u);
  EXPECT_EQ(examples[1].second, "f");
  EXPECT_EQ(short_lines, (std::vector<int64_t>{3, 4}));
  EXPECT_THROW(read_glue(path, glue_task("QQP"), true), DataError);
}

TEST(GlueDataTest, BadFilesAreNamedByLine) {
  const std::string header = "index\tsentence1\tsentence2\tlabel\n";
  EXPECT_EQ(refusal(header + "0\ta\tb\tentailment\n1\ta\n", "RTE"), ":3: 2 columns instead of 4");
  EXPECT_EQ(refusal(header + "0\ta\tb\tentailment\tmore\n", "RTE"), ":2: 5 columns instead of 4");
  EXPECT_EQ(refusal(header + "0\ta\xff\tb\tentailment\n", "RTE"),
            ":2: is not UTF-8; convert the file");
  EXPECT_EQ(refusal(header + "0\ta\tb\tmaybe\n", "RTE"),
            ":2: label 'maybe' of RTE; it must be entailment, not_entailment");
  EXPECT_EQ(refusal(header, "RTE"), ":1: the file holds no example");
  EXPECT_EQ(refusal("index\ttext\n", "RTE"),
            ":1: the header has no column \"sentence1\", which RTE needs");
  EXPECT_THROW(glue_task("SQUAD"), UserError);
}

TEST(GlueDataTest, SubmissionsAreRead) {
  const GlueTask& task = glue_task("RTE");
  EXPECT_EQ(read_glue_predictions(stored("index\tprediction\n0\tnot_entailment\n1\t0\n"), task),
            (std::vector<double>{1, 0}));
  EXPECT_THROW(read_glue_predictions(stored("index\tprediction\n0\t2\n"), task), DataError);
  EXPECT_THROW(read_glue_predictions(stored("index\tprediction\n1\t0\n"), task), DataError);
  EXPECT_THROW(read_glue_predictions(stored("0\t0\n"), task), DataError);
}

TEST(GlueDataTest, TheOfficialFiles) {
  const DataFolder data({"glue/CoLA", "glue/SST-2", "glue/MRPC", "glue/STS-B", "glue/QNLI",
                         "glue/RTE", "glue/WNLI", "glue/diagnostic"});
  if (!data.missing().empty()) GTEST_SKIP() << data.missing();
  struct Split {
    const char* task;
    const char* file;
    size_t examples;
    bool has_labels;
  };
  for (const Split& split : {Split{"CoLA", "CoLA/train.tsv", 8551, true},
                             {"CoLA", "CoLA/test.tsv", 1063, false},
                             {"SST-2", "SST-2/train.tsv", 67349, true},
                             {"SST-2", "SST-2/test.tsv", 1821, false},
                             {"MRPC", "MRPC/train.tsv", 3668, true},
                             {"MRPC", "MRPC/test.tsv", 1725, false},
                             {"STS-B", "STS-B/dev.tsv", 1500, true},
                             {"STS-B", "STS-B/test.tsv", 1379, false},
                             {"QNLI", "QNLI/dev.tsv", 5463, true},
                             {"RTE", "RTE/train.tsv", 2490, true},
                             {"WNLI", "WNLI/dev.tsv", 71, true},
                             {"AX", "diagnostic/diagnostic.tsv", 1104, false}}) {
    const auto examples = read_glue(data / (std::string("glue/") + split.file),
                                    glue_task(split.task), split.has_labels);
    EXPECT_EQ(examples.size(), split.examples) << split.file;
    for (const GlueExample& example : examples) {
      ASSERT_EQ(example.label.has_value(), split.has_labels) << split.file;
    }
  }
}

}  // namespace
}  // namespace cloze::tasks
