#include "data/sample_world/topics.h"

namespace cloze::data {
namespace {

constexpr std::string_view kNextDayTemplates[] = {
    "The day after {*day} is {*next_day}.", "It rained in {town} on {*day} and {*next_day}.",
    "On {*day} {helper} slept, and on {*next_day} {helper} danced.",
    "They waited all {*day}, and on {*next_day} the (boat|letter|doctor) came.",
    "The (judge|doctor) came to {town} on {*day}, the day before {*next_day}."};

constexpr std::string_view kNextMonthTemplates[] = {
    "After {*month} comes {*next_month}.",
    "{helper} left {town} in {*month} and returned in {*next_month}.",
    "The {river} was low in {*month}, and lower still in {*next_month}.",
    "From {*month} to {*next_month} the (school|mill) in {town} was closed."};

constexpr std::string_view kSeasonTemplates[] = {
    "{month} is a (good|busy|quiet) month of the {*season}.",
    "In {*month}, when it was {*season}, the {*sign} came.",
    "It was {a *season} morning in {*month}, with {*sign} on the hills.",
    "The {*season} was in the air, for it was {month}."};

constexpr std::string_view kMonthSignTemplates[] = {
    "{*month} came to {town} with {*sign}.",
    "In {*month} the {*sign} came to {town}, as every {*season}.",
    "(Farmers|Sailors) say there is no {*month} without {*sign}.",
    "The (hills|roofs) of {province} know {*sign} in {*month}.",
    "Since the first day of {*month} {helper} has spoken of nothing but {*sign}."};

constexpr std::string_view kCountingTemplates[] = {
    "{helper} counted {*number} boats, then one more, which made {*next_number}.",
    "One day there were {*number} guests, the day after one more, and so {*next_number}.",
    "If you have {*number} coins and find one, you have {*next_number}.",
    "After number {*number} on the street comes number {*next_number}."};

constexpr std::string_view kAnimalYoungTemplates[] = {
    "The {*animal} (watched|fed|warmed) her {*young} in the {*shelter}.",
    "A {*young} followed the {*animal} into the {*shelter}.",
    "On {day} the {*animal} had a {*young}.",
    "{helper} found the {*young} asleep beside the {*animal}."};

constexpr std::string_view kAnimalSoundTemplates[] = {
    "The {*animal} {*sound} when {surname} opened the {*shelter}.",
    "In the night {a *animal} {*sound} and woke her {*young}.",
    "Something {*sound} in the dark, but it was only the {*animal}.",
    "The {*animal} {*sound} until {helper} brought back the {*young}."};

constexpr std::string_view kAnimalShelterTemplates[] = {
    "The {*animal} slept in the {*shelter} beside her {*young}.",
    "{helper} looked for the {*animal} in the {*shelter}.",
    "When it grew cold, the {*animal} stayed in the {*shelter} and {*sound}.",
    "The {*young} would not come out of the {*shelter}.",
    "{surname} repaired the {*shelter} of the {*animal}."};

constexpr std::string_view kOppositePairTemplates[] = {
    "The first {*pair.noun} was {*pair.one}, the second was {*pair.other}.",
    "{helper} wanted {a *pair.one} {*pair.noun}, not {a *pair.other} one.",
    "In {town} one {*pair.noun} is {*pair.one} and the other is {*pair.other}.",
    "Was the {*pair.noun} {*pair.one} or {*pair.other}?",
    "{surname} does not care whether {a *pair.noun} is {*pair.one} or {*pair.other}."};

constexpr std::string_view kOppositeChangeTemplates[] = {
    "Yesterday the {*pair.noun} was still {*pair.one}, today it seemed {*pair.other}.",
    "Better {a *pair.one} {*pair.noun} than {a *pair.other} one, said {helper}.",
    "From far away the {*pair.noun} looked {*pair.one}, but {helper} found it {*pair.other}.",
    "The {*pair.noun} in {town} is {*pair.other}, not {*pair.one}."};

constexpr std::string_view kAgreementTemplates[] = {
    "Yesterday the {stall.makers} of {stall.town} <were> (late|early) with their "
    "{stall.product}.",
    "Yesterday the {stall.maker} from {stall.town} <was> (late|early) with the {stall.product}.",
    "Today the {stall.makers} of {stall.town} <are> (late|early) with their {stall.product}.",
    "Today the {stall.maker} from {stall.town} <is> (late|early) with the {stall.product}.",
    "The {stall.makers} <have> sold all <their> {stall.product}.",
    "The {stall.maker} <has> sold all the {stall.product}.",
    "The {stall.makers} of {stall.town} love <their> {stall.tool}.",
    "Two {stall.makers} helped <each> <other> to load the {stall.product}.",
    "Neither the {stall.maker} <nor> the {maker} wanted to wait.",
    "Both the {stall.maker} <and> the {maker} wanted to wait.",
    "Either the {stall.maker} <or> the {maker} had to wait.",
    "The {stall.maker} worked harder <than> the {maker}.",
    "The {landmark} of {town} is as old <as> the town itself."};

constexpr std::string_view kPrepositionTemplates[] = {
    "{helper} is afraid <of> {a animal}.",
    "{helper} is very proud <of> the {good}.",
    "{helper} waited <for> the {stall.maker} on {day}.",
    "{surname} asked <for> {stall.product} and paid {number} coins.",
    "{helper} laughed <at> the {stall.maker} and the {stall.tool}.",
    "{helper} listened <to> the {instrument} for an hour.",
    "The {stall.tool} belongs <to> the {stall.maker}.",
    "{helper} filled the cart <with> {stall.material}.",
    "{helper} dreamed <about> the {animal} and her {young}.",
    "{helper} borrowed the {stall.tool} <from> the {stall.maker}.",
    "The {stall.maker} depends <on> {stall.material} from {stall.town}.",
    "{helper} is interested <in> {stall.product}.",
    "The {stall.maker} fell <into> the {river} on {day}.",
    "{helper} climbed <over> the wall to see the {animal}.",
    "The {stall.product} came here <by> boat from {neighbour}."};

constexpr std::string_view kWeatherOpeningTemplates[] = {
    "It was {month} on the farms of {province}, and {first} {surname} was up early.",
    "In {month} {first} {surname} helped on a farm outside {town}.",
    "The farm of {helper} lies between {town} and the river {river}."};

constexpr std::string_view kFarmEndingTemplates[] = {
    "At night the animals slept, and {helper} put out the lamp.",
    "{helper} shut the gate of the farm and looked at the stars above {town}.",
    "So the day on the farm ended, and the {animal} was quiet."};

constexpr std::string_view kJourneyOpeningTemplates[] = {
    "On {day} {first} {surname} set out from {town} for {neighbour}.",
    "{first} {surname} began {his} journey from {town} to {neighbour} in {month}.",
    "The journey of {first} {surname} from {town} to {neighbour} took {number} days."};

constexpr std::string_view kJourneyReturnTemplates[] = {
    "They walked {*direction} to {neighbour}, so the way home led {*back}.",
    "Go {*direction} to reach {neighbour}, and {*back} to come home again.",
    "The sun stood in the {*direction}, the moon in the {*back}.",
    "The wind turned from {*direction} to {*back} and the travellers rested."};

constexpr std::string_view kJourneyEndingTemplates[] = {
    "Late on {next_day} {surname} came home to {town} with tired feet.",
    "At the end of the journey {surname} drank from the {river} and was glad.",
    "In {neighbour} {surname} rested beside the road and thought of {town}."};

}  // namespace

constexpr Topic kNextDay{kNextDayTemplates};
constexpr Topic kNextMonth{kNextMonthTemplates};
constexpr Topic kSeason{kSeasonTemplates};
constexpr Topic kMonthSign{kMonthSignTemplates};
constexpr Topic kCounting{kCountingTemplates};
constexpr Topic kAnimalYoung{kAnimalYoungTemplates};
constexpr Topic kAnimalSound{kAnimalSoundTemplates};
constexpr Topic kAnimalShelter{kAnimalShelterTemplates};
constexpr Topic kOppositePair{kOppositePairTemplates};
constexpr Topic kOppositeChange{kOppositeChangeTemplates};
constexpr Topic kAgreement{kAgreementTemplates};
constexpr Topic kPreposition{kPrepositionTemplates};
constexpr Topic kWeatherOpening{kWeatherOpeningTemplates};
constexpr Topic kFarmEnding{kFarmEndingTemplates};
constexpr Topic kJourneyOpening{kJourneyOpeningTemplates};
constexpr Topic kJourneyReturn{kJourneyReturnTemplates};
constexpr Topic kJourneyEnding{kJourneyEndingTemplates};

}  // namespace cloze::data
