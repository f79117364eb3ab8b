// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/check.hpp"
#include "base/json_reader.hpp"
#include "core/action_json.hpp"
#include "replay/wire.hpp"
#include "tests/fuzz/targets.hpp"

namespace schedmate::fuzz {
namespace {

/// What was read is written, and reads as the same.
template <class Value, class Read, class Write>
void check_again(const Result<Value>& value, const Read& read, const Write& write) {
  if (!value) {
    SCHEDMATE_CHECK(!value.error().message.empty(), "an error says something");
    return;
  }
  const Document written = write(*value);
  const auto again = read(written);
  SCHEDMATE_CHECK(again && write(*again) == written, "what is written reads as it was");
}

void check_listing(const Result<Listing>& read) {
  check_again(read, replay::read_listing, replay::listing_document);
}

}  // namespace

/// A line of a cluster in another process, as each of the answers, and as a request.
void fuzz_wire(std::string_view input) {
  const auto document = read_json(input, {});
  if (!document) return;
  check_listing(replay::read_listing(*document));
  check_again(replay::read_job(*document), replay::read_job, replay::job_document);
  check_again(replay::read_reply(*document), replay::read_reply, replay::reply_document);
  check_again(read_call(*document), read_call, call_document);
  if (!document->is_object()) return;
  if (const auto job = document->find("job"); job != document->end())
    check_again(replay::read_job(*job), replay::read_job, replay::job_document);
  if (const auto call = document->find("call"); call != document->end())
    check_again(read_call(*call), read_call, call_document);
}

}  // namespace schedmate::fuzz
