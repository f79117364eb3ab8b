// SPDX-License-Identifier: Apache-2.0
#include "daemon/configuration.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <map>
#include <schedmate/known_job.hpp>
#include <schedmate/trace.hpp>
#include <utility>

#include "base/text.hpp"
#include "llm/http.hpp"
#include "probe/request.hpp"
#include "reader/client.hpp"
#include "replay/cluster.hpp"
#include "service/models.hpp"

namespace schedmate::daemon {
namespace {

using settings::Settings;

/// An error of a setting names it.
tl::unexpected<Error> of_setting(std::string_view key, const Error& error) {
  return fail(error.code, fmt::format("setting {}: {}", key, error.message));
}

/// The policy by which a replay starts jobs itself, with what it believes of run times.
Result<void> read_host(const Settings& settings, Replay& replay) {
  constexpr std::string_view key = "cluster.replay.policy";
  const std::string spec = settings.text(key);
  if (spec.empty()) return {};
  auto host = read_policy(key, spec, replay.cluster);
  if (!host) return tl::unexpected(host.error());
  if (host->profiler || host->packs || host->handler || !host->advice.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("setting {}: {} needs a profiler, profiles or advice, which the replay "
                            "of a daemon lacks; name a policy without",
                            key, spec));
  EstimatorInput input;
  input.truth = Truth(replay.trace);
  auto estimates = make_estimator(*host, "", input);
  if (!estimates) return of_setting(key, estimates.error());
  replay.host = std::move(*host);
  replay.host_estimates = std::move(*estimates);
  return {};
}

Result<void> read_bad_nodes(const Settings& settings, Replay& replay) {
  constexpr std::string_view key = "cluster.replay.bad_nodes";
  const SimTime first = replay.trace.jobs.empty() ? at(0) : replay.trace.jobs.front().submit;
  for (const std::string& text : settings.names(key)) {
    auto bad = replay::read_bad_node(text, first);
    if (!bad) return of_setting(key, bad.error());
    const bool is_known = std::ranges::any_of(replay.cluster.partitions, [&](const auto& each) {
      const bool is_there = bad->node.starts_with(each.name + "-");
      const auto number = parse_number<int>(
          std::string_view(bad->node).substr(is_there ? each.name.size() + 1 : bad->node.size()));
      return number && *number >= 0 && *number < each.nodes;
    });
    if (!is_known)
      return fail(ErrorCode::invalid,
                  fmt::format("setting {}: no node {}; they are called VC-NUMBER, from 0 on", key,
                              bad->node));
    replay.bad_nodes.push_back(std::move(*bad));
  }
  return {};
}

Result<std::shared_ptr<const Replay>> read_replay(const Settings& settings) {
  const std::string spec = settings.text("cluster.replay.trace");
  if (spec.empty())
    return fail(ErrorCode::invalid,
                "setting cluster.replay.trace: a replay needs a trace, as FORMAT:PATH");
  auto trace = read_trace(spec, {});
  if (!trace) return of_setting("cluster.replay.trace", trace.error());
  auto made = std::make_shared<Replay>();
  const std::string file = settings.text("cluster.replay.file");
  if (file.empty() && !trace->cluster)
    return fail(ErrorCode::invalid,
                "setting cluster.replay.file: this trace names no cluster, so a file must");
  if (file.empty()) {
    made->cluster = *trace->cluster;
  } else {
    auto cluster = read_cluster(file);
    if (!cluster) return of_setting("cluster.replay.file", cluster.error());
    made->cluster = std::move(*cluster);
  }
  made->trace = std::move(*trace);
  made->speed = settings.whole("cluster.replay.speed");
  if (auto bad = read_bad_nodes(settings, *made); !bad) return tl::unexpected(bad.error());
  if (auto host = read_host(settings, *made); !host) return tl::unexpected(host.error());
  return made;
}

/// Where the cluster starts jobs itself, a policy only says who needs less.
Result<void> can_order(const Scheduler& scheduler, const std::string& spec) {
  if (scheduler.expected_work != nullptr) return {};
  const ClusterSpec none;
  std::vector<std::string_view> able;
  for (const PolicyRow& row : policy_rows())
    if (const auto made = make_scheduler(row, {none}, {});
        row.preset.empty() && made && made->expected_work != nullptr)
      able.push_back(row.name);
  return fail(
      ErrorCode::unsupported,
      fmt::format("setting order.policy: {} does not order by expected work, and the cluster "
                  "starts jobs itself; these do: {}",
                  spec, fmt::join(able, ", ")));
}

Result<void> check_span(const Settings& settings) {
  const std::string text = settings.text("order.span");
  constexpr std::int64_t most = 1'000'000'000;
  const auto span = parse_number<std::int64_t>(text);
  if (text == "auto" || (span && *span >= 1 && *span <= most)) return {};
  return fail(
      ErrorCode::invalid,
      fmt::format("setting order.span: '{}': auto, or a whole number from 1 to {}", text, most));
}

/// All but what is expected of jobs.
Result<live::Ordering::Setup> read_ordering(const Settings& settings) {
  live::Ordering::Setup made;
  made.span = parse_number<std::int64_t>(settings.text("order.span")).value_or(0);
  made.least_work = static_cast<double>(settings.whole("order.least_work_s"));
  made.most_work = static_cast<double>(settings.whole("order.most_work_s"));
  made.ageing = Seconds(settings.whole("order.ageing_s"));
  if (made.least_work >= 1 && made.most_work > made.least_work && made.ageing >= Seconds(1))
    return made;
  return fail(ErrorCode::invalid,
              "setting order.least_work_s: at least 1 and less than order.most_work_s; "
              "order.ageing_s: at least 1");
}

std::shared_ptr<const PackingTables> packing_of(const Configuration& configuration) {
  return configuration.replay == nullptr ? nullptr : configuration.replay->trace.packing;
}

/// As far as a policy is made for it. Nodes of a Slurm or a Ray are not known yet; who starts
/// nothing needs none, and lends none from a partition of one.
ClusterSpec cluster_of(const Configuration& configuration) {
  if (configuration.replay != nullptr) return configuration.replay->cluster;
  PartitionSpec main;
  main.name = "main";
  main.nodes = 1;
  return {configuration.ray ? std::vector{main} : std::vector<PartitionSpec>()};
}

/// What the policy knows of a job's length: what has ended in the pool.
Result<void> make_loop(const Settings& settings, Configuration& configuration) {
  if (auto span = check_span(settings); !span) return span;
  const bool is_replay = configuration.replay != nullptr;
  const ClusterSpec cluster = cluster_of(configuration);
  const bool starts_jobs = is_replay ? !configuration.replay->host : configuration.ray.has_value();
  const std::string spec = settings.text("order.policy");
  auto scheduler = read_policy("order.policy", spec, cluster, "last_k");
  if (!scheduler) return tl::unexpected(scheduler.error());
  if (scheduler->handler)
    return fail(ErrorCode::unsupported,
                fmt::format("setting order.policy: {}: what is done about failures is set by "
                            "mode.recover; name the policy without +fh",
                            spec));
  if (!scheduler->cap.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("setting order.policy: {}: cap= is for simulations", spec));
  scheduler->advice.clear();  // it comes with each job, as its code is read
  auto estimator = make_estimator(*scheduler, "", {});
  if (!estimator) return of_setting("order.policy", estimator.error());
  const Estimator ordered = *estimator;
  const ClusterSpec nodes = replay::with_profiler(cluster, *scheduler);
  if (const auto& stage = scheduler->profiler)
    configuration.loop.profiling = {stage->nodes.name, stage->time, stage->max_gpus, stage->bypass};
  configuration.loop.pool = [nodes, scheduler = *scheduler, packing = packing_of(configuration),
                             estimator = std::move(*estimator)](const std::string& name) {
    const bool profiles = scheduler.profiler && name == scheduler.profiler->nodes.name;
    live::VirtualCluster::Setup setup;
    setup.name = name;
    setup.policy = profiles ? scheduler.profiler->decide : scheduler.decide;
    setup.packs = scheduler.packs && !profiles;
    setup.spares = replay::spares_of(name, scheduler);
    if (!profiles) setup.estimator = estimator;
    if (packing != nullptr) setup.sharing = packing->sharing;
    for (const PartitionSpec& partition : nodes.partitions)
      if (partition.name == name) setup.round = partition.round;
    return setup;
  };
  if (!starts_jobs)
    if (auto orders = can_order(*scheduler, spec); !orders) return orders;
  auto ordering = read_ordering(settings);
  if (!ordering) return tl::unexpected(ordering.error());
  ordering->work = scheduler->expected_work;
  ordering->estimator = ordered;
  configuration.loop.ordering = std::move(*ordering);
  configuration.scheduler = std::move(*scheduler);
  return {};
}

/// What jobs do to their GPUs, where the trace says so.
std::function<const Profile*(const SeenJob&)> uses_of(std::shared_ptr<const Replay> replay) {
  if (replay == nullptr || replay->trace.packing == nullptr) return {};
  std::map<std::string, std::size_t, std::less<>> rows;
  for (std::size_t row = 0; row < replay->trace.jobs.size(); ++row)
    rows.emplace(replay->trace.jobs[row].id, row);
  return [replay = std::move(replay), rows = std::move(rows)](const SeenJob& job) {
    const auto found = rows.find(job.id);
    return found == rows.end() ? nullptr : known_job(replay->trace, found->second).profile;
  };
}

Mode mode(const Settings& settings, std::string_view key) {
  return mode_of(settings.text(key)).value_or(Mode::observe);
}

live::Settings acting(const Settings& settings) {
  live::Settings made;
  made.cluster = settings.text("cluster.name");
  made.modes = {mode(settings, "mode.order"), mode(settings, "mode.recover"),
                mode(settings, "mode.pack"), mode(settings, "mode.annotate"),
                mode(settings, "mode.notify")};
  made.caps = {.drained_nodes_max = settings.whole("caps.drained_nodes_max"),
               .drained_pct_max = settings.whole("caps.drained_pct_max"),
               .requeues_per_job = settings.whole("caps.requeues_per_job"),
               .requeues_per_user_hour = settings.whole("caps.requeues_per_user_hour"),
               .actions_per_hour = settings.whole("caps.actions_per_hour"),
               .breaker_pct = settings.whole("caps.breaker_pct"),
               .burst = settings.whole("caps.burst")};
  made.waits.witness = Seconds(settings.whole("recover.witness_wait_s"));
  const auto operators = settings.names("access.operators");
  made.chief = operators.empty() ? "" : operators.front();
  made.waits.return_after = Seconds(settings.whole("recover.return_after_s"));
  made.waits.hung_restart = Seconds(settings.whole("recover.hung_restart_s"));
  // It may wait as long as it may run.
  made.waits.test = 2 * Seconds(settings.whole("recover.test_timeout_s"));
  return made;
}

/// As Host has it: in small letters, an address of IPv6 in brackets. Nothing: it is no name.
std::optional<std::string> host_of(std::string_view name) {
  const std::string host = lower_case(name);
  const bool is_bare_six = std::ranges::count(host, ':') > 1 && !host.starts_with('[');
  std::string made = is_bare_six ? '[' + host + ']' : host;
  const bool is_six = made.starts_with('[') && made.ends_with(']');
  const auto fits = [&](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || (is_six && c == ':');
  };
  const std::string_view inner =
      is_six ? std::string_view(made).substr(1, made.size() - 2) : std::string_view(made);
  if (inner.empty() || !std::ranges::all_of(inner, fits)) return std::nullopt;
  return made;
}

/// By which TCP may be called: the machine's name, the address, and what else is set.
Result<void> add_hosts(const Settings& settings, const std::string& machine,
                       http::ServerOptions& doors) {
  std::vector<std::string>& hosts = doors.access.hosts;
  if (auto host = host_of(machine)) hosts.push_back(std::move(*host));
  if (auto host = host_of(doors.tcp.substr(0, doors.tcp.rfind(':'))))
    hosts.push_back(std::move(*host));
  for (const std::string& name : settings.names("listen.names")) {
    auto host = host_of(name);
    if (!host)
      return fail(ErrorCode::invalid,
                  fmt::format("setting listen.names: '{}': a name or an address, without scheme "
                              "and port",
                              name));
    hosts.push_back(std::move(*host));
  }
  return {};
}

http::ServerOptions doors(const Settings& settings) {
  http::ServerOptions made;
  made.unix_path = settings.text("listen.unix");
  made.tcp = settings.text("listen.tcp");
  made.tokens_file = settings.text("access.tokens_file");
  made.access.operators = settings.names("access.operators");
  made.access.viewers = settings.names("access.viewers");
  made.access.viewers_see_all = settings.text("access.viewers_see") == "all";
  const std::chrono::seconds reading(settings.whole("reader.deadline_s"));
  made.times.answer =
      std::max<std::chrono::milliseconds>(made.times.answer, reading + 2 * reader::answer_slack);
  return made;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  });
}

/// NODE=PARTITION each.
Result<void> read_partitions(const Settings& settings, ray_live::Options& options) {
  constexpr std::string_view key = "cluster.ray.partitions";
  for (const std::string& text : settings.names(key)) {
    const std::size_t sign = text.find('=');
    const std::string partition = sign == std::string::npos ? "" : text.substr(sign + 1);
    if (sign == 0 || !is_name(partition))
      return fail(ErrorCode::invalid,
                  fmt::format("setting {}: '{}': NODE=PARTITION is expected", key, text));
    options.partitions[text.substr(0, sign)] = partition;
  }
  return {};
}

Result<Ray> read_ray(const Settings& settings, const std::string& state_dir) {
  auto url = llm::parse_url(settings.text("cluster.ray.address"));
  if (!url) return of_setting("cluster.ray.address", url.error());
  Ray made{.address = std::move(*url), .token = {}, .options = {}};
  constexpr std::string_view token_key = "cluster.ray.token_file";
  if (const std::string path = settings.text(token_key); !path.empty()) {
    auto token = ray_live::read_token(path);
    if (!token) return of_setting(token_key, token.error());
    made.token = std::move(*token);
  }
  ray_live::Options& options = made.options;
  options.start = {.pin = settings.text("cluster.ray.pin"),
                   .python = settings.text("cluster.ray.python"),
                   .gpu_resource = settings.text("cluster.ray.gpu_resource"),
                   .ends = settings.text("cluster.ray.ends"),
                   .by_driver = settings.text("cluster.ray.starts") == "driver"};
  if (options.start.by_driver && made.address.secure)
    return fail(
        ErrorCode::invalid,
        "setting cluster.ray.starts: a driver is asked without TLS, and cluster.ray.address "
        "is one with it: use jobs_api");
  if (options.start.pin.empty() || options.start.python.empty() ||
      options.start.gpu_resource.empty())
    return fail(ErrorCode::invalid,
                "settings cluster.ray.pin, python and gpu_resource: none of them may be empty");
  if (!options.start.ends.empty() && !options.start.ends.starts_with('/'))
    return fail(ErrorCode::invalid,
                fmt::format("setting cluster.ray.ends: '{}' must be an absolute path, the same on "
                            "all nodes",
                            options.start.ends));
  options.log_folder = settings.text("cluster.ray.logs");
  if (options.log_folder.empty()) options.log_folder = state_dir + "/ray-logs";
  options.start_window = Seconds(settings.whole("cluster.ray.start_window_s"));
  if (auto read = read_partitions(settings, options); !read) return tl::unexpected(read.error());
  return made;
}

Result<void> read_kind(const Settings& settings, Configuration& made) {
  const std::string kind = settings.text("cluster.connector");
  if (kind == "slurm") {
    made.slurm = {.conf = settings.text("cluster.slurm.conf"),
                  .via = settings.text("cluster.slurm.via"),
                  .module = settings.text("cluster.slurm.module"),
                  .node_care = {.test_command = settings.text("recover.test_command"),
                                .test_timeout = Seconds(settings.whole("recover.test_timeout_s")),
                                .spares = settings.text("cluster.slurm.spares")}};
  } else if (kind == "ray") {
    auto ray = read_ray(settings, made.state_dir);
    if (!ray) return tl::unexpected(ray.error());
    made.ray = std::move(*ray);
  } else {
    auto replay = read_replay(settings);
    if (!replay) return tl::unexpected(replay.error());
    made.replay = std::move(*replay);
  }
  return {};
}

}  // namespace

Result<Scheduler> read_policy(std::string_view key, std::string_view spec,
                              const ClusterSpec& cluster, std::string_view usual_estimator) {
  const std::size_t colon = std::min(spec.find(':'), spec.size());
  PolicyOptions options;
  if (colon < spec.size()) options.add_defaults(spec.substr(colon + 1));
  const bool may_change = !usual_estimator.empty() && options.take_text("estimate", "").empty();
  auto made = make_scheduler(spec.substr(0, colon), {cluster}, std::move(options));
  if (!made) return of_setting(key, made.error());
  const bool is_usable = !made->estimator.empty() && !reads_truth(made->estimator);
  if (may_change && !is_usable) made->estimator = usual_estimator;
  return made;
}

Result<Configuration> configure(const settings::Session& session) {
  const Settings& settings = session.settings;
  Configuration made;
  made.session = session;
  made.state_dir = session.state_dir();
  if (!is_name(settings.text("cluster.name")))
    return fail(ErrorCode::invalid,
                "setting cluster.name: letters, digits, '-', '.' and '_', at most 64");
  made.writer = fmt::format("{}:{}", session.environment.host, ::getpid());
  if (auto kind = read_kind(settings, made); !kind) return tl::unexpected(kind.error());
  if (auto loop = make_loop(settings, made); !loop) return tl::unexpected(loop.error());
  made.loop.settings = acting(settings);
  made.loop.profile = uses_of(made.replay);
  made.loop.lives.follow = Seconds(settings.whole("recover.follow_s"));
  made.loop.lives.queue.most_out = 4096;  // few are read at a time, equal ones together
  made.poll = std::chrono::milliseconds(settings.whole("cluster.poll_ms"));
  made.http = doors(settings);
  if (auto hosts = add_hosts(settings, session.environment.host, made.http); !hosts)
    return tl::unexpected(hosts.error());
  made.notices = {.cluster = made.loop.settings.cluster,
                  .webhook = settings.text("notify.webhook"),
                  .mail_command = settings.text("notify.mail_command")};
  if (const std::string& url = made.notices.webhook; !url.empty())
    if (auto parsed = llm::parse_url(url); !parsed)
      return of_setting("notify.webhook", parsed.error());
  made.reader = settings.text("reader.socket");
  if (auto models = service::models_of(session, service::chat_services(session, "")); !models)
    return of_setting("llm.use", models.error());
  if (made.http.unix_path.empty() && made.http.tcp.empty())
    return fail(ErrorCode::invalid,
                "settings listen.unix and listen.tcp: it must answer on at least one of them");
  if (const std::string path = settings.text("probe.secret_file"); !path.empty()) {
    auto secret = probe::read_secret(path);
    if (!secret) return of_setting("probe.secret_file", secret.error());
    made.probe_secret = std::move(*secret);
  }
  return made;
}

}  // namespace schedmate::daemon
