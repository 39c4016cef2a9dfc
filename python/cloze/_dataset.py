"""Batches of pre-training for other trainers: packed or padded, masked anew in each epoch."""
import os
import pathlib
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from ._cloze import TokenSamples
from ._runs import command

Batch = dict[str, NDArray[Any]]


class Dataset:
    """Samples of a token store, drawn, masked and shuffled as `cloze pretrain` does it, in batches without end.

    store      a folder that `cloze data tokens` made
    input_file with vocab_file: text files to make it of, where the folder holds no store yet
    packed     sequences laid end to end: input_ids, token_type_ids, position_ids [tokens], sequence_starts
               [sequences + 1] (int32), masked_positions, masked_labels [predictions], next_sentence_labels
               [sequences]; else rows as transformers' BertForPreTraining takes them: input_ids, token_type_ids,
               attention_mask, labels [batch_size, seq_length], next_sentence_label [batch_size]
    first_batch the number of the first one: a run goes on where it ended
    threads    make the next batches ready; 0: all processors

    The other options are those of `cloze pretrain`. A batch is a function of the store, the options and its number."""

    def __init__(self, store: "str | os.PathLike[str]", *, batch_size: int = 32, seq_length: int = 128,
                 max_predictions_per_seq: int = 20, mlm_prob: float = 0.15, short_seq_prob: float = 0.1,
                 do_whole_word_mask: bool = False, next_sentence: str = "random", seed: int = 0, packed: bool = True,
                 first_batch: int = 0, threads: int = 1, input_file: "str | os.PathLike[str] | None" = None,
                 vocab_file: "str | os.PathLike[str] | None" = None) -> None:
        if input_file is not None and not (pathlib.Path(store) / "store.json").exists():
            command("data", "tokens", input_file=input_file, vocab_file=vocab_file, output_dir=store)
        self._samples = TokenSamples(
            store, seq_length=seq_length, max_predictions_per_seq=max_predictions_per_seq, mlm_prob=mlm_prob,
            short_seq_prob=short_seq_prob, do_whole_word_mask=do_whole_word_mask, next_sentence=next_sentence, seed=seed)
        self._batch_size, self._first_batch, self._packed, self._threads = batch_size, first_batch, packed, threads

    @property
    def samples(self) -> int:
        """Those of an epoch."""
        return len(self._samples)

    def __len__(self) -> int:
        """The batches of an epoch, a last one that is not full left out."""
        return self.samples // self._batch_size

    def __iter__(self) -> Iterator[Batch]:
        """Begins at first_batch each time."""
        return self._samples.batches(batch_size=self._batch_size, first_batch=self._first_batch, packed=self._packed,
                                     threads=self._threads)
