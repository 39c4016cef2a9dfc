/* Runs one sequence of token ids through a packed model and prints its logits, one a line:
 *
 *   cloze compile --init-checkpoint FOLDER --output-file model.cloze
 *   runtime_logits model.cloze 101 2054 2003 102
 *
 * Outside this repository: cc runtime_logits.c $(pkg-config --cflags --libs cloze_runtime)
 */
#include <stdio.h>
#include <stdlib.h>

#include "cloze_runtime.h"

static int fail(const char* message) {
  fprintf(stderr, "runtime_logits: %s\n", message);
  return 1;
}

static int print_logits(const cloze_model* model, cloze_client* client, const cloze_batch* batch) {
  const int64_t count = cloze_logits_count(model, batch);
  if (count < 0) return fail(cloze_last_error());
  float* logits = malloc((size_t)count * sizeof(float));
  if (logits == NULL) return fail("no memory for the logits");
  int status = 0;
  if (cloze_run(client, batch, logits) == 0) {
    for (int64_t i = 0; i < count; ++i) printf("%.9g\n", logits[i]);
  } else {
    status = fail(cloze_last_error());
  }
  free(logits);
  return status;
}

int main(int argc, char** argv) {
  if (argc < 3) return fail("give a packed model and token ids");
  cloze_model* model = cloze_model_open(argv[1]);
  if (model == NULL) return fail(cloze_last_error());
  cloze_client* client = cloze_client_open(model, 1);
  if (client == NULL) return fail(cloze_last_error());

  const int64_t length = argc - 2;
  int32_t* ids = malloc((size_t)length * sizeof(int32_t));
  if (ids == NULL) return fail("no memory for the ids");
  for (int64_t i = 0; i < length; ++i) ids[i] = (int32_t)strtol(argv[i + 2], NULL, 10);
  const cloze_batch batch = {ids, NULL, &length, 1};
  const int status = print_logits(model, client, &batch);

  free(ids);
  cloze_client_close(client);
  cloze_model_close(model);
  return status;
}
