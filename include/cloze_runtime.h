/* libcloze_runtime: tokenises texts and runs models on them, from any language that can call C.
 *
 *   cloze_model* model = cloze_model_open("model.cloze");
 *   cloze_client* client = cloze_client_open(model, 1);
 *   cloze_text text = {"a fine film", -1};
 *   cloze_result* result = cloze_classify(client, &text, NULL, 1);
 *   if (result == NULL) puts(cloze_last_error());
 *   else printf("%s %f\n", cloze_result_label(result, 0, 0), cloze_result_probability(result, 0, 0));
 *   cloze_result_close(result);
 *
 * Failures: a call that fails returns NULL, -1, or where it gives a double a NaN, and
 * cloze_last_error() says why and what to do. No C++ exception leaves the library, and it never
 * prints or exits. NULL where an object is needed is such a failure; the functions ..._close take it.
 * Ownership: what a function ..._open, cloze_encode or a task returns is the caller's, who closes it
 * once. All other pointers lead into the object that was asked, and are valid until it is closed.
 * Texts are copied: the caller's may go when the call returns.
 * Threads: a model, a tokenizer, an encoding and a result may be read by any number of threads at a
 * time. A client is used by one thread at a time; clients of one model share its weights. Close the
 * clients before their model. Results live on without either.
 * Numbers: a text gives the same bits alone and in any batch, in every client of a model, on any number
 * of threads. This is tested of f32, and in bf16 of vectors; classes of a model packed in bf16 may
 * differ in their last bits between batches where the processor has AMX.
 * Versions: no function changes its meaning or arguments, and no struct its members, before the
 * library's number (SOVERSION) changes; new things come as new functions.
 * C++: cloze_runtime.hpp wraps all of this.
 */
#ifndef CLOZE_RUNTIME_H_
#define CLOZE_RUNTIME_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CLOZE_EXPORT __attribute__((visibility("default")))
#else
#define CLOZE_EXPORT
#endif

typedef struct cloze_model cloze_model;
typedef struct cloze_client cloze_client;
typedef struct cloze_tokenizer cloze_tokenizer;
typedef struct cloze_encoding cloze_encoding;
typedef struct cloze_result cloze_result;

/* A text in UTF-8. What is not UTF-8 in it is left out. */
typedef struct cloze_text {
  const char* bytes;
  int64_t length; /* in bytes; -1: up to the first NUL */
} cloze_text;

/* Sequences of token ids laid end to end, [CLS] first in each. */
typedef struct cloze_batch {
  const int32_t* token_ids;      /* [sum of lengths] */
  const int32_t* token_type_ids; /* [sum of lengths]; NULL: all 0 */
  const int64_t* lengths;        /* [sequences], 1 or more each */
  int64_t sequences;
} cloze_batch;

/* Flags; a function names those that it knows, and fails for others. */
enum {
  CLOZE_WITHOUT_SPECIAL_TOKENS = 1, /* cloze_encode adds none, cloze_decode leaves them out */
  CLOZE_MAY_HAVE_NO_ANSWER = 2      /* cloze_answer, for models of SQuAD 2.0 */
};

/* "0.1.0" */
CLOZE_EXPORT const char* cloze_version(void);
/* Says why the latest failed call in this thread failed; "" when none has failed. The text is valid
 * until the next call in this thread fails. */
CLOZE_EXPORT const char* cloze_last_error(void);
/* Says who can act on that failure, in the numbers with which the program would end: 2 the caller
 * (arguments, paths), 3 bad bytes in a file, 4 the machine (memory, space), 1 a fault of cloze; 0 when
 * none has failed. */
CLOZE_EXPORT int cloze_last_error_status(void);

/* Limits the process to the instruction set "avx2", "avx512", "avx512_bf16" or "amx", so that its
 * results equal those of a processor that has no more. Call it before the first model is opened.
 * Returns 0, or -1 when this machine lacks the set; cloze_last_error then names those it has. While
 * a model or client is open, -1 for any set but the one in use. */
CLOZE_EXPORT int cloze_limit_instruction_set(const char* name);

/* ---- Models ---- */

/* Reads a model and checks it; NULL when it cannot be used here. It is a packed model, which opens
 * fastest; or a folder of transformers or of cloze, or the prefix of a TensorFlow checkpoint, whose
 * weights are then packed in memory, in f32. */
CLOZE_EXPORT cloze_model* cloze_model_open(const char* path);
CLOZE_EXPORT void cloze_model_close(cloze_model* model);
/* transformers' name of the model: "BertForQuestionAnswering", "BertForSequenceClassification",
 * "BertForTokenClassification", "BertForMultipleChoice", "BertModel" for one that makes vectors, or
 * "BertForPreTraining", which cloze_run does not run; for a GroupBERT with "Group" in front. It lives until the model is closed. */
CLOZE_EXPORT const char* cloze_model_architecture(const cloze_model* model);
/* The maximum number of tokens in a sequence, and the number of token ids. */
CLOZE_EXPORT int64_t cloze_model_positions(const cloze_model* model);
CLOZE_EXPORT int64_t cloze_model_vocabulary(const cloze_model* model);
/* The number of classes or tags, 0 for a model that has none, and the name of each from 0 on. */
CLOZE_EXPORT int64_t cloze_model_labels(const cloze_model* model);
CLOZE_EXPORT const char* cloze_model_label(const cloze_model* model, int64_t number);
/* What a model of sequence classification predicts: "regression" (a number),
 * "single_label_classification" or "multi_label_classification"; "" for a model of another kind. */
CLOZE_EXPORT const char* cloze_model_problem(const cloze_model* model);
/* Sentences on what does not fit quite, such as tokens without a row in the model. */
CLOZE_EXPORT int64_t cloze_model_notes(const cloze_model* model);
CLOZE_EXPORT const char* cloze_model_note(const cloze_model* model, int64_t number);

/* num_threads threads run each batch together; 0: one for each processor the process may use. */
CLOZE_EXPORT cloze_client* cloze_client_open(const cloze_model* model, int num_threads);
CLOZE_EXPORT void cloze_client_close(cloze_client* client);

/* ---- Tokens ---- */

/* Reads a tokenizer alone: from a folder with vocab.txt or tokenizer.json, from such a file, or from
 * a packed model, whose weights are not read. */
CLOZE_EXPORT cloze_tokenizer* cloze_tokenizer_open(const char* path);
CLOZE_EXPORT void cloze_tokenizer_close(cloze_tokenizer* tokenizer);
/* The model's. It is not closed, and lives until the model is. Tokens that the model has no row for
 * are [UNK]. */
CLOZE_EXPORT const cloze_tokenizer* cloze_model_tokenizer(const cloze_model* model);
CLOZE_EXPORT int64_t cloze_tokenizer_size(const cloze_tokenizer* tokenizer);
/* The token of an id, "##ing", and the id of a token; NULL and -1 when there is none. */
CLOZE_EXPORT const char* cloze_token(const cloze_tokenizer* tokenizer, int32_t id);
CLOZE_EXPORT int32_t cloze_token_id(const cloze_tokenizer* tokenizer, const char* token);
/* The number of tokens of a text, special ones not counted. */
CLOZE_EXPORT int64_t cloze_count_tokens(const cloze_tokenizer* tokenizer, const cloze_text* text);

/* Cuts texts into tokens: a sequence for each, [CLS] text [SEP] or [CLS] text [SEP] pair [SEP].
 *   pairs        [count] the second texts, where bytes is NULL there is none; NULL: none at all
 *   max_tokens   of a sequence, special ones included; 0: any number. What is too long is cut at its
 *                end, of a pair always the longer text
 *   flags        0 or CLOZE_WITHOUT_SPECIAL_TOKENS
 *   num_threads  that share the texts; 0: one for each processor the process may use */
CLOZE_EXPORT cloze_encoding* cloze_encode(const cloze_tokenizer* tokenizer, const cloze_text* texts,
                                          const cloze_text* pairs, int64_t count,
                                          int64_t max_tokens, int flags, int num_threads);
CLOZE_EXPORT void cloze_encoding_close(cloze_encoding* encoding);
/* Sequences, in the order of the texts, laid end to end: [sequences] numbers, and [tokens] numbers. */
CLOZE_EXPORT int64_t cloze_encoding_sequences(const cloze_encoding* encoding);
CLOZE_EXPORT int64_t cloze_encoding_tokens(const cloze_encoding* encoding);
/* [sequences] the tokens of each; how many were cut off it; how many stretches of its texts are not
 * UTF-8. */
CLOZE_EXPORT const int64_t* cloze_encoding_lengths(const cloze_encoding* encoding);
CLOZE_EXPORT const int64_t* cloze_encoding_cut(const cloze_encoding* encoding);
CLOZE_EXPORT const int64_t* cloze_encoding_invalid(const cloze_encoding* encoding);
/* [tokens] ids; 0 for the first text and 1 for the second; 1 for special tokens that were added. */
CLOZE_EXPORT const int32_t* cloze_encoding_ids(const cloze_encoding* encoding);
CLOZE_EXPORT const int32_t* cloze_encoding_types(const cloze_encoding* encoding);
CLOZE_EXPORT const uint8_t* cloze_encoding_special(const cloze_encoding* encoding);
/* [tokens] where each begins and ends in its own text, in bytes, the end exclusive; 0 and 0 for
 * special tokens. */
CLOZE_EXPORT const int64_t* cloze_encoding_begins(const cloze_encoding* encoding);
CLOZE_EXPORT const int64_t* cloze_encoding_ends(const cloze_encoding* encoding);
/* The same as a batch for cloze_run, which looks into the encoding. Returns 0 or -1. */
CLOZE_EXPORT int cloze_encoding_batch(const cloze_encoding* encoding, cloze_batch* batch);

/* Writes the text of ids, ended by a NUL, into a buffer of so many bytes, and as much of it as has
 * room. Returns the bytes of the whole text, the NUL not counted, so that a second call can bring
 * room for it; buffer may be NULL where size is 0. Flags: 0 or CLOZE_WITHOUT_SPECIAL_TOKENS. The
 * text is as `tokenizers` decodes it. */
CLOZE_EXPORT int64_t cloze_decode(const cloze_tokenizer* tokenizer, const int32_t* ids,
                                  int64_t count, int flags, char* buffer, int64_t size);

/* ---- Tasks ---- */

/* A task runs texts through a model of its head and gives a result: rows, one for each text, of
 * items, the most probable first. Texts go through the model in batches, whatever their number.
 *
 *   function        model                      an item is                   label  text  number  place
 *   cloze_classify  SequenceClassification     a class, or the predicted    yes          of the class
 *                                              number
 *   cloze_tag       TokenClassification        a tagged part, in the order  yes    yes           yes
 *                                              of the text
 *   cloze_answer    QuestionAnswering          an answer                           yes           yes
 *   cloze_fill      PreTraining                a word for a [MASK]                 yes   token id yes
 *   cloze_choose    MultipleChoice             a choice                                  of the choice
 */

/* Classifies texts; with `pairs`, as in cloze_encode, pairs of texts. What is too long for the model
 * is cut at its end. */
CLOZE_EXPORT cloze_result* cloze_classify(cloze_client* client, const cloze_text* texts,
                                          const cloze_text* pairs, int64_t count);
/* Finds the tagged parts of texts of any length. aggregation says how pieces of a word share a tag
 * and become entities: "first" (also for NULL), "average", "max", "simple" or "none". */
CLOZE_EXPORT cloze_result* cloze_tag(cloze_client* client, const cloze_text* texts, int64_t count,
                                     const char* aggregation);
/* Answers each question from its context, of any length: at most top_k answers of at most
 * max_answer_tokens tokens (0: 30). With CLOZE_MAY_HAVE_NO_ANSWER the empty text takes part, at 0, 0.
 * Places are of the context. */
CLOZE_EXPORT cloze_result* cloze_answer(cloze_client* client, const cloze_text* questions,
                                        const cloze_text* contexts, int64_t count, int64_t top_k,
                                        int64_t max_answer_tokens, int flags);
/* The top_k words for each [MASK]. A row for each [MASK], in their order: cloze_result_input() says
 * of which text. */
CLOZE_EXPORT cloze_result* cloze_fill(cloze_client* client, const cloze_text* texts, int64_t count,
                                      int64_t top_k);
/* Chooses among the choices of each text: num_choices[i] of them, 2 or more, laid end to end in
 * `choices`. pairs: further texts, or NULL. */
CLOZE_EXPORT cloze_result* cloze_choose(cloze_client* client, const cloze_text* texts,
                                        const cloze_text* pairs, const cloze_text* choices,
                                        const int64_t* num_choices, int64_t count);
/* Makes a vector of each text with a model of sentence-transformers' form: [count, dimensions] numbers
 * into `vectors`, as `cloze embed` does. prompt is put before each text; NULL: the model's own, where
 * it has one. dimensions: so many of a vector's numbers, the first, which then have the length 1 if the
 * model's vectors have it; 0: all, cloze_model_dimensions(). What is too long for the model is cut at
 * its end. Returns 0, or -1 when it fails; then `vectors` is as it was. */
CLOZE_EXPORT int cloze_embed(cloze_client* client, const cloze_text* texts, int64_t count,
                             const char* prompt, int64_t dimensions, float* vectors);
CLOZE_EXPORT int64_t cloze_model_dimensions(const cloze_model* model);
CLOZE_EXPORT void cloze_result_close(cloze_result* result);

/* The number of rows, and of the items of one. */
CLOZE_EXPORT int64_t cloze_result_rows(const cloze_result* result);
CLOZE_EXPORT int64_t cloze_result_items(const cloze_result* result, int64_t row);
/* The number of the text that a row is of. */
CLOZE_EXPORT int64_t cloze_result_input(const cloze_result* result, int64_t row);
/* How many of the first classes hold: 1, or of several labels those with a probability above 0.5. */
CLOZE_EXPORT int64_t cloze_result_holding(const cloze_result* result, int64_t row);
/* Tokens that were read of the row's texts, special ones not counted; those of them that are [UNK];
 * and those that were too many for the model and cut off, of cloze_answer from the question. */
CLOZE_EXPORT int64_t cloze_result_tokens(const cloze_result* result, int64_t row);
CLOZE_EXPORT int64_t cloze_result_unknown_tokens(const cloze_result* result, int64_t row);
CLOZE_EXPORT int64_t cloze_result_cut_tokens(const cloze_result* result, int64_t row);
/* An item's probability; of a regression the number that is predicted. */
CLOZE_EXPORT double cloze_result_probability(const cloze_result* result, int64_t row, int64_t item);
/* What the table above says the items of a task have; a failure for those that do not. Places are
 * bytes of the text, the end exclusive. An answer has single spaces where its place has any white
 * space. */
CLOZE_EXPORT const char* cloze_result_label(const cloze_result* result, int64_t row, int64_t item);
CLOZE_EXPORT const char* cloze_result_text(const cloze_result* result, int64_t row, int64_t item);
CLOZE_EXPORT int64_t cloze_result_number(const cloze_result* result, int64_t row, int64_t item);
CLOZE_EXPORT int64_t cloze_result_begin(const cloze_result* result, int64_t row, int64_t item);
CLOZE_EXPORT int64_t cloze_result_end(const cloze_result* result, int64_t row, int64_t item);

/* ---- Token ids to logits ---- */

/* The number of logits that cloze_run writes, or -1 when it fails:
 *   question answering        2 for each token: for the start and for the end of an answer
 *   sequence classification   1 for each class of each sequence; a regression has 1 per sequence
 *   token classification      1 for each class of each token
 *   multiple choice           1 for each sequence, which is a choice
 *   vectors                   cloze_model_dimensions() for each sequence, before normalisation
 */
CLOZE_EXPORT int64_t cloze_logits_count(const cloze_model* model, const cloze_batch* batch);
/* Returns 0, or -1 when it fails; then `logits` is as it was. */
CLOZE_EXPORT int cloze_run(cloze_client* client, const cloze_batch* batch, float* logits);

/* ---- Samples of pre-training, for programs that train by other means ---- */

/* What a sample's second part is, and what is to be learned of it. */
enum {
  CLOZE_NEXT_RANDOM = 0, /* half of the time from elsewhere: next_sentence_labels 1 (BERT) */
  CLOZE_NEXT_ORDER = 1,  /* half of the time the two exchanged (ALBERT) */
  CLOZE_NEXT_NONE = 2    /* there is none (RoBERTa) */
};

/* How samples are drawn: as `cloze pretrain` draws them, whose defaults stand behind. */
typedef struct cloze_drawing {
  int64_t seq_length;       /* of a sample at most, special tokens included: 128 */
  int64_t max_predictions;  /* of a sample: 20 */
  double mask_probability;  /* of a token to be predicted: 0.15 */
  double short_probability; /* of a sample to be shorter: 0.1 */
  int32_t whole_words;      /* 1: all pieces of a word are masked, or none: 0 */
  int32_t next_sentence;    /* CLOZE_NEXT_RANDOM */
  uint64_t seed;
} cloze_drawing;

typedef struct cloze_dataset cloze_dataset;
typedef struct cloze_batches cloze_batches;

/* Opens a token store, which `cloze data tokens` makes of text. */
CLOZE_EXPORT cloze_dataset* cloze_dataset_open(const char* store, const cloze_drawing* drawing);
CLOZE_EXPORT void cloze_dataset_close(cloze_dataset* dataset);
/* The number of samples of an epoch: together they hold every token of the store about once. */
CLOZE_EXPORT int64_t cloze_dataset_samples(const cloze_dataset* dataset);

/* Batches of so many samples each, without end, from number `first_batch` on: one epoch after the
 * other, each shuffled, cut and masked anew. A batch is a function of the store, the drawing, the batch
 * size and its number. num_threads threads make the next ones ready; 0: one for each processor the
 * process may use. One thread at a time uses it; it may outlive its data set. */
CLOZE_EXPORT cloze_batches* cloze_batches_open(const cloze_dataset* dataset, int64_t batch_size,
                                               int64_t first_batch, int num_threads);
CLOZE_EXPORT void cloze_batches_close(cloze_batches* batches);
/* Goes on to the next batch. Returns 0 or -1. */
CLOZE_EXPORT int cloze_batches_next(cloze_batches* batches);
/* Numbers of the batch, `count` of them, until the next call of cloze_batches_next. Its sequences lie
 * end to end, without padding:
 *   input_ids, token_type_ids, position_ids   [tokens]
 *   sequence_starts                           [sequences + 1] where each begins; the end
 *   masked_positions, masked_labels           [predictions] places in [0, tokens), the ids there
 *   next_sentence_labels                      [sequences] 0, 1; -1: none
 */
CLOZE_EXPORT const int32_t* cloze_batches_numbers(const cloze_batches* batches, const char* name,
                                                  int64_t* count);

#ifdef __cplusplus
}
#endif

#endif /* CLOZE_RUNTIME_H_ */
