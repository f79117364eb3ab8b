// SPDX-License-Identifier: Apache-2.0

/// `schedmate audit`: the audit chain of the journal.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "apps/flag_values.hpp"
#include "base/own_files.hpp"
#include "base/table.hpp"
#include "base/words.hpp"
#include "journal/audit_json.hpp"

namespace schedmate {
namespace {

struct AuditFlags {
  bool verify = false;
  std::int64_t since = -20;  ///< the last 20 entries
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
  const Document document = journal::audit_document(*entries);
  if (call.json) {
    call.console.json(document);
    return 0;
  }
  std::vector<std::vector<Cell>> rows;
  for (const Document& entry : document["entries"]) {
    const auto cell = [&](const char* key) {
      const auto found = entry.find(key);
      if (found == entry.end()) return std::string(unknown_cell);
      return printable(found->is_string() ? found->get<std::string>() : in_one_line(*found));
    };
    const auto when_s = entry.find("when_s");
    const bool dated = when_s != entry.end() && when_s->is_number_integer();
    rows.push_back({cell("sequence"), dated ? call.session.environment.date(*when_s) : unknown_cell,
                    cell("by"), cell("action"),
                    entry.contains("what") ? cell("what") : cell("state"),
                    entry.contains("call") ? cell("call") : cell("seen")});
  }
  const std::vector<TableColumn> names{{"entry"},  {"when", 2}, {"by", 3},
                                       {"action"}, {"became"},  {"seen", 1, false, 24}};
  call.console.text(table_text(names, rows, call.session.environment.columns));
  return 0;
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
  return {.run = [flags](const CommandCall& call) -> Result<int> {
            const std::string folder = call.session.state_dir();
            if (const auto own = has_own_folder(folder); !own) return tl::unexpected(own.error());
            const journal::JournalFile file{journal::journal_path(folder)};
            return flags->verify ? verify_chain(call, file)
                                 : list_entries(call, file, flags->since);
          },
          .check = [since = parser.app.get_option("--since"), flags]() -> Result<void> {
            if (!flags->verify || since->count() == 0) return {};
            return fail(ErrorCode::unsupported, "audit: --verify checks every entry; omit --since");
          }};
}

}  // namespace schedmate
