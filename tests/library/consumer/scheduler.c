/* SPDX-License-Identifier: Apache-2.0 */

/* The same in C, as strict as C99 is. */

#include <schedmate.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
  schedmate_session session;
  char request[4096];
  char *reply = NULL;
  int code;
  if (argc != 2) return 2;
  if (schedmate_open(NULL, 0, &session, &reply) != SCHEDMATE_OK) {
    fprintf(stderr, "%s\n", schedmate_message(reply));
    return 3;
  }
  snprintf(request, sizeof request,
           "{\"dir\": \"%s\", \"command\": \"python train.py --epochs 20\"}", argv[1]);
  code = schedmate_facts(session, request, strlen(request), &reply);
  puts(code == SCHEDMATE_OK ? reply : schedmate_message(reply));
  schedmate_free(reply);
  schedmate_close(session);
  return code;
}
