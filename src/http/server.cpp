// SPDX-License-Identifier: Apache-2.0
#include "http/server.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <stop_token>
#include <thread>
#include <utility>

#include "http/carrier.hpp"
#include "http/door.hpp"
#include "http/events.hpp"
#include "http/listener.hpp"

namespace schedmate::http {
namespace {

/// Descriptors that the doorstep and the rest of the daemon need; of few, half.
constexpr rlim_t other_files = 128 + doorstep_places;

struct Started {
  std::shared_ptr<Traffic> traffic;
  std::unique_ptr<Carrier> requests;
  std::unique_ptr<Carrier> streams;
  DoorParts door;
  std::string unix_path;
};

class FrontDoor final : public Server {
 public:
  explicit FrontDoor(Started parts)
      : traffic_(std::move(parts.traffic)),
        requests_(std::move(parts.requests)),
        streams_(std::move(parts.streams)),
        unix_path_(std::move(parts.unix_path)),
        bell_(parts.door.bell),
        port_(port_of(parts.door.tcp_listener)) {
    struct stat status{};
    if (!unix_path_.empty() && ::lstat(unix_path_.c_str(), &status) == 0) inode_ = status.st_ino;
    door_ = std::make_unique<Door>(std::move(parts.door));
    thread_ = std::jthread([this](const std::stop_token& stop) { door_->run(stop); });
  }
  FrontDoor(const FrontDoor&) = delete;
  FrontDoor& operator=(const FrontDoor&) = delete;
  ~FrontDoor() override { stop_all(); }

  [[nodiscard]] int tcp_port() const override { return port_; }
  [[nodiscard]] const Counters& counters() const override { return traffic_->counters(); }
  [[nodiscard]] std::size_t connections() const override { return traffic_->peers().connections(); }
  void stop() override { stop_all(); }

 private:
  void stop_all() {
    if (!thread_.joinable()) return;
    thread_.request_stop();
    bell_->ring();
    thread_.join();
    if (traffic_->options().events) traffic_->options().events->on_publish(nullptr);
    struct stat status{};
    if (inode_ != 0 && ::lstat(unix_path_.c_str(), &status) == 0 && status.st_ino == inode_)
      ::unlink(unix_path_.c_str());
    constexpr std::chrono::milliseconds patience{500};
    traffic_->end(patience);
    requests_.reset();
    streams_.reset();
    door_.reset();
  }

  std::shared_ptr<Traffic> traffic_;
  std::unique_ptr<Carrier> requests_, streams_;
  std::unique_ptr<Door> door_;
  std::string unix_path_;
  ino_t inode_ = 0;
  std::shared_ptr<Bell> bell_;
  int port_ = 0;
  std::jthread thread_;
};

/// As many connections as there are descriptors for, of which the rest of the daemon needs some.
ServerOptions within_limits(const ServerOptions& options) {
  ServerOptions made = options;
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0)
    made.bounds.connections = std::min<std::size_t>(
        made.bounds.connections, files.rlim_cur - std::min(other_files, files.rlim_cur / 2));
  return made;
}

}  // namespace

Result<std::unique_ptr<Server>> Server::start(const ServerOptions& options) {
  auto tokens = TokenFile::open(options.tokens_file, options.clock.wall());
  if (!tokens) return tl::unexpected(tokens.error());
  Started parts;
  if (!options.unix_path.empty()) {
    auto listener = listen_unix(options.unix_path);
    if (!listener) return tl::unexpected(listener.error());
    parts.door.unix_listener = std::move(*listener);
    parts.unix_path = options.unix_path;
  }
  if (!options.tcp.empty()) {
    auto listener = listen_tcp(options.tcp);
    if (!listener) return tl::unexpected(listener.error());
    parts.door.tcp_listener = std::move(*listener);
  }
  parts.traffic = std::make_shared<Traffic>(within_limits(options));
  auto requests = Carrier::start(parts.traffic, options.threads);
  if (!requests) return tl::unexpected(requests.error());
  auto streams = Carrier::start(parts.traffic, 1);
  if (!streams) return tl::unexpected(streams.error());
  parts.requests = std::move(*requests);
  parts.streams = std::move(*streams);
  parts.door.traffic = parts.traffic;
  parts.door.bell = std::make_shared<Bell>();
  if (options.events) options.events->on_publish([bell = parts.door.bell] { bell->publish(); });
  parts.door.requests = parts.requests.get();
  parts.door.streams = parts.streams.get();
  parts.door.tokens = std::move(*tokens);
  return std::make_unique<FrontDoor>(std::move(parts));
}

}  // namespace schedmate::http
