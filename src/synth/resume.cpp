// SPDX-License-Identifier: Apache-2.0
#include "synth/resume.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <utility>

#include "synth/unused.hpp"

namespace schedmate::synth {
namespace {

using Shape = std::pair<int, int>;  // type, GPUs

/// Jobs of one shape in order of submission, that may still become a continuation.
struct Line {
  std::vector<std::uint32_t> jobs;
  std::vector<std::int64_t> submits;  // as they were drawn
  Unused unused{0};
};

class Linker {
 public:
  Linker(SynthJobs& jobs, std::int64_t span_s) : jobs_(jobs), span_s_(span_s) {
    for (std::uint32_t i = 0; i < jobs.size(); ++i) lines_[shape(i)].jobs.push_back(i);
    for (auto& [key, line] : lines_) {
      std::ranges::sort(line.jobs, {},
                        [&](std::uint32_t i) { return std::pair(jobs[i].submit_s, i); });
      line.unused = Unused(line.jobs.size());
      for (const std::uint32_t i : line.jobs) line.submits.push_back(jobs[i].submit_s);
    }
  }

  /// The continuation of `parent`, or none.
  std::uint32_t link(std::uint32_t parent) {
    const SynthJob& failed = jobs_[parent];
    const std::int64_t end = failed.submit_s + failed.run_s;
    const std::int64_t start = end + std::max<std::int64_t>(failed.restart_s, 1);
    if (start >= span_s_) return no_job;
    Line& line = lines_[shape(parent)];
    const auto at = std::ranges::upper_bound(line.submits, end) - line.submits.begin();
    const std::size_t place = line.unused.from(static_cast<std::size_t>(at));
    if (place == line.jobs.size()) return no_job;
    line.unused.take(place);
    const std::uint32_t child = line.jobs[place];
    jobs_[child].parent = parent;
    jobs_[child].user = failed.user;
    jobs_[child].submit_s = start;
    return child;
  }

 private:
  [[nodiscard]] Shape shape(std::uint32_t job) const { return {jobs_[job].type, jobs_[job].gpus}; }

  SynthJobs& jobs_;
  std::int64_t span_s_;
  std::map<Shape, Line> lines_;
};

/// From the end of each chain to its beginning: a continuation comes after its parent in time.
void count_remaining(double checkpoint_s, SynthJobs& jobs) {
  std::vector<std::uint32_t> continued(jobs.size(), no_job);
  for (std::uint32_t i = 0; i < jobs.size(); ++i)
    if (jobs[i].parent != no_job) continued[jobs[i].parent] = i;
  for (std::uint32_t last = 0; last < jobs.size(); ++last) {
    if (jobs[last].parent == no_job || continued[last] != no_job) continue;
    jobs[last].remaining_s = jobs[last].run_s;
    for (std::uint32_t i = last; jobs[i].parent != no_job; i = jobs[i].parent) {
      SynthJob& parent = jobs[jobs[i].parent];
      const auto kept = std::floor(static_cast<double>(parent.run_s) / checkpoint_s) * checkpoint_s;
      parent.remaining_s = jobs[i].remaining_s + static_cast<std::int64_t>(kept);
    }
  }
}

}  // namespace

std::int64_t link_resumed(const Behaviour& behaviour, std::int64_t span_s, SynthJobs& jobs,
                          Random random) {
  const auto fails = [&](const SynthJob& job) {
    return job.cause >= 0 && static_cast<double>(job.run_s) >= behaviour.resume_after_s;
  };
  using Entry = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  for (std::uint32_t i = 0; i < jobs.size(); ++i)
    if (fails(jobs[i])) queue.emplace(jobs[i].submit_s, i);
  Linker linker(jobs, span_s);
  std::int64_t links = 0;
  std::vector<bool> done(jobs.size());
  while (!queue.empty()) {
    const auto [submit_s, parent] = queue.top();
    queue.pop();
    if (done[parent] || submit_s != jobs[parent].submit_s) continue;  // moved since
    done[parent] = true;
    if (100 * random.uniform() >= behaviour.resumed_percent) continue;
    const std::uint32_t child = linker.link(parent);
    if (child == no_job) continue;
    ++links;
    if (fails(jobs[child])) queue.emplace(jobs[child].submit_s, child);
  }
  count_remaining(behaviour.checkpoint_s, jobs);
  return links;
}

}  // namespace schedmate::synth
