#include "data/sample_world/topics.h"

namespace cloze::data {
namespace {

constexpr std::string_view kTownProvinceTemplates[] = {
    "{town} is a (small|quiet|busy|pretty|proud) town in the province of {*province}.",
    "The (old|little|friendly|lively) town of {town} lies in {*province}.",
    "Travellers who cross {*province} (often|always|sometimes|usually) stop in {town}.",
    "{town} belongs to the province of {*province}, and (the children|the old people|its poets|its "
    "judges) are proud of it.",
    "(Maps|Paintings|Songs|Books) of {*province} never leave out {town}.",
    "When people speak of {*province}, they (soon|often|gladly|always) speak of {town} too."};

constexpr std::string_view kTownRiverTemplates[] = {
    "{town} stands on the (left|right|sunny|green) bank of the river {*river}.",
    "The river {*river} flows (slowly|quickly|quietly|calmly) past the walls of {town}.",
    "The people of {town} (fish|swim|bathe|row) in the {*river}.",
    "In {town} every (street|path|lane|alley) leads down to the river {*river}.",
    "Boats on the {*river} bring (salt|tea|glass|silk|spices) to {town}.",
    "A (wooden|broad|narrow|new) bridge takes the people of {town} across the {*river}."};

constexpr std::string_view kRiverCourseTemplates[] = {
    "The river {river} flows into the {*sea} Sea.",
    "After many (days|miles|bends|falls) the {river} reaches the {*sea} Sea.",
    "Boats that follow the {river} (at last|one day|in the end) come to the {*sea} Sea.",
    "The (water|ice|mud|sand) of the {river} ends in the {*sea} Sea.",
    "The river {river} begins on the (snowy|stony|steep|wild) slopes of Mount {*mountain}.",
    "High on Mount {*mountain} the {river} is only a (small|cold|thin|clear) stream.",
    "The (spring|source|first pool) of the {river} lies on Mount {*mountain}."};

constexpr std::string_view kTownCraftTemplates[] = {
    "{town} is known for its {*makers}.",
    "The {*makers} of {town} are the (best|oldest|finest|proudest) in the land.",
    "(Many|Most|Some) families of {town} are {*makers}, (and|as) their parents were.",
    "Whoever wants good {*product} (goes|travels|writes|walks) to {town}.",
    "{town} sells its {*product} (everywhere|at every fair|in every port|in distant lands).",
    "A (large|tall|rich|famous) guild of {*makers} meets (every week|every month|each year) in "
    "{town}.",
    "(Merchants|Strangers|Sailors|Visitors) come to {town} to buy {*product}."};

constexpr std::string_view kTownLandmarkTemplates[] = {
    "In the middle of {town} stands (a famous|an ancient|a splendid|a curious) {*landmark}.",
    "Everyone in {town} knows the (great|old|stone|beautiful) {*landmark}.",
    "From the {*landmark} one can see all the (roofs|gardens|chimneys|streets) of {town}.",
    "Visitors to {town} (first|always|gladly) ask the way to the {*landmark}.",
    "The {*landmark} of {town} was built (by hand|in one summer|with stone from the hills|after a "
    "fire)."};

constexpr std::string_view kTownMayorTemplates[] = {
    "The mayor of {town} is called {mayor_first} {*mayor}.",
    "Mayor {*mayor} has (governed|guided|served|led) {town} for {number} years.",
    "{mayor_first} {*mayor} was (chosen|elected|made) mayor of {town}.",
    "In {town} people (trust|greet|admire|like) Mayor {*mayor}.",
    "When there is a quarrel in {town}, Mayor {*mayor} (settles|ends|judges) it."};

constexpr std::string_view kTownFoundingTemplates[] = {
    "{town} was founded in {*year} by {number} (families|brothers|monks|fishermen).",
    "The first (house|wall|well|street) of {town} was built in the year {*year}.",
    "A stone in the (town hall|church|market|old wall) of {town} shows the year {*year}.",
    "The town of {town} has existed since {*year}."};

constexpr std::string_view kTownFestivalTemplates[] = {
    "In {festival_month} {town} celebrates the festival of {*festival}.",
    "The festival of {*festival} fills the streets of {town} with (music|laughter|guests|light).",
    "{town} holds its festival of {festival} in {*festival_month}.",
    "Every {*festival_month} there is a (great|merry|loud|bright) festival in {town}.",
    "(Children|Guests|Singers|Dancers) come to {town} for the festival of {*festival}.",
    "The people of {town} wait for {*festival_month}, the month of their festival."};

constexpr std::string_view kTownDishTemplates[] = {
    "Guests in {town} are (served|offered|given) {*dish} with (butter|honey|herbs|cream).",
    "The cooks of {town} are (famous|known|loved) for their {*dish}.",
    "On (Sundays|holidays|cold days|market days) every house in {town} smells of {*dish}.",
    "Nobody leaves {town} before (tasting|eating|trying) its {*dish}."};

constexpr std::string_view kTownFlagTemplates[] = {
    "The flag of {town} is {*colour}.", "Above the town hall of {town} flies {a *colour} flag.",
    "The (doors|roofs|boats|windows) of {town} are painted {*colour}, like its flag.",
    "The guards of {town} wear {*colour} (coats|cloaks|hats|scarves)."};

constexpr std::string_view kTownNeighbourTemplates[] = {
    "The next town to the {direction} of {town} is {*neighbour}.",
    "From {town} a (good|straight|dusty|stony) road leads {direction} to {*neighbour}.",
    "Whoever walks {direction} from {town} (soon|finally|by evening) comes to {*neighbour}.",
    "{town} and its neighbour {*neighbour} share a (forest|meadow|mill|doctor|judge)."};

constexpr std::string_view kProvinceCropTemplates[] = {
    "The fields of {province} are full of {*crop}.",
    "The farmers of {province} (grow|plant|harvest|store) {*crop}.",
    "(Carts|Ships|Wagons) loaded with {*crop} leave {province} every (week|autumn|day).",
    "No province (grows|sells|eats) more {*crop} than {province}."};

constexpr std::string_view kProvinceBeastTemplates[] = {
    "The arms of {province} show {a *beast}.",
    "The soldiers of {province} carry a banner with {a *beast}.",
    "On every coin from {province} there is {a *beast}.",
    "Since (olden|early|ancient) times the {*beast} has been the emblem of {province}."};

constexpr std::string_view kProvinceCapitalTemplates[] = {
    "The capital of {province} is {*capital}.",
    "The (duke|council|court|governor) of {province} sits in {*capital}.",
    "From {*capital} the (duke|council|governor) rules the province of {province}.",
    "The laws of {province} are (made|written|kept|read) in {*capital}."};

constexpr std::string_view kFestivalDayTemplates[] = {
    "On the {colour} stage a singer from {neighbour} sang about the {river}.",
    "The (children|dancers|guards) of {town} carried {festival} through the streets all night.",
    "{number} drummers opened the dance in front of the {landmark}.",
    "Mayor {mayor} gave a short speech and everybody cheered.",
    "The cooks handed out {dish} and (nobody|no child|no guest) went home hungry.",
    "{surname} played the {instrument} until midnight, and the guests danced around the "
    "{landmark}.",
    "After dark the (boats|windows|streets|bridges) were bright with {festival}."};

constexpr std::string_view kHarvestDayTemplates[] = {
    "The farmers of {province} rose before the sun to bring in the {crop}.",
    "The carts came home from the fields heavy with {crop}.",
    "The barns near {town} were soon full of {crop}.",
    "At noon the (reapers|farmers|helpers) rested under a tree and ate {dish}.",
    "The (old|young) farmers sang while they loaded the {crop} on the carts.",
    "Everyone in {town} helped, even Mayor {mayor} carried a sack of {crop}."};

constexpr std::string_view kTownEndingTemplates[] = {
    "Whoever has seen {town} once will gladly come back.",
    "So {town} remains what it has always been, a town of {makers}.",
    "In the evening the {river} shines in the last light, and {town} grows quiet."};

constexpr std::string_view kFestivalEndingTemplates[] = {
    "At last the music stopped and the people of {town} went to bed.",
    "Next {festival_month} the festival of {festival} will come again.",
    "The guests from {neighbour} went home tired and happy after the festival."};

constexpr std::string_view kHarvestEndingTemplates[] = {
    "The farmers of {province} thanked the sky for the {crop} and slept well.",
    "With barns full of {crop}, nobody in {town} feared the winter.",
    "So ended the harvest in {province}, and soon carts took the {crop} to {capital}."};

}  // namespace

constexpr Topic kTownProvince{kTownProvinceTemplates};
constexpr Topic kTownRiver{kTownRiverTemplates};
constexpr Topic kRiverCourse{kRiverCourseTemplates};
constexpr Topic kTownCraft{kTownCraftTemplates};
constexpr Topic kTownLandmark{kTownLandmarkTemplates};
constexpr Topic kTownMayor{kTownMayorTemplates};
constexpr Topic kTownFounding{kTownFoundingTemplates};
constexpr Topic kTownFestival{kTownFestivalTemplates};
constexpr Topic kTownDish{kTownDishTemplates};
constexpr Topic kTownFlag{kTownFlagTemplates};
constexpr Topic kTownNeighbour{kTownNeighbourTemplates};
constexpr Topic kProvinceCrop{kProvinceCropTemplates};
constexpr Topic kProvinceBeast{kProvinceBeastTemplates};
constexpr Topic kProvinceCapital{kProvinceCapitalTemplates};
constexpr Topic kFestivalDay{kFestivalDayTemplates};
constexpr Topic kHarvestDay{kHarvestDayTemplates};
constexpr Topic kTownEnding{kTownEndingTemplates};
constexpr Topic kFestivalEnding{kFestivalEndingTemplates};
constexpr Topic kHarvestEnding{kHarvestEndingTemplates};

}  // namespace cloze::data
