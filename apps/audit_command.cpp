// SPDX-License-Identifier: Apache-2.0

/// `schedmate audit`: the audit chain of the journal.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/daemon_call.hpp"
#include "apps/flag_values.hpp"
#include "base/own_files.hpp"
#include "base/words.hpp"
#include "journal/audit_json.hpp"
#include "screen/live_site_text.hpp"
#include "service/action_texts.hpp"

namespace schedmate {
namespace {

struct AuditFlags {
  bool verify = false;
  bool of_folder = false;    ///< --state-dir names the journal
  std::int64_t since = -20;  ///< the last 20 entries
  client::WhichDaemon which{};
};

Result<int> verify_chain(const CommandCall& call, const journal::JournalFile& file) {
  const auto verdict = journal::verify(file);
  if (!verdict) return tl::unexpected(verdict.error());
  if (call.json)
    call.console.json(journal::audit_document(*verdict));
  else if (const auto& fault = verdict->fault)
    call.console.text(fault->sequence > 0 ? fmt::format("not sound, entry {}: {}\n",
                                                        fault->sequence, printable(fault->what))
                                          : fmt::format("not sound: {}\n", printable(fault->what)));
  else
    call.console.text(fmt::format("sound: {} entries, {} to {}\nhead {}\n", verdict->entries,
                                  verdict->first, verdict->last, verdict->head));
  return verdict->fault ? 1 : 0;
}

Result<int> list_entries(const CommandCall& call, const journal::JournalFile& file,
                         std::int64_t since) {
  constexpr std::size_t most = 10'000;
  const auto entries = journal::audit_entries(file, since, most);
  if (!entries) return tl::unexpected(entries.error());
  const Document document = service::without_secrets(journal::audit_document(*entries));
  if (call.json) {
    call.console.json(document);
    return 0;
  }
  call.console.text(
      screen::audit_entries_text(document, screen::screen_style(call.session.environment)));
  return 0;
}

Result<int> run_audit(const CommandCall& call, const AuditFlags& flags) {
  if (!flags.verify && !(flags.of_folder && flags.which.address.empty())) {
    const auto daemon = client::daemon_if_any(call.session, flags.which);
    if (!daemon) return tl::unexpected(daemon.error());
    if (*daemon)
      return show(
          call,
          client::ask(**daemon,
                      {.path = fmt::format("/api/v1/audit?since={}&limit=10000", flags.since)},
                      "schedmate.audit.v1"),
          screen::audit_entries_text);
  }
  const std::string folder = call.session.state_dir();
  if (const auto own = has_own_folder(folder); !own) return tl::unexpected(own.error());
  const journal::JournalFile file{journal::journal_path(folder)};
  return flags.verify ? verify_chain(call, file) : list_entries(call, file, flags.since);
}

}  // namespace

Command audit_command(const Parser& parser) {
  const auto flags = std::make_shared<AuditFlags>();
  parser.app.add_flag("--verify", flags->verify,
                      "check the whole chain; exit 1 names the first entry that is wrong");
  takes_whole(*parser.app
                   .add_option("--since", flags->since,
                               "show the entries after this one; default: the last 20")
                   ->type_name("N"));
  parser.app.footer("Examples:\n  schedmate audit --verify\n  schedmate audit --since 0 --json");
  add_optional_daemon(parser.app, flags->which);
  parser.app.get_option("--address")
      ->description(
          "ask the daemon there; default: the one whose socket answers, else the journal "
          "is read");
  return {.run = [flags](const CommandCall& call) { return run_audit(call, *flags); },
          .check = [&app = parser.app, since = parser.app.get_option("--since"),
                    flags]() -> Result<void> {
            flags->of_folder = app.count("--state-dir") > 0;
            if (flags->verify && since->count() > 0)
              return fail(ErrorCode::unsupported,
                          "audit: --verify checks every entry; omit --since");
            if (flags->verify && !flags->which.address.empty())
              return fail(ErrorCode::unsupported,
                          "audit: --verify reads the journal itself (--state-dir); omit --address");
            return {};
          }};
}

}  // namespace schedmate
