// SPDX-License-Identifier: Apache-2.0
#include "report/jobs_csv.hpp"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <bit>
#include <iterator>
#include <string_view>
#include <vector>

#include "base/output.hpp"
#include "base/text_safety.hpp"

namespace schedmate {
namespace {

// The text of one row, reused: a million rows allocate nothing.
using Row = fmt::memory_buffer;

void put(Row& row, std::string_view text) { row.append(text.data(), text.data() + text.size()); }

void put_cell(Row& row, std::int64_t value) {
  const fmt::format_int digits(value);
  row.push_back(',');
  row.append(digits.data(), digits.data() + digits.size());
}

void put_cell(Row& row, double value) {
  fmt::format_to(std::back_inserter(row), FMT_COMPILE(",{}"), value);
}

void put_nodes(Row& row, const Placement& nodes) {
  row.push_back(',');
  // A comma stands between the GPUs of a node, so such a cell is quoted.
  bool quoted = false;
  for (const Slice& slice : nodes) quoted = quoted || std::popcount(slice.gpus) > 1;
  if (quoted) row.push_back('"');
  std::string_view before_node;
  for (const Slice& slice : nodes) {
    put(row, before_node);
    put(row, fmt::format_int(slice.node).c_str());
    char before_gpu = ':';
    for (std::uint64_t rest = slice.gpus; rest != 0; rest &= rest - 1) {
      row.push_back(before_gpu);
      put(row, fmt::format_int(std::countr_zero(rest)).c_str());
      before_gpu = ',';
    }
    before_node = ";";
  }
  if (quoted) row.push_back('"');
}

void put_times(Row& row, const Job& job, const JobOutcome& outcome) {
  const bool finished = outcome.status == JobStatus::finished;
  put_cell(row, seconds_of(job.submit));
  put_cell(row, job.duration.count());
  if (finished || outcome.started) {
    put_cell(row, seconds_of(outcome.start));
  } else {
    put(row, ",");
  }
  if (finished) {
    put_cell(row, seconds_of(outcome.end));
    put_cell(row, outcome.queue.count());
    put_cell(row, (outcome.end - job.submit).count());
  } else {
    put(row, ",,,");
  }
  put_cell(row, std::int64_t{outcome.preemptions});
}

void put_profiler(Row& row, const JobOutcome& outcome) {
  put_cell(row, std::int64_t{outcome.profiled});
  put_cell(row, std::int64_t{outcome.finished_in_profiler});
  put_cell(row, outcome.profiler_queue.count());
  put_cell(row, std::int64_t{outcome.exclusive});
  put_cell(row, outcome.rate);
  put_cell(row, outcome.remaining);
  put_cell(row, seconds_of(outcome.packed_at));
  put_cell(row, seconds_of(outcome.unpacked_at));
}

void put_attempts(Row& row, const JobOutcome& outcome) {
  put_cell(row, std::int64_t{outcome.evictions});
  put_cell(row, std::int64_t{outcome.failures});
  put_cell(row, outcome.down.count());
  put_cell(row, outcome.held_gpu_s);
  put_cell(row, outcome.lost_gpu_s);
  put_cell(row, outcome.overhead_gpu_s);
}

std::string_view status_cell(JobStatus status) {
  switch (status) {
    case JobStatus::finished:
      return ",finished\n";
    case JobStatus::infeasible:
      return ",infeasible\n";
    default:
      return ",stalled\n";
  }
}

std::vector<std::string> cells(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(csv_cell(name));
  return out;
}

void put_id(Row& row, std::string_view id) {
  if (is_plain_cell(id)) {
    put(row, id);
  } else {
    put(row, csv_cell(id));
  }
}

std::string header(const RunRecord& record) {
  const RunLabel& run = record.run;
  std::string text =
      "job_id,user,vc,gpus,submit_s,duration_s,start_s,end_s,queue_s,jct_s,preemptions,nodes";
  if (run.profiler_columns) {
    text +=
        ",profiled,finished_in_profiler,profiler_queue_s,exclusive,rate,remaining_s,packed_at_s,"
        "unpacked_at_s";
  }
  if (run.attempt_columns)
    text += ",evictions,failures,down_s,held_gpu_s,lost_gpu_s,overhead_gpu_s";
  if (!record.advised.empty()) text += ",advised";
  return text + ",status\n";
}

}  // namespace

Result<void> report::write_jobs_csv(const std::string& path, const RunRecord& record) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->append(header(record));
  const std::vector<std::string> users = cells(record.trace.users);
  const std::vector<std::string> vcs = cells(record.trace.vcs);
  Row row;
  for (std::size_t i = 0; i < record.trace.jobs.size(); ++i) {
    const Job& job = record.trace.jobs[i];
    const JobOutcome& outcome = record.result.outcomes[i];
    row.clear();
    put_id(row, job.id);
    put(row, ",");
    put(row, users[job.user]);
    put(row, ",");
    put(row, vcs[job.vc]);
    put_cell(row, std::int64_t{job.gpus});
    put_times(row, job, outcome);
    put_nodes(row, outcome.nodes);
    if (record.run.profiler_columns) put_profiler(row, outcome);
    if (record.run.attempt_columns) put_attempts(row, outcome);
    if (!record.advised.empty()) put_cell(row, std::int64_t{record.advised[i]});
    put(row, status_cell(outcome.status));
    file->append({row.data(), row.size()});
  }
  return file->commit();
}

Result<void> report::write_timeline_csv(const std::string& path, const Timeline& timeline) {
  Result<OutputFile> file = OutputFile::create(path);
  if (!file) return tl::unexpected(file.error());
  file->append("time_s,busy_gpus,stranded_gpus,queued_jobs,queued_gpus,running_jobs,used_gpus\n");
  SimTime time = timeline.first;
  Row row;
  for (const TimelineBin& bin : timeline.bins) {
    row.clear();
    put(row, fmt::format_int(seconds_of(time)).c_str());
    for (const double value : {bin.busy_gpus, bin.stranded_gpus, bin.queued_jobs, bin.queued_gpus,
                               bin.running_jobs, bin.used_gpus}) {
      put_cell(row, value);
    }
    row.push_back('\n');
    file->append({row.data(), row.size()});
    time += timeline.step;
  }
  return file->commit();
}

Result<void> report::write_scaling_csv(const std::string& path, const SimResult& result) {
  std::string text = "time,scaling_num\n";
  for (const auto& [time, nodes] : result.profiler_scaling) {
    fmt::format_to(std::back_inserter(text), "{},{}\n", seconds_of(time), nodes);
  }
  return write_file(path, text);
}

Result<void> write_run(const std::string& folder, const RunRecord& record) {
  const std::string& label = record.run.label;
  if (label.empty() || label.front() == '.' ||
      label.find_first_of("/\0", 0, 2) != std::string::npos) {
    return fail(ErrorCode::invalid,
                fmt::format("label '{}' cannot name a file: choose one after '@' that has no '/' "
                            "and does not start with '.'",
                            clean_utf8(label)));
  }
  const std::string stem = folder + "/" + label;
  return report::write_jobs_csv(stem + ".jobs.csv", record)
      .and_then([&] {
        return report::write_timeline_csv(stem + ".timeline.csv", record.result.timeline);
      })
      .and_then([&]() -> Result<void> {
        if (record.result.profiler_scaling.empty()) return {};
        return report::write_scaling_csv(stem + ".scaling.csv", record.result);
      });
}

}  // namespace schedmate
