"""cloze for Python: tokens, vectors, classes, tags, answers and words, by BERT models on a processor; and their
training.

    import cloze
    tokenizer = cloze.Tokenizer("vocab.txt")
    print(tokenizer.encode("a fine film").tokens)
    print(cloze.Classifier("model").classify(["a fine film"]))
"""
from ._cloze import (AnswerItem, Answerer, Answers, Blank, ClassItem, Classification, Classifier, Embedder,
                     Encoding, Encodings, Filler, Reading, TagItem, Tagger, Tags, Tokenizer, WordItem,
                     limit_instruction_set, version)
from ._dataset import Batch, Dataset
from ._errors import Error, UsageError
from ._metrics import Metrics
from ._runs import Run, command, finetune, plan, pretrain

__version__ = version()
__all__ = ["AnswerItem", "Answerer", "Answers", "Batch", "Blank", "ClassItem", "Classification", "Classifier", "Dataset", "Embedder",
           "Encoding", "Encodings", "Error", "Filler", "Metrics", "Reading", "TagItem", "Tagger", "Tags", "Tokenizer",
           "Run", "UsageError", "WordItem", "command", "finetune", "limit_instruction_set", "plan", "pretrain", "version"]
