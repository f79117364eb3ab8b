// SPDX-License-Identifier: Apache-2.0
#include "apps/advisor_state.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "tree/redact.hpp"

namespace schedmate {
namespace {

namespace fs = std::filesystem;

Result<bool> make_folder(const std::string& path) {
  std::error_code error;
  const bool was_there = fs::exists(path, error);
  fs::create_directories(path, error);
  if (error)
    return fail(
        ErrorCode::unavailable,
        fmt::format("state folder {}: {}; choose another with --state-dir", path, error.message()));
  if (!was_there) fs::permissions(path, fs::perms::owner_all, error);
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && info.st_uid == ::geteuid();
}

Clock machine_clock() {
  return {[] { return std::chrono::steady_clock::now().time_since_epoch(); },
          [](std::chrono::nanoseconds rest) { std::this_thread::sleep_for(rest); }};
}

EmbedderOptions embedder_options(const Settings& settings) {
  EmbedderOptions options;
  options.server.url = settings.text("embedder.url");
  options.server.token_file = settings.text("embedder.token_file");
  options.server.recording = settings.text("embedder.recording");
  if (const std::string model = settings.text("embedder.model"); !model.empty())
    options.server.model = model;
  options.around.clock = machine_clock();
  options.around.redact = redact;
  return options;
}

}  // namespace

Result<AdvisorState> open_state(const Session& session) {
  AdvisorState state;
  const std::string folder = session.state_dir();
  const auto owner = make_folder(folder);
  if (!owner) return tl::unexpected(owner.error());
  state.is_operator = *owner;
  const std::string given = session.settings.text("store");
  auto store = open_store(given.empty() ? "sqlite:" + folder + "/history.sqlite" : given);
  if (!store) return tl::unexpected(store.error());
  state.store = std::move(*store);
  auto embedder =
      make_embedder(session.settings.text("embedder.kind"), embedder_options(session.settings));
  if (!embedder) return tl::unexpected(embedder.error());
  state.embedder = std::make_unique<Embedder>(std::move(*embedder));
  IndexOptions options;
  options.folder = folder + "/index";
  auto index = open_index(*state.store, *state.embedder, options);
  if (!index) return tl::unexpected(index.error());
  state.index = std::move(*index);
  return state;
}

}  // namespace schedmate
