// SPDX-License-Identifier: Apache-2.0
#include "probe/request.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/own_files.hpp"

namespace schedmate::probe {
namespace {

Result<NodeKey> key_of(const settings::Session& session, const std::string& node) {
  const std::string key_file = session.settings.text("probe.key_file");
  if (key_file.empty()) {
    const std::string secret_file = session.settings.text("probe.secret_file");
    if (secret_file.empty())
      return fail(ErrorCode::invalid,
                  "setting probe.key_file: a probe needs the key of its node (schedmate probe "
                  "--derive-key NODE writes one where the secret is)");
    auto secret = read_secret(secret_file);
    if (!secret) return tl::unexpected(secret.error());
    return derive_key(*secret, node);
  }
  auto text = read_private_file(key_file);
  if (!text) return tl::unexpected(text.error());
  auto key = read_key_line(*text);
  if (!key) return fail(ErrorCode::invalid, fmt::format("{}: {}", key_file, key.error().message));
  return key;
}

/// A probe that goes on waits for files that are still to come; one look has nothing to wait for.
Result<void> check_named(const ProbeRequest& request) {
  for (const std::string& path : {request.nvml_from, request.kernel_log})
    if (!path.empty() && ::access(path.c_str(), R_OK) != 0)
      return fail(ErrorCode::invalid,
                  fmt::format("{}: cannot open: {}", path, std::strerror(errno)));
  return {};
}

}  // namespace

Result<std::string> read_secret(const std::string& path) {
  auto secret = read_private_file(path);
  if (!secret) return secret;
  if (secret->size() < least_secret)
    return fail(ErrorCode::invalid,
                fmt::format("{}: a secret has at least {} bytes (openssl rand -hex 32)", path,
                            least_secret));
  return secret;
}

Result<std::string> key_line_for(const settings::Session& session, const std::string& node) {
  if (!is_node_name(node))
    return fail(ErrorCode::invalid,
                "--derive-key: a node's name has letters, digits, '-', '.' and '_'");
  const std::string path = session.settings.text("probe.secret_file");
  if (path.empty())
    return fail(ErrorCode::invalid,
                "setting probe.secret_file: names no file to derive a key from");
  const auto secret = read_secret(path);
  if (!secret) return tl::unexpected(secret.error());
  return key_line(derive_key(*secret, node));
}

Result<ProbeOptions> options_of(const settings::Session& session, const ProbeRequest& request) {
  const settings::Settings& settings = session.settings;
  const std::string host = session.environment.host;
  const std::string own = host.substr(0, host.find('.'));
  ProbeOptions made;
  if (request.once) {
    if (auto named = check_named(request); !named) return tl::unexpected(named.error());
    made.key.node = request.node.empty() ? own : request.node;
  } else {
    auto key = key_of(session, request.node.empty() ? own : request.node);
    if (!key) return tl::unexpected(key.error());
    if (!request.node.empty() && request.node != key->node)
      return fail(ErrorCode::invalid,
                  fmt::format("--node {}: the key is that of {}", request.node, key->node));
    made.key = std::move(*key);
  }
  if (!is_node_name(made.key.node))
    return fail(ErrorCode::invalid,
                fmt::format("'{}' is no name of a node: give one by --node", made.key.node));
  made.address = settings.text("probe.address");
  if (made.address.empty()) made.address = "unix:" + settings.text("listen.unix");
  made.nvml_library = settings.text("nvml.library");
  made.nvml_from = request.nvml_from;
  made.dcgm = settings.text("probe.dcgm");
  if (!request.kernel_log.empty()) made.kernel_log = request.kernel_log;
  made.rules_folder = settings.text("rules");
  made.every = std::chrono::seconds(settings.whole("probe.every_s"));
  made.nvml_deadline = std::min<std::chrono::milliseconds>(
      made.nvml_deadline, std::chrono::seconds(settings.whole("nvml.deadline_s")));
  return made;
}

}  // namespace schedmate::probe
