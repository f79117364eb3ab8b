/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCHEDMATE_POLICY_H
#define SCHEDMATE_POLICY_H

/*
 * Policies and estimators of a host, replayed by SchedMate's simulator (docs/library.md).
 *
 * schedmate_simulate_with() is schedmate_simulate() with callbacks. A policy is called once for
 * each round of each virtual cluster, with columns of what is new, and decides by calling
 * schedmate_plan_...() from within. Each decision is carried out at once, so that the next question
 * sees it. A callback gives 0; anything else ends the simulation: SCHEDMATE_STOPPED. A decision
 * that is impossible (no such job, GPUs that others hold, a second start) changes nothing; with its
 * error the simulation ends, whatever the callback gives. No callback may throw or jump.
 *
 * Threads: policies and estimators are called by the thread that called, `progress` by any, one at
 * a time. A plan is of use to the thread that was called with it, until its callback returns; else
 * it is SCHEDMATE_BAD_CALL. A callback may call any function here, another simulation, too.
 *
 * What a callback is given is valid until it returns; what schedmate_plan_...() gives, until the
 * next call of that function for the plan. Structs to which the library points may grow at their
 * end, but those in arrays.
 * Times are whole seconds on the trace's clock.
 */

#include <schedmate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Of a time that did not come. */
#define SCHEDMATE_NEVER INT64_MIN

/* Jobs as columns: each array has `count` values, those of one job at one place. */
typedef struct schedmate_jobs {
  size_t count;
  const uint32_t *number; /* in its virtual cluster, never used again */
  const char *const *id;       /* as in the trace */
  const uint32_t *user;        /* a number of the user */
  const int32_t *gpus;         /* the whole gang: on all of them or not at all */
  const int64_t *submit_s, *entered_s; /* as the user sees it; when it joined this queue */
  const double *estimate_s;    /* predicted run time, fixed on entry */
  const double *expected_s;    /* the same, where advice is kept apart from it */
  const double *p10_s, *p50_s, *p90_s; /* around it; NaN: nobody knows how far off it is */
  const double *advised;       /* how much of the estimate is advice, 0 to 1 */
  const double *gpu_util_pct, *memory_util_pct, *memory_mib; /* of a GPU; NaN: nobody knows */
  const int32_t *sharing_score; /* 0 light, 1 medium, 2 heavy; -1: nobody knows */
  /* These change, but not within a callback: */
  const uint8_t *running;
  const int64_t *run_since_s;  /* start of the present run */
  const int64_t *attained_s, *overhead_s; /* run time of earlier runs, and added by preemptions */
  const uint8_t *sharing, *alone; /* shares GPUs now; is never to share again */
  const double *speed;         /* relative to running alone; NaN: its log does not show it */
} schedmate_jobs;

/* Of nodes that are up. Stranded are free ones on nodes that also have busy ones. */
typedef struct schedmate_gpus {
  int32_t total, free, stranded, per_node, nodes;
} schedmate_gpus;

/* GPUs of one node: bit g is GPU g. */
typedef struct schedmate_slice {
  uint32_t node;
  uint64_t gpus;
} schedmate_slice;

typedef struct schedmate_slices {
  const schedmate_slice *slices;
  size_t count;
} schedmate_slices;

typedef struct schedmate_numbers {
  const uint32_t *jobs;
  size_t count;
} schedmate_numbers;

typedef struct schedmate_gpu {
  uint32_t node;
  int32_t gpu;
} schedmate_gpu;

/* One call of a policy. */
typedef struct schedmate_round {
  uint64_t plan;
  uint32_t copy; /* each virtual cluster of each replay has one: 0, 1, ... by first calls */
  int64_t now_s;
  const schedmate_jobs *arrived;  /* since the last call, in order of entry */
  schedmate_numbers ended;        /* since the last call, in order of their ends */
  schedmate_numbers withdrawn;    /* left the queue without a start */
  schedmate_gpus gpus;
  int64_t preemption_s[2];        /* run time that one adds: to jobs up to 8 GPUs, to larger ones */
} schedmate_round;

enum {
  SCHEDMATE_IGNORES_ESTIMATES = 1, /* its decisions do not depend on them */
  SCHEDMATE_SHARES = 2,            /* it lets jobs share GPUs: they have profiles */
  SCHEDMATE_PREEMPTS = 4           /* it takes running jobs off their GPUs */
};

typedef struct schedmate_policy {
  const char *name;      /* for `policies` of the request; not that of a built-in one */
  const char *estimator; /* when the request gives no estimate=; null: "oracle" */
  uint32_t traits;
  int (*decide)(void *context, const schedmate_round *round);
  void *context;
} schedmate_policy;

/* A job as everybody knows it when it enters. */
typedef struct schedmate_known_job {
  uint64_t number; /* the row of the trace */
  const char *id;
  uint32_t user, vc; /* numbers of the user and of the virtual cluster */
  int32_t gpus;
  int64_t submit_s;
} schedmate_known_job;

typedef struct schedmate_prediction {
  double run_time_s;          /* alone on its GPUs; 0 or more */
  double p10_s, p50_s, p90_s; /* as they are given: NaN, nobody knows */
} schedmate_prediction;

typedef struct schedmate_estimator {
  const char *name; /* by which estimate= calls it; not that of a built-in one */
  /* Of a job that enters. `copy` is one for each virtual cluster, as that of a round. */
  int (*predict)(void *context, uint32_t copy, const schedmate_known_job *job, int64_t now_s,
                 schedmate_prediction *prediction);
  /* Of each job that ended there, before later ones are asked about; null: it does not learn.
   * `state` is how it ended: "COMPLETED", "FAILED", ... */
  int (*learn)(void *context, uint32_t copy, const schedmate_known_job *job, int64_t end_s,
               int64_t run_time_s, const char *state);
  void *context;
} schedmate_estimator;

/* One replay, as columns over the rows of the trace and over bins of time. */
typedef struct schedmate_outcomes {
  const char *label;
  size_t count;
  const char *const *id, *const *user, *const *vc;
  const int32_t *gpus;
  const int64_t *submit_s, *duration_s, *start_s, *end_s; /* SCHEDMATE_NEVER: it did not */
  const int64_t *queue_s;                                 /* waiting in all queues */
  const int32_t *preemptions, *evictions;
  const double *held_gpu_s; /* GPU seconds of all its runs */
  const uint8_t *status;    /* 0 finished, 1 infeasible: larger than its cluster, 2 stalled */
  const char *const *nodes; /* of its last run: "0:1,2;3:0", NODE:GPU,GPU;NODE:GPU */
  size_t bins;              /* of `step_s` from `first_s` on; means over a bin, over all clusters */
  int64_t first_s, step_s;
  const double *busy_gpus, *stranded_gpus, *queued_jobs, *queued_gpus, *running_jobs, *used_gpus;
  int32_t total_gpus;
} schedmate_outcomes;

typedef struct schedmate_hooks {
  size_t size; /* sizeof(schedmate_hooks) */
  const schedmate_policy *policies;
  size_t policy_count;
  const schedmate_estimator *estimators;
  size_t estimator_count;
  int (*progress)(void *context, const char *label, double done); /* 0 to 1; or null */
  int (*finished)(void *context, const schedmate_outcomes *replay); /* of each policy; or null */
  void *context; /* of these two */
} schedmate_hooks;

/* As schedmate_simulate(). Policies and estimators have distinct names. */
SCHEDMATE_EXPORT int schedmate_simulate_with(schedmate_session session, const char *request,
                                             size_t size, const schedmate_hooks *hooks,
                                             char **reply);

/* Decisions. SCHEDMATE_UNAVAILABLE without a reply: there is no room now, nothing changed. `reply`
 * may be null. */
SCHEDMATE_EXPORT int schedmate_plan_start(uint64_t plan, uint32_t job, char **reply);
/* On exactly these GPUs, as many as it asks for; others may hold them, if the policy shares. */
SCHEDMATE_EXPORT int schedmate_plan_start_on(uint64_t plan, uint32_t job,
                                             const schedmate_slices *where, char **reply);
/* Back to the queue: with its progress, or without any and without a checkpoint. */
SCHEDMATE_EXPORT int schedmate_plan_preempt(uint64_t plan, uint32_t job, char **reply);
SCHEDMATE_EXPORT int schedmate_plan_evict(uint64_t plan, uint32_t job, char **reply);
/* Calls again then, even if nothing happens; the earliest counts, until the next call. */
SCHEDMATE_EXPORT int schedmate_plan_wake_at(uint64_t plan, int64_t time_s, char **reply);

/* Questions, as of now. fits: SCHEDMATE_UNAVAILABLE when a gang of so many has no room. */
SCHEDMATE_EXPORT int schedmate_plan_fits(uint64_t plan, int32_t gpus, char **reply);
SCHEDMATE_EXPORT int schedmate_plan_gpus(uint64_t plan, schedmate_gpus *gpus, char **reply);
/* What is known of jobs that wait, run, or have ended since the last call. */
SCHEDMATE_EXPORT int schedmate_plan_jobs(uint64_t plan, const schedmate_numbers *numbers,
                                         const schedmate_jobs **jobs, char **reply);
/* By node, its free GPUs as bits; 0 of one that is not up. */
SCHEDMATE_EXPORT int schedmate_plan_free(uint64_t plan, const uint64_t **masks, size_t *count,
                                         char **reply);
/* The GPUs that a job holds; none: count is 0. */
SCHEDMATE_EXPORT int schedmate_plan_held(uint64_t plan, uint32_t job, schedmate_slices *where,
                                         char **reply);
/* The jobs on one GPU, in the order in which they came. */
SCHEDMATE_EXPORT int schedmate_plan_residents(uint64_t plan, const schedmate_gpu *gpu,
                                              schedmate_numbers *jobs, char **reply);

#ifdef __cplusplus
}
#endif

#endif
