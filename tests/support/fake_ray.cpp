// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_ray.hpp"

#include <fmt/format.h>
#include <httplib.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>
#include <utility>

#include "tests/support/patience.hpp"

namespace schedmate::testing {
namespace {

using Json = nlohmann::json;
using httplib::Request;
using httplib::Response;

constexpr const char* traceback =
    "Traceback (most recent call last):\n  File \"job_head.py\", line 1\nRuntimeError: no";

std::string id_of_node(int number) { return fmt::format("{:056x}", number); }

Json null_if_empty(const std::string& text) { return text.empty() ? Json() : Json(text); }

Json document_of(const FakeRayJob& job) {
  const Json body = Json::parse(job.body, nullptr, false);
  return {{"type", "SUBMISSION"},
          {"job_id", nullptr},
          {"submission_id", job.id},
          {"driver_info", nullptr},
          {"status", job.status},
          {"entrypoint", job.entrypoint},
          {"message", job.message},
          {"error_type", null_if_empty(job.error_type)},
          {"start_time", job.start_ms},
          {"end_time", job.end_ms > 0 ? Json(job.end_ms) : Json()},
          {"metadata", body.is_object() ? body.value("metadata", Json::object()) : Json::object()},
          {"runtime_env", Json::object()},
          {"driver_agent_http_address", "http://127.0.0.1:1"},
          {"driver_node_id", null_if_empty(job.status == "PENDING" ? "" : job.node)},
          {"driver_exit_code", job.exit_code ? Json(*job.exit_code) : Json()}};
}

}  // namespace

struct FakeRay::Inside {
  Options options;
  httplib::Server server, driver;
  mutable std::mutex mutex;
  std::map<std::string, FakeRayJob> jobs;
  std::map<std::string, std::string> logs;
  std::set<std::string> packages, dead;
  std::vector<std::string> asked;
  struct Planned {
    std::string request;
    RayFault fault;
    int times;
  };
  std::vector<Planned> faults;
  int session = 1, port = 0, driver_port = 0, drivers = 0;
  std::atomic<bool> closing = false;
  std::jthread thread, driver_thread;

  [[nodiscard]] std::int64_t now_ms() const {
    if (options.now_s) return options.now_s() * 1000;
    const auto now = std::chrono::system_clock::now().time_since_epoch();  // clock: Ray's
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }
  [[nodiscard]] std::string name_of(const std::string& node_id) const {
    for (int i = 1; i <= options.nodes; ++i)
      if (id_of_node(i) == node_id) return fmt::format("w{}", i);
    return {};
  }

  RayFault fault_of(const std::string& request) {
    const std::scoped_lock lock(mutex);
    asked.push_back(request);
    for (Planned& each : faults)
      if (each.times > 0 && request.starts_with(each.request)) {
        --each.times;
        return each.fault;
      }
    return {};
  }
  void stall() const {
    testing::soon([&] { return closing.load(); });
  }

  void answer(const Request& request, Response& response,
              const std::function<void(const Request&, Response&)>& well,
              const std::string& who = {}) {
    using Kind = RayFault::Kind;
    const RayFault fault = fault_of(who + request.method + " " + request.path);
    if (fault.kind == Kind::hang) return stall();
    if (!options.token.empty() &&
        request.get_header_value("Authorization") != "Bearer " + options.token) {
      response.status = request.has_header("Authorization") ? 403 : 401;
      response.set_content("Unauthorized: Missing authentication token", "text/plain");
      return;
    }
    // As 2.41 does.
    if (options.version < "2.49" && !request.has_header("User-Agent"))
      return refuse(response, 500, "500 Internal Server Error");
    const bool is_done = fault.kind != Kind::status && fault.kind != Kind::text;
    if (is_done) {
      const std::scoped_lock lock(mutex);
      well(request, response);
    }
    if (fault.kind == Kind::done_lost) return stall();
    if (fault.kind == Kind::status || fault.kind == Kind::done_500) {
      response.status = 500;
      response.set_content(traceback, "text/plain");
    } else if (fault.kind == Kind::text) {
      response.set_content(fault.text, "application/json");
    }
  }

  static void give(Response& response, const Json& document) {
    response.set_content(document.dump(), "application/json");
  }
  static void refuse(Response& response, int status, const std::string& text) {
    response.status = status;
    response.set_content(text, "text/plain");
  }

  void nodes(const Request&, Response& response) const {
    Json list = Json::array();
    for (int i = 0; i <= options.nodes; ++i) {
      const std::string name = i == 0 ? "head" : fmt::format("w{}", i);
      Json resources{{"CPU", 8.0}, {"node:127.0.0.1", 1.0}, {"sm_node_" + name, 1000.0}};
      if (i > 0) resources["GPU"] = static_cast<double>(options.gpus);
      list.push_back({{"node_id", id_of_node(i)},
                      {"node_ip", "127.0.0.1"},
                      {"is_head_node", i == 0},
                      {"state", dead.contains(name) ? "DEAD" : "ALIVE"},
                      {"state_message", dead.contains(name) ? Json("health check failed") : Json()},
                      {"node_name", "127.0.0.1"},
                      {"resources_total", resources},
                      {"labels", {{"sm-node", name}, {"ray.io/node-id", id_of_node(i)}}}});
    }
    give(response,
         {{"result", true}, {"data", {{"result", {{"total", list.size()}, {"result", list}}}}}});
  }

  void usage(const Request&, Response& response) const {
    Json by_node = Json::object();
    for (int i = 1; i <= options.nodes; ++i) {
      double used = 0;
      for (const auto& [id, job] : jobs)
        if (job.status == "RUNNING" && job.node == id_of_node(i)) used += job.gpus;
      by_node[id_of_node(i)] = {{"GPU", {used, options.gpus}}, {"smNodeW1", {0.0, 1000.0}}};
    }
    give(response,
         {{"data", {{"clusterStatus", {{"loadMetricsReport", {{"usageByNode", by_node}}}}}}}});
  }

  void submit(const Request& request, Response& response) {
    const Json body = Json::parse(request.body, nullptr, false);
    if (!body.is_object() || !body.contains("entrypoint"))
      return refuse(response, 400, std::string(traceback) + "TypeError: missing 'entrypoint'");
    const bool is_old = options.version < "2.49";
    if (is_old && body.contains("entrypoint_label_selector"))
      return refuse(response, 400, "TypeError: got an unexpected keyword argument");
    const std::string id = body.value("submission_id", "raysubmit_x");
    if (jobs.contains(id))
      return refuse(
          response, 500,
          fmt::format("{}\nValueError: Job with submission_id {} already exists.", traceback, id));
    FakeRayJob job{.id = id, .entrypoint = body["entrypoint"], .body = request.body};
    job.start_ms = now_ms();
    job.gpus = body.value("entrypoint_num_gpus", 0.0);
    if (body.contains("entrypoint_label_selector"))
      job.node = body["entrypoint_label_selector"].value("ray.io/node-id", "");
    for (int i = 1; i <= options.nodes; ++i)
      if (body.value("entrypoint_resources", Json::object())
              .contains(fmt::format("sm_node_w{}", i)))
        job.node = id_of_node(i);
    const std::string package = body.value("runtime_env", Json::object()).value("working_dir", "");
    if (!package.empty() && !packages.contains(package.substr(std::string("gcs://").size()))) {
      job.status = "FAILED";
      job.error_type = "RUNTIME_ENV_SETUP_FAILURE";
      job.end_ms = job.start_ms;
    } else if (options.runs_at_once) {
      job.status = "RUNNING";
    }
    if (id.contains("-driver-") && job.status == "RUNNING") {
      ++drivers;
      logs[id] = fmt::format("schedmate driver: http://127.0.0.1:{}\n", driver_port);
    }
    jobs[id] = job;
    give(response, {{"job_id", id}, {"submission_id", id}});
  }
  /// To the driver: one that is known already is not begun again.
  void submit_words(const Request& request, Response& response) {
    const Json body = Json::parse(request.body);
    const std::string id = body.at("submission_id");
    FakeRayJob job{.id = id, .entrypoint = {}, .body = request.body};
    job.node = body.at("nodes").at(0);
    for (const Json& word : body.at("words")) job.entrypoint += word.get<std::string>() + " ";
    job.start_ms = now_ms();
    job.by_driver = true;
    if (job.entrypoint.contains("--counted")) {
      const std::string where = job.entrypoint.substr(job.entrypoint.find("--node "));
      job.gpus =
          1.0 + static_cast<double>(std::ranges::count(where.substr(0, where.find(" --pin")), ','));
    }
    if (options.runs_at_once) job.status = "RUNNING";
    jobs.try_emplace(id, job);
    give(response, {{"submission_id", id}});
  }
  void list_of_driver(const Request&, Response& response) const {
    Json made = Json::array();
    for (const auto& [id, job] : jobs)
      if (job.by_driver) made.push_back(document_of(job));
    give(response, made);
  }
  void version_of_driver(const Request&, Response& response) const {
    give(response,
         {{"ray_version", options.version}, {"session_name", fmt::format("d{}", drivers)}});
  }
  void log_of_job(const Request& request, Response& response) const {
    const auto found = logs.find(request.matches[1].str());
    give(response, {{"logs", found == logs.end() ? "" : found->second}});
  }

  void list(const Request&, Response& response) const {
    Json made = Json::array();
    for (const auto& [id, job] : jobs)
      if (!job.by_driver) made.push_back(document_of(job));
    give(response, made);
  }
  [[nodiscard]] static bool is_over(const FakeRayJob& job) {
    return job.status != "PENDING" && job.status != "RUNNING";
  }
  [[nodiscard]] auto of(const Request& request) {
    const auto found = jobs.find(request.matches[1].str());
    const bool is_here =
        found != jobs.end() && found->second.by_driver == (request.local_port == driver_port);
    return is_here ? found : jobs.end();
  }
  void one(const Request& request, Response& response) {
    const auto found = of(request);
    if (found == jobs.end()) return refuse(response, 404, "Job does not exist");
    give(response, document_of(found->second));
  }
  void stop(const Request& request, Response& response) {
    const auto found = of(request);
    if (found == jobs.end()) return refuse(response, 404, "Job does not exist");
    FakeRayJob& job = found->second;
    const bool was_there = !is_over(job);
    if (job.status == "RUNNING") {  // one that is PENDING is not stopped, as with the real one
      job.status = "STOPPED";
      job.end_ms = now_ms();
    }
    give(response, {{"stopped", was_there}});
  }
  void remove(const Request& request, Response& response) {
    const auto found = of(request);
    if (found == jobs.end()) return refuse(response, 404, "Job does not exist");
    if (!is_over(found->second)) return refuse(response, 500, traceback);
    jobs.erase(found);
    give(response, {{"deleted", true}});
  }
  void log_lines(const Request& request, Response& response) const {
    std::string name = request.get_param_value("filename");
    constexpr std::string_view front = "job-driver-", back = ".log";
    name = name.substr(front.size(), name.size() - front.size() - back.size());
    const auto found = logs.find(name);
    if (dead.contains(name_of(request.get_param_value("node_id"))))
      return refuse(response, 500, traceback);
    std::string text = found == logs.end() ? "" : found->second;
    // As 2.41 does, unless it is asked for text alone.
    if (options.version < "2.49" && request.get_param_value("format") != "text")
      text.insert(0, "1");
    response.set_content(text, "text/plain");
  }

  void open() {
    using Method = void (Inside::*)(const Request&, Response&);
    using ConstMethod = void (Inside::*)(const Request&, Response&) const;
    const auto well = [this](auto method) {
      return [this, method](const Request& request, Response& response) {
        answer(request, response,
               [this, method](const Request& each, Response& to) { (this->*method)(each, to); });
      };
    };
    const auto get = [&](const char* path, ConstMethod method) { server.Get(path, well(method)); };
    get(R"(/api/jobs/([^/]+)/logs)", &Inside::log_of_job);
    get("/api/v0/nodes", &Inside::nodes);
    get("/api/cluster_status", &Inside::usage);
    get("/api/jobs/", &Inside::list);
    server.Get(R"(/api/jobs/([^/]+))", well(static_cast<Method>(&Inside::one)));
    get("/api/v0/logs/file", &Inside::log_lines);
    get("/api/version", &Inside::tell_version);
    server.Post("/api/jobs/", well(static_cast<Method>(&Inside::submit)));
    server.Post(R"(/api/jobs/([^/]+)/stop)", well(static_cast<Method>(&Inside::stop)));
    server.Delete(R"(/api/jobs/([^/]+))", well(static_cast<Method>(&Inside::remove)));
    server.Put(R"(/api/packages/gcs/([^/]+))", well(static_cast<Method>(&Inside::keep)));
    port = server.bind_to_any_port("127.0.0.1");
    thread = std::jthread([this] { server.listen_after_bind(); });
    while (!server.is_running()) std::this_thread::yield();
    open_driver();
  }
  void open_driver() {
    const auto well = [this](auto method) {
      return [this, method](const Request& request, Response& response) {
        answer(
            request, response,
            [this, method](const Request& each, Response& to) {
              const bool is_there = std::ranges::any_of(jobs, [](const auto& one) {
                return one.first.contains("-driver-") && one.second.status == "RUNNING";
              });
              if (!is_there) return refuse(to, 503, "no driver runs");
              (this->*method)(each, to);
            },
            "driver ");
      };
    };
    driver.Get("/api/version", well(&Inside::version_of_driver));
    driver.Get("/api/jobs/", well(&Inside::list_of_driver));
    driver.Get(R"(/api/jobs/([^/]+))", well(&Inside::one));
    driver.Post("/api/jobs/", well(&Inside::submit_words));
    driver.Post(R"(/api/jobs/([^/]+)/stop)", well(&Inside::stop));
    driver.Delete(R"(/api/jobs/([^/]+))", well(&Inside::remove));
    driver_port = driver.bind_to_any_port("127.0.0.1");
    driver_thread = std::jthread([this] { driver.listen_after_bind(); });
    while (!driver.is_running()) std::this_thread::yield();
  }
  void tell_version(const Request&, Response& response) const {
    give(response, {{"version", "4"},
                    {"ray_version", options.version},
                    {"session_name", fmt::format("session_{}", session)}});
  }
  void keep(const Request& request, Response&) { packages.insert(request.matches[1].str()); }
};

FakeRay::FakeRay(Options options) : inside_(std::make_unique<Inside>()) {
  inside_->options = std::move(options);
  inside_->open();
}

FakeRay::~FakeRay() {
  inside_->closing = true;
  inside_->server.stop();
  inside_->driver.stop();
}

std::string FakeRay::url() const { return fmt::format("http://127.0.0.1:{}", inside_->port); }

void FakeRay::fault(const std::string& request, RayFault fault, int times) {
  const std::scoped_lock lock(inside_->mutex);
  inside_->faults.push_back({request, std::move(fault), times});
}

void FakeRay::mend() {
  const std::scoped_lock lock(inside_->mutex);
  inside_->faults.clear();
}

std::vector<FakeRayJob> FakeRay::jobs() const {
  const std::scoped_lock lock(inside_->mutex);
  std::vector<FakeRayJob> made;
  for (const auto& [id, job] : inside_->jobs) made.push_back(job);
  std::ranges::stable_sort(made, {}, &FakeRayJob::start_ms);
  return made;
}

std::vector<std::string> FakeRay::asked() const {
  const std::scoped_lock lock(inside_->mutex);
  return inside_->asked;
}

void FakeRay::run(const std::string& id) {
  const std::scoped_lock lock(inside_->mutex);
  inside_->jobs.at(id).status = "RUNNING";
}

void FakeRay::end_all(int exit_code) {
  for (const FakeRayJob& job : jobs())
    if (!Inside::is_over(job) && !job.id.contains("-driver-"))
      end(job.id, {.status = exit_code == 0 ? "SUCCEEDED" : "FAILED", .exit_code = exit_code});
}

void FakeRay::end(const std::string& id, const End& end) {
  const std::scoped_lock lock(inside_->mutex);
  FakeRayJob& job = inside_->jobs.at(id);
  job.status = end.status;
  job.exit_code = end.exit_code;
  job.error_type = end.error_type;
  job.message = end.message;
  job.end_ms = inside_->now_ms();
}

void FakeRay::submit_foreign(const std::string& id, const std::string& node, double gpus) {
  const std::scoped_lock lock(inside_->mutex);
  FakeRayJob job{.id = id, .entrypoint = "python theirs.py", .body = "{}", .status = "RUNNING"};
  for (int i = 1; i <= inside_->options.nodes; ++i)
    if (fmt::format("w{}", i) == node) job.node = id_of_node(i);
  job.start_ms = inside_->now_ms();
  job.gpus = gpus;
  inside_->jobs[id] = job;
}

void FakeRay::forget(const std::string& id) {
  const std::scoped_lock lock(inside_->mutex);
  inside_->jobs.erase(id);
}

void FakeRay::restart() {
  const std::scoped_lock lock(inside_->mutex);
  inside_->jobs.clear();
  inside_->packages.clear();
  ++inside_->session;
}

void FakeRay::end_driver() {
  for (const FakeRayJob& job : jobs())
    if (job.id.contains("-driver-") && !Inside::is_over(job)) end(job.id, {.status = "STOPPED"});
}

void FakeRay::kill_node(const std::string& name) {
  const std::scoped_lock lock(inside_->mutex);
  inside_->dead.insert(name);
}

void FakeRay::log(const std::string& id, const std::string& text) {
  const std::scoped_lock lock(inside_->mutex);
  inside_->logs[id] = text;
}

}  // namespace schedmate::testing
