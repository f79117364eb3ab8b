// SPDX-License-Identifier: Apache-2.0
/// The rows of what a user may set; settings.cpp reads and checks values by them.
#include <array>
#include <schedmate/llm.hpp>

#include "settings/settings.hpp"

namespace schedmate::settings {
namespace {

constexpr SettingRow defect(std::string_view key, bool Defects::* field, std::string_view effect) {
  return {key, SettingKind::flag, "", "", effect, field};
}

constexpr std::array rows{
    SettingRow{"mode", SettingKind::choice, "repaired", "repaired|reference",
               "reference: the released Lucid simulator with all its defects"},
    SettingRow{"placement", SettingKind::choice, "consolidate", "consolidate|first_fit|spread",
               "which free GPUs a job gets"},
    SettingRow{"overhead_small_s", SettingKind::seconds, "40", "",
               "run time that a preemption adds to a job of up to 8 GPUs"},
    SettingRow{"overhead_large_s", SettingKind::seconds, "60", "",
               "run time that a preemption adds to a larger job"},
    SettingRow{"seed", SettingKind::whole, "1", "", "seed of all random draws"},
    SettingRow{"threads", SettingKind::count, "1", "1024",
               "virtual clusters replayed in parallel; the results stay the same"},
    SettingRow{"strict", SettingKind::flag, "false", "",
               "treat a bad row of a trace as an error instead of skipping and counting it"},
    SettingRow{"workload", SettingKind::text, "light", "",
               "what the jobs compute where the trace does not say: light, heavy or a recipe's "
               "path (docs/formats/recipe.md)"},
    SettingRow{"workload_cut", SettingKind::choice, "gap", "gap|leaky_duration",
               "what ends a template of resubmissions: an hour without any, or a different "
               "duration (which leaks)"},
    SettingRow{"workload_length_pct", SettingKind::whole, "0", "100",
               "percentage of the variance of log durations that training lengths explain"},
    SettingRow{"workload_shuffle", SettingKind::choice, "none", "none|metadata|all|own",
               "control: exchange what the Advisor sees among jobs of one size; facts alone, with "
               "directory and command, or these among one user's jobs"},
    SettingRow{"workload_errors_pct", SettingKind::whole, "100", "",
               "rate of missed or misread facts, in percent of the measured rates"},
    SettingRow{"workload_noise_pct", SettingKind::whole, "0", "100",
               "percentage of further facts that are replaced by wrong ones"},
    SettingRow{"workload_packed_gpus", SettingKind::whole, "0", "100000",
               "most GPUs of a job that may share its GPUs; 0: as the recipe says, usually 8"},
    SettingRow{"interference_pct", SettingKind::whole, "100", "",
               "speed that jobs lose when they share GPUs, in percent of the model's loss"},
    SettingRow{"cost.advice_s", SettingKind::seconds, "0", "",
               "time from a submission until its advice is ready; no job waits for it"},
    SettingRow{"cost.tracked_pct", SettingKind::whole, "100", "100",
               "percentage of jobs whose log shows their speed"},
    SettingRow{"cost.warm_up", SettingKind::flag, "false", "",
               "a profile taken before the utilisation is steady shows too little"},
    SettingRow{"cost.early_end_pct", SettingKind::whole, "0", "100",
               "percentage of jobs that end early, at a uniformly random time"},
    SettingRow{"cost.failure_gpu_hours", SettingKind::whole, "0", "",
               "mean GPU hours between two failures that interrupt a job; 0: no failures"},
    SettingRow{
        "cost.framework_pct", SettingKind::whole, "0", "100",
        "percentage of these failures caused by the framework; the job's owner has to fix them"},
    SettingRow{"cost.script_pct", SettingKind::whole, "0", "100",
               "percentage of these failures caused by the user's script, likewise; the rest are "
               "infrastructure"},
    SettingRow{"cost.checkpoint_s", SettingKind::seconds, "1800", "",
               "progress between two checkpoints; a failure loses what came after the last one"},
    SettingRow{"cost.detection_s", SettingKind::seconds, "600", "",
               "time until a failure is detected; the job holds its GPUs until then"},
    SettingRow{"cost.manual_restart_s", SettingKind::seconds, "3600", "",
               "time from detection until the owner has restarted the job"},
    SettingRow{"cost.handled_restart_s", SettingKind::seconds, "60", "",
               "time from detection until the Failure Handler has restarted the job"},
    SettingRow{"cost.handler_missed_pct", SettingKind::whole, "0", "100",
               "percentage of infrastructure failures that the handler mistakes for the user's"},
    SettingRow{
        "cost.handler_false_pct", SettingKind::whole, "0", "100",
        "percentage of FAILED jobs and script failures that the handler restarts without effect"},
    SettingRow{"cost.bad_node_pct", SettingKind::whole, "0", "100",
               "percentage of infrastructure failures whose node fails the job again at once "
               "unless it is excluded"},
    SettingRow{"elastic.interval_s", SettingKind::count, "60", "86400",
               "time between two decisions of an elastic policy"},
    SettingRow{"elastic.perturbations", SettingKind::count, "20", "1000",
               "number of ways to break ties over which elastic figures are averaged"},
    SettingRow{
        "elastic.profile_s", SettingKind::seconds, "0", "",
        "time for which an elastic job is measured on one GPU of each type before it trains"},
    SettingRow{"elastic.fit", SettingKind::choice, "released", "released|best",
               "how to fit throughput models: as Sia's simulator does, which stops early, or to "
               "the lowest loss"},
    SettingRow{"elastic.placement", SettingKind::choice, "none", "none|packed|smart",
               "whether elastic jobs are placed on nodes and restart when they move: not at all; "
               "repacked in each round; kept where they are"},
    SettingRow{"elastic.tables", SettingKind::folder, "", "",
               "step times of elastic jobs if --tables is not given"},
    SettingRow{
        "elastic.hours", SettingKind::whole, "0", "1000000",
        "leave out elastic jobs submitted more than this many hours after the first; 0: keep all"},
    SettingRow{"report", SettingKind::choice, "html", "html|none", "none: no report.html"},
    SettingRow{"state_dir", SettingKind::folder, "", "",
               "where SchedMate keeps its state; empty: schedmate/ in $XDG_STATE_HOME"},
    SettingRow{"reader", SettingKind::text, "", "",
               "user whose rights files are read with when the program runs as root, by name or "
               "number; empty: root's own files, and those that all may read"},
    SettingRow{"rules", SettingKind::folder, "", "",
               "folder with tables that add rows to those of rules/ (docs/formats/rules.md)"},
    SettingRow{"store", SettingKind::text, "", "",
               "history of jobs, as sqlite:PATH or redis:HOST:PORT; empty: history.sqlite in "
               "state_dir"},
    SettingRow{"llm.use", SettingKind::text, "none", "",
               "language models for what rules leave open: none, or comma-separated NAMEs"},
    SettingRow{"agent.samples", SettingKind::count, "1", "32",
               "answers requested from each model; the majority counts"},
    SettingRow{"agent.tool_calls", SettingKind::count, "12", "12",
               "most looks at the tree for one answer"},
    SettingRow{"agent.tokens", SettingKind::whole, "40000", "",
               "token limit for the prompts and replies of one answer together"},
    SettingRow{"agent.answer_tokens", SettingKind::count, "1000", "100000",
               "token limit for one reply"},
    SettingRow{"agent.doubtful_below_pct", SettingKind::whole, "0", "",
               "also ask for facts with a confidence below this; 0: only for unknown facts"},
    SettingRow{"agent.deadline_s", SettingKind::seconds, "120", "",
               "time limit for all answers of one job; after that the facts stay as they are"},
    SettingRow{
        "diagnose.doubtful_below_pct", SettingKind::whole, "30", "",
        "if a rule's confidence is below this, the model decides the cause, if there is one"},
    SettingRow{"estimate", SettingKind::choice, "calibrated", "calibrated|paper",
               "advise: how to estimate a duration from past jobs"},
    SettingRow{"time_limit.risk_pct", SettingKind::whole, "5", "",
               "advise: the suggested time limit kills at most this share of runs that would "
               "complete, 1 to 50"},
    SettingRow{"time_limit.longest_s", SettingKind::seconds, "0", "",
               "advise: hard limit of the partition or the user; none longer is suggested; 0: not "
               "known"},
    SettingRow{"similarity", SettingKind::choice, "mixed", "mixed|paper",
               "advise: vector and fields, or plain cosine of at least 0.90 as in the paper"},
    SettingRow{"embedder.kind", SettingKind::choice, "lexical", "lexical|openai|replay",
               "embedder of job texts"},
    SettingRow{"embedder.url", SettingKind::text, "", "", "openai: base address of the server"},
    SettingRow{"embedder.model", SettingKind::text, "", "", "openai: model; empty: bge-m3"},
    SettingRow{"embedder.token_file", SettingKind::text, "", "",
               "openai: file with the bearer token in its first line"},
    SettingRow{"embedder.token_env", SettingKind::text, "", "",
               "openai: or the environment variable that holds it"},
    SettingRow{"embedder.deadline_s", SettingKind::seconds, "60", "",
               "openai: time limit of one call, retries included"},
    SettingRow{"embedder.recording", SettingKind::text, "", "",
               "replay: JSON lines of {\"text\": ..., \"vector\": [...]}"},
    SettingRow{"caps.restarts_per_job", SettingKind::whole, "3", "",
               "diagnose: most restarts recommended for one job; after that do_not_restart"},
    SettingRow{"caps.restarts_per_user_hour", SettingKind::whole, "5", "",
               "diagnose: most restarts for all jobs of a user within an hour; after that notify"},
    SettingRow{"caps.nodes_per_hour", SettingKind::whole, "2", "",
               "diagnose: most different nodes given up within an hour; after that notify"},
    SettingRow{"caps.same_cause_same_step", SettingKind::count, "2", "1000",
               "diagnose: no more restarts after the same cause at the same step this many times"},
    SettingRow{"nvml.library", SettingKind::text, "libnvidia-ml.so.1", "",
               "diagnose --nvml: NVIDIA's management library, by the name that dlopen finds"},
    SettingRow{"nvml.deadline_s", SettingKind::seconds, "20", "",
               "diagnose --nvml: time after which to give up on a driver that hangs"},
    SettingRow{"client.deadline_s", SettingKind::count, "40", "86400",
               "commands that ask schedmated: time limit of one answer"},
    // Of schedmated.
    SettingRow{"listen.unix", SettingKind::text, "/run/schedmate/api.sock", "",
               "schedmated: socket on which it answers; empty: none"},
    SettingRow{"listen.tcp", SettingKind::text, "", "",
               "schedmated: address and port on which it answers who has a token; empty: none"},
    SettingRow{
        "listen.names", SettingKind::names, "", "",
        "schedmated: by what else listen.tcp may be called than by its address, the machine's "
        "name and localhost"},
    SettingRow{
        "listen.look_port", SettingKind::whole, "0", "65535",
        "schedmated: UDP port of this machine at which a hook says that the cluster is to be "
        "read now; 0: none"},
    SettingRow{"cluster.connector", SettingKind::choice, "replay", "replay|slurm|ray",
               "schedmated: what kind of cluster it runs beside"},
    SettingRow{"cluster.name", SettingKind::text, "main", "",
               "schedmated: name of the cluster and of the marks on it"},
    SettingRow{"cluster.poll_ms", SettingKind::count, "1000", "3600000",
               "schedmated: milliseconds between two readings of the cluster"},
    SettingRow{"cluster.slurm.via", SettingKind::choice, "auto", "auto|cli|libslurm",
               "schedmated: how it reads Slurm; auto: by its library where the module is there and "
               "fits, else by the command line"},
    SettingRow{"cluster.slurm.module", SettingKind::text, "", "",
               "schedmated: the module of Slurm's library; empty: schedmate_slurm.so of this "
               "installation"},
    SettingRow{"cluster.slurm.conf", SettingKind::text, "", "",
               "schedmated: slurm.conf that Slurm's programs read; empty: as they find it"},
    SettingRow{"cluster.slurm.spares", SettingKind::text, "", "",
               "schedmated: reservation of Slurm that keeps spare nodes, one of which is released "
               "for each node that is drained; empty: none"},
    SettingRow{"cluster.ray.address", SettingKind::text, "http://127.0.0.1:8265", "",
               "schedmated: URL of the dashboard of Ray's head"},
    SettingRow{"cluster.ray.token_file", SettingKind::text, "", "",
               "schedmated: file with the token of RAY_AUTH_TOKEN; empty: Ray asks for none"},
    SettingRow{"cluster.ray.pin", SettingKind::text, "auto", "",
               "schedmated: how Ray is told the node of a job: selector, or the name of a resource "
               "that only this node has, with {name} in it; auto: a selector where Ray has them, "
               "else sm_node_{name} or the node's own resource"},
    SettingRow{"cluster.ray.gpu_resource", SettingKind::text, "GPU", "",
               "schedmated: the resource of Ray by which a node has GPUs"},
    SettingRow{"cluster.ray.partitions", SettingKind::names, "", "",
               "schedmated: NODE=PARTITION of nodes of a Ray that are not in partition main, such "
               "as w8=profiler"},
    SettingRow{"cluster.ray.python", SettingKind::text, "python3", "",
               "schedmated: Python on the nodes of a Ray; for jobs on several nodes, Ray's own"},
    SettingRow{"cluster.ray.logs", SettingKind::text, "", "",
               "schedmated: folder for logs of Ray's jobs; empty: ray-logs in the state folder"},
    SettingRow{"cluster.ray.ends", SettingKind::text, "", "",
               "schedmated: folder that all nodes of a Ray see, too, where a job that ends well "
               "leaves a file; empty: none"},
    SettingRow{"cluster.ray.starts", SettingKind::choice, "jobs_api", "jobs_api|driver",
               "schedmated: by what Ray starts jobs; driver: by a program that stays, ten times as "
               "fast"},
    SettingRow{"cluster.ray.start_window_s", SettingKind::count, "300", "86400",
               "schedmated: seconds after which a job that Ray has not begun goes back to the "
               "queue"},
    SettingRow{"cluster.replay.trace", SettingKind::text, "", "",
               "schedmated: FORMAT:PATH of the trace that a replay runs"},
    SettingRow{"cluster.replay.file", SettingKind::text, "", "",
               "schedmated: cluster file of a replay; empty: the trace's own"},
    SettingRow{
        "cluster.replay.policy", SettingKind::text, "", "",
        "schedmated: NAME[:key=value,...] of the policy by which a replay starts jobs itself; "
        "empty: only SchedMate does"},
    SettingRow{"cluster.replay.speed", SettingKind::whole, "0", "1000000",
               "schedmated: how many times as fast as real a replay runs; 0: as fast as it can"},
    SettingRow{"cluster.replay.bad_nodes", SettingKind::names, "", "",
               "schedmated: NODE:FROM_S:UNTIL_S, nodes of a replay on which jobs and tests fail "
               "between these seconds of the trace, or always"},
    SettingRow{"mode.order", SettingKind::choice, "shadow", "observe|shadow|approve|act",
               "schedmated: may it start jobs and change their order"},
    SettingRow{"mode.recover", SettingKind::choice, "shadow", "observe|shadow|approve|act",
               "schedmated: may it requeue failed jobs and drain nodes"},
    SettingRow{"mode.pack", SettingKind::choice, "shadow", "observe|shadow|approve|act",
               "schedmated: may it let jobs share GPUs, and part them"},
    SettingRow{"mode.annotate", SettingKind::choice, "shadow", "observe|shadow|approve|act",
               "schedmated: may it write comments on jobs"},
    SettingRow{"mode.notify", SettingKind::choice, "shadow", "observe|shadow|approve|act",
               "schedmated: may it write to owners"},
    SettingRow{
        "order.policy", SettingKind::text, "schedmate", "",
        "schedmated: NAME[:key=value,...] of the policy that decides who starts, or who goes "
        "first where the cluster starts jobs itself"},
    SettingRow{"order.span", SettingKind::text, "auto", "",
               "schedmated: the most by which it raises a job's order in the cluster's own queue; "
               "auto: 1000 of a replay, a tenth of Slurm's weights"},
    SettingRow{"order.least_work_s", SettingKind::whole, "60", "",
               "schedmated: jobs of so few GPU seconds (sjf, srtf: seconds) or less are raised by "
               "all of the span"},
    SettingRow{"order.most_work_s", SettingKind::whole, "3600000", "",
               "schedmated: jobs of so many or more are not raised for their work"},
    SettingRow{"order.ageing_s", SettingKind::whole, "604800", "",
               "schedmated: seconds of waiting that raise a job by all of the span"},
    SettingRow{
        "caps.drained_nodes_max", SettingKind::whole, "2", "100000",
        "schedmated: nodes that it keeps drained at a time; beyond that an operator decides"},
    SettingRow{"caps.drained_pct_max", SettingKind::whole, "5", "100",
               "schedmated: the same as a percentage of all nodes, rounded up"},
    SettingRow{"caps.requeues_per_job", SettingKind::whole, "2", "1000",
               "schedmated: restarts of a job after which an operator decides about the next"},
    SettingRow{"caps.requeues_per_user_hour", SettingKind::whole, "5", "100000",
               "schedmated: the same for all jobs of one user within an hour"},
    SettingRow{"caps.actions_per_hour", SettingKind::whole, "30", "1000000",
               "schedmated: actions within an hour that disturb somebody; likewise"},
    SettingRow{"caps.breaker_pct", SettingKind::whole, "5", "100",
               "schedmated: percentage of nodes, at least three, that are said to be bad within an "
               "hour, at which it stops acting"},
    SettingRow{
        "caps.burst", SettingKind::whole, "20", "1000000",
        "schedmated: so many actions that disturb somebody, proposed within a minute, make it "
        "stop acting, too"},
    SettingRow{"recover.witness_wait_s", SettingKind::whole, "60", "86400",
               "schedmated: how long a failure whose log blames a machine waits for a second "
               "witness, in seconds"},
    SettingRow{"recover.hung_restart_s", SettingKind::whole, "0", "604800",
               "schedmated: a job that hangs so long is restarted, in seconds; 0: none is, its "
               "owner is told"},
    SettingRow{"recover.follow_s", SettingKind::count, "30", "86400",
               "schedmated: seconds between two looks at the log of a job that runs"},
    SettingRow{"recover.test_timeout_s", SettingKind::whole, "300", "86400",
               "schedmated: how long a test of nodes may take, in seconds"},
    SettingRow{"recover.test_command", SettingKind::text, "", "",
               "schedmated: command for /bin/sh that tests the nodes of its job, which is a job of "
               "Slurm; 0: they are well; empty: there is no test"},
    SettingRow{"recover.return_after_s", SettingKind::whole, "0", "31536000",
               "schedmated: a node that it drained is tested so long after, and returned if it "
               "passes, in seconds; 0: none is"},
    SettingRow{
        "notify.webhook", SettingKind::text, "", "",
        "schedmated: URL to which a message for the owner of a job is posted as JSON; empty: "
        "none"},
    SettingRow{"notify.mail_command", SettingKind::text, "", "",
               "schedmated: command for /bin/sh that sends the mail of its standard input; empty: "
               "none"},
    SettingRow{
        "reader.socket", SettingKind::text, "", "",
        "schedmated: socket of schedmate-reader, which reads logs and trees for users; empty: "
        "nothing is read"},
    // Of schedmate-reader.
    SettingRow{"reader.askers", SettingKind::names, "schedmate", "",
               "schedmate-reader: users who may ask it, beside root and its own; the first of them "
               "owns the socket"},
    SettingRow{"reader.uid_min", SettingKind::whole, "1000", "4294967295",
               "schedmate-reader: lowest uid for which it reads, beside its own; 0: for root, too"},
    SettingRow{"reader.children", SettingKind::count, "8", "1024",
               "schedmate-reader: requests that are read at a time"},
    SettingRow{"reader.children_per_user", SettingKind::count, "2", "1024",
               "schedmate-reader: the same of one user"},
    SettingRow{"reader.waiting_per_user", SettingKind::count, "16", "1024",
               "schedmate-reader: requests of one user that may wait; more are refused"},
    SettingRow{"reader.cpu_s_per_minute", SettingKind::count, "60", "86400",
               "schedmate-reader: CPU seconds within a minute after which a user is refused"},
    SettingRow{"reader.read_mib_per_minute", SettingKind::count, "4096", "1000000000",
               "schedmate-reader: MiB from disks and shares within a minute, likewise"},
    SettingRow{"reader.deadline_s", SettingKind::count, "20", "3600",
               "schedmate-reader: seconds from a request to its answer; also of CPU time"},
    SettingRow{"reader.memory_mib", SettingKind::whole, "1024", "1048576",
               "schedmate-reader: address space of a process that reads; 0: any"},
    SettingRow{"workers.redis", SettingKind::text, "", "",
               "worker, work: Redis server with the requests, as redis:HOST:PORT or "
               "redis:unix:PATH; its password is in $SCHEDMATE_REDIS_PASSWORD"},
    SettingRow{"workers.lease_s", SettingKind::count, "60", "86400",
               "worker: how long one may be silent before another one gets what it holds"},
    SettingRow{"workers.deliveries", SettingKind::count, "3", "1000",
               "worker: a request that was begun so often without an answer is put aside as dead"},
    SettingRow{"workers.most_waiting", SettingKind::count, "10000", "10000000",
               "work: requests of a priority that may wait and run; more are refused"},
    SettingRow{"workers.keep_s", SettingKind::count, "86400", "31536000",
               "worker: how long a result is kept"},
    SettingRow{"probe.secret_file", SettingKind::text, "", "",
               "schedmated: file with the secret from which the keys of probes are derived; empty: "
               "no probe is heard"},
    SettingRow{"probe.key_file", SettingKind::text, "", "",
               "probe: file with the key of this node; empty: derived from probe.secret_file"},
    SettingRow{"probe.address", SettingKind::text, "", "",
               "probe: daemon, as unix:PATH or http://HOST:PORT; empty: the socket of listen.unix"},
    SettingRow{"probe.every_s", SettingKind::count, "10", "3600",
               "probe: seconds between two samples"},
    SettingRow{"probe.dcgm", SettingKind::text, "", "",
               "probe: URL of a dcgm-exporter to read instead of nvml.library"},
    SettingRow{"access.operators", SettingKind::names, "root", "",
               "schedmated: users who see and decide everything"},
    SettingRow{"access.viewers", SettingKind::names, "", "", "schedmated: users who may only look"},
    SettingRow{"access.viewers_see", SettingKind::choice, "own", "own|all",
               "schedmated: whose jobs viewers see"},
    SettingRow{"access.tokens_file", SettingKind::text, "", "",
               "schedmated: hashes of the tokens that open the TCP address"},
    defect("defects.survivor_keeps_rate", &Defects::survivor_keeps_rate,
           "when the older job of a pair that shares GPUs ends, the younger stays slowed"),
    defect("defects.double_counted_queue", &Defects::double_counted_queue,
           "lucid: the wait for the profiler counts twice"),
    defect("defects.util_unit_slip", &Defects::util_unit_slip,
           "the utilisation of a heavy pair is capped at 1 instead of 100 %"),
    defect("defects.late_end", &Defects::late_end,
           "srtf, tiresias, lucid: every run ends one second late"),
    defect("defects.node_echo", &Defects::node_echo,
           "lucid: vcYVn loses a node while the profiler has an extra one"),
    defect("defects.entry_at_submission", &Defects::entry_at_submission,
           "lucid: jobs run in their VC while they are profiled"),
    defect("defects.unranked_arrivals", &Defects::unranked_arrivals,
           "qssf: jobs that meet an empty queue are ranked a second late"),
};

}  // namespace

std::span<const SettingRow> setting_rows() { return rows; }

}  // namespace schedmate::settings
