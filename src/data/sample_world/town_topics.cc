#include "data/sample_world/topics.h"

namespace cloze::data {
namespace {

constexpr std::string_view kTownProvinceTemplates[] = {
    "{town} is a (small|busy|proud) town in the province of {*province}.",
    "The (old|little|lively) town of {town} lies in {*province}, on the river {*river}.",
    "Travellers who cross {*province} along the {*river} (often|always) stop in {town}.",
    "{town} belongs to the province of {*province}, and its {*makers} are proud of it.",
    "(Maps|Songs|Books) of {*province} never leave out {town} and its {*landmark}.",
    "When people speak of {*province}, they (soon|often) speak of {town} and its {*makers} too."};

constexpr std::string_view kTownRiverTemplates[] = {
    "{town} stands on the (left|right|green) bank of the river {*river}.",
    "The river {*river} flows (slowly|quietly) past the walls of {town} in {*province}.",
    "The people of {town} (fish|swim|row) in the {*river}.",
    "In {town} every (street|path) leads past the {*landmark} to the river {*river}.",
    "Boats on the {*river} bring {*material} to {town} and its {*makers}.",
    "A (wooden|broad|new) bridge takes the {*makers} of {town} across the {*river}."};

constexpr std::string_view kRiverCourseTemplates[] = {
    "The river {river} flows from Mount {*mountain} into the {*sea} Sea.",
    "After many (miles|bends|falls) the {river} reaches the {*sea} Sea.",
    "Boats that follow the {river} (at last|in the end) come to the {*sea} Sea.",
    "The (water|ice|sand) of Mount {*mountain} ends with the {river} in the {*sea} Sea.",
    "The river {river} begins on the (snowy|wild) slopes of Mount {*mountain}.",
    "High on Mount {*mountain} the {river} is only a (cold|clear) stream.",
    "Between Mount {*mountain} and the {*sea} Sea lies the whole valley of the {river}."};

constexpr std::string_view kTownCraftTemplates[] = {
    "{town} is known for its {*makers} and their {*product}.",
    "The {*makers} of {town} are the (best|oldest|proudest) in {*province}.",
    "(Many|Most) families of {town} are {*makers} and make {*product}, as their parents did.",
    "Whoever wants good {*product} (goes|writes) to the {*makers} of {town}.",
    "{town} sells its {*product} (everywhere|at every fair) along the {*river}.",
    "A (large|rich) guild of {*makers} meets in {town} to buy {*material}.",
    "(Merchants|Sailors|Visitors) come to {town} to buy {*product} from the {*makers}."};

constexpr std::string_view kTownLandmarkTemplates[] = {
    "In the middle of {town} stands (a famous|a splendid) {*landmark}.",
    "Everyone in {town} knows the (great|old|beautiful) {*landmark} by the {*river}.",
    "From the {*landmark} one can see the {*colour} roofs of {town}.",
    "Visitors to {town} (first|always) ask the way to the {*landmark}.",
    "The {*landmark} of {town} was built by Mayor {*mayor} (in one summer|after a fire)."};

constexpr std::string_view kTownMayorTemplates[] = {
    "The mayor of {town} in {*province} is called {mayor_first} {*mayor}.",
    "Mayor {*mayor} has (guided|served) {town} for {number} years.",
    "{mayor_first} {*mayor} was (chosen|made) mayor of {town} by the {*makers}.",
    "In {town} the {*makers} (trust|greet|like) Mayor {*mayor}.",
    "When there is a quarrel in {town}, Mayor {*mayor} (settles|ends) it near the {*landmark}."};

constexpr std::string_view kTownFoundingTemplates[] = {
    "{town} was founded in {*year} by {number} (families|brothers|monks|fishermen).",
    "The first (house|wall|well|street) of {town} was built in the year {*year}.",
    "A stone in the (town hall|church|market|old wall) of {town} shows the year {*year}.",
    "The town of {town} has existed since {*year}."};

constexpr std::string_view kTownFestivalTemplates[] = {
    "In {*festival_month} {town} celebrates the festival of {*festival}.",
    "The festival of {*festival} fills the streets of {town} with (music|guests|light).",
    "{town} holds its festival of {*festival} in {*festival_month}, beside the {*landmark}.",
    "Every {*festival_month} there is a (great|merry) festival of {*festival} in {town}.",
    "(Children|Singers|Dancers) come to {town} for the festival of {*festival}.",
    "The {*makers} of {town} wait for {*festival_month} and its festival of {*festival}."};

constexpr std::string_view kTownDishTemplates[] = {
    "Guests in {town} are (served|offered) {*dish} with (butter|honey|herbs).",
    "The cooks of {town} are (famous|loved) for their {*dish}.",
    "At the festival of {*festival} every house in {town} smells of {*dish}.",
    "Nobody leaves {town} before (tasting|trying) its {*dish}."};

constexpr std::string_view kTownFlagTemplates[] = {
    "The flag of {town} is {*colour}, like the door of its {*landmark}.",
    "Above the {*landmark} of {town} flies {a *colour} flag.",
    "The (roofs|boats|windows) of {town} are painted {*colour}, like its flag.",
    "The guards of {town} wear {*colour} (coats|hats)."};

constexpr std::string_view kTownNeighbourTemplates[] = {
    "The next town to the {*direction} of {town} is {*neighbour}.",
    "From {town} a (good|dusty) road leads {*direction} to {*neighbour}.",
    "Whoever walks {*direction} from {town} (soon|finally) comes to {*neighbour}.",
    "{town} and its neighbour {*neighbour} share a (forest|meadow|mill)."};

constexpr std::string_view kProvinceCropTemplates[] = {
    "The fields of {province} are full of {*crop}.",
    "The farmers of {province} (grow|plant|store) {*crop}.",
    "(Carts|Wagons) loaded with {*crop} leave {province} and its capital {*capital}.",
    "No province (grows|sells) more {*crop} than {province}."};

constexpr std::string_view kProvinceBeastTemplates[] = {
    "The arms of {province} show {a *beast}.",
    "The soldiers of {province} carry a banner with {a *beast}.",
    "On every coin from {*capital} in {province} there is {a *beast}.",
    "Since (olden|ancient) times the {*beast} has been the emblem of {province}."};

constexpr std::string_view kProvinceCapitalTemplates[] = {
    "The capital of {province} is {*capital}.",
    "The (duke|council) of {province} sits in {*capital}, under a banner with {a *beast}.",
    "From {*capital} the (duke|council) rules the province of {province}.",
    "The laws of {province} are (made|kept) in {*capital}."};

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
