// SPDX-License-Identifier: Apache-2.0
#include "face/use_cases.hpp"

#include <nlohmann/json.hpp>

#include "core/facts_json.hpp"
#include "face/request.hpp"
#include "lab/simulate_elastic.hpp"
#include "queue/eta.hpp"
#include "service/advise.hpp"
#include "service/ask.hpp"
#include "service/diagnose.hpp"
#include "service/facts.hpp"
#include "service/history.hpp"
#include "service/track.hpp"
#include "settings/settings_file.hpp"
#include "settings/state_folder.hpp"
#include "settings/version.hpp"
#include "study/elastic_study.hpp"

namespace schedmate::face {
namespace {

void read_job(Request& request, service::JobRequest& job) {
  request.need("dir");
  request.need("command");
  request.text("dir", job.root);
  request.text("command", job.command);
  request.text("workdir", job.workdir);
  request.texts("roots", job.roots);
  request.whole("gpus", job.gpus, 1);
  request.whole("nodes", job.nodes, 1);
  request.text("gpu_type", job.gpu_type);
  request.file("log", job.log);
  request.file("monitoring", job.monitoring);
}

/// The session as a use case gets it that keeps or looks up something.
settings::Session with_state(const settings::Session& session) {
  settings::Session asked = session;
  settings::ask_state_folder(asked);
  return asked;
}

/// As the program prints it.
std::string printed(const Document& document) { return indented(document); }

}  // namespace

Result<std::string> facts(const settings::Session& session, std::string_view text) {
  Request request("facts", text);
  service::JobRequest job;
  bool explain = false;
  std::string min_confidence;
  read_job(request, job);
  request.flag("explain", explain);
  request.text("min_confidence", min_confidence);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  const auto detail = explain ? FactsDetail::with_rejected : FactsDetail::found;
  return service::read_facts(session, job, min_confidence).map([&](const Facts& facts) {
    return printed(facts_document(facts, detail));
  });
}

Result<std::string> advise(const settings::Session& session, std::string_view text) {
  Request request("advise", text);
  service::AdviseRequest advise;
  read_job(request, advise.job);
  request.need("user");
  request.text("user", advise.user);
  request.text("min_confidence", advise.min_confidence);
  request.text("branch", advise.branch);
  request.text("partition", advise.vc);
  request.whole("time_limit_s", advise.time_limit_s, 0);
  request.text("job_id", advise.id);
  request.whole("submit_time_s", advise.submit_s, 0);
  request.flag("record", advise.record);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return service::advise(with_state(session), advise).map(advice_json);
}

Result<std::string> track(const settings::Session& session, std::string_view text) {
  Request request("track", text);
  service::TrackRequest track;
  request.need("logs");
  request.files("logs", track.logs);
  request.text("min_confidence", track.min_confidence);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return service::track(with_state(session), track).map([](const service::TrackAnswer& answer) {
    return in_one_line(service::track_document(answer));
  });
}

Result<std::string> diagnose(const settings::Session& session, std::string_view text) {
  Request request("diagnose", text);
  service::DiagnoseRequest diagnose;
  request.need("logs");
  request.files("logs", diagnose.logs);
  request.file("job", diagnose.job);
  request.file("good", diagnose.good);
  request.files("kernel_logs", diagnose.kernel_logs);
  request.flag("nvml", diagnose.nvml);
  request.files("nvml_from", diagnose.readings);
  request.text("locate", diagnose.locate);
  request.text("classify", diagnose.classify);
  request.text("min_confidence", diagnose.min_confidence);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return service::diagnose(with_state(session), diagnose)
      .map([](const service::DiagnoseAnswer& answer) {
        return printed(service::diagnose_document(answer));
      });
}

Result<std::string> ask(const settings::Session& session, std::string_view text) {
  Request request("ask", text);
  service::AskRequest ask;
  request.need("log");
  request.need("question");
  request.file("log", ask.subject);
  request.text("question", ask.question);
  request.file("job", ask.job);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return service::ask(with_state(session), ask).map([](const service::AskAnswer& answer) {
    return printed(service::ask_document(answer));
  });
}

Result<std::string> eta(const settings::Session& session, std::string_view text) {
  Request request("eta", text);
  queue::EtaRequest eta;
  request.text("job_id", eta.job);
  request.file("from", eta.from);
  request.text("at", eta.at);
  request.text("policy", eta.policy);
  request.file("cluster", eta.cluster);
  request.whole("samples", eta.samples, 1);
  request.flag("outcome", eta.outcome);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return queue::eta(with_state(session), eta).map([](const queue::Eta& answer) {
    return printed(queue::eta_document(answer));
  });
}

Result<std::string> finish(const settings::Session& session, std::string_view text) {
  Request request("finish", text);
  service::FinishRequest finish;
  request.need("job_id");
  request.need("state");
  request.text("job_id", finish.id);
  request.text("state", finish.outcome.state);
  request.whole("duration_s", finish.outcome.duration_s, 0);
  request.number("gpu_util_pct", finish.outcome.gpu_util_pct);
  request.number("gpu_memory_mib", finish.outcome.gpu_memory_mib);
  request.file("log", finish.log);
  request.file("job", finish.job_file);
  request.flag("replace", finish.replace);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return service::finish_job(with_state(session), finish).map([](const JobRecord& record) {
    return in_one_line(service::finish_document(record));
  });
}

Result<std::unique_ptr<lab::HostEstimates>> open_estimates(const settings::Session& session,
                                                           std::string_view text) {
  Request request("estimates", text);
  lab::HostEstimatesRequest estimates;
  request.need("trace");
  request.need("policy");
  request.file("trace", estimates.trace);
  request.text("policy", estimates.policy);
  request.file("cluster", estimates.cluster);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  return lab::HostEstimates::open(session, estimates);
}

Result<std::string> simulate(const settings::Session& session, std::string_view text) {
  return simulate_with(session, text, {});
}

Result<std::string> simulate_with(const settings::Session& session, std::string_view text,
                                  const HostParts& host) {
  Request request("simulate", text);
  lab::SimulateRequest simulate;
  simulate.commit = settings::version().commit;
  request.need("trace");
  request.need("policies");
  request.file("trace", simulate.trace);
  request.texts("policies", simulate.policies);
  request.file("cluster", simulate.cluster);
  request.text("tables", simulate.tables);
  request.text("explain", simulate.explain);
  request.text("out", simulate.out);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  simulate.own = host.own;
  simulate.finished = host.finished;
  const bool is_elastic = study::is_elastic_trace(simulate.trace);
  if (is_elastic && !host.own.empty())
    return fail(ErrorCode::unsupported,
                "policies and estimators of one's own replay plain jobs, not elastic ones");
  if (is_elastic)
    return lab::simulate_elastic(session, simulate).map([](const lab::ElasticSimulation& made) {
      return printed(lab::elastic_document(made.summary));
    });
  settings::Session shown = session;
  shown.progress = host.progress;
  return lab::simulate(shown, simulate, [](const Experiment&) {})
      .map([](const lab::Simulation& made) { return printed(lab::simulation_document(made)); });
}

Result<settings::Session> open_session(std::string_view options, const char* const* environment) {
  Request request("open", options);
  settings::SettingsSources sources;
  std::string state_dir;
  std::vector<std::pair<std::string, std::string>> pairs;
  request.text("config", sources.file);
  request.text("state_dir", state_dir);
  request.pairs("settings", pairs);
  if (auto ok = request.done(); !ok) return tl::unexpected(ok.error());
  for (auto& [key, value] : pairs)
    sources.given.push_back({std::move(key), std::move(value), "settings"});
  if (!state_dir.empty()) sources.given.push_back({"state_dir", std::move(state_dir), "state_dir"});
  auto around = settings::read_environment(environment);
  around.progress = false;
  auto settings = settings::load_settings(sources, around);
  if (!settings) return tl::unexpected(settings.error());
  return settings::Session{std::move(around), *std::move(settings), settings::machine_clock()};
}

}  // namespace schedmate::face
