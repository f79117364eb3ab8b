// SPDX-License-Identifier: Apache-2.0
#include "service/doctor.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <schedmate/gpu_state.hpp>
#include <system_error>
#include <thread>

#include "base/own_files.hpp"
#include "base/text.hpp"
#include "process/run_tool.hpp"
#include "service/doctor_servers.hpp"
#include "settings/data_files.hpp"

namespace schedmate::service {
namespace {

namespace fs = std::filesystem;

using Session = settings::Session;

DoctorRow bundled(std::string what, std::string_view name) {
  const auto path = settings::data_file(name);
  return {.what = std::move(what),
          .works = path.has_value(),
          .needed = true,
          .detail = path ? *path : path.error().message,
          .gives = "data of generate, simulate and the examples",
          .mend = path ? "" : "install the data folder of the program again"};
}

DoctorRow state_folder(const Session& session) {
  const std::string path = session.state_dir();
  DoctorRow row{.what = "state folder",
                .works = true,
                .needed = true,
                .detail = path,
                .gives = "the history of jobs: advise, job, report, and what diagnose has seen",
                .mend = ""};
  const auto wrong = [&](std::string detail, std::string mend) {
    row.works = false;
    row.detail = std::move(detail);
    row.mend = std::move(mend);
  };
  if (session.state_fault) {
    wrong(session.state_fault->message, "choose another with --state-dir, or see to its server");
    return row;
  }
  const auto own = has_own_folder(path);
  if (!own) {
    struct stat info{};
    const bool only_rights = ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) &&
                             info.st_uid == ::geteuid() && (info.st_mode & 022U) != 0;
    wrong(own.error().message,
          only_rights ? fmt::format("chmod 700 {}", path) : "choose another with --state-dir");
    return row;
  }
  std::error_code error;
  fs::path place = fs::absolute(path, error);
  while (!fs::exists(place, error) && place.has_relative_path()) place = place.parent_path();
  if (!fs::is_directory(place, error) || ::access(place.c_str(), W_OK) != 0)
    wrong(path + ": is not writable", "choose another with --state-dir");
  else if (!*own)
    row.detail += " (made at the first use)";
  return row;
}

DoctorRow memory() {
  const long pages = ::sysconf(_SC_AVPHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  const double free_mib = static_cast<double>(pages) * static_cast<double>(page_bytes) / 1048576;
  constexpr double wanted_mib = 256;  // a month of a 1,000-GPU cluster takes some 60
  const bool enough = free_mib >= wanted_mib;
  return {.what = "memory",
          .works = enough,
          .needed = true,
          .detail = fmt::format("{:.0f} MiB free", free_mib),
          .gives = "a million jobs take up to 2 GiB",
          .mend = enough ? "" : "end other programs, or read shorter traces"};
}

DoctorRow browser() {
  DoctorRow row{.what = "browser",
                .works = false,
                .needed = false,
                .detail = "no chromium",
                .gives = "the tests of the report page",
                .mend = "apt-get install chromium, for developers of SchedMate alone"};
  for (const char* const path :
       {"/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"}) {
    if (::access(path, X_OK) != 0) continue;
    row.works = true;
    row.detail = path;
    row.mend.clear();
    break;
  }
  return row;
}

/// "slurm 22.05.8 (/usr/bin/sacct)".
DoctorRow slurm_program(const Session& session, const std::string& name, std::string gives) {
  DoctorRow row{.what = name,
                .works = false,
                .needed = false,
                .detail = "",
                .gives = std::move(gives),
                .mend = ""};
  const auto version = process::run_tool(
      session.environment,
      {.words = {name, "--version"}, .deadline = std::chrono::seconds(2), .most_bytes = 4096});
  if (!version) {
    row.detail = version.error().message;
    row.mend = version.error().code == ErrorCode::not_found
                   ? "install the Slurm client (slurm-client) and run on a login node, or give "
                     "dumps made there"
                   : "see whether it runs by hand";
    return row;
  }
  row.works = true;
  const std::string_view line = trim(std::string_view(*version).substr(0, version->find('\n')));
  row.detail = fmt::format("{} ({})", line, process::find_tool(session.environment, name));
  return row;
}

/// Whether the controller or the database behind a program answers.
void add_answer(const Session& session, std::vector<std::string> words, DoctorRow& row) {
  if (!row.works) return;
  const auto answer = process::run_tool(session.environment, {.words = std::move(words),
                                                              .deadline = std::chrono::seconds(3),
                                                              .most_bytes = std::size_t{1} << 20U});
  if (answer) return;
  row.works = false;
  row.detail += "; " + answer.error().message;
  row.mend = "see whether slurmctld, and for sacct slurmdbd, run and can be reached from here";
}

DoctorRow slurm_conf(const Session& session) {
  DoctorRow row{.what = "slurm.conf",
                .works = false,
                .needed = false,
                .detail = "not found",
                .gives = "the site's weights and backfill settings for `whatif --site`",
                .mend = "set SLURM_CONF to the file, or use `scontrol show config`"};
  std::vector<std::string> places = {"/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf",
                                     "/usr/local/etc/slurm.conf", "/opt/slurm/etc/slurm.conf"};
  if (const std::string given = session.environment.variable("SLURM_CONF"); !given.empty())
    places = {given};
  for (const std::string& path : places) {
    std::error_code error;
    if (!fs::exists(path, error)) continue;
    row.works = ::access(path.c_str(), R_OK) == 0;
    row.detail = row.works ? path : path + ": may not be read";
    row.mend = row.works ? "" : "ask its owner, or use `scontrol show config`";
    break;
  }
  return row;
}

DoctorRow nvml(const Session& session) {
  constexpr std::chrono::seconds deadline{3};
  const GpuReading reading = read_gpus({.library = session.settings.text("nvml.library"),
                                        .node = session.environment.host,
                                        .deadline = deadline});
  const bool works = reading.error.empty();
  return {.what = "NVML",
          .works = works,
          .needed = false,
          .detail = works ? fmt::format("{} GPUs, driver {}", reading.gpus.size(), reading.driver)
                          : reading.error,
          .gives = "the state of this machine's GPUs as a witness of `diagnose --nvml`",
          .mend = works ? "" : "run on a GPU node, or give its reading with --nvml-from FILE"};
}

DoctorRow clock_zone(const Session& session) {
  std::string zone = session.environment.variable("TZ");
  std::string from = "TZ";
  if (zone.empty()) {
    std::error_code error;
    const std::string link = fs::read_symlink("/etc/localtime", error).string();
    constexpr std::string_view folder = "zoneinfo/";
    const std::size_t begin = link.find(folder);
    zone = begin == std::string::npos ? "UTC" : link.substr(begin + folder.size());
    from = begin == std::string::npos ? "no /etc/localtime" : "/etc/localtime";
  }
  const bool is_utc = zone == "UTC" || zone == "Etc/UTC" || zone == "UTC0" || zone == "GMT";
  return {.what = "time zone",
          .works = true,
          .needed = false,
          .detail = fmt::format("{} (by {})", zone, from),
          .gives = is_utc ? "dumps of sacct are in UTC, as SchedMate reads them"
                          : "sacct prints local times here: make dumps with TZ=UTC in front",
          .mend = ""};
}

}  // namespace

std::vector<DoctorRow> examine(const Session& session) {
  std::vector<DoctorRow> rows = {
      bundled("Venus days", "venus/venus_sept2020_days0-12.csv.gz"),
      bundled("made-up workload", "recipes/light.toml"),
      bundled("made-up pair speeds", "interference.toml"),
      bundled("published figures", "synth/acme-seren.toml"),
      state_folder(session),
      memory(),
      {.what = "threads",
       .works = true,
       .needed = true,
       .detail = fmt::format("{} of this machine, {} in use", std::thread::hardware_concurrency(),
                             session.settings.whole("threads")),
       .gives = "simulate, evaluate and searches share their work out",
       .mend = ""},
      clock_zone(session)};
  DoctorRow sacct = slurm_program(
      session, "sacct", "`job ID` and `report` without a dump; dumps for import and whatif");
  add_answer(session,
             {"sacct", "--noheader", "--parsable2", "--format", "JobID", "--starttime", "now"},
             sacct);
  rows.push_back(std::move(sacct));
  DoctorRow scontrol = slurm_program(session, "scontrol",
                                     "`job ID` of jobs that wait or run: state, limit, nodes, log");
  add_answer(session, {"scontrol", "ping"}, scontrol);
  rows.push_back(std::move(scontrol));
  rows.push_back(slurm_conf(session));
  rows.push_back(nvml(session));
  for (DoctorRow& row : examine_servers(session)) rows.push_back(std::move(row));
  rows.push_back(browser());
  return rows;
}

Document doctor_row_document(const DoctorRow& row) {
  return {{"what", row.what},     {"works", row.works}, {"needed", row.needed},
          {"detail", row.detail}, {"gives", row.gives}, {"mend", row.mend}};
}

}  // namespace schedmate::service
