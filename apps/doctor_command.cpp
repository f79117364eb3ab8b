// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "apps/command.hpp"
#include "base/words.hpp"
#include "screen/screen.hpp"
#include "service/doctor.hpp"
#include "settings/version.hpp"

namespace schedmate {
namespace {

using service::DoctorRow;

std::string_view verdict(const DoctorRow& row) {
  if (row.works) return "ok";
  return row.needed ? "MISSING" : "absent";
}

/// What only the program itself knows.
std::vector<DoctorRow> of_the_program() {
  const settings::Version built = settings::version();
  return {{.what = "program",
           .works = true,
           .needed = true,
           .detail = fmt::format("{}, commit {}, {} {}", built.version, built.commit,
                                 built.compiler, built.build_type),
           .gives = "",
           .mend = ""},
          {.what = "libraries",
           .works = true,
           .needed = true,
           .detail = fmt::format("fmt {}.{}.{}, zlib {}, zstd {}, nlohmann-json {}.{}.{}",
                                 FMT_VERSION / 10'000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
                                 ZLIB_VERSION, ZSTD_VERSION_STRING, NLOHMANN_JSON_VERSION_MAJOR,
                                 NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH),
           .gives = "",
           .mend = ""}};
}

std::string health_text(std::span<const DoctorRow> rows) {
  std::string text;
  for (const DoctorRow& row : rows) {
    const Style style = row.works ? Style::green : row.needed ? Style::red : Style::yellow;
    text += styled(style, fmt::format("{:<8}", verdict(row)));
    text += fmt::format("{:<20} {}\n", printable(row.what), printable(row.detail));
    if (!row.gives.empty()) text += fmt::format("{:28} {}\n", "", printable(row.gives));
    if (!row.mend.empty()) text += fmt::format("{:28} to mend: {}\n", "", printable(row.mend));
  }
  return text;
}

/// False when something that a command needs is missing.
bool print_health(const CommandCall& call) {
  std::vector<DoctorRow> rows = service::examine(call.session);
  for (DoctorRow& row : of_the_program()) rows.push_back(std::move(row));
  const bool healthy =
      std::ranges::all_of(rows, [](const DoctorRow& row) { return row.works || !row.needed; });
  if (!call.json) {
    call.console.text(health_text(rows));
    return healthy;
  }
  Document checks = Document::array();
  for (const DoctorRow& row : rows) checks.push_back(service::doctor_row_document(row));
  call.console.json(
      {{"schema", "schedmate.doctor.v1"}, {"healthy", healthy}, {"checks", std::move(checks)}});
  return healthy;
}

}  // namespace

Command doctor_command(const Parser& parser) {
  parser.app.footer("Example:\n  schedmate doctor");
  return {[](const CommandCall& call) -> Result<int> { return print_health(call) ? 0 : 1; }};
}

}  // namespace schedmate
