/* libcloze_runtime: runs models that `cloze compile` made, from any language that can call C.
 *
 *   cloze_model* model = cloze_model_open("model.cloze");
 *   cloze_client* client = cloze_client_open(model, 1);
 *   cloze_batch batch = {ids, types, lengths, 2};
 *   float* logits = malloc(cloze_logits_count(model, &batch) * sizeof(float));
 *   if (cloze_run(client, &batch, logits) != 0) puts(cloze_last_error());
 *
 * A call that fails returns NULL or -1, and cloze_last_error() says why and what to do. No C++
 * exception leaves the library, and it never prints or exits.
 * Threads: a model may be used by any number of threads at a time. A client is used by one thread
 * at a time; clients of one model share its weights. Close the clients before their model.
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

/* Sequences of token ids laid end to end, [CLS] first in each. */
typedef struct cloze_batch {
  const int32_t* token_ids;      /* [sum of lengths] */
  const int32_t* token_type_ids; /* [sum of lengths]; NULL: all 0 */
  const int64_t* lengths;        /* [sequences], 1 or more each */
  int64_t sequences;
} cloze_batch;

/* "0.1.0" */
CLOZE_EXPORT const char* cloze_version(void);
/* Says why the latest failed call in this thread failed; "" when none has failed. The text is valid
 * until the next call in this thread fails. */
CLOZE_EXPORT const char* cloze_last_error(void);

/* Limits the process to the instruction set "avx2", "avx512", "avx512_bf16" or "amx", so that its
 * results equal those of a processor that has no more. Call it before the first model is opened.
 * Returns 0, or -1 when this machine lacks the set; cloze_last_error then names those it has. While
 * a model or client is open, -1 for any set but the one in use. */
CLOZE_EXPORT int cloze_limit_instruction_set(const char* name);

/* Reads a packed model and checks it; NULL when it cannot be used here. */
CLOZE_EXPORT cloze_model* cloze_model_open(const char* path);
CLOZE_EXPORT void cloze_model_close(cloze_model* model);
/* transformers' name of the model: "BertForQuestionAnswering", "BertForSequenceClassification",
 * "BertForTokenClassification", "BertForMultipleChoice", or "BertForPreTraining", which cloze_run does
 * not run; for a GroupBERT with "Group" in front. It lives until the model is closed. */
CLOZE_EXPORT const char* cloze_model_architecture(const cloze_model* model);
/* The maximum number of tokens in a sequence, and the number of token ids. */
CLOZE_EXPORT int64_t cloze_model_positions(const cloze_model* model);
CLOZE_EXPORT int64_t cloze_model_vocabulary(const cloze_model* model);

/* num_threads threads run each batch together; 0: one for each processor the process may use. */
CLOZE_EXPORT cloze_client* cloze_client_open(const cloze_model* model, int num_threads);
CLOZE_EXPORT void cloze_client_close(cloze_client* client);

/* The number of logits that cloze_run writes, or -1 when it fails:
 *   question answering        2 for each token: for the start and for the end of an answer
 *   sequence classification   1 for each class of each sequence; a regression has 1 per sequence
 *   token classification      1 for each class of each token
 *   multiple choice           1 for each sequence, which is a choice
 */
CLOZE_EXPORT int64_t cloze_logits_count(const cloze_model* model, const cloze_batch* batch);
/* Returns 0, or -1 when it fails; then `logits` is as it was. */
CLOZE_EXPORT int cloze_run(cloze_client* client, const cloze_batch* batch, float* logits);

#ifdef __cplusplus
}
#endif

#endif /* CLOZE_RUNTIME_H_ */
