// SPDX-License-Identifier: Apache-2.0
#include "elastic/elastic_workload.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/input.hpp"
#include "base/text.hpp"
#include "elastic/table_row.hpp"

namespace schedmate::elastic {
namespace {

constexpr double latest_s = 1e9;

/// Jobs as they are read; applications are loaded when the first job names them.
class WorkloadReader {
 public:
  WorkloadReader(const std::vector<ApplicationTraits>& traits, const LoadApplication& load)
      : traits_(traits), load_(load) {}

  void add(TableRow& row) {
    ElasticJob job;
    job.name = row.text("name");
    job.submit_s = row.number("time", {0, latest_s});
    job.replicas = row.whole("num_replicas", {1, 65'536});
    job.batch = row.whole("batch_size", {1, 1e8});
    job.kind = kind_of(row);
    if (const auto application = find(row)) job.application = *application;
    check_name(row, job.name);
    if (!row.error()) workload_.jobs.push_back(std::move(job));
  }

  ElasticWorkload done() {
    std::ranges::stable_sort(workload_.jobs, {}, &ElasticJob::submit_s);
    return std::move(workload_);
  }

 private:
  /// Names come back in LABEL.jobs.csv, where they stand as they are.
  void check_name(TableRow& row, const std::string& name) {
    if (name.empty() || name.find_first_of(",\"\r\n") != std::string::npos)
      row.refuse("name must not be empty or contain a comma, quote or line break");
    if (!names_.insert(name).second)
      row.refuse(fmt::format("the job {} is listed twice; names must be unique", name));
  }

  static ElasticKind kind_of(TableRow& row) {
    const std::string_view text = row.maybe_text("category");
    if (text.empty() || text == "adaptive") return ElasticKind::adaptive;
    if (text == "scale-gpus") return ElasticKind::scale_gpus;
    if (text != "rigid") row.refuse("category must be adaptive, scale-gpus or rigid");
    return ElasticKind::rigid;
  }

  std::optional<std::size_t> find(TableRow& row) {
    const std::string_view name = row.text("application");
    const auto known = std::ranges::find_if(
        workload_.applications,
        [&](const Application& application) { return application.traits.name == name; });
    if (known != workload_.applications.end())
      return static_cast<std::size_t>(known - workload_.applications.begin());
    const auto traits = std::ranges::find(traits_, name, &ApplicationTraits::name);
    if (traits == traits_.end()) {
      std::vector<std::string_view> names;
      for (const ApplicationTraits& each : traits_) names.push_back(each.name);
      row.refuse(unknown_name("application", name, names));
      return std::nullopt;
    }
    auto application = load_(*traits);
    if (!application) {
      row.refuse(application.error().message);
      return std::nullopt;
    }
    workload_.applications.push_back(std::move(*application));
    return workload_.applications.size() - 1;
  }

  const std::vector<ApplicationTraits>& traits_;
  const LoadApplication& load_;
  std::set<std::string> names_;
  ElasticWorkload workload_;
};

}  // namespace

Result<ElasticWorkload> parse_elastic_jobs(std::string_view csv, const std::string& file,
                                           const std::vector<ApplicationTraits>& traits,
                                           const LoadApplication& load) {
  WorkloadReader reader(traits, load);
  const auto read = parse_table(csv, file, [&](TableRow& row) { reader.add(row); });
  if (!read) return tl::unexpected(read.error());
  ElasticWorkload workload = reader.done();
  if (workload.jobs.empty())
    return fail(ErrorCode::invalid, fmt::format("{}: no job: at least one row is needed", file));
  return workload;
}

Result<ElasticWorkload> read_elastic_workload(const ElasticFiles& files,
                                              const ElasticCluster& cluster) {
  const auto toml = read_file(files.traits);
  if (!toml) return tl::unexpected(toml.error());
  const auto traits = parse_applications(*toml, files.traits);
  if (!traits) return tl::unexpected(traits.error());
  const auto csv = read_file(files.jobs);
  if (!csv) return tl::unexpected(csv.error());
  return parse_elastic_jobs(*csv, files.jobs, *traits, [&](const ApplicationTraits& each) {
    return read_application(files.tables, each, cluster);
  });
}

}  // namespace schedmate::elastic
