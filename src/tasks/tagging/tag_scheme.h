// Schemes say by tags where entities begin and end. A tag of one is O, outside of all entities, or a
// place in an entity and its type, "B-PER"; a place alone, "B", is of a type without a name.
//
//   IOB2         B begins an entity, I goes on with it
//   IOB1         B only begins one that follows another of its type; I begins the others, too
//   IOBES        E ends an entity, S is one of a single word
//   BILOU        the same with L for E and U for S
//
// All other tags, such as parts of speech, are of no scheme: each word has its own.
// Sources: Ramshaw and Marcus 1995 (IOB1); Tjong Kim Sang and Veenstra 1999 (IOB2); Ratinov and Roth
// 2009 (BILOU).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cloze::tasks {

struct EntityTag {
  char place = 'O';       // O, B, I, E or S; L is E, and U is S
  std::string_view type;  // a part of the tag; empty for O, and for a place alone
};

// Nothing for a tag of no scheme.
std::optional<EntityTag> entity_tag(std::string_view tag);

// The tag as IOBES spells it: "E-PER" for "L-PER". A tag of no scheme as it is.
std::string in_iobes(const std::string& tag);

// "IOB2", "IOBES" or "BILOU" where all tags are of a scheme and one of them is not O; empty for
// others. IOB1 has the tags of IOB2.
std::string scheme_of(std::span<const std::string> tags);

// Says whether a tag begins an entity after the one before it (O for the first): not if it goes on
// with an entity of its type.
bool begins_entity(std::string_view tag, std::string_view before);

// Says whether a sentence shows IOB1, or that it cannot be: an entity that begins with I, or a B
// that does not follow its own type.
struct Iob1Signs {
  int64_t begins_with_inside = 0;
  int64_t needless_begins = 0;

  void count(std::span<const std::string> tags);
  bool is_iob1() const { return begins_with_inside > 0 && needless_begins == 0; }
};

// Turns the I that begin an entity into B.
void begin_with_b(std::span<std::string> tags);

}  // namespace cloze::tasks
