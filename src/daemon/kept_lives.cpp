// SPDX-License-Identifier: Apache-2.0
#include "daemon/kept_lives.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/document_value.hpp"
#include "base/input.hpp"
#include "base/json.hpp"
#include "base/json_reader.hpp"
#include "base/output.hpp"
#include "base/text.hpp"
#include "daemon/findings.hpp"

namespace schedmate::daemon {
namespace {

using Points = std::vector<live::Life::Point>;

/// Of a job's points: the last ones tell whether it stands still, those before how it went.
constexpr std::size_t most_early = 16, most_last = 48;
constexpr std::string_view first_line = R"({"schema":"schedmate.lives.v1"})";

std::string lives_file(const std::string& state_dir) { return state_dir + "/lives.jsonl"; }

Points thinned(const Points& points) {
  if (points.size() <= most_early + most_last) return points;
  const std::size_t early = points.size() - most_last;
  Points made;
  for (std::size_t i = 0; i < most_early; ++i) made.push_back(points[i * early / most_early]);
  made.insert(made.end(), points.end() - most_last, points.end());
  return made;
}

Document line_of(const std::string& id, const live::Life& life) {
  Document line{{"id", id},
                {"submitted_s", seconds_of(life.submitted)},
                {"restarts", life.restarts},
                {"fastest_step_s", or_null<Document>(life.fastest_step_s)},
                {"looked_s", or_null<Document>(life.looked.transform(seconds_of))},
                {"log", nullptr},
                {"points", Document::array()}};
  if (life.log)
    line["log"] = {{"step", or_null<Document>(life.log->step)},
                   {"total_steps", or_null<Document>(life.log->total_steps)},
                   {"loss", or_null<Document>(life.log->loss)},
                   {"step_time_s", or_null<Document>(life.log->step_time_s)},
                   {"recent_step_time_s", or_null<Document>(life.log->recent_step_s)},
                   {"remaining_s", or_null<Document>(life.log->remaining_s)},
                   {"file", {{"inode", life.log->file}, {"size", life.log->bytes}}}};
  for (const live::Life::Point& each : life.points)
    line["points"].push_back(
        Document::array({seconds_of(each.when), each.step, or_null<Document>(each.loss)}));
  return line;
}

/// Nothing: they are not as line_of() writes them.
std::optional<Points> points_in(const Document& value) {
  if (!value.is_array() || value.size() > most_early + most_last) return std::nullopt;
  Points points;
  for (const Document& each : value) {
    if (!each.is_array() || each.size() != 3) return std::nullopt;
    const auto when = instant_in(each[0]);
    const auto step = figure_in(each[1]);
    const bool rises =
        when && step &&
        (points.empty() || (points.back().when <= *when && points.back().step < *step));
    if (!rises) return std::nullopt;
    points.push_back({*when, *step, figure_in(each[2])});
  }
  return points;
}

std::optional<std::pair<std::string, live::Life>> life_in(const Document& line) {
  std::string id = text_in(part(line, "id"));
  const auto submitted = instant_in(part(line, "submitted_s"));
  const auto restarts = whole_in(part(line, "restarts"));
  auto points = points_in(part(line, "points"));
  if (id.empty() || !submitted || !restarts || !points) return std::nullopt;
  live::Life life{.submitted = *submitted,
                  .restarts = *restarts,
                  .looked = instant_in(part(line, "looked_s")),
                  .points = *std::move(points)};
  if (const Document& log = part(line, "log"); log.is_object()) life.log = log_found(log);
  const auto fastest = figure_in(part(line, "fastest_step_s"));
  if (fastest && *fastest > 0) life.fastest_step_s = fastest;
  return std::pair(std::move(id), std::move(life));
}

}  // namespace

MeasuredLives measured_lives(const live::Lives& lives) {
  MeasuredLives made;
  for (const auto& [id, life] : lives.all())
    if (life.log || life.fastest_step_s)
      made[id] = {.submitted = life.submitted,
                  .restarts = life.restarts,
                  .log = life.log,
                  .looked = life.looked,
                  .points = thinned(life.points),
                  .fastest_step_s = life.fastest_step_s};
  return made;
}

Result<void> keep_lives(const MeasuredLives& lives, const std::string& state_dir) {
  auto file = OutputFile::create(lives_file(state_dir), Kept::secret);
  if (!file) return tl::unexpected(file.error());
  file->append(std::string(first_line) + "\n");
  for (const auto& [id, life] : lives) file->append(in_one_line(line_of(id, life)) + "\n");
  return file->commit();
}

MeasuredLives kept_lives(const std::string& state_dir,
                         const std::function<void(const std::string&)>& report) {
  const std::string path = lives_file(state_dir);
  MeasuredLives lives;
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::symlink_status(path, ignored))) return lives;
  constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30U;
  const auto text = read_file(path, most_bytes);
  if (!text) {
    report("does not know how far jobs were: " + text.error().message);
    return lives;
  }
  const std::vector<std::string_view> written = split(*text, '\n');
  if (written.front() != first_line) {
    report("does not know how far jobs were: " + path + " is none of its files");
    return lives;
  }
  constexpr JsonBounds bounds{.deepest = 4, .most_values = 1000};
  std::size_t wrong = 0;
  for (const std::string_view line : std::span(written).subspan(1)) {
    if (line.empty()) continue;
    auto life = read_json(line, bounds).map(life_in).value_or(std::nullopt);
    if (life)
      lives.insert(*std::move(life));
    else
      ++wrong;
  }
  if (wrong > 0)
    report(
        fmt::format("{}: {} lines are damaged; how far those jobs were is not known", path, wrong));
  return lives;
}

}  // namespace schedmate::daemon
