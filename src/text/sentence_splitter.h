// Splits a paragraph into sentences by rule: English in detail, the stop marks of other scripts.
//
// A sentence ends at a run of . ! ? … with the quotes and brackets that close after it, when white
// space follows and then something that can begin a sentence: a capital, a digit, an opening
// quote or bracket, or any character outside ASCII. A lone full stop does not end one after
//   a title or abbreviation   Mr. Dr. St. e.g. cf. vol. (some only before a digit: No. 5, p. 12)
//   an initial                J. Smith, George W. Bush
//   letters with stops        U.S. Navy, unless a word follows that often opens a sentence
//                             (The, In)
// The stops of Arabic, Urdu and Armenian end a sentence when white space follows; those of Chinese
// and Japanese, the dandas of India, the stops of Tibetan, Burmese, Ethiopic and Khmer whatever
// follows, except after a Japanese quotation that the sentence continues. Thai and Lao have no
// stop: there a space between two of their letters ends a sentence.
// The rules know nothing of Punkt's statistics; they need no model and no training.
#pragma once

#include <string_view>
#include <vector>

namespace cloze::text {

// The sentences in order, without the white space around them. Views into `paragraph`.
std::vector<std::string_view> split_sentences(std::string_view paragraph);

}  // namespace cloze::text
