/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCHEDMATE_H
#define SCHEDMATE_H

/*
 * SchedMate as a library, for C and for whatever can call C (docs/library.md).
 *
 * Every use case takes a request, a JSON object, and gives a reply: the text that the command of
 * the same name prints with --json, byte for byte, without the last line end. Keys of a request are
 * the command's flags with '_' for '-'; a unit stands last: time_limit_s. A key that is not known,
 * or is there twice, is an error with the nearest name.
 *
 *   schedmate_session session;
 *   char *reply = NULL;
 *   if (schedmate_open(NULL, 0, &session, &reply) == SCHEDMATE_OK) {
 *     const char *request = "{\"dir\": \"my_job\", \"command\": \"python train.py\"}";
 *     int code = schedmate_facts(session, request, strlen(request), &reply);
 *     puts(code == SCHEDMATE_OK ? reply : schedmate_message(reply));
 *     schedmate_free(reply);
 *     schedmate_close(session);
 *   }
 *
 * Errors: a code, and in the reply the document schedmate.error.v1 (code, message, mend), where
 * there is memory for it. Nothing is printed, no exception leaves a call and no call ends the
 * process, whatever it is given; a broken invariant of SchedMate is SCHEDMATE_INTERNAL.
 *
 * Threads: any function, from any thread, at the same time, with the same session, too. Each call
 * is by itself; calls that record something wait for one another in the store. A call needs 256 KiB
 * of stack. It may start threads and child processes of its own, which have ended when it returns;
 * it waits for these alone, so a host may have children of its own and ignore SIGCHLD.
 *
 * Processes: after fork(), sessions work in the child as in the parent, whatever its other threads
 * did at that instant.
 *
 * Texts are UTF-8. Relative paths are those of the process. The environment is read by
 * schedmate_open() alone: no other thread may change it meanwhile.
 */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SCHEDMATE_VERSION_MAJOR 0
#define SCHEDMATE_VERSION_MINOR 1
#define SCHEDMATE_VERSION_PATCH 0

#if defined(__GNUC__)
#define SCHEDMATE_EXPORT __attribute__((visibility("default")))
#else
#define SCHEDMATE_EXPORT
#endif

/* What went wrong, by what the caller does next. Numbers never change; others may be added. */
enum {
  SCHEDMATE_OK = 0,
  SCHEDMATE_INVALID = 1,     /* the input is wrong: fix it */
  SCHEDMATE_NOT_FOUND = 2,   /* no such name: choose another */
  SCHEDMATE_UNAVAILABLE = 3, /* a resource is absent now: retry later */
  SCHEDMATE_TIMEOUT = 4,     /* no answer in time */
  SCHEDMATE_BAD_REPLY = 5,   /* a peer, such as a language model, answered nonsense */
  SCHEDMATE_REFUSED = 6,     /* rights or budget do not allow it */
  SCHEDMATE_CONFLICT = 7,    /* two inputs contradict each other */
  SCHEDMATE_UNSUPPORTED = 8, /* the request asks for what there is not */
  SCHEDMATE_BAD_CALL = 9,    /* a null pointer, or a session or reply that is not open */
  SCHEDMATE_INTERNAL = 10,   /* SchedMate is at fault, or memory is at its end */
  SCHEDMATE_STOPPED = 11     /* a callback of the host ended it (schedmate_policy.h) */
};

/* An open session: its settings and where it runs. Never 0, and not given twice in a process, so
 * that a closed one is known as such. */
typedef uint64_t schedmate_session;

/* "0.1.0", of the library that is loaded. */
SCHEDMATE_EXPORT const char *schedmate_version(void);
/* "ok", "invalid", ...: never null; "unknown" of a number that is no code. */
SCHEDMATE_EXPORT const char *schedmate_code_name(int code);

/*
 * Options, a JSON object; null for none, then of any size:
 *   config     settings file (TOML); without it schedmate/config.toml of the user and,
 *              below it, of the site, where they are there
 *   state_dir  folder of the history and its like
 *   settings   {KEY: VALUE, ...}, above the file; `schedmate config` lists the keys
 * `reply` may be null. It is set to null, or to an error.
 */
SCHEDMATE_EXPORT int schedmate_open(const char *options, size_t size, schedmate_session *session,
                                    char **reply);
/* Calls that run go on to their end. */
SCHEDMATE_EXPORT int schedmate_close(schedmate_session session);
/* The sentence of an error, for people; null for what is no error's reply. It lives as long as the
 * reply does. */
SCHEDMATE_EXPORT const char *schedmate_message(const char *reply);
/* Of a reply. Null is fine; what is no reply, or was freed, is SCHEDMATE_BAD_CALL. */
SCHEDMATE_EXPORT int schedmate_free(char *reply);

/*
 * The use cases. `request` has `size` bytes, at most 16 MiB. `*reply` is set to null first; it is
 * the caller's, who gives it to schedmate_free(). docs/formats describes the documents.
 *
 * facts: what a job is, each value with the line that proves it: schedmate.facts.v1.
 *   dir, command; workdir, gpus, nodes, gpu_type, roots [AS=FOLDER], log, monitoring, explain,
 *   min_confidence (text: "0.9", or "auto")
 */
SCHEDMATE_EXPORT int schedmate_facts(schedmate_session session, const char *request, size_t size,
                                     char **reply);
/*
 * advise: how long a submission runs and what it uses, by similar jobs: schedmate.advice.v1.
 *   as facts without explain, and user; branch, partition, time_limit_s, job_id, submit_time_s
 *   (since 1970), record
 */
SCHEDMATE_EXPORT int schedmate_advise(schedmate_session session, const char *request, size_t size,
                                      char **reply);
/* track: how far a job is, by its logs: schedmate.progress.v1.
 *   logs [FILE of a rank]; min_confidence (text: "0.9", or "auto") */
SCHEDMATE_EXPORT int schedmate_track(schedmate_session session, const char *request, size_t size,
                                     char **reply);
/*
 * diagnose: why a job ended, with the line that says so: schedmate.diagnosis.v1; its class is null
 * where there is nothing to judge.
 *   logs [FILE of a rank, or the id of a job of the history]; job FILE, good FILE,
 *   kernel_logs [FILE or NODE=FILE], nvml, nvml_from [FILE], locate, classify,
 *   min_confidence
 */
SCHEDMATE_EXPORT int schedmate_diagnose(schedmate_session session, const char *request, size_t size,
                                        char **reply);
/* ask: what a log says, in words and lines: schedmate.answers.v1.
 *   log (FILE, or the id of a job of the history), question; job FILE */
SCHEDMATE_EXPORT int schedmate_ask(schedmate_session session, const char *request, size_t size,
                                   char **reply);
/*
 * eta: when waiting jobs start and running ones end: schedmate.eta.v1.
 *   job_id, from, at, policy, cluster, samples, outcome
 * No daemon is asked: it has an address of its own (docs/http.md).
 */
SCHEDMATE_EXPORT int schedmate_eta(schedmate_session session, const char *request, size_t size,
                                   char **reply);
/* finish: how a job ended that advise recorded: schedmate.finish.v1.
 *   job_id, state ("completed", "failed", ...), duration_s; gpu_util_pct, gpu_memory_mib, log, job,
 *   replace */
SCHEDMATE_EXPORT int schedmate_finish(schedmate_session session, const char *request, size_t size,
                                      char **reply);
/*
 * simulate: policies replayed over a trace: the document of summary.json.
 *   trace FORMAT:PATH, policies [NAME:key=value@LABEL]; cluster, tables, explain, and out, a folder
 *   for LABEL.jobs.csv and its like: without it no file is written
 */
SCHEDMATE_EXPORT int schedmate_simulate(schedmate_session session, const char *request, size_t size,
                                        char **reply);

/*
 * Estimates: for a host that replays a trace itself, what one of our policies is told of its jobs.
 *   trace FORMAT:PATH, policy NAME:key=value (such as lucid+sm), cluster
 * One call at a time for each of them, from any thread; a second at the same time is
 * SCHEDMATE_BAD_CALL. Replies are errors alone, and may be null.
 */
typedef uint64_t schedmate_estimates;
typedef struct schedmate_outlook {
  size_t size;   /* sizeof(schedmate_outlook), by the host */
  int64_t now_s; /* when the job enters, by the host */
  double run_time_s;          /* alone on its GPUs */
  double p10_s, p50_s, p90_s; /* around it; NaN: nobody knows how far off it is */
  double advised;             /* how much of it is advice, 0 to 1 */
  double gpu_util_pct, memory_util_pct, memory_mib; /* of a GPU, by similar jobs; NaN: unknown */
  int32_t sharing_score; /* of these: 0 light, 1 medium, 2 heavy; -1: unknown */
  int32_t blind;         /* 1: nothing is known of the job, and run_time_s is only a stand-in */
} schedmate_outlook;
SCHEDMATE_EXPORT int schedmate_estimates_open(schedmate_session session, const char *request,
                                              size_t size, schedmate_estimates *estimates,
                                              char **reply);
/* Of a job that enters, by its id in the trace. Each virtual cluster learns of its own jobs. */
SCHEDMATE_EXPORT int schedmate_estimates_predict(schedmate_estimates estimates, const char *id,
                                                 schedmate_outlook *outlook, char **reply);
/* It has ended; run time and state are those of the trace. */
SCHEDMATE_EXPORT int schedmate_estimates_learn(schedmate_estimates estimates, const char *id,
                                               int64_t end_s, char **reply);
SCHEDMATE_EXPORT int schedmate_estimates_close(schedmate_estimates estimates);

#ifdef __cplusplus
}
#endif

#endif
