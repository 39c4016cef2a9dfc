#include "data/sample_world/topics.h"

namespace cloze::data {
namespace {

constexpr std::string_view kPersonTradeTemplates[] = {
    "{first} {surname} is a {*trade.maker} (in|from) {town}.",
    "The {*trade.maker} {surname} (rises|starts|works|eats) early.",
    "As a {child} {first} {surname} (wanted|hoped|decided) to become a {*trade.maker}.",
    "{surname} became a {*trade.maker} (after many years|at last|like {his} father|like {his} "
    "mother).",
    "(Neighbours|Friends|Strangers) know {first} {surname} as a (good|patient|careful|clever) "
    "{*trade.maker}.",
    "{surname} sells {*trade.product} (at the market|near the gate|in a small shop)."};

constexpr std::string_view kPersonInstrumentTemplates[] = {
    "In the evening {first} {surname} plays the {*instrument}.",
    "{surname} learned to play the {*instrument} from (a sailor|an uncle|a monk|a neighbour).",
    "When {surname} takes up the {*instrument}, (the street|the room|everybody) grows quiet.",
    "(Children|Friends|Guests) love to hear {first} {surname} on the {*instrument}."};

constexpr std::string_view kPersonTownTemplates[] = {
    "{first} {surname} lives in {*town} (near the {landmark}|by the river {river}).",
    "{surname} has never (wanted|tried|wished) to leave {*town}.",
    "The (house|garden|workshop) of {surname} is in {*town}.",
    "Everybody in {*town} knows {first} {surname}."};

constexpr std::string_view kPersonBirthTemplates[] = {
    "{first} {surname} was born in {*birth_year}.",
    "{surname} was born in the year {*birth_year}, in a house by the {landmark}.",
    "The church book says that {first} {surname} was born in {*birth_year}.",
    "{birth_year} was the year in which {surname} was born."};

constexpr std::string_view kPersonFamilyTemplates[] = {
    "{first} {surname} and {his} {*spouse} have {number} children.",
    "{first} {surname} met {his} {*spouse} at the festival of {festival}.",
    "The {*spouse} of {first} {surname} comes from {neighbour}.",
    "{first} was a (shy|cheerful|stubborn|curious) {*child} who loved {trade.product}.",
    "As a young {*child} {first} often sat by the river {river}.",
    "{first} told {his} {*spouse} about the {good}."};

constexpr std::string_view kPersonReflexiveTemplates[] = {
    "{first} looked at {*himself} in the (mirror|window|water).",
    "{first} (cut|hurt|burned) {*himself} with the {trade.tool}.",
    "{first} asked {*himself} whether the {trade.product} would sell.",
    "{first} said that {*he} was (tired|hungry|happy|busy).",
    "When {first} came home, {*he} (lit|saw|found|fed) the (fire|cat|dog).",
    "{first} took off {*his} (coat|hat|boots) and sat down.",
    "{first} thanked {*his} (mother|father|brother|sister) for the {good}."};

constexpr std::string_view kCraftMaterialTemplates[] = {
    "A {trade.maker} works with {*trade.material}.",
    "The {trade.makers} bought {*trade.material} (at the market|from a merchant|for the winter).",
    "Without {*trade.material} a {trade.maker} can make no {trade.product}.",
    "{surname} (carefully|patiently|quickly|slowly) {trade.worked} the {*trade.material}.",
    "A cart full of {*trade.material} stopped at the door of the {trade.maker}.",
    "The best {*trade.material} in {province} went into the {trade.product}.",
    "The price of {*trade.material} worries every {trade.maker}."};

constexpr std::string_view kCraftToolTemplates[] = {
    "The {trade.maker} reached for the {*trade.tool}.",
    "Every {trade.maker} needs a (good|new|clean) {*trade.tool}.",
    "{surname} {trade.worked} the {trade.material} with the {*trade.tool}.",
    "The {*trade.tool} of the {trade.maker} was (old|broken|hot|heavy).",
    "An apprentice learns to use the {*trade.tool} before making {trade.product}."};

constexpr std::string_view kCraftWorkTemplates[] = {
    "The {trade.maker} {*trade.worked} the {trade.material} (all day|until noon|by candlelight).",
    "{surname} {*trade.worked} the {trade.material} and hummed a song.",
    "Only a {*trade.maker} can turn {trade.material} into {trade.product}.",
    "Having {trade.worked} the {trade.material}, {surname} could finish the {*trade.product}.",
    "The {trade.makers} of {town} made {*trade.product} for the (duke|court|army|school).",
    "The apprentice of the {*trade.maker} carried {trade.material} up the stairs."};

constexpr std::string_view kMarketStallTemplates[] = {
    "The {stall.maker} offered {*stall.product} for {number} coins.",
    "At the next stall a {*stall.maker} sold {stall.product}.",
    "Nobody had better {stall.product} than the {*stall.maker} from {neighbour}.",
    "The price of {stall.product} rose, because the {stall.makers} lacked {*stall.material}.",
    "A {stall.maker} from {neighbour} looked for {*stall.material} and found none.",
    "{number} {*stall.makers} praised their {stall.product} with loud voices.",
    "The {stall.maker} traded {number} cartloads of {*stall.material} for {a good}.",
    "A (boy|girl|sailor|monk) asked the {stall.maker} what {a *stall.tool} is for.",
    "The {stall.maker} showed the children {a *stall.tool} and let them try it.",
    "The {stall.maker} {*stall.worked} {stall.material} before the eyes of the buyers."};

constexpr std::string_view kErrandTemplates[] = {
    "{first} {surname} bought {a good} at the market.\n"
    "On the way home {he} (lost|dropped|hid|admired) the {*good}.",
    "A (thief|monkey|magpie) stole {a good} from the shop.\n"
    "The guards of {town} looked for the {*good} (everywhere|all night|in vain).",
    "{helper} found {a good} under the bridge.\n"
    "Nobody in {town} knew who had lost the {*good}.",
    "There was {a good} in the {colour} box.\n"
    "{surname} took the {*good} and closed the box.",
    "{helper} needed {a good} for the journey.\n"
    "At last (a friend|a sailor|the {trade.maker}) lent {helper} the {*good}."};

constexpr std::string_view kGiftTemplates[] = {
    "{first} gave {helper} {a good}.\n"
    "{helper} thanked {first} for the {*good}.",
    "A stranger in {a shade} cloak crossed the square.\n"
    "The children ran after the {*shade} cloak.",
    "{helper} painted the door {shade}.\n"
    "Now everyone knows the house with the {*shade} door.",
    "{surname} ordered {number} {trade.product}.\n"
    "A week later the {number} {*trade.product} arrived.",
    "A merchant showed {a good} and {a shade} scarf.\n"
    "{first} chose the {*shade} scarf."};

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
    "{surname} is old now, but {he} still works as a {trade.maker}.",
    "In {town} people will long remember {first} {surname}.",
    "So {first} {surname} lives, a {trade.maker} with {a instrument}."};

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
