// SPDX-License-Identifier: Apache-2.0
#include "daemon/kept_logs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "base/document.hpp"
#include "base/output.hpp"
#include "daemon/readings.hpp"

namespace schedmate::daemon {

std::string KeptLogs::path_of(const SeenJob& job) const {
  std::string name;
  for (const char each : job.id) name += each == '/' ? '_' : each;
  return fmt::format("{}/{}.{}.log", folder_, name, job.restarts);
}

std::string text_of_tail(const Document& tail) {
  std::string text;
  for (const Document& line : part(tail, "lines"))
    if (line.is_string()) text += line.get<std::string>() + "\n";
  return text;
}

void KeptLogs::keep(const SeenJob& job, reader::Client& reader, std::function<void()> then) const {
  auto path = log_path_of(job);
  if (!path) return then();
  reader::Request asked{.what = reader::What::tail, .user = job.user, .logs = {std::move(*path)}};
  asked.lines = reader::most_tail_lines;
  reader.ask(std::move(asked), [folder = folder_, file = path_of(job),
                                then = std::move(then)](const Result<Document>& tail) {
    if (tail) {
      std::error_code ignored;
      std::filesystem::create_directory(folder, ignored);
      std::filesystem::permissions(folder, std::filesystem::perms::owner_all, ignored);
      if (write_file(file, text_of_tail(*tail), Kept::secret)) forget_old_logs(folder, most);
    }
    then();
  });
}

void forget_old_logs(const std::string& folder, std::size_t most) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error))
    files.emplace_back(each->last_write_time(error), each->path());
  if (files.size() <= most) return;
  std::ranges::sort(files);
  for (std::size_t i = 0; i + most < files.size(); ++i) fs::remove(files[i].second, error);
}

}  // namespace schedmate::daemon
