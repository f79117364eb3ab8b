// SPDX-License-Identifier: Apache-2.0
#include "queue/eta_replay.hpp"

#include <fmt/format.h>

#include "secrets/outgoing.hpp"
#include "service/held_input.hpp"
#include "trace/cluster_of_trace.hpp"

namespace schedmate::queue {
namespace {

constexpr std::string_view trace_mark = "trace:";

}  // namespace

bool is_trace(const EtaRequest& request) { return request.from.starts_with(trace_mark); }

Result<void> check_of_cluster(const EtaRequest& request) {
  if (request.at.empty() && request.cluster.empty() && !request.outcome) return {};
  return fail(ErrorCode::unsupported,
              "eta: --at, --outcome and --cluster are of a trace: --from trace:FORMAT:PATH");
}

EtaOptions options_of(const settings::Session& session, const EtaRequest& request) {
  return {.samples = request.samples,
          .seed = static_cast<std::uint64_t>(session.settings.whole("seed")),
          .threads = static_cast<int>(session.settings.whole("threads"))};
}

Result<study::PolicySpec> policy_of(const EtaRequest& request, std::string_view usual) {
  auto policy =
      study::parse_policy(request.policy.empty() ? usual : secrets::redacted(request.policy));
  if (!policy) return policy;
  if (auto plain = study::check_not_elastic({&*policy, 1}); !plain)
    return tl::unexpected(plain.error());
  return policy;
}

Result<EtaReplay> replay_of(const settings::Session& session, const EtaRequest& request,
                            const study::PolicySpec& policy) {
  const std::string spec = request.from.substr(trace_mark.size());
  if (request.at.empty())
    return fail(ErrorCode::unsupported,
                fmt::format("--from {}: --at TIME is missing", secrets::redacted(request.from)));
  const ReadOptions options{.strict = session.settings.flag("strict"), .columns = {}};
  auto trace =
      service::read_held(spec, [&](const std::string& held) { return read_trace(held, options); });
  if (!trace) return tl::unexpected(trace.error());
  auto cluster = trace::cluster_of_trace(*trace, request.cluster, secrets::redacted(spec),
                                         "give one with --cluster FILE");
  if (!cluster) return tl::unexpected(cluster.error());
  const auto now = study::instant_of(request.at, *trace);
  if (!now) return tl::unexpected(now.error());
  const EtaOptions how = options_of(session, request);
  auto replay = study::replay_trace(*trace, *cluster, policy, {how.seed, how.threads});
  if (!replay) return tl::unexpected(replay.error());
  return EtaReplay{*std::move(trace), *std::move(cluster), *std::move(replay), *now};
}

}  // namespace schedmate::queue
