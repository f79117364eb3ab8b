// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "apps/command.hpp"
#include "apps/version.hpp"
#include "base/document.hpp"
#include "base/words.hpp"
#include "settings/data_files.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

struct Finding {
  std::string what;
  bool works = true;
  bool needed = true;  ///< by a command, not only by the tests
  std::string detail;
};

Finding bundled(std::string what, std::string_view name) {
  const auto path = settings::data_file(name);
  return {std::move(what), path.has_value(), true, path ? *path : path.error().message};
}

Finding state_folder(const std::string& path) {
  std::error_code error;
  fs::path place = fs::absolute(path, error);
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  const bool writable = ::access(place.c_str(), W_OK) == 0 && fs::is_directory(place, error);
  return {"state folder", writable, true,
          writable ? path : path + ": is not writable; choose another with --state-dir"};
}

Finding browser() {
  for (const char* const path :
       {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (::access(path, X_OK) == 0) return {"browser for the report's tests", true, false, path};
  }
  return {"browser for the report's tests", false, false,
          "no chromium: those tests are skipped (Debian: apt-get install chromium)"};
}

Finding memory() {
  const long pages = ::sysconf(_SC_AVPHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  const double free_mib = static_cast<double>(pages) * static_cast<double>(page_bytes) / 1048576;
  constexpr double wanted_mib = 256;  // a month of a 1,000-GPU cluster takes some 60
  return {"memory", free_mib >= wanted_mib, true,
          fmt::format("{:.0f} MiB free; a million jobs take up to 2 GiB", free_mib)};
}

std::vector<Finding> examine(const settings::Session& session) {
  const Version built = version();
  return {bundled("Venus days (generate, demo)", "venus/venus_sept2020_days0-12.csv.gz"),
          bundled("made-up workload (lucid, horus)", "recipes/light.toml"),
          bundled("made-up pair speeds (lucid, horus)", "interference.toml"),
          bundled("published figures (generate --like)", "synth/acme-seren.toml"),
          state_folder(session.state_dir()),
          memory(),
          {"threads", true, true,
           fmt::format("{} of this machine, {} in use", std::thread::hardware_concurrency(),
                       session.settings.whole("threads"))},
          browser(),
          {"program", true, true,
           fmt::format("{}, commit {}, {} {}", built.version, built.commit, built.compiler,
                       built.build_type)},
          {"libraries", true, true,
           fmt::format("fmt {}.{}.{}, zlib {}, zstd {}, nlohmann-json {}.{}.{}",
                       FMT_VERSION / 10'000, FMT_VERSION / 100 % 100, FMT_VERSION % 100,
                       ZLIB_VERSION, ZSTD_VERSION_STRING, NLOHMANN_JSON_VERSION_MAJOR,
                       NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)}};
}

std::string_view verdict(const Finding& finding) {
  if (finding.works) return "ok";
  return finding.needed ? "MISSING" : "absent";
}

/// False when something that a command needs is missing.
bool print_health(const CommandCall& call) {
  bool healthy = true;
  std::vector<std::vector<std::string>> rows;
  Document checks = Document::array();
  for (const Finding& finding : examine(call.session)) {
    healthy = healthy && (finding.works || !finding.needed);
    rows.push_back({std::string(verdict(finding)), finding.what, printable(finding.detail)});
    checks.push_back({{"what", finding.what},
                      {"works", finding.works},
                      {"needed", finding.needed},
                      {"detail", finding.detail}});
  }
  if (call.json) {
    const Document document = {
        {"schema", "schedmate.doctor.v1"}, {"healthy", healthy}, {"checks", std::move(checks)}};
    call.console.json(document);
  } else {
    call.console.text(aligned(rows));
  }
  return healthy;
}

}  // namespace

Command doctor_command(const Parser& parser) {
  parser.app.footer("Example:\n  schedmate doctor");
  return {[](const CommandCall& call) -> Result<int> { return print_health(call) ? 0 : 1; }};
}

}  // namespace schedmate
