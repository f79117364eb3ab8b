// SPDX-License-Identifier: Apache-2.0

/// `schedmate slurm`: the optional hooks in a Slurm.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/text.hpp"
#include "process/run_tool.hpp"
#include "service/slurm_hooks.hpp"

namespace schedmate {
namespace {

constexpr std::array<std::string_view, 2> slurm_deeds{"install", "uninstall"};
constexpr std::array<std::string_view, 2> hook_names{"tag", "ends"};

struct SlurmFlags {
  std::string deed, conf;
  std::vector<std::string> hooks;
  bool write = false, dry = false, reconfigure = false;
};

Result<int> run_slurm(const CommandCall& call, const SlurmFlags& flags) {
  const auto asked = [&](const char* hook) {
    return std::ranges::find(flags.hooks, hook) != flags.hooks.end();
  };
  const service::SlurmHooksRequest request{
      .conf = flags.conf, .tag = flags.hooks.empty() || asked("tag"), .ends = asked("ends")};
  auto plan = flags.deed == "install" ? service::plan_install(call.session, request)
                                      : service::plan_uninstall(call.session, flags.conf);
  if (!plan) return tl::unexpected(plan.error());
  if (!call.json) call.console.verbatim(plan->difference);
  if (flags.write)
    if (auto done = service::carry_out(*plan); !done) return tl::unexpected(done.error());
  if (flags.reconfigure)
    if (auto done = process::run_tool(call.session.environment, {{"scontrol", "reconfigure"}});
        !done)
      return tl::unexpected(done.error());
  if (call.json) {
    call.console.json(service::slurm_hooks_document(*plan, flags.write));
    return 0;
  }
  call.console.text(plan->steps.empty() ? "nothing to change\n"
                    : flags.write       ? "done\n"
                                        : "nothing was changed; --write does it\n");
  for (const std::string& what : plan->next) call.console.text("next: " + what + "\n");
  return 0;
}

Result<void> check_slurm(const SlurmFlags& flags) {
  if (flags.deed.empty()) return need(false, "slurm", "install or uninstall");
  if (std::ranges::find(slurm_deeds, flags.deed) == slurm_deeds.end())
    return fail(ErrorCode::not_found, unknown_name("action", flags.deed, slurm_deeds));
  for (const std::string& hook : flags.hooks)
    if (std::ranges::find(hook_names, hook) == hook_names.end())
      return fail(ErrorCode::not_found, unknown_name("hook", hook, hook_names));
  if (!flags.hooks.empty() && flags.deed != "install")
    return fail(ErrorCode::unsupported, "slurm uninstall: takes no --hook, it removes all");
  if (flags.write && flags.dry)
    return fail(ErrorCode::unsupported, "slurm: --write and --dry-run exclude each other");
  if (flags.reconfigure && !flags.write) return need(false, "slurm --reconfigure", "--write");
  return {};
}

}  // namespace

Command slurm_command(const Parser& parser) {
  const auto flags = std::make_shared<SlurmFlags>();
  CLI::App& app = parser.app;
  app.add_option("action", flags->deed, "install or uninstall")->type_name("SLURMACTION");
  app.add_option("--conf", flags->conf,
                 "slurm.conf; default: cluster.slurm.conf, $SLURM_CONF, /etc/slurm")
      ->type_name("FILE");
  app.add_option("--hook", flags->hooks, "install: tag or ends, repeatable; default: tag")
      ->type_name("HOOK")
      ->allow_extra_args(false);
  app.add_flag("--dry-run", flags->dry, "only show what would change; the default");
  app.add_flag("--write", flags->write, "change the files");
  app.add_flag("--reconfigure", flags->reconfigure, "then run `scontrol reconfigure`");
  app.footer(
      "Examples:\n  schedmate slurm install\n  schedmate slurm install --hook tag --hook ends "
      "--config site.toml --write\n  schedmate slurm uninstall --write --reconfigure");
  return {.run = [flags](const CommandCall& call) { return run_slurm(call, *flags); },
          .check = [flags] { return check_slurm(*flags); }};
}

}  // namespace schedmate
