// SPDX-License-Identifier: Apache-2.0
#include "workers/setup.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include "workers/rows.hpp"

namespace schedmate::workers {

Result<std::unique_ptr<Queue>> queue_of(const settings::Session& session,
                                        std::chrono::milliseconds patience) {
  const settings::Settings& settings = session.settings;
  const std::string where = settings.text("workers.redis");
  if (where.empty())
    return fail(ErrorCode::invalid,
                "no Redis server is named: --redis redis:HOST:PORT, or the setting workers.redis");
  QueueOptions options;
  options.lease = std::chrono::seconds(settings.whole("workers.lease_s"));
  options.most_deliveries = settings.whole("workers.deliveries");
  options.most_waiting = settings.whole("workers.most_waiting");
  options.keep = std::chrono::seconds(settings.whole("workers.keep_s"));
  options.clock = session.clock;
  options.server.busy_timeout = patience;
  options.server.environment = [variable = session.environment.variable](const std::string& name) {
    const std::string value = variable(name);
    return value.empty() ? std::nullopt : std::optional(value);
  };
  return open_queue(where, options);
}

Result<WorkerOptions> worker_of(const settings::Session& session, const std::string& name) {
  WorkerOptions made;
  // The process makes it unlike that of a worker which was killed and started anew: what the old
  // one held is not the new one's.
  made.name = fmt::format("{}:{}", name.empty() ? session.environment.host : name, ::getpid());
  if (auto fine = check_id(made.name); !fine)
    return fail(ErrorCode::invalid,
                fmt::format("the name of a worker has letters, digits and characters of -_.: in "
                            "it: choose one with --id"));
  made.lease = std::chrono::seconds(session.settings.whole("workers.lease_s"));
  made.clock = session.clock;
  return made;
}

Deed deed_of(const settings::Session& session) {
  const std::string socket = session.settings.text("reader.socket");
  return socket.empty() ? with_own_rights(session) : through_reader(session, socket);
}

}  // namespace schedmate::workers
