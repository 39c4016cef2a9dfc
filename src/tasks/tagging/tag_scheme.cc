#include "tasks/tagging/tag_scheme.h"

#include <set>

namespace cloze::tasks {

std::optional<EntityTag> entity_tag(std::string_view tag) {
  constexpr std::string_view kPlaces = "BIESLU";
  constexpr std::string_view kMeanings = "BIESES";
  if (tag == "O") return EntityTag{};
  const size_t place = tag.empty() ? std::string_view::npos : kPlaces.find(tag.front());
  if (place == std::string_view::npos) return std::nullopt;
  if (tag.size() == 1) return EntityTag{kMeanings[place], {}};
  if (tag.size() < 3 || tag[1] != '-') return std::nullopt;
  return EntityTag{kMeanings[place], tag.substr(2)};
}

std::string in_iobes(const std::string& tag) {
  const auto parts = entity_tag(tag);
  return parts ? parts->place + tag.substr(1) : tag;
}

std::string scheme_of(std::span<const std::string> tags) {
  std::set<char> places;
  for (const std::string& tag : tags) {
    if (!entity_tag(tag)) return "";
    places.insert(tag.front());
  }
  places.erase('O');
  if (places.empty()) return "";
  if (places.contains('L') || places.contains('U')) return "BILOU";
  return places.contains('E') || places.contains('S') ? "IOBES" : "IOB2";
}

bool begins_entity(std::string_view tag, std::string_view before) {
  const auto now = entity_tag(tag), last = entity_tag(before);
  if (!now || now->place == 'O') return false;
  if (now->place == 'B' || now->place == 'S') return true;
  return !last || last->place == 'O' || last->place == 'E' || last->place == 'S' ||
         last->type != now->type;
}

namespace {

std::string_view tag_before(std::span<const std::string> tags, size_t i) {
  return i == 0 ? std::string_view("O") : tags[i - 1];
}

bool begins_with_i(std::span<const std::string> tags, size_t i) {
  const auto tag = entity_tag(tags[i]);
  return tag && tag->place == 'I' && begins_entity(tags[i], tag_before(tags, i));
}

}  // namespace

void Iob1Signs::count(std::span<const std::string> tags) {
  for (size_t i = 0; i < tags.size(); ++i) {
    const auto tag = entity_tag(tags[i]), before = entity_tag(tag_before(tags, i));
    begins_with_inside += begins_with_i(tags, i) ? 1 : 0;
    const bool follows_its_type =
        before && before->place != 'O' && tag && before->type == tag->type;
    needless_begins += tag && tag->place == 'B' && !follows_its_type ? 1 : 0;
  }
}

void begin_with_b(std::span<std::string> tags) {
  for (size_t i = 0; i < tags.size(); ++i) {
    if (begins_with_i(tags, i)) tags[i].front() = 'B';
  }
}

}  // namespace cloze::tasks
