#include "configuration/program_elsewhere.h"

#include <gtest/gtest.h>

namespace cloze::configuration {
namespace {

TEST(ProgramElsewhere, EitherTrainsOrHasACounterpart) {
  for (const char* name : {"run_pretraining.py", "run_squad.py", "run_glue.py", "bert.py"}) {
    EXPECT_TRUE(is_training_program(name)) << name;
    EXPECT_EQ(counterpart_of(name), nullptr) << name;
  }
  EXPECT_FALSE(is_training_program("convert_ckpt.py"));
  EXPECT_STREQ(counterpart_of("convert_ckpt.py"),
               "converts checkpoints; cloze convert does that here");
  EXPECT_EQ(counterpart_of("mine.py"), nullptr);
}

TEST(ProgramElsewhere, ANameTellsTheFamilyOfItsModel) {
  for (const char* name : {"roberta-base", "cardiffnlp/twitter-roberta-base", "RoBERTa"}) {
    EXPECT_STREQ(foreign_family(name), "RoBERTa") << name;
  }
  EXPECT_STREQ(foreign_family("gpt2"), "GPT");
  EXPECT_STREQ(foreign_family("unc-nlp/lxmert-base-uncased"), "LXMERT");
  for (const char* name : {"bert-base-uncased", "Graphcore/groupbert-base-uncased", "base", "large",
                           "/home/albert/bert-base", "bert"}) {
    EXPECT_EQ(foreign_family(name), nullptr) << name;
  }
}

}  // namespace
}  // namespace cloze::configuration
