#include "base/error.h"
#include "data/sample_world/topics.h"

namespace cloze::data {
namespace {

using TopicPointer = const Topic*;

constexpr TopicPointer kTownOpening[] = {&kTownProvince, &kTownRiver};
constexpr TopicPointer kTownBody[] = {
    &kTownFounding, &kRiverCourse,   &kTownLandmark,    &kTownCraft,    &kTownCraft,
    &kTownFlag,     &kTownMayor,     &kTownMayor,       &kTownDish,     &kTownNeighbour,
    &kTownFestival, &kProvinceBeast, &kProvinceCapital, &kTownLandmark, &kTownDish,
    &kTownProvince, &kTownRiver};
constexpr TopicPointer kTownClosing[] = {&kTownEnding};

constexpr TopicPointer kBiographyOpening[] = {&kPersonTrade, &kPersonBirth};
constexpr TopicPointer kBiographyBody[] = {
    &kPersonTown,     &kTownProvince, &kPersonFamily,    &kPersonInstrument, &kPersonReflexive,
    &kCraftMaterial,  &kPersonTrade,  &kCraftTool,       &kPersonFamily,     &kPersonInstrument,
    &kOppositeChange, &kErrand,       &kPersonReflexive, &kTownMayor,        &kCraftWork,
    &kPreposition,    &kPersonTown};
constexpr TopicPointer kBiographyClosing[] = {&kPersonEnding};

constexpr TopicPointer kWorkshopOpening[] = {&kPersonTrade, &kPersonTown};
constexpr TopicPointer kWorkshopBody[] = {
    &kCraftMaterial, &kCraftTool,   &kCraftWork, &kPersonReflexive, &kCraftMaterial,
    &kCraftWork,     &kCraftTool,   &kAgreement, &kOppositePair,    &kTownCraft,
    &kGift,          &kPreposition, &kCraftWork, &kPersonInstrument};

constexpr TopicPointer kMarketStart[] = {&kMarketOpening};
constexpr TopicPointer kMarketBody[] = {
    &kTownProvince, &kMarketStall, &kMarketStall, &kAgreement,   &kMarketStall, &kOppositePair,
    &kMarketStall,  &kErrand,      &kMarketStall, &kPreposition, &kAgreement,   &kTownCraft,
    &kTownDish,     &kMarketStall, &kCounting,    &kMarketStall};
constexpr TopicPointer kMarketClosing[] = {&kMarketEnding};

constexpr TopicPointer kJourneyStart[] = {&kJourneyOpening};
constexpr TopicPointer kJourneyBody[] = {
    &kTownNeighbour,   &kNextDay,      &kSeason,         &kTownRiver,       &kRiverCourse,
    &kRiverCourse,     &kOppositePair, &kOppositeChange, &kPreposition,     &kTownLandmark,
    &kProvinceCapital, &kNextMonth,    &kTownFlag,       &kPersonReflexive, &kErrand,
    &kJourneyReturn,   &kTownCraft};
constexpr TopicPointer kJourneyClosing[] = {&kJourneyEnding};

constexpr TopicPointer kHarvestOpening[] = {&kProvinceCrop, &kTownProvince};
constexpr TopicPointer kHarvestBody[] = {
    &kHarvestDay, &kSeason,   &kMonthSign,       &kHarvestDay,     &kProvinceBeast,   &kHarvestDay,
    &kMonthSign,  &kTownDish, &kProvinceCrop,    &kOppositeChange, &kMonthSign,       &kTownRiver,
    &kHarvestDay, &kSeason,   &kProvinceCapital, &kAnimalYoung,    &kPersonInstrument};
constexpr TopicPointer kHarvestClosing[] = {&kHarvestEnding};

constexpr TopicPointer kFestivalOpening[] = {&kTownFestival};
constexpr TopicPointer kFestivalBody[] = {
    &kTownProvince, &kFestivalDay,      &kTownFestival, &kTownLandmark, &kFestivalDay,
    &kTownMayor,    &kPersonInstrument, &kTownDish,     &kTownFlag,     &kFestivalDay,
    &kTownFestival, &kFestivalDay,      &kNextDay,      &kAgreement,    &kTownFounding,
    &kOppositePair, &kTownCraft};
constexpr TopicPointer kFestivalClosing[] = {&kFestivalEnding};

constexpr TopicPointer kLetterStart[] = {&kLetterOpening};
constexpr TopicPointer kLetterBody[] = {
    &kLetterNews, &kTownLandmark, &kLetterNews, &kTownNeighbour,    &kNextMonth, &kLetterNews,
    &kTownMayor,  &kPersonTrade,  &kLetterNews, &kPersonInstrument, &kMonthSign, &kErrand,
    &kTownFlag,   &kSeason,       &kGift,       &kTownDish};
constexpr TopicPointer kLetterClosing[] = {&kLetterEnding};

constexpr TopicPointer kFarmOpening[] = {&kWeatherOpening};
constexpr TopicPointer kFarmBody[] = {
    &kAnimalYoung,  &kAnimalSound,   &kAnimalShelter, &kSeason,
    &kProvinceCrop, &kAnimalYoung,   &kAnimalSound,   &kMonthSign,
    &kOppositePair, &kAnimalShelter, &kAnimalYoung,   &kOppositeChange,
    &kAnimalSound,  &kSeason,        &kAnimalShelter, &kTownRiver};
constexpr TopicPointer kFarmClosing[] = {&kFarmEnding};

constexpr DocumentPlan kPlans[] = {
    {"town", kTownOpening, kTownBody, kTownClosing},
    {"biography", kBiographyOpening, kBiographyBody, kBiographyClosing},
    {"workshop", kWorkshopOpening, kWorkshopBody, kBiographyClosing},
    {"market", kMarketStart, kMarketBody, kMarketClosing},
    {"journey", kJourneyStart, kJourneyBody, kJourneyClosing},
    {"harvest", kHarvestOpening, kHarvestBody, kHarvestClosing},
    {"festival", kFestivalOpening, kFestivalBody, kFestivalClosing},
    {"letter", kLetterStart, kLetterBody, kLetterClosing},
    {"farm", kFarmOpening, kFarmBody, kFarmClosing},
};

// Told, but not asked: years, each too rare for a small model to remember, and whatever is told by
// the order of two words of a kind (a town and the next, a day and the next), which it learns last.
constexpr TopicPointer kFactTopics[] = {
    &kTownProvince,  &kTownRiver,       &kRiverCourse, &kTownCraft,        &kTownLandmark,
    &kTownMayor,     &kTownFestival,    &kTownDish,    &kTownFlag,         &kProvinceCrop,
    &kProvinceBeast, &kProvinceCapital, &kPersonTrade, &kPersonInstrument, &kPersonTown};
constexpr TopicPointer kCollocationTopics[] = {&kCraftMaterial, &kCraftTool,   &kCraftWork,
                                               &kMarketStall,   &kAnimalYoung, &kAnimalSound,
                                               &kAnimalShelter};
constexpr TopicPointer kCalendarTopics[] = {&kSeason, &kMonthSign};
constexpr TopicPointer kOppositeTopics[] = {&kOppositePair, &kOppositeChange};
constexpr TopicPointer kGrammarTopics[] = {&kPersonFamily, &kPersonReflexive, &kAgreement,
                                           &kPreposition};
constexpr TopicPointer kStoryTopics[] = {&kErrand, &kGift};

}  // namespace

std::string_view name_of(ClozeKind kind) {
  switch (kind) {
    case ClozeKind::kFact:
      return "fact";
    case ClozeKind::kCollocation:
      return "collocation";
    case ClozeKind::kCalendar:
      return "calendar";
    case ClozeKind::kOpposite:
      return "opposite";
    case ClozeKind::kGrammar:
      return "grammar";
    case ClozeKind::kStory:
      return "story";
  }
  CLOZE_CHECK(false, "cloze kind {}", static_cast<int>(kind));
}

std::span<const DocumentPlan> document_plans() { return kPlans; }

std::span<const Topic* const> cloze_topics(ClozeKind kind) {
  switch (kind) {
    case ClozeKind::kFact:
      return kFactTopics;
    case ClozeKind::kCollocation:
      return kCollocationTopics;
    case ClozeKind::kCalendar:
      return kCalendarTopics;
    case ClozeKind::kOpposite:
      return kOppositeTopics;
    case ClozeKind::kGrammar:
      return kGrammarTopics;
    case ClozeKind::kStory:
      return kStoryTopics;
  }
  CLOZE_CHECK(false, "cloze kind {}", static_cast<int>(kind));
}

}  // namespace cloze::data
