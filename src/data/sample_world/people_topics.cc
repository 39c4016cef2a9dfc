#include "data/sample_world/topics.h"

namespace cloze::data {
namespace {

constexpr std::string_view kPersonTradeTemplates[] = {
    "{first} {surname} is a {*maker} in {*town}.",
    "The {*maker} {surname} (rises|starts) early to make {*product}.",
    "As a {child} {first} {surname} (wanted|hoped) to become a {*maker}.",
    "{surname} became a {*maker} in {*town} (at last|like {his} father).",
    "(Neighbours|Friends) know {first} {surname} as a (good|patient|clever) {*maker}.",
    "{surname} sells {*product} near the {*landmark} of {*town}."};

constexpr std::string_view kPersonInstrumentTemplates[] = {
    "In the evening {first} {surname} of {*town} plays the {*instrument}.",
    "{surname} learned to play the {*instrument} from (a sailor|an uncle).",
    "When the {*maker} {surname} takes up the {*instrument}, everybody grows quiet.",
    "(Children|Guests) love to hear {first} {surname} on the {*instrument}."};

constexpr std::string_view kPersonTownTemplates[] = {
    "{first} {surname} lives in {*town} near the {*landmark}.",
    "{surname} has never (wanted|tried) to leave {*town} and the river {*river}.",
    "The workshop of {surname} the {*maker} is in {*town}.",
    "Everybody in {*town} knows {first} {surname} the {*maker}."};

constexpr std::string_view kPersonBirthTemplates[] = {
    "{first} {surname} was born in {*birth_year}.",
    "{surname} was born in the year {*birth_year}, in a house by the {landmark}.",
    "The church book says that {first} {surname} was born in {*birth_year}.",
    "{birth_year} was the year in which {surname} was born."};

constexpr std::string_view kPersonFamilyTemplates[] = {
    "{first} {surname} and {*his} {*spouse} have {number} children.",
    "{first} {surname} met {*his} {*spouse} at the festival of {festival}.",
    "The {*spouse} of {first} {surname} comes from {neighbour}.",
    "{first} was a (shy|cheerful) {*child} who loved {*his} {instrument}.",
    "As a young {*child} {first} often sat by the river with {*his} mother.",
    "{first} told {*his} {*spouse} that {*he} was (tired|happy)."};

constexpr std::string_view kPersonReflexiveTemplates[] = {
    "{first} looked at {*himself} in the (mirror|water) and combed {*his} hair.",
    "{first} (cut|hurt) {*himself} with the {*tool}.",
    "{first} asked {*himself} whether {*he} was (late|early).",
    "{first} said that {*he} was (tired|hungry|happy).",
    "When {first} came home, {*he} took off {*his} coat.",
    "{first} took off {*his} (coat|hat|boots) and warmed {*himself} by the fire.",
    "{first} thanked {*his} (mother|father) because {*he} was (happy|glad)."};

constexpr std::string_view kCraftMaterialTemplates[] = {
    "A {*maker} works with {*material} and {a *tool}.",
    "The {*makers} bought {*material} to make {*product}.",
    "Without {*material} a {*maker} can make no {*product}.",
    "The {*maker} {*worked} the {*material} for the {*product}.",
    "A cart full of {*material} stopped at the door of the {*maker}.",
    "The best {*material} in {province} went into the {*product}.",
    "{surname} {*worked} the {*material} and made {*product}."};

constexpr std::string_view kCraftToolTemplates[] = {
    "The {*maker} took {a *tool} and {*worked} the {*material}.",
    "Every {*maker} needs {a *tool} to make {*product}.",
    "{surname} {*worked} the {*material} with the {*tool}.",
    "The {*tool} of the {*maker} was (old|broken|new).",
    "An apprentice learns to use the {*tool} before making {*product}."};

constexpr std::string_view kCraftWorkTemplates[] = {
    "The {*maker} {*worked} the {*material} (all day|until noon).",
    "{surname} {*worked} the {*material} and sang to the {*tool}.",
    "Only a {*maker} can turn {*material} into {*product}.",
    "Having {*worked} the {*material}, {surname} finished the {*product}.",
    "The {*makers} of {town} made {*product} with {a *tool} for the duke.",
    "The apprentice of the {*maker} carried {*material} and {*product}."};

constexpr std::string_view kMarketStallTemplates[] = {
    "The {*stall.maker} offered {*stall.product} for {number} coins.",
    "At the next stall a {*stall.maker} sold {*stall.product} of good {*stall.material}.",
    "Nobody had better {*stall.product} than the {*stall.maker} from {*stall.town}.",
    "The price of {*stall.product} rose, because the {*stall.makers} lacked {*stall.material}.",
    "A {*stall.maker} looked for {*stall.material} and for {a *stall.tool}.",
    "{number} {*stall.makers} praised their {*stall.product} with loud voices.",
    "The {*stall.maker} traded {*stall.product} for {number} cartloads of {*stall.material}.",
    "The {*stall.maker} showed the children {a *stall.tool} and some {*stall.material}.",
    "The {*stall.maker} {*stall.worked} {*stall.material} before the eyes of the buyers."};

constexpr std::string_view kErrandTemplates[] = {
    "{first} {surname} bought {a good} at the market.\n"
    "On the way home {he} (lost|hid|admired) the {*good}.",
    "A (thief|magpie) stole {a good} from the shop.\n"
    "The guards of {town} looked for the {*good} in vain.",
    "{helper} found {a good} under the bridge.\n"
    "Nobody in {town} knew who had lost the {*good}.",
    "There was {a good} in the old box.\n"
    "{surname} took the {*good} and closed the box."};

constexpr std::string_view kGiftTemplates[] = {
    "{first} gave {helper} {a good}.\n"
    "{helper} thanked {first} for the {*good}.",
    "A stranger in {a shade} cloak crossed the square.\n"
    "The children ran after the {*shade} cloak.",
    "{helper} painted the door {shade}.\n"
    "Now everyone knows the house with the {*shade} door.",
    "A merchant showed {a good} and a spoon.\n"
    "{first} chose the {*good}."};

constexpr std::string_view kLetterOpeningTemplates[] = {
    "Dear {helper}, I write to you from {town}, in the province of {province}.",
    "Dear {helper}, this {day} I came to {town} on the river {river}.",
    "Dear {helper}, greetings from {town}, where I have been since {month}."};

constexpr std::string_view kLetterNewsTemplates[] = {
    "I live in a room near the {landmark}, in the house of {first} {surname}.",
    "Here one eats {dish} every day, you would laugh at me.",
    "The {makers} of {town} sold me {product}, which I shall bring you.",
    "{surname} plays the {instrument} so well that I cannot sleep for joy.",
    "I have seen Mayor {mayor}, who greeted me kindly.",
    "In {festival_month} I shall stay for the festival of {festival}.",
    "The water of the {river} is cold, but I swim in it each {day}.",
    "If you visit me, go {direction} from {town} and you will find {neighbour}."};

constexpr std::string_view kLetterEndingTemplates[] = {
    "Write soon, and send your letter to {town}.",
    "I embrace you, dear {helper}, and shall be home before {next_month} ends.",
    "Give my love to your mother, and do not forget your friend in {town}."};

constexpr std::string_view kPersonEndingTemplates[] = {
    "{surname} is old now, but {he} still works as a {maker}.",
    "In {town} people will long remember {first} {surname}.",
    "So {first} {surname} lives, a {maker} with {a instrument}."};

constexpr std::string_view kMarketOpeningTemplates[] = {
    "Every {day} there is a market in {town}, beside the {landmark}.",
    "The {day} market of {town} opened early this {month}.",
    "On {day} the merchants came to the market of {town} before sunrise."};

constexpr std::string_view kMarketEndingTemplates[] = {
    "When the market of {town} closed, the merchants counted their coins.",
    "By evening the market beside the {landmark} was empty.",
    "The merchants packed their goods and left {town} by the {direction} gate."};

}  // namespace

constexpr Topic kPersonTrade{kPersonTradeTemplates};
constexpr Topic kPersonInstrument{kPersonInstrumentTemplates};
constexpr Topic kPersonTown{kPersonTownTemplates};
constexpr Topic kPersonBirth{kPersonBirthTemplates};
constexpr Topic kPersonFamily{kPersonFamilyTemplates};
constexpr Topic kPersonReflexive{kPersonReflexiveTemplates};
constexpr Topic kCraftMaterial{kCraftMaterialTemplates};
constexpr Topic kCraftTool{kCraftToolTemplates};
constexpr Topic kCraftWork{kCraftWorkTemplates};
constexpr Topic kMarketStall{kMarketStallTemplates};
constexpr Topic kErrand{kErrandTemplates};
constexpr Topic kGift{kGiftTemplates};
constexpr Topic kLetterOpening{kLetterOpeningTemplates};
constexpr Topic kLetterNews{kLetterNewsTemplates};
constexpr Topic kLetterEnding{kLetterEndingTemplates};
constexpr Topic kPersonEnding{kPersonEndingTemplates};
constexpr Topic kMarketOpening{kMarketOpeningTemplates};
constexpr Topic kMarketEnding{kMarketEndingTemplates};

}  // namespace cloze::data
