#include "data/records/verification.h"

#include <iterator>

#include "base/error.h"

namespace cloze::data {
namespace {

void verify_file(const RecordFile& file, int threads, Verification& result) {
  RecordSurvey survey = survey_records(file, threads);
  result.records += survey.good_records();
  result.bytes += file.bytes();
  std::move(survey.defects.begin(), survey.defects.end(), std::back_inserter(result.bad));
  if (file.broken_end()) {
    result.bad.push_back(*file.broken_end());
  } else if (file.records() == 0) {
    result.bad.push_back({file.path(), "byte 0", "the file holds no record"});
  }
}

}  // namespace

Verification verify_records(std::span<const std::filesystem::path> files, const RecordShape& shape,
                            int threads, const std::function<void(int64_t)>& progress) {
  Verification result;
  for (const std::filesystem::path& path : files) {
    ++result.files;
    try {
      verify_file(*open_record_file(path, shape), threads, result);
    } catch (const DataError& error) {
      result.bad.push_back({path, "byte 0", error.what()});
    }
    progress(result.bytes);
  }
  return result;
}

}  // namespace cloze::data
