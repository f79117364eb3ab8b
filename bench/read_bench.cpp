// SPDX-License-Identifier: Apache-2.0
/// read_bench [ROWS]: how fast traces are read. Writes ROWS (a million) made-up jobs in each format
/// to a temporary folder, reads each file three times and prints the best, file reading included.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <schedmate/trace.hpp>

#include "base/output.hpp"
#include "base/random.hpp"

namespace {

using schedmate::Random;

struct Row {
  std::int64_t id, submit_s, duration_s, gpus, user, vc;
};

std::string date(std::int64_t unix_s, char separator) {
  const std::chrono::sys_seconds time{std::chrono::seconds(unix_s)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day ymd(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}{}{:02}:{:02}:{:02}", static_cast<int>(ymd.year()),
                     static_cast<unsigned>(ymd.month()), static_cast<unsigned>(ymd.day()),
                     separator, clock.hours().count(), clock.minutes().count(),
                     clock.seconds().count());
}

std::string helios_row(const Row& r) {
  return fmt::format("{},u{:04},vc{:02},,{},{},1,COMPLETED,{},{},{},{},0\n", r.id, r.user, r.vc,
                     r.gpus, 4 * r.gpus, date(r.submit_s, ' '), date(r.submit_s, ' '),
                     date(r.submit_s + r.duration_s, ' '), r.duration_s);
}

std::string sacct_row(const Row& r) {
  return fmt::format(
      "{}|user{}|part{}|{}|{}|{}|COMPLETED|{}|billing={},cpu={},gres/gpu:a100={},gres/"
      "gpu={},mem=64G"
      ",node=1\n",
      r.id, r.user, r.vc, date(r.submit_s, 'T'), date(r.submit_s, 'T'),
      date(r.submit_s + r.duration_s, 'T'), r.duration_s, 8 * r.gpus, 8 * r.gpus, r.gpus, r.gpus);
}

std::string swf_row(const Row& r) {
  return fmt::format("{:8} {:10} {:6} {:8} {:4} -1 -1 {:4} {:8} -1 1 {:4} 1 -1 1 {:2} -1 -1\n",
                     r.id, r.submit_s, 0, r.duration_s, r.gpus, r.gpus, 2 * r.duration_s, r.user,
                     r.vc);
}

struct Case {
  const char* format;
  const char* header;
  std::string (*row)(const Row&);
};
constexpr std::array<Case, 3> cases = {{
    {"helios",
     "job_id,user,vc,jobname,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,"
     "duration,queue\n",
     helios_row},
    {"sacct", "JobID|User|Partition|Submit|Start|End|State|ElapsedRaw|AllocTRES\n", sacct_row},
    {"swf", "; Version: 2.2\n", swf_row},
}};

std::string make_text(const Case& format, std::int64_t rows) {
  Random random(1);
  std::string text = format.header;
  std::int64_t submit_s = 1'600'000'000;
  for (std::int64_t id = 1; id <= rows; ++id) {
    submit_s += random.below(30);
    text += format.row({id, submit_s, random.below(100'000), std::int64_t{1} << random.below(7),
                        random.below(2000), random.below(20)});
  }
  return text;
}

int measure(const Case& format, std::int64_t rows, const std::filesystem::path& folder) {
  const std::string path = (folder / format.format).string();
  const std::string text = make_text(format, rows);
  if (const auto written = schedmate::write_file(path, text); !written) {
    fmt::print(stderr, "{}\n", written.error().message);
    return 1;
  }
  double best_s = 1e9;
  double best_cpu_s = 1e9;
  for (int run = 0; run < 3; ++run) {
    const std::clock_t cpu_begin = std::clock();
    const auto begin = std::chrono::steady_clock::now();
    const auto trace = schedmate::read_trace(fmt::format("{}:{}", format.format, path), {});
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (!trace || static_cast<std::int64_t>(trace->jobs.size()) != rows) {
      fmt::print(stderr, "{}: {}\n", format.format,
                 trace ? "rows were lost" : trace.error().message);
      return 1;
    }
    best_s = std::min(best_s, took.count());
    best_cpu_s =
        std::min(best_cpu_s, static_cast<double>(std::clock() - cpu_begin) / CLOCKS_PER_SEC);
  }
  fmt::print("{:8} {:>12} {:>8.1f} {:>8.0f} {:>8.0f} {:>12.0f}\n", format.format, rows,
             static_cast<double>(text.size()) / 1e6, 1e3 * best_s, 1e3 * best_cpu_s,
             static_cast<double>(rows) / best_cpu_s);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::atoll(argv[1]) : 1'000'000;
  const auto folder =
      std::filesystem::temp_directory_path() / fmt::format("read_bench_{}", ::getpid());
  std::filesystem::create_directories(folder);
  fmt::print("{:8} {:>12} {:>8} {:>8} {:>8} {:>12}\n", "format", "rows", "MB", "wall ms", "CPU ms",
             "rows/CPU s");
  int status = 0;
  for (const Case& each : cases) status |= measure(each, rows, folder);
  std::filesystem::remove_all(folder);
  return status;
}
