// SPDX-License-Identifier: Apache-2.0
#include "service/slurm_hooks.hpp"

#include <fmt/format.h>
#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/input.hpp"
#include "base/text.hpp"
#include "base/unified_diff.hpp"
#include "service/slurm_hook_files.hpp"
#include "slurm/hooks.hpp"

namespace schedmate::service {
namespace {

namespace fs = std::filesystem;
using settings::Session;
using slurm::Seal;

/// The files, by the name under which Slurm knows the folder.
struct HookPlaces {
  std::string conf, folder, lua, site_lua, epilog;
};

tl::unexpected<Error> hook_error(ErrorCode code, const std::string& path, const std::string& what) {
  return fail(code, fmt::format("{}: {}", path, what));
}

Result<HookPlaces> places_of(const Session& session, const std::string& given) {
  std::string conf = given.empty() ? session.settings.text("cluster.slurm.conf") : given;
  if (conf.empty()) conf = session.environment.variable("SLURM_CONF");
  for (const char* const usual : {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                                  "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf"})
    if (conf.empty() && ::access(usual, F_OK) == 0) conf = usual;
  if (conf.empty())
    return fail(ErrorCode::invalid, "there is no slurm.conf in the usual places: give --conf PATH");
  const fs::path path = fs::path(conf).is_absolute() ? fs::path(conf) : fs::current_path() / conf;
  const std::string folder = path.parent_path().lexically_normal().string();
  return HookPlaces{.conf = path.lexically_normal().string(),
                    .folder = folder,
                    .lua = folder + "/job_submit.lua",
                    .site_lua = folder + "/job_submit.site.lua",
                    .epilog = folder + "/schedmate_epilog.sh"};
}

/// A controller that is told to load a plug-in that it lacks does not start.
Result<void> check_plugin(const std::string& conf_text) {
  const std::string named = slurm::conf_value(conf_text, "plugindir");
  std::string tried;
  for (const std::string_view folder :
       split(named.empty() ? "/usr/lib/*/slurm-wlm:/usr/lib64/slurm:/usr/lib/slurm:"
                             "/usr/lib/*/slurm:/usr/local/lib/slurm:/usr/local/lib64/slurm:"
                             "/opt/slurm/lib/slurm:/opt/slurm/lib64/slurm"
                           : std::string_view(named),
             ':')) {
    glob_t found{};
    const std::string pattern = std::string(folder) + "/job_submit_lua.so";
    const bool is_there = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found) == 0;
    ::globfree(&found);
    if (is_there) return {};
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", folder);
  }
  return fail(ErrorCode::unavailable,
              fmt::format("there is no job_submit_lua.so in {}: a controller that is told to load "
                          "it would not start; install Slurm's Lua plug-in, or set PluginDir",
                          tried));
}

Result<std::string> read_conf(const HookPlaces& places) {
  const auto text = read_hook_file(places.conf);
  if (!text) return tl::unexpected(text.error());
  if (!*text)
    return hook_error(ErrorCode::invalid, places.conf, "there is no such file; give --conf PATH");
  if (auto fine = check_replaceable(places.conf); !fine) return tl::unexpected(fine.error());
  return **text;
}

slurm::ReadInclude reader_in(const std::string& folder) {
  return [folder](const std::string& name) -> Result<std::string> {
    if (name.empty() || name.contains('%'))
      return fail(ErrorCode::invalid, "its name is known to Slurm alone");
    const auto text = read_hook_file(name.starts_with('/') ? name : folder + "/" + name);
    if (!text) return tl::unexpected(text.error());
    if (!*text) return fail(ErrorCode::invalid, "there is no such file");
    return **text;
  };
}

Error at_file(const std::string& path, const Error& error) {
  return {error.code, fmt::format("{}: {}", path, error.message)};
}

tl::unexpected<Error> changed_by_hand(const std::string& path) {
  return hook_error(ErrorCode::conflict, path,
                    "somebody changed this file of SchedMate's since; move it away, or restore it");
}

/// The site's own script is kept under another name, and called where Slurm called it before.
Result<void> plan_lua(const HookPlaces& places, bool is_in_use, SlurmHooksPlan& plan) {
  const auto there = read_hook_file(places.lua);
  const auto kept = read_hook_file(places.site_lua);
  if (!there || !kept) return tl::unexpected(!there ? there.error() : kept.error());
  const Seal seal = *there ? slurm::seal_of(**there) : Seal::none;
  if (seal == Seal::broken) return changed_by_hand(places.lua);
  const bool is_sites = *there && seal == Seal::none;
  if (*kept && seal != Seal::whole && !is_same_file(places.lua, places.site_lua))
    return hook_error(ErrorCode::conflict, places.site_lua,
                      "is there already, and nothing of SchedMate's calls it; move it away");
  const bool has_site = is_sites || *kept;
  auto text = slurm::job_submit_text(has_site && is_in_use ? places.site_lua : "");
  if (!text) return tl::unexpected(text.error());
  if (is_sites && !*kept)
    plan.steps.push_back(
        {.deed = FileStep::Deed::keep, .path = places.lua, .other = places.site_lua});
  plan.steps.push_back({.path = places.lua,
                        .exists = there->has_value(),
                        .before = there->value_or(""),
                        .after = std::move(*text),
                        .rights_of = places.conf});
  return {};
}

Result<void> plan_epilog(const Session& session, const HookPlaces& places, SlurmHooksPlan& plan) {
  const auto port = session.settings.whole("listen.look_port");
  if (port == 0)
    return fail(ErrorCode::invalid,
                "the setting listen.look_port is 0: give the daemon a port to be told at (and name "
                "its settings by --config)");
  if (::access("/bin/bash", X_OK) != 0)
    return fail(ErrorCode::unavailable, "/bin/bash is not there, which sends the word");
  const bool is_plain = std::ranges::all_of(places.epilog, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+@").contains(c);
  });
  if (!is_plain)
    return hook_error(ErrorCode::invalid, places.epilog,
                      "a path with such letters is not put into slurm.conf");
  const auto there = read_hook_file(places.epilog);
  if (!there) return tl::unexpected(there.error());
  if (*there && slurm::seal_of(**there) != Seal::whole) return changed_by_hand(places.epilog);
  constexpr std::uint32_t program = 0755;
  plan.steps.push_back({.path = places.epilog,
                        .exists = there->has_value(),
                        .before = there->value_or(""),
                        .after = slurm::epilog_text(port),
                        .mode = program,
                        .rights_of = places.conf});
  return {};
}

void add_conf_step(const HookPlaces& places, std::string before, std::string after,
                   SlurmHooksPlan& plan) {
  plan.steps.push_back({.path = places.conf,
                        .exists = true,
                        .before = std::move(before),
                        .after = std::move(after),
                        .rights_of = places.conf});
}

/// Without the steps that change nothing; with what they change.
void finish_plan(SlurmHooksPlan& plan) {
  using enum FileStep::Deed;
  std::erase_if(plan.steps, [](const FileStep& step) {
    return step.deed == write && step.exists && step.before == step.after;
  });
  for (const FileStep& step : plan.steps) {
    if (step.deed == keep) continue;
    plan.difference += unified_diff({step.exists ? step.path : "/dev/null", step.before},
                                    {step.deed == remove ? "/dev/null" : step.path, step.after});
  }
}

constexpr std::string_view reconfigure_words =
    "copy slurm.conf to the nodes as after any change, then run: scontrol reconfigure";
constexpr std::string_view restart_words =
    "restart slurmctld: of EpilogSlurmctld Slurm 22.05 learns only then";

void say_next(const std::string& before, const std::string& after, SlurmHooksPlan& plan) {
  const auto differs = [&](std::string_view key) {
    return slurm::conf_value(before, key) != slurm::conf_value(after, key);
  };
  if (before != after) plan.next.emplace_back(reconfigure_words);
  if (differs("epilogslurmctld")) plan.next.emplace_back(restart_words);
}

}  // namespace

Result<SlurmHooksPlan> plan_install(const Session& session, const SlurmHooksRequest& request) {
  const auto places = places_of(session, request.conf);
  if (!places) return tl::unexpected(places.error());
  const auto text = read_conf(*places);
  if (!text) return tl::unexpected(text.error());
  const auto bare = slurm::without_hooks(*text);
  if (!bare) return tl::unexpected(at_file(places->conf, bare.error()));
  const bool has_lua = slurm::loads_lua(slurm::conf_value(*bare, "jobsubmitplugins"));
  SlurmHooksPlan plan{.conf = places->conf};
  if (request.tag)
    if (auto planned = plan_lua(*places, has_lua, plan); !planned)
      return tl::unexpected(planned.error());
  if (request.ends)
    if (auto planned = plan_epilog(session, *places, plan); !planned)
      return tl::unexpected(planned.error());
  const slurm::ConfHooks hooks{.lua = request.tag,
                               .epilog = request.ends ? places->epilog : std::string()};
  auto with = slurm::with_hooks(*bare, hooks, reader_in(places->folder));
  if (!with) return tl::unexpected(at_file(places->conf, with.error()));
  if (request.tag && !has_lua)
    if (auto fine = check_plugin(*bare); !fine) return tl::unexpected(fine.error());
  say_next(*text, *with, plan);
  add_conf_step(*places, *text, std::move(*with), plan);
  finish_plan(plan);
  return plan;
}

Result<SlurmHooksPlan> plan_uninstall(const Session& session, const std::string& conf) {
  using enum FileStep::Deed;
  const auto places = places_of(session, conf);
  if (!places) return tl::unexpected(places.error());
  const auto text = read_conf(*places);
  if (!text) return tl::unexpected(text.error());
  auto bare = slurm::without_hooks(*text);
  if (!bare) return tl::unexpected(at_file(places->conf, bare.error()));
  SlurmHooksPlan plan{.conf = places->conf};
  say_next(*text, *bare, plan);
  add_conf_step(*places, *text, std::move(*bare), plan);
  const auto lua = read_hook_file(places->lua);
  const auto kept = read_hook_file(places->site_lua);
  const auto epilog = read_hook_file(places->epilog);
  for (const auto* const each : {&lua, &kept, &epilog})
    if (!*each) return tl::unexpected(each->error());
  const Seal seal = *lua ? slurm::seal_of(**lua) : Seal::none;
  if (seal == Seal::broken) return changed_by_hand(places->lua);
  const bool is_ours = *lua && seal == Seal::whole;
  if (*kept && (is_ours || !*lua || is_same_file(places->lua, places->site_lua)))
    plan.steps.push_back({.deed = give_back,
                          .path = places->lua,
                          .other = places->site_lua,
                          .exists = lua->has_value(),
                          .before = lua->value_or(""),
                          .after = **kept});
  else if (is_ours)
    plan.steps.push_back({.deed = remove, .path = places->lua, .exists = true, .before = **lua});
  else if (*kept)
    plan.next.push_back(
        fmt::format("{} is another than SchedMate's: it is left, and so is {}, the "
                    "one before",
                    places->lua, places->site_lua));
  const Seal of_epilog = *epilog ? slurm::seal_of(**epilog) : Seal::none;
  if (of_epilog == Seal::broken) return changed_by_hand(places->epilog);
  if (of_epilog == Seal::whole)
    plan.steps.push_back(
        {.deed = remove, .path = places->epilog, .exists = true, .before = **epilog});
  finish_plan(plan);
  return plan;
}

Document slurm_hooks_document(const SlurmHooksPlan& plan, bool is_written) {
  using enum FileStep::Deed;
  Document files = Document::array();
  for (const FileStep& step : plan.steps) {
    const bool is_kept = step.deed == keep;
    files.push_back({{"path", is_kept ? step.other : step.path},
                     {"change", is_kept                  ? "kept"
                                : step.deed == remove    ? "removed"
                                : step.deed == give_back ? "given back"
                                : step.exists            ? "changed"
                                                         : "made"}});
  }
  return {{"schema", "schedmate.slurm_hooks.v1"},
          {"conf", plan.conf},
          {"written", is_written && !plan.steps.empty()},
          {"files", std::move(files)},
          {"difference", plan.difference},
          {"next", plan.next}};
}

}  // namespace schedmate::service
