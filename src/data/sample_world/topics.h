// The sample world's topics: what a sentence can be about, and the ways to say it; and the kinds of
// document, each a sequence of topics. All of it is data for expand_template (grammar.h).
// The slots a template may use are bound in scene.cc.
#pragma once

#include <span>
#include <string_view>

namespace cloze::data {

// What a cloze item asks for, and where the answer is to be found.
enum class ClozeKind {
  kFact,         // a fact of the world, told in many documents: the province of a town
  kCollocation,  // a word that goes with another in every world: potters and clay
  kCalendar,     // a month, its season and its weather
  kOpposite,     // long and short
  kGrammar,      // agreement and prepositions
  kStory,        // the sentence before says it
};
std::string_view name_of(ClozeKind kind);

// Ways to say the same thing. Templates without blanks serve documents only.
struct Topic {
  std::span<const std::string_view> templates;
};

// Sentences in this order; a topic named twice is told twice, about something else if it can be.
struct DocumentPlan {
  std::string_view name;
  std::span<const Topic* const> opening;  // told in every document of the kind
  std::span<const Topic* const> body;     // each told or left out at random
  std::span<const Topic* const> ending;   // one of them is told
};

std::span<const DocumentPlan> document_plans();

// The topics that cloze items of a kind are made from.
std::span<const Topic* const> cloze_topics(ClozeKind kind);

// Towns and provinces: town_topics.cc.
extern const Topic kTownProvince, kTownRiver, kRiverCourse, kTownCraft, kTownLandmark, kTownMayor,
    kTownFounding, kTownFestival, kTownDish, kTownFlag, kTownNeighbour, kProvinceCrop,
    kProvinceBeast, kProvinceCapital, kFestivalDay, kHarvestDay, kFestivalEnding, kTownEnding,
    kHarvestEnding;

// People and their work: people_topics.cc.
extern const Topic kPersonTrade, kPersonInstrument, kPersonTown, kPersonBirth, kPersonFamily,
    kPersonReflexive, kCraftMaterial, kCraftTool, kCraftWork, kMarketStall, kErrand, kGift,
    kLetterOpening, kLetterNews, kLetterEnding, kPersonEnding, kMarketOpening, kMarketEnding;

// Time, animals, words: everyday_topics.cc.
extern const Topic kNextDay, kNextMonth, kSeason, kMonthSign, kCounting, kAnimalYoung, kAnimalSound,
    kAnimalShelter, kOppositePair, kOppositeChange, kAgreement, kPreposition, kWeatherOpening,
    kFarmEnding, kJourneyOpening, kJourneyReturn, kJourneyEnding;

}  // namespace cloze::data
