"""cloze for Python: tokens, vectors, classes, tags, answers and words, by BERT models on a processor.

    import cloze
    tokenizer = cloze.Tokenizer("vocab.txt")
    print(tokenizer.encode("a fine film").tokens)
    print(cloze.Classifier("model").classify(["a fine film"]))
"""
from ._cloze import (AnswerItem, Answerer, Answers, Blank, ClassItem, Classification, Classifier, Embedder,
                     Encoding, Encodings, Filler, Reading, TagItem, Tagger, Tags, Tokenizer, WordItem,
                     limit_instruction_set, version)
from ._errors import Error, UsageError

__version__ = version()
__all__ = ["AnswerItem", "Answerer", "Answers", "Blank", "ClassItem", "Classification", "Classifier", "Embedder",
           "Encoding", "Encodings", "Error", "Filler", "Reading", "TagItem", "Tagger", "Tags", "Tokenizer",
           "UsageError", "WordItem", "limit_instruction_set", "version"]
