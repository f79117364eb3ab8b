// SPDX-License-Identifier: Apache-2.0
#include "ray_live/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/document.hpp"
#include "base/text.hpp"
#include "ray_live/zip.hpp"

namespace schedmate::embedded {
extern const std::string_view schedmate_driver_py;
extern const std::string_view schedmate_launch_py;
}  // namespace schedmate::embedded

namespace schedmate::ray_live {
namespace {

constexpr const char* launcher = "schedmate_launch.py";
constexpr const char* driver = "schedmate_driver.py";
constexpr double hardly_any = 0.001;  // of a resource that only one node has

std::string filled(std::string pattern, const std::string& name) {
  constexpr std::string_view hole = "{name}";
  for (std::size_t i = pattern.find(hole); i != std::string::npos;
       i = pattern.find(hole, i + name.size()))
    pattern.replace(i, hole.size(), name);
  return pattern;
}

bool is_alone(const std::vector<RayNode>& nodes, const RayNode& node) {
  return std::ranges::count_if(
             nodes, [&](const RayNode& each) { return each.is_alive && each.ip == node.ip; }) <= 1;
}

std::string name_of(const std::vector<RayNode>& nodes, const RayNode& node) {
  constexpr std::size_t enough = 8;
  if (!node.label.empty()) return node.label;
  if (!node.ip.empty() && is_alone(nodes, node)) return node.ip;
  return "node-" + node.id.substr(0, enough);
}

std::string pin_of(const std::vector<RayNode>& nodes, const KnownNode& node, bool has_selectors,
                   const std::string& pin) {
  if (pin == "selector" || (pin == "auto" && has_selectors)) return "id=" + node.ray.id;
  const std::string own = filled(pin == "auto" ? "sm_node_{name}" : pin, node.name);
  if (node.ray.resources.contains(own)) return "resource=" + own;
  const std::string by_address = "node:" + node.ray.ip;
  if (node.ray.resources.contains(by_address) && is_alone(nodes, node.ray))
    return "resource=" + by_address;
  return {};
}

std::string gpus_of(const NodeGpus& node) {
  return fmt::format("{}={}", node.node, fmt::join(node.gpus, ","));
}

/// What the launcher is told.
std::vector<std::string> words_of(const Entry& entry, const std::string& ray_id,
                                  const std::vector<KnownNode>& nodes,
                                  const StartOptions& options) {
  const SeenJob& seen = entry.seen;
  std::vector<std::string> made{"--run", ray_id,       "--job",
                                seen.id, "--start-by", std::to_string(seconds_of(entry.start_by))};
  const auto add = [&](const char* flag, const std::string& value) {
    if (!value.empty()) made.insert(made.end(), {flag, value});
  };
  if (seen.limit > Seconds(0)) add("--limit", std::to_string(seen.limit.count()));
  add("--dir", seen.dir);
  add("--output", seen.output);
  add("--ends", options.ends);
  for (const NodeGpus& node : entry.where) add("--node", gpus_of(node));
  if (nodes.size() > 1 || options.by_driver) {  // else Ray itself is told
    for (const KnownNode& node : nodes) add("--pin", node.pin);
    if (entry.counted) add("--counted", options.gpu_resource);
  }
  made.insert(made.end(), {"--", seen.command});
  return made;
}

Document metadata_of(const Entry& entry) {
  return {{"job_name", entry.seen.name},
          {"sm_user", entry.seen.user},
          {"sm_job", entry.seen.id},
          {"sm_restarts", std::to_string(entry.seen.restarts)}};
}

std::string text_of(const Document& body) {
  return body.dump(-1, ' ', false, Document::error_handler_t::replace);
}

bool says(const RayJob& record, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words,
                             [&](std::string_view word) { return record.message.contains(word); });
}

}  // namespace

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos)
    return std::string(word);
  return shell_quoted(word);
}

std::vector<KnownNode> name_nodes(const std::vector<RayNode>& nodes, const std::string& ray_version,
                                  const StartOptions& options) {
  std::map<std::string, KnownNode> named;
  for (const RayNode& each : nodes) {
    constexpr double most_gpus = 64;
    const auto gpus = each.resources.find(options.gpu_resource);
    if (gpus == each.resources.end() || !(gpus->second >= 1)) continue;
    KnownNode node{.ray = each, .name = name_of(nodes, each), .pin = {}};
    node.gpus = static_cast<std::int32_t>(std::min(std::floor(gpus->second), most_gpus));
    node.pin = pin_of(nodes, node, has_selectors(ray_version), options.pin);
    const auto [found, fresh] = named.try_emplace(node.name, node);
    if (!fresh && (each.is_alive || !found->second.ray.is_alive)) found->second = std::move(node);
  }
  std::vector<KnownNode> made;
  for (auto& [name, node] : named) made.push_back(std::move(node));
  return made;
}

std::string package_name(const std::string& ray_id) {
  std::string word = ray_id;
  std::ranges::replace(word, '-', '_');
  return "_ray_pkg_" + word + ".zip";
}

std::string package_of_launcher() { return zip_of({{launcher, embedded::schedmate_launch_py}}); }

std::string package_of_driver() {
  return zip_of(
      {{launcher, embedded::schedmate_launch_py}, {driver, embedded::schedmate_driver_py}});
}

std::string driver_submission_of(const Entry& entry, const std::string& ray_id,
                                 const std::vector<KnownNode>& nodes, const StartOptions& options) {
  Document ids = Document::array();
  for (const KnownNode& node : nodes) ids.push_back(node.ray.id);
  return text_of({{"submission_id", ray_id},
                  {"words", words_of(entry, ray_id, nodes, options)},
                  {"nodes", std::move(ids)},
                  {"metadata", metadata_of(entry)}});
}

std::string submission_of_driver(const std::string& ray_id, const std::string& instance,
                                 const StartOptions& options) {
  return text_of(
      {{"submission_id", ray_id},
       {"entrypoint", fmt::format("exec {} {} --namespace schedmate-{} --gpu-resource {}",
                                  shell_word(options.python), driver, instance,
                                  shell_word(options.gpu_resource))},
       {"runtime_env", {{"working_dir", "gcs://" + package_name(ray_id)}}},
       {"metadata", {{"job_name", "schedmate-driver"}}}});
}

std::string submission_of(const Entry& entry, const std::string& ray_id,
                          const std::vector<KnownNode>& nodes, const StartOptions& options) {
  std::string entrypoint = fmt::format("exec {} {}", shell_word(options.python), launcher);
  for (const std::string& word : words_of(entry, ray_id, nodes, options))
    entrypoint += ' ' + shell_word(word);
  Document body{{"submission_id", ray_id},
                {"entrypoint", std::move(entrypoint)},
                {"runtime_env", {{"working_dir", "gcs://" + package_name(ray_id)}}},
                {"metadata", metadata_of(entry)}};
  const std::string& pin = nodes.front().pin;
  const std::string name = pin.substr(pin.find('=') + 1);
  if (pin.starts_with("id="))
    body["entrypoint_label_selector"] = {{"ray.io/node-id", name}};
  else
    body["entrypoint_resources"] = {{name, hardly_any}};
  if (entry.counted && nodes.size() == 1) {  // of several nodes a placement group holds them
    const auto gpus = static_cast<double>(entry.where.front().gpus.size());
    if (options.gpu_resource == "GPU")
      body["entrypoint_num_gpus"] = gpus;
    else
      body["entrypoint_resources"][options.gpu_resource] = gpus;
  }
  return text_of(body);
}

AttemptEnd end_of(const RayJob& record) {
  using enum AttemptEnd;
  constexpr std::int32_t too_late = 75;
  if (record.status == RayStatus::stopped) return stopped;
  if (record.exit_code)
    return *record.exit_code == too_late && says(record, {"schedmate: too late"}) ? never_ran
                                                                                  : ended;
  if (record.status == RayStatus::succeeded) return ended;
  constexpr std::array<std::string_view, 3> unstarted = {"JOB_SUPERVISOR_ACTOR_START_TIMEOUT",
                                                         "RUNTIME_ENV_SETUP_FAILURE",
                                                         "JOB_SUPERVISOR_ACTOR_UNSCHEDULABLE"};
  if (std::ranges::find(unstarted, record.error_type) != unstarted.end()) return never_ran;
  if (record.error_type == "JOB_SUPERVISOR_ACTOR_START_FAILURE")
    return says(record, {"Failed to start supervisor actor"}) ? never_ran : lost;
  // Ray 2.41 names no type.
  if (record.error_type.empty() &&
      says(record, {"runtime_env setup failed", "failed to start within",
                    "Failed to start supervisor actor", "could not be scheduled"}))
    return never_ran;
  return lost;
}

}  // namespace schedmate::ray_live
