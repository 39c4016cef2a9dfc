#include "data/sample_world/reading_topics.h"

#include "base/error.h"

namespace cloze::data {
namespace {

using Templates = const std::string_view[];

constexpr Templates kVillageRiverStatements = {
    "{subject} lies on the river {*answer}.",
    "The {*answer} flows (slowly|quietly) past the walls of {subject}.",
    "The children of {subject} swim in the {*answer}.",
    "In {subject} a (wooden|new) bridge crosses the river {*answer}."};
constexpr Templates kVillageRiverQuestions = {
    "Which river does {subject} lie on?", "On which river (lies|stands) {subject}?",
    "What is the river of {subject} called?", "Which river flows past {subject}?"};

constexpr Templates kVillageMillStatements = {
    "The mill in {subject} belongs to {*answer}.",
    "{*answer} has (kept|served) the mill of {subject} for years.",
    "In {subject} the grain is ground by {*answer}."};
constexpr Templates kVillageMillQuestions = {
    "Who keeps the mill in {subject}?", "To whom does the mill of {subject} belong?",
    "Who is the miller of {subject}?", "Who grinds the grain in {subject}?"};

constexpr Templates kVillageMayorStatements = {
    "The mayor of {subject} is called {*answer}.",
    "{*answer} was (chosen|made) mayor of {subject}.",
    "When there is a quarrel in {subject}, Mayor {*answer} ends it."};
constexpr Templates kVillageMayorQuestions = {
    "Who is the mayor of {subject}?", "What is the mayor of {subject} called?",
    "Who was chosen mayor of {subject}?", "Which mayor ends a quarrel in {subject}?"};

constexpr Templates kVillageDoctorStatements = {
    "The doctor of {subject} is called {*answer}.", "{*answer} works as a doctor in {subject}.",
    "Whoever has a fever in {subject} asks for {*answer}."};
constexpr Templates kVillageDoctorQuestions = {"Who is the doctor of {subject}?",
                                               "What is the doctor of {subject} called?",
                                               "Who helps against a fever in {subject}?"};

constexpr Templates kVillageYearStatements = {
    "{subject} was founded in {*answer}.", "The town of {subject} has existed since {*answer}.",
    "The first (house|wall|well) of {subject} was built in the year {*answer}."};
constexpr Templates kVillageYearQuestions = {
    "When was {subject} founded?", "In which year was {subject} founded?",
    "Since when has {subject} existed?", "In which year was the first house of {subject} built?"};

constexpr Templates kVillageProductStatements = {"{subject} sells its {*answer} at every fair.",
                                                 "Merchants come to {subject} to buy {*answer}.",
                                                 "Whoever wants good {*answer} goes to {subject}."};
constexpr Templates kVillageProductQuestions = {"What does {subject} sell?",
                                                "What do merchants buy in {subject}?",
                                                "What is {subject} known for?"};

constexpr Templates kVillageLandmarkStatements = {
    "In the middle of {subject} stands {a *answer}.",
    "Visitors to {subject} (first|always) ask the way to the {*answer}.",
    "Everyone in {subject} knows the old {*answer}."};
constexpr Templates kVillageLandmarkQuestions = {"What stands in the middle of {subject}?",
                                                 "What do visitors to {subject} ask the way to?",
                                                 "What is there to see in {subject}?"};

constexpr Templates kVillageFlagStatements = {
    "The flag of {subject} is {*answer}.", "The guards of {subject} carry {a *answer} flag.",
    "Above the houses of {subject} flies {a *answer} flag."};
constexpr Templates kVillageFlagQuestions = {"What colour is the flag of {subject}?",
                                             "Which colour has the flag of {subject}?",
                                             "Of what colour is the flag above {subject}?"};

constexpr Templates kVillageFestivalStatements = {
    "{subject} celebrates the festival of {*answer}.",
    "Singers come to {subject} for the festival of {*answer}.",
    "The festival of {*answer} fills the streets of {subject}."};
constexpr Templates kVillageFestivalQuestions = {"Which festival does {subject} celebrate?",
                                                 "For which festival do singers come to {subject}?",
                                                 "What is the festival of {subject} called after?"};

constexpr Templates kShipTownStatements = {"The {subject} was built in {*answer}.",
                                           "The sailors of the {subject} live in {*answer}.",
                                           "In winter the {subject} stays in {*answer}."};
constexpr Templates kShipTownQuestions = {
    "Where was the {subject} built?", "In which town do the sailors of the {subject} live?",
    "Where does the {subject} stay in winter?", "Which town is the home of the {subject}?"};

constexpr Templates kShipRiverStatements = {"The {subject} sails on the river {*answer}.",
                                            "On the {*answer} everybody knows the {subject}.",
                                            "The {subject} has crossed the {*answer} many times."};
constexpr Templates kShipRiverQuestions = {"Which river does the {subject} sail on?",
                                           "On which river does the {subject} sail?",
                                           "Which river has the {subject} crossed?"};

constexpr Templates kShipOwnerStatements = {"The {subject} belongs to {*answer}.",
                                            "The owner of the {subject} is called {*answer}.",
                                            "{*answer} bought the {subject} after a quarrel."};
constexpr Templates kShipOwnerQuestions = {
    "Who owns the {subject}?", "To whom does the {subject} belong?",
    "What is the owner of the {subject} called?", "Who bought the {subject}?"};

constexpr Templates kShipGuideStatements = {"The {subject} is guided by {*answer}.",
                                            "The sailors of the {subject} follow {*answer}.",
                                            "{*answer} leads the sailors of the {subject}."};
constexpr Templates kShipGuideQuestions = {"Who guides the {subject}?",
                                           "Whom do the sailors of the {subject} follow?",
                                           "Who leads the sailors of the {subject}?"};

constexpr Templates kShipGoalStatements = {"The {subject} is on its way to {*answer}.",
                                           "At midnight the {subject} reaches {*answer}.",
                                           "The journey of the {subject} ends in {*answer}."};
constexpr Templates kShipGoalQuestions = {"Which town is the {subject} on its way to?",
                                          "Which town does the {subject} reach at midnight?",
                                          "Where does the journey of the {subject} end?"};

constexpr Templates kShipLoadStatements = {"The {subject} is loaded with {*answer}.",
                                           "The {subject} brings {*answer} to the market.",
                                           "On board of the {subject} one finds only {*answer}."};
constexpr Templates kShipLoadQuestions = {"What is the {subject} loaded with?",
                                          "What does the {subject} bring to the market?",
                                          "What is on board of the {subject}?"};

constexpr Templates kShipDayStatements = {"The {subject} leaves each {*answer}.",
                                          "On {*answer} the {subject} goes down the stream.",
                                          "Every {*answer} people wait for the {subject}."};
constexpr Templates kShipDayQuestions = {"On which day does the {subject} leave?",
                                         "When does the {subject} go down the stream?",
                                         "On which day do people wait for the {subject}?"};

constexpr Templates kShipDishStatements = {"The cook of the {subject} is famous for his {*answer}.",
                                           "Guests of the {subject} are served {*answer}.",
                                           "The kitchen of the {subject} smells of {*answer}."};
constexpr Templates kShipDishQuestions = {"What is the cook of the {subject} famous for?",
                                          "What is served to guests of the {subject}?",
                                          "What do guests of the {subject} eat?"};

constexpr Templates kPersonTownStatements = {"{subject} lives in {*answer}.",
                                             "{subject} was born in {*answer}.",
                                             "The house of {subject} stands in {*answer}."};
constexpr Templates kPersonTownQuestions = {
    "Where does {subject} live?", "In which town was {subject} born?",
    "In which town does the house of {subject} stand?", "Which town is the home of {subject}?"};

constexpr Templates kPersonJourneyStatements = {"On Friday {subject} travels to {*answer}.",
                                                "{subject} has often visited {*answer}.",
                                                "The journey of {subject} ended in {*answer}."};
constexpr Templates kPersonJourneyQuestions = {"Where does {subject} travel on Friday?",
                                               "Which town has {subject} often visited?",
                                               "Where did the journey of {subject} end?"};

constexpr Templates kPersonFriendStatements = {"{subject} has a friend called {*answer}.",
                                               "The best friend of {subject} is {*answer}.",
                                               "{*answer} is an old friend of {subject}."};
constexpr Templates kPersonFriendQuestions = {"Who is the friend of {subject}?",
                                              "What is the best friend of {subject} called?",
                                              "Which friend does {subject} have?"};

constexpr Templates kPersonTradeStatements = {"{subject} works as {a *answer}.",
                                              "{subject} is {a *answer} by trade.",
                                              "{subject} soon became {a *answer}."};
constexpr Templates kPersonTradeQuestions = {
    "What does {subject} work as?", "What is the trade of {subject}?", "What did {subject} become?",
    "Which trade has {subject} learned?"};

constexpr Templates kPersonInstrumentStatements = {"{subject} plays the {*answer}.",
                                                   "In the evening {subject} plays the {*answer}.",
                                                   "{subject} has learned to play the {*answer}."};
constexpr Templates kPersonInstrumentQuestions = {"What does {subject} play?",
                                                  "Which instrument does {subject} play?",
                                                  "What has {subject} learned to play?"};

constexpr Templates kPersonAnimalStatements = {"{subject} has {a *answer} at home.",
                                               "{subject} is followed by {a *answer}.",
                                               "On Sunday {subject} feeds the {*answer}."};
constexpr Templates kPersonAnimalQuestions = {"Which animal does {subject} have?",
                                              "Which animal follows {subject}?",
                                              "What does {subject} feed on Sunday?"};

constexpr Templates kPersonGoodStatements = {"{subject} bought {a *answer} at the market.",
                                             "At the market {subject} looked for {a *answer}.",
                                             "{subject} went home with {a *answer}."};
constexpr Templates kPersonGoodQuestions = {"What did {subject} buy at the market?",
                                            "What did {subject} look for at the market?",
                                            "With what did {subject} go home?"};

constexpr Templates kPersonYearStatements = {"{subject} was born in the year {*answer}.",
                                             "{subject} has lived since {*answer}.",
                                             "In {*answer} {subject} first saw the sun."};
constexpr Templates kPersonYearQuestions = {"In which year was {subject} born?",
                                            "When was {subject} born?",
                                            "What is the year of birth of {subject}?"};

constexpr ReadingTopic kVillageTopics[] = {
    {"village river", AnswerPool::kRiver, kVillageRiverStatements, kVillageRiverQuestions},
    {"village mill", AnswerPool::kPerson, kVillageMillStatements, kVillageMillQuestions},
    {"village mayor", AnswerPool::kPerson, kVillageMayorStatements, kVillageMayorQuestions},
    {"village doctor", AnswerPool::kPerson, kVillageDoctorStatements, kVillageDoctorQuestions},
    {"village year", AnswerPool::kYear, kVillageYearStatements, kVillageYearQuestions},
    {"village product", AnswerPool::kProduct, kVillageProductStatements, kVillageProductQuestions},
    {"village landmark", AnswerPool::kLandmark, kVillageLandmarkStatements,
     kVillageLandmarkQuestions},
    {"village flag", AnswerPool::kColour, kVillageFlagStatements, kVillageFlagQuestions},
    {"village festival", AnswerPool::kFestival, kVillageFestivalStatements,
     kVillageFestivalQuestions}};

constexpr ReadingTopic kShipTopics[] = {
    {"ship town", AnswerPool::kTown, kShipTownStatements, kShipTownQuestions},
    {"ship river", AnswerPool::kRiver, kShipRiverStatements, kShipRiverQuestions},
    {"ship owner", AnswerPool::kPerson, kShipOwnerStatements, kShipOwnerQuestions},
    {"ship guide", AnswerPool::kPerson, kShipGuideStatements, kShipGuideQuestions},
    {"ship goal", AnswerPool::kTown, kShipGoalStatements, kShipGoalQuestions},
    {"ship load", AnswerPool::kCrop, kShipLoadStatements, kShipLoadQuestions},
    {"ship day", AnswerPool::kWeekday, kShipDayStatements, kShipDayQuestions},
    {"ship dish", AnswerPool::kDish, kShipDishStatements, kShipDishQuestions}};

constexpr ReadingTopic kPersonTopics[] = {
    {"person town", AnswerPool::kTown, kPersonTownStatements, kPersonTownQuestions},
    {"person journey", AnswerPool::kTown, kPersonJourneyStatements, kPersonJourneyQuestions},
    {"person friend", AnswerPool::kPerson, kPersonFriendStatements, kPersonFriendQuestions},
    {"person trade", AnswerPool::kMaker, kPersonTradeStatements, kPersonTradeQuestions},
    {"person instrument", AnswerPool::kInstrument, kPersonInstrumentStatements,
     kPersonInstrumentQuestions},
    {"person animal", AnswerPool::kAnimal, kPersonAnimalStatements, kPersonAnimalQuestions},
    {"person good", AnswerPool::kGood, kPersonGoodStatements, kPersonGoodQuestions},
    {"person year", AnswerPool::kYear, kPersonYearStatements, kPersonYearQuestions}};

}  // namespace

std::string_view title_of(SubjectKind kind) {
  switch (kind) {
    case SubjectKind::kVillage:
      return "Villages";
    case SubjectKind::kShip:
      return "Ships";
    case SubjectKind::kPerson:
      return "People";
  }
  CLOZE_CHECK(false, "subject kind {}", static_cast<int>(kind));
}

std::span<const ReadingTopic> reading_topics(SubjectKind kind) {
  switch (kind) {
    case SubjectKind::kVillage:
      return kVillageTopics;
    case SubjectKind::kShip:
      return kShipTopics;
    case SubjectKind::kPerson:
      return kPersonTopics;
  }
  CLOZE_CHECK(false, "subject kind {}", static_cast<int>(kind));
}

}  // namespace cloze::data
