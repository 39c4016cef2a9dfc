#include "configuration/program_elsewhere.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

namespace cloze::configuration {
namespace {

constexpr const char* kReproduce =
    "runs several commands, one after the other; scripts/reproduce takes their configurations";
constexpr const char* kOtherTask = "is a task that is not here; cloze squad and cloze glue are";
constexpr const char* kDownloads =
    "downloads data, and nothing is downloaded here; docs/guides/data.md says what to fetch";

const std::map<std::string, const char*>& counterparts() {
  static const std::map<std::string, const char*> programs = {
      {"create_pretraining_data.py", "makes training records; cloze data records does that here"},
      {"wiki_preprocess.py", "cleans text; cloze data wikipedia does that here"},
      {"create_wikipedia_dataset.sh",
       "makes training records; cloze data wikipedia and cloze data records do that here"},
      {"bertPrep.py",
       "makes training records; cloze data wikipedia and cloze data tokens do that here"},
      {"create_datasets_from_start.sh", kDownloads},
      {"squad_download.sh", kDownloads},
      {"download_glue.py", kDownloads},
      {"download_glue_data.py", kDownloads},
      {"record_to_binary.py", "converts records; cloze data convert does that here"},
      {"pack_pretraining_data.py", "packs records; cloze pretrain does that as it reads them"},
      {"pack_pretraining_data_pytorch.py",
       "packs records; cloze pretrain does that as it reads them"},
      {"convert_ckpt.py", "converts checkpoints; cloze convert does that here"},
      {"evaluate_squad.py", "scores answers; cloze score squad does that here"},
      {"evaluate-v1.1.py", "scores answers; cloze score squad does that here"},
      {"evaluate-v2.0.py", "scores answers; cloze score squad does that here"},
      {"run_squad_runtime.py",
       "measures inference; cloze compile and then cloze latency do that here"},
      {"create_submission.py", "makes ten runs; scripts/mlperf_runs does that here"},
      {"log_wandb_artifacts.py", "sends files to Weights & Biases, which is not done here"},
      {"examples_utils", "runs benchmarks; cloze benchmark NAME does that here"},
      {"pretrain.sh", kReproduce},
      {"pretrain_distributed.sh", kReproduce},
      {"pretrain_and_finetune_BERT.sh", kReproduce},
      {"fine_tune_squad.sh", kReproduce},
      {"fine_tune_glue.sh", kReproduce},
      {"fine_tune_GroupBERT_glue.sh", kReproduce},
      {"run_clm.py", "trains GPT, which is not here; cloze pretrain trains BERT"},
      {"run_xnli.py", kOtherTask},
      {"run_swag.py", kOtherTask},
      {"run_ner.py", kOtherTask},
      {"run_vqa.py", kOtherTask},
      {"run_summarization.py", kOtherTask},
      {"run_translation.py", kOtherTask}};
  return programs;
}

const std::map<std::string, const char*>& families() {
  static const std::map<std::string, const char*> names = {{"roberta", "RoBERTa"},
                                                           {"distilroberta", "RoBERTa"},
                                                           {"camembert", "RoBERTa"},
                                                           {"xlm", "XLM"},
                                                           {"gpt", "GPT"},
                                                           {"gpt2", "GPT"},
                                                           {"distilgpt2", "GPT"},
                                                           {"distilbert", "DistilBERT"},
                                                           {"albert", "ALBERT"},
                                                           {"electra", "ELECTRA"},
                                                           {"deberta", "DeBERTa"},
                                                           {"xlnet", "XLNet"},
                                                           {"t5", "T5"},
                                                           {"mt5", "T5"},
                                                           {"bart", "BART"},
                                                           {"lxmert", "LXMERT"},
                                                           {"longformer", "Longformer"},
                                                           {"modernbert", "ModernBERT"}};
  return names;
}

}  // namespace

bool is_training_program(const std::string& name) {
  static const std::set<std::string> programs = {"run_pretraining.py", "run_squad.py",
                                                 "run_classifier.py",  "run_glue.py",
                                                 "run_qa.py",          "run_seq_classification.py",
                                                 "run_mlm.py",         "bert.py",
                                                 "demo_bert.py",       "demo_bert"};
  return programs.contains(name);
}

const char* counterpart_of(const std::string& name) {
  const auto found = counterparts().find(name);
  return found == counterparts().end() ? nullptr : found->second;
}

const char* foreign_family(const std::string& name) {
  const std::string last = name.substr(name.find_last_of('/') + 1);  // npos + 1 is 0
  std::string part;
  for (size_t i = 0; i <= last.size(); ++i) {
    const auto letter = i < last.size() ? static_cast<unsigned char>(last[i]) : '\0';
    if (std::isalnum(letter) != 0) {
      part += static_cast<char>(std::tolower(letter));
      continue;
    }
    const auto found = families().find(part);
    if (found != families().end()) return found->second;
    part.clear();
  }
  return nullptr;
}

}  // namespace cloze::configuration
