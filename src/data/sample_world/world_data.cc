#include "data/sample_world/world_data.h"

#include <utility>

#include "base/error.h"
#include "data/sample_world/world_json.h"
#include "formats/json.h"

namespace cloze::data {
namespace {

using formats::Json;

template <typename Map>
auto& entry(Map& map, std::string_view name) {
  const auto found = map.find(name);
  CLOZE_CHECK(found != map.end(), "world.json has no {}", name);
  return found->second;
}

std::string text_of(const Json& value) { return value.get<std::string>(); }

class WorldData {
 public:
  WorldData() {
    auto parsed = formats::parse_json(kWorldJson);
    CLOZE_CHECK(parsed, "world.json: {}", parsed.error().message);
    const Json file = std::move(parsed).value();
    for (const auto& [name, list] : file["words"].items()) words[name] = list.get<Words>();
    for (const auto& [name, parts] : file["names"].items()) add_names(parts, words[name]);
    for (const auto& [name, table] : file["tables"].items()) add_table(name, table);
    for (const auto& [name, ways] : file["topics"].items()) topics[name] = ways.get<Topic>();
    for (const Json& plan : file["documents"]) {
      documents.push_back({text_of(plan["name"]), topics_of(plan["opening"]),
                           topics_of(plan["body"]), topics_of(plan["ending"])});
    }
    for (const Json& kind : file["cloze"]) {
      cloze.push_back(
          {text_of(kind["kind"]), kind["percent"].get<uint32_t>(), topics_of(kind["topics"])});
    }
    for (const Json& kind : file["readings"]) add_subjects(kind);
  }

  std::map<std::string, Words, std::less<>> words;
  std::map<std::string, std::vector<Row>, std::less<>> tables;
  std::map<std::string, Topic, std::less<>> topics;
  std::vector<DocumentPlan> documents;
  std::vector<ClozeKind> cloze;
  std::vector<SubjectKind> subjects;

 private:
  static void add_names(const Json& parts, Words& names) {
    for (const Json& start : parts["starts"]) {
      for (const Json& end : parts["ends"]) names.push_back(text_of(start) + text_of(end));
    }
  }

  void add_table(const std::string& name, const Json& table) {
    for (const Json& cells : table["rows"]) {
      Row& row = tables[name].emplace_back();
      for (size_t i = 0; i < cells.size(); ++i) {
        const std::string column = text_of(table["columns"][i]);
        row[column] = text_of(cells[i]);
        words[name + "." + column].push_back(text_of(cells[i]));
      }
    }
  }

  std::vector<const Topic*> topics_of(const Json& names) const {
    std::vector<const Topic*> found;
    for (const Json& name : names) found.push_back(&entry(topics, text_of(name)));
    return found;
  }

  // The words of several lists, with capital letters.
  Words names_in(const Json& lists) const {
    Words names;
    for (const Json& list : lists) {
      for (std::string name : entry(words, text_of(list))) {
        if (name[0] >= 'a') name[0] = static_cast<char>(name[0] - 'a' + 'A');
        names.push_back(std::move(name));
      }
    }
    return names;
  }

  void add_subjects(const Json& kind) {
    SubjectKind& added = subjects.emplace_back();
    added.title = text_of(kind["title"]);
    added.first_names = names_in(kind["first_names"]);
    added.last_names = names_in(kind["last_names"]);
    for (const Json& topic : kind["topics"]) {
      added.topics.push_back({text_of(topic["name"]), text_of(topic["answers"]),
                              topic["statements"].get<Topic>(), topic["questions"].get<Topic>()});
    }
  }
};

const WorldData& world_data() {
  static const WorldData world;
  return world;
}

}  // namespace

const Words& words(std::string_view list) { return entry(world_data().words, list); }
const std::vector<Row>& rows(std::string_view table) { return entry(world_data().tables, table); }

const std::vector<DocumentPlan>& document_plans() { return world_data().documents; }
const std::vector<ClozeKind>& cloze_kinds() { return world_data().cloze; }
const std::vector<SubjectKind>& subject_kinds() { return world_data().subjects; }

}  // namespace cloze::data
