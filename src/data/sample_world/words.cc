#include "data/sample_world/words.h"

namespace cloze::data {
namespace {

constexpr Craft kCrafts[] = {
    {"potter", "potters", "clay", "bowls", "wheel", "shaped"},
    {"baker", "bakers", "flour", "bread", "oven", "kneaded"},
    {"smith", "smiths", "iron", "horseshoes", "hammer", "forged"},
    {"weaver", "weavers", "wool", "blankets", "loom", "spun"},
    {"carpenter", "carpenters", "oak", "chairs", "saw", "sawed"},
    {"cobbler", "cobblers", "leather", "boots", "awl", "stitched"},
    {"brewer", "brewers", "barley", "beer", "kettle", "boiled"},
    {"vintner", "vintners", "grapes", "wine", "press", "crushed"},
    {"miller", "millers", "grain", "meal", "millstone", "ground"},
    {"glassblower", "glassblowers", "sand", "bottles", "furnace", "melted"},
    {"chandler", "chandlers", "wax", "candles", "wick", "poured"},
    {"goldsmith", "goldsmiths", "gold", "rings", "crucible", "polished"},
    {"mason", "masons", "stone", "arches", "chisel", "carved"},
    {"tailor", "tailors", "linen", "shirts", "thimble", "cut"},
    {"dairymaid", "dairymaids", "milk", "cheese", "ladle", "stirred"},
    {"clockmaker", "clockmakers", "brass", "clocks", "file", "filed"},
};

constexpr Animal kAnimals[] = {
    {"cow", "calf", "lowed", "barn"},        {"ewe", "lamb", "bleated", "fold"},
    {"mare", "foal", "neighed", "stable"},   {"hen", "chick", "clucked", "coop"},
    {"cat", "kitten", "purred", "attic"},    {"dog", "puppy", "barked", "kennel"},
    {"sow", "piglet", "grunted", "sty"},     {"duck", "duckling", "quacked", "pond"},
    {"goose", "gosling", "hissed", "yard"},  {"owl", "owlet", "hooted", "belfry"},
    {"frog", "tadpole", "croaked", "marsh"}, {"bear", "cub", "growled", "cave"},
};

constexpr Opposite kOpposites[] = {
    {"road", "long", "short"},    {"bridge", "wide", "narrow"}, {"kitchen", "hot", "cold"},
    {"cup", "full", "empty"},     {"gate", "open", "closed"},   {"chest", "heavy", "light"},
    {"loaf", "fresh", "stale"},   {"wall", "high", "low"},      {"well", "deep", "shallow"},
    {"horse", "fast", "slow"},    {"apron", "clean", "dirty"},  {"street", "loud", "quiet"},
    {"apple", "sweet", "sour"},   {"plank", "rough", "smooth"}, {"knife", "sharp", "blunt"},
    {"merchant", "rich", "poor"},
};

constexpr Month kMonths[] = {
    {"January", "winter", "snow"},   {"February", "winter", "ice"}, {"March", "spring", "winds"},
    {"April", "spring", "showers"},  {"May", "spring", "blossom"},  {"June", "summer", "roses"},
    {"July", "summer", "thunder"},   {"August", "summer", "dust"},  {"September", "autumn", "mist"},
    {"October", "autumn", "leaves"}, {"November", "autumn", "fog"}, {"December", "winter", "frost"},
};

constexpr std::string_view kWeekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                          "Friday", "Saturday", "Sunday"};

constexpr std::string_view kNumbers[] = {"two",   "three", "four", "five",   "six",   "seven",
                                         "eight", "nine",  "ten",  "eleven", "twelve"};

constexpr std::string_view kColours[] = {
    "red",  "blue",   "green", "yellow", "white",  "black",   "purple",    "orange",
    "grey", "silver", "brown", "pink",   "golden", "crimson", "turquoise", "violet"};

constexpr std::string_view kLandmarks[] = {
    "tower",  "fountain", "windmill", "castle",      "abbey",   "library", "garden",   "theatre",
    "statue", "aqueduct", "chapel",   "observatory", "sundial", "maze",    "monument", "school"};

constexpr std::string_view kFestivals[] = {
    "lanterns", "kites",    "masks",     "drums",     "torches", "garlands", "boats",   "puppets",
    "whistles", "feathers", "fireworks", "umbrellas", "mirrors", "shadows",  "riddles", "stories"};

constexpr std::string_view kDishes[] = {
    "pancakes", "dumplings", "sausages", "pickles",  "puddings", "waffles", "noodles", "omelettes",
    "pastries", "biscuits",  "stews",    "porridge", "pies",     "tarts",   "cakes",   "buns"};

constexpr std::string_view kCrops[] = {"rye",    "oats",  "flax",     "cherries",
                                       "plums",  "pears", "potatoes", "cabbages",
                                       "onions", "hops",  "turnips",  "beans"};

constexpr std::string_view kBeasts[] = {"lion",  "eagle", "wolf", "stag",  "boar",   "fox",
                                        "otter", "heron", "swan", "raven", "falcon", "beaver"};

constexpr std::string_view kInstruments[] = {
    "violin", "flute",   "harp",  "trumpet",    "lute",      "organ",    "cello", "guitar",
    "horn",   "bagpipe", "piano", "tambourine", "accordion", "clarinet", "oboe",  "trombone"};

constexpr std::string_view kGoods[] = {
    "lantern", "map",    "key",       "mirror",  "cloak", "bucket", "comb", "whistle",
    "kite",    "teapot", "telescope", "compass", "scarf", "basket", "drum", "coin"};

constexpr std::string_view kGirlNames[] = {"Alda", "Clara",  "Edda",  "Frieda", "Greta", "Hanna",
                                           "Ilse", "Judith", "Lotta", "Nadia",  "Rosa",  "Tilda"};

constexpr std::string_view kBoyNames[] = {"Anton", "Bruno", "Emil",   "Felix", "Gustav", "Hugo",
                                          "Ivo",   "Jakob", "Kaspar", "Nils",  "Oskar",  "Theo"};

constexpr std::string_view kTownStarts[] = {"Bram",  "Hal",   "Wend",  "Stave", "Kel",  "Mar",
                                            "Thorn", "Ash",   "Elder", "Fenn",  "Gris", "Lin",
                                            "Oster", "Quill", "Rook",  "Tarn"};
constexpr std::string_view kTownEnds[] = {"ford", "bury", "wick", "stead", "haven", "bridge"};

constexpr std::string_view kProvinceStarts[] = {"Val", "Cor",  "Ister", "Mond",
                                                "Bel", "Zeph", "Aur",   "Dal"};
constexpr std::string_view kProvinceEnds[] = {"oria", "andia", "mark", "enia"};

constexpr std::string_view kRiverStarts[] = {"Or",  "Siv",  "Tel", "Wey",
                                             "Lun", "Aven", "Kir", "Mos"};
constexpr std::string_view kRiverEnds[] = {"elle", "ana", "ira", "ock"};

constexpr std::string_view kSeaStarts[] = {"Mere", "Bryn", "Sol", "Gael"};
constexpr std::string_view kSeaEnds[] = {"nic", "dish", "vian"};

constexpr std::string_view kMountainStarts[] = {"Grim", "Hoar", "Drak", "Sten", "Ulf", "Bald"};
constexpr std::string_view kMountainEnds[] = {"horn", "spitz", "berg"};

constexpr std::string_view kSurnameStarts[] = {"Ald",  "Barn",  "Cald", "Dun", "Fair", "Hart",
                                               "Hol",  "Kest",  "Lock", "Mel", "Pen",  "Ravens",
                                               "Sand", "Trent", "Wake", "Win"};
constexpr std::string_view kSurnameEnds[] = {"ley", "worth", "more", "field", "croft", "by"};

}  // namespace

std::span<const Craft> crafts() { return kCrafts; }
std::span<const Animal> animals() { return kAnimals; }
std::span<const Opposite> opposites() { return kOpposites; }
std::span<const Month> months() { return kMonths; }

Words weekdays() { return kWeekdays; }
Words numbers() { return kNumbers; }
Words colours() { return kColours; }
Words landmarks() { return kLandmarks; }
Words festivals() { return kFestivals; }
Words dishes() { return kDishes; }
Words crops() { return kCrops; }
Words beasts() { return kBeasts; }
Words instruments() { return kInstruments; }
Words goods() { return kGoods; }
Words girl_names() { return kGirlNames; }
Words boy_names() { return kBoyNames; }

NameParts town_names() { return {kTownStarts, kTownEnds}; }
NameParts province_names() { return {kProvinceStarts, kProvinceEnds}; }
NameParts river_names() { return {kRiverStarts, kRiverEnds}; }
NameParts sea_names() { return {kSeaStarts, kSeaEnds}; }
NameParts mountain_names() { return {kMountainStarts, kMountainEnds}; }
NameParts surnames() { return {kSurnameStarts, kSurnameEnds}; }

std::vector<std::string> all_names(NameParts parts) {
  std::vector<std::string> names;
  for (const std::string_view start : parts.starts) {
    for (const std::string_view end : parts.ends) names.push_back(std::string(start) += end);
  }
  return names;
}

}  // namespace cloze::data
