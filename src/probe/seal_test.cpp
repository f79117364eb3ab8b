// SPDX-License-Identifier: Apache-2.0
#include "probe/seal.hpp"

#include <doctest/doctest.h>

#include <string>

#include "probe/gate.hpp"

namespace schedmate::probe {
namespace {

const std::string secret = "correct horse battery staple 0123456789";
constexpr std::int64_t sealed_s = 1'790'000'000;

Message message(std::uint64_t counter) {
  return {"n1", sealed_s, "abcd", counter, "{\"a\": \"\\n\"}"};
}
std::string sent(const Message& what) { return sealed(what, derive_key(secret, what.node).key); }

Verdict verdict(const Gate& gate, const std::string& text, std::int64_t at_s = sealed_s) {
  const auto read = gate.check(text, at_s);
  return read ? Verdict::taken : read.error().verdict;
}
Verdict verdict(Gate& gate, const Message& what, std::int64_t at_s = sealed_s) {
  const auto done = gate.admit(what, at_s);
  return done ? Verdict::taken : done.error().verdict;
}

}  // namespace

TEST_CASE("a sealed message is read as it was, and proves its node") {
  const Message made = message(7);
  const auto read = read_sealed(sent(made));
  REQUIRE(read);
  CHECK(read->message == made);
  CHECK(is_proved(*read, derive_key(secret, "n1").key));
  CHECK_FALSE(is_proved(*read, derive_key(secret, "n2").key));
  CHECK_FALSE(is_proved(*read, derive_key(secret + "x", "n1").key));
}

TEST_CASE("whatever is changed in a message, its proof fails") {
  const auto key = derive_key(secret, "n1").key;
  const auto read = read_sealed(sent(message(7)));
  REQUIRE(read);
  for (const auto& change :
       {+[](Message& each) { each.node = "n2"; }, +[](Message& each) { ++each.time_s; },
        +[](Message& each) { each.session = "abce"; }, +[](Message& each) { ++each.counter; },
        +[](Message& each) { each.body += ' '; }}) {
    SealedMessage changed = *read;
    change(changed.message);
    CHECK_FALSE(is_proved(changed, key));
  }
  SealedMessage cut = *read;
  cut.proof.pop_back();
  CHECK_FALSE(is_proved(cut, key));
  cut.proof.clear();
  CHECK_FALSE(is_proved(cut, key));
}

TEST_CASE("the file of a node's key") {
  const NodeKey key = derive_key(secret, "gpu-1.cluster");
  const auto read = read_key_line(key_line(key));
  REQUIRE(read);
  CHECK(read->node == "gpu-1.cluster");
  CHECK(read->key == key.key);
  for (const char* bad : {"", "x", "schedmate-probe-key n1 12", "schedmate-probe-key n/1 00"})
    CHECK_FALSE(read_key_line(bad));
}

TEST_CASE("names of nodes cannot forge another field") {
  CHECK(is_node_name("gpu-01.rack_2"));
  CHECK_FALSE(is_node_name(""));
  CHECK_FALSE(is_node_name("a\nb"));
  CHECK_FALSE(is_node_name(std::string(254, 'a')));
}

TEST_CASE("garbage is no message") {
  const Gate gate(secret, "abcd");
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[1,2]"), std::string("\0\xff", 2),
        std::string(100'000, '['), std::string(R"({"schema":"schedmate.probe.v1"})"),
        std::string(R"({"schema":"schedmate.probe.v1","node":"n1","time_s":"1","session":"",)"
                    R"("counter":-1,"body":"","proof":""})")})
    CHECK(verdict(gate, text) == Verdict::malformed);
}

TEST_CASE("a node does not speak for another") {
  const Gate gate(secret, "abcd");
  CHECK(verdict(gate, sent(message(1))) == Verdict::taken);
  CHECK(verdict(gate, sealed(message(1), derive_key(secret, "n2").key)) == Verdict::unproved);
  CHECK(verdict(Gate("", "abcd"), sealed(message(1), derive_key("", "n1").key)) ==
        Verdict::unproved);
}

TEST_CASE("a clock that is an hour off is refused, before or behind") {
  const Gate gate(secret, "abcd");
  const std::string text = sent(message(1));
  CHECK(verdict(gate, text, sealed_s + 3600) == Verdict::late);
  CHECK(verdict(gate, text, sealed_s - 3600) == Verdict::late);
  CHECK(verdict(gate, text, sealed_s + Gate::window_s) == Verdict::taken);
  Message far = message(1);
  for (const std::int64_t time_s : {INT64_MIN, INT64_MAX}) {
    far.time_s = time_s;
    CHECK(verdict(gate, sent(far)) == Verdict::late);
  }
}

TEST_CASE("a message is taken once") {
  Gate gate(secret, "abcd");
  CHECK(verdict(gate, message(1)) == Verdict::taken);
  CHECK(verdict(gate, message(1)) == Verdict::replayed);
  CHECK(verdict(gate, message(5)) == Verdict::taken);
  CHECK(verdict(gate, message(2)) == Verdict::replayed);
  CHECK(gate.last_counter("n1") == 5);
  Message other = message(1);
  other.node = "n2";
  CHECK(verdict(gate, other) == Verdict::taken);
}

TEST_CASE("what was recorded before a restart of the daemon is not taken after it") {
  Gate after(secret, "1234");
  CHECK(verdict(after, message(1)) == Verdict::replayed);
  Message again = message(1);
  again.session = after.session();
  CHECK(verdict(after, again) == Verdict::taken);
}

TEST_CASE("a counter that fell back goes on behind the last one") {
  Gate gate(secret, "abcd");
  CHECK(verdict(gate, message(900)) == Verdict::taken);
  CHECK(verdict(gate, message(1)) == Verdict::replayed);  // the node came up again
  CHECK(verdict(gate, message(gate.last_counter("n1") + 1)) == Verdict::taken);
}

TEST_CASE("a node speaks no more often than it has to") {
  Gate gate(secret, "abcd");
  std::uint64_t counter = 0;
  for (unsigned i = 0; i < Gate::most_in_a_minute; ++i)
    CHECK(verdict(gate, message(++counter)) == Verdict::taken);
  CHECK(verdict(gate, message(++counter)) == Verdict::too_many);
  CHECK(verdict(gate, message(counter), sealed_s + 60) == Verdict::taken);
}

}  // namespace schedmate::probe
