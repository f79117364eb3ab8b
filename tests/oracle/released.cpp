// SPDX-License-Identifier: Apache-2.0
#include "released.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <sstream>

namespace oracle {
namespace {

std::string read_all(const std::string& path) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  std::string text;
  if (!file) return text;
  std::array<char, 65'536> part{};
  for (int n = 0; (n = gzread(file.get(), part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(n));
  }
  return text;
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      found.emplace_back();
    } else if (c != '\r') {
      found.back() += c;
    }
  }
  return found;
}

/// "[{0: [0, 1]}, {3: [5]}]"
Nodes parse_nodes(const std::string& text) {
  Nodes nodes;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] < '0' || text[i] > '9') {
      ++i;
      continue;
    }
    std::size_t length = 0;
    const int value = std::stoi(text.substr(i), &length);
    i += length;
    if (text[i] == ':') {
      nodes.push_back({value, {}});
    } else {
      nodes.back().gpus.push_back(value);
    }
  }
  return nodes;
}

std::string configuration(const Table& t, std::size_t row, const std::string& suffix) {
  return t.text("model" + suffix, row) + "/" + t.text("dataset" + suffix, row) + "/" +
         t.text("batchsize" + suffix, row) + "/" + t.text("amp" + suffix, row);
}

using Index = std::map<std::string, std::size_t>;

void read_profiles(const std::string& folder, TickInput& input, Index& profiles) {
  const std::set<std::string> heavy{"NeuMF", "ResNet50", "BERT", "Transformer"};
  const Table single(folder + "/single_data.csv");
  for (std::size_t row = 0; row < single.rows(); ++row) {
    profiles[configuration(single, row, "")] = row;
    input.profiles.push_back({static_cast<int>(single.tick("label", row)),
                              single.number("gmem", row),
                              heavy.contains(single.text("model", row))});
  }
  const std::size_t n = single.rows();
  input.pairs.resize(n * n);
  const Table pairs(folder + "/colocate_info.csv");
  for (std::size_t row = 0; row < pairs.rows(); ++row) {
    const std::size_t a = profiles.at(configuration(pairs, row, "1"));
    const std::size_t b = profiles.at(configuration(pairs, row, "2"));
    const double speed_a = pairs.number("speed1", row);
    const double speed_b = pairs.number("speed2", row);
    input.pairs[b * n + a] = {speed_b, speed_a};
    input.pairs[a * n + b] = {speed_a, speed_b};
  }
}

}  // namespace

Table::Table(const std::string& path) {
  std::istringstream lines(read_all(path));
  std::string line;
  std::getline(lines, line);
  const std::vector<std::string> names = cells(line);
  for (; std::getline(lines, line); ++rows_) {
    const std::vector<std::string> row = cells(line);
    for (std::size_t i = 0; i < names.size(); ++i) columns_[names[i]].push_back(row.at(i));
  }
}

TickInput read_released_input(const std::string& folder, const std::string& estimate) {
  TickInput input;
  Index profiles;
  Index vcs;
  read_profiles(folder, input, profiles);
  const Table config(folder + "/vc_config.csv");
  for (std::size_t row = 0; row < config.rows(); ++row) {
    const std::string& name = config.text("", row);
    vcs[name] = row;
    input.vcs.push_back({name, static_cast<int>(config.tick("num", row)), 8, 1});
  }
  const Table forecast(folder + "/throughput_pred.csv");
  input.forecast.first = 13'219'200;
  for (std::size_t row = 0; row < forecast.rows(); ++row) {
    input.forecast.jobs.push_back(forecast.number("pred_gpu_job", row));
    input.forecast.gpus.push_back(forecast.number("pred_gpu_num", row));
  }
  const Table jobs(folder + "/jobs.csv.gz");
  for (std::size_t row = 0; row < jobs.rows(); ++row) {
    input.jobs.push_back({jobs.tick("submit_time", row), jobs.tick("duration", row),
                          static_cast<int>(jobs.tick("gpu_num", row)), vcs.at(jobs.text("vc", row)),
                          jobs.number(estimate, row), profiles.at(configuration(jobs, row, ""))});
  }
  return input;
}

std::vector<TickOutcome> read_released_outcomes(const std::string& path) {
  const Table table(path);
  std::vector<TickOutcome> outcomes(table.rows());
  for (std::size_t row = 0; row < table.rows(); ++row) {
    TickOutcome& out = outcomes[row];
    out.start = table.tick("start_time", row);
    out.end = table.tick("end_time", row);
    out.queue = table.tick("queue", row);
    out.nodes = parse_nodes(table.text("nodes", row));
    if (table.has("ckpt_times")) out.preemptions = static_cast<int>(table.tick("ckpt_times", row));
    if (!table.has("profqueue")) continue;
    out.profiled = table.tick("profiled", row) == 1;
    out.finished_in_profiler = table.tick("toskip", row) == 1;
    out.exclusive = table.tick("exclusive", row) == 1;
    out.profiler_queue = table.tick("profqueue", row);
    out.rate = table.number("rate", row);
    out.remaining = table.number("remain", row);
    out.packed_at = table.tick("Tcolocate", row);
    out.unpacked_at = table.tick("Tdelocate", row);
  }
  return outcomes;
}

std::vector<std::pair<Tick, int>> read_released_scaling(const std::string& path) {
  const Table table(path);
  std::vector<std::pair<Tick, int>> events;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    events.emplace_back(table.tick("time", row), static_cast<int>(table.tick("scaling_num", row)));
  }
  return events;
}

}  // namespace oracle
