// SPDX-License-Identifier: Apache-2.0
#include "workers/deeds.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "advisor/advice_document.hpp"
#include "core/facts_json.hpp"
#include "reader/answers/asked.hpp"
#include "secrets/outgoing.hpp"
#include "settings/identity.hpp"

namespace schedmate::workers {
namespace {

using reader::What;

Result<void> check_own(const reader::Request& request) {
  const auto who = settings::identity_of(request.user);
  if (who && who->user == ::geteuid()) return {};
  return fail(ErrorCode::refused,
              fmt::format("this worker reads with its own rights, not with those of {}: its "
                          "setting reader.socket is to name a schedmate-reader",
                          secrets::safe_line(request.user)));
}

Result<Document> read_here(const settings::Session& session, const reader::Request& request) {
  if (auto own = check_own(request); !own) return tl::unexpected(own.error());
  if (request.text)
    return fail(ErrorCode::unsupported,
                "the text of a log is read by a schedmate-reader alone (setting reader.socket): "
                "name the file");
  switch (request.what) {
    case What::advise:
      return reader::advise(session, request);
    case What::facts:
      return reader::facts(session, request);
    case What::failure:
      return reader::failure(session, request);
    default:
      return reader::diagnose(session, request);
  }
}

Result<Document> advise_through(reader::Client& client, const settings::Session& session,
                                const reader::Request& request) {
  const auto asked = reader::advice_asked(request);
  const auto read = client.ask(reader::facts_asked(request));
  if (!read) return tl::unexpected(read.error());
  auto facts = read_facts_document(*read);
  if (!facts) return tl::unexpected(facts.error());
  const auto state = service::open_state(session);
  if (!state) return tl::unexpected(state.error());
  return service::advise_on(session, *state, asked, secrets::redacted(*std::move(facts)))
      .map(advisor::advice_document);
}

}  // namespace

Deed with_own_rights(const settings::Session& session) {
  return [&session](const reader::Request& request) {
    return reader::without_secrets(read_here(session, request));
  };
}

Deed through_reader(const settings::Session& session, const std::string& socket) {
  const std::chrono::seconds deadline(session.settings.whole("reader.deadline_s"));
  const auto client = std::make_shared<reader::Client>(reader::ClientOptions{
      .socket = socket, .deadline = deadline + reader::answer_slack, .clock = session.clock});
  return [&session, client](const reader::Request& request) {
    return reader::without_secrets(request.what == What::advise
                                       ? advise_through(*client, session, request)
                                       : client->ask(request));
  };
}

}  // namespace schedmate::workers
