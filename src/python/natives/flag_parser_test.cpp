// SPDX-License-Identifier: Apache-2.0
#include "python/natives/flag_parser.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"

namespace schedmate::python::natives {
namespace {

FlagSpec option(std::vector<std::string> names, std::string_view nargs = "") {
  FlagSpec spec;
  spec.dest = names.front();
  spec.names = std::move(names);
  set_nargs(spec, nargs);
  return spec;
}
FlagSpec positional(std::string dest, std::string_view nargs = "") {
  FlagSpec spec;
  spec.dest = std::move(dest);
  set_nargs(spec, nargs);
  return spec;
}
FlagMatch match(const std::vector<FlagSpec>& specs, std::string_view line,
                const FlagSyntax& syntax = {}) {
  std::vector<command::Word> words;
  for (const auto part : split(line, ' ')) {
    if (!part.empty()) words.push_back({std::string(part), {}, !part.starts_with('$')});
  }
  return match_flags(specs, words, syntax);
}
/// "--lr=0.1 x=a,b | left over"
std::string shown(const std::vector<FlagSpec>& specs, const FlagMatch& found) {
  std::string out;
  for (const FlagUse& use : found.uses) {
    out += (out.empty() ? "" : " ") + specs[use.spec].dest + (use.negated ? "!" : "");
    for (const command::Word& word : use.values)
      out += (&word == use.values.data() ? "=" : ",") + word.text;
  }
  for (const command::Word& word : found.leftover)
    out += (&word == found.leftover.data() ? " | " : " ") + word.text;
  for (const FlagError& error : found.errors) out += " ! " + error.message;
  return out;
}

TEST_CASE("flags take their values apart, attached, abbreviated and by letter") {
  const std::vector specs{option({"--learning-rate", "--lr"}), option({"-b"}), option({"-v"}, "0"),
                          option({"--epochs"})};
  CHECK(shown(specs, match(specs, "--lr 0.1")) == "--learning-rate=0.1");
  CHECK(shown(specs, match(specs, "--lr=0.1 -b8 --ep 3")) == "--learning-rate=0.1 -b=8 --epochs=3");
  CHECK(shown(specs, match(specs, "--learn=a=b")) == "--learning-rate=a=b");
  CHECK(shown(specs, match(specs, "-vvb 4")) == "-v -v -b=4");
  CHECK(shown(specs, match(specs, "-vb4")) == "-v -b=4");
  CHECK(shown(specs, match(specs, "--lr -0.5")) == "--learning-rate=-0.5");
  CHECK(shown(specs, match(specs, "-v=3")).find("takes no value") != std::string::npos);
}

TEST_CASE("the rank that a launcher adds fits either spelling and is no error elsewhere") {
  const std::vector with{option({"--local-rank"}), option({"--lr"})};
  CHECK(shown(with, match(with, "--local_rank=0 --lr 1")) == "--local-rank=0 --lr=1");
  const std::vector without{option({"--lr"})};
  CHECK(shown(without, match(without, "--local_rank=0 --lr 1")) == "--lr=1");
}

TEST_CASE("a long name with one dash is distinguished from letters in one word") {
  const std::vector specs{option({"-lr"}), option({"-data_path"})};
  CHECK(shown(specs, match(specs, "-lr 3 -data_path=x")) == "-lr=3 -data_path=x");
  CHECK(shown(specs, match(specs, "-data x")) == "-data_path=x");
}

TEST_CASE("an abbreviation that fits two flags, a missing value and a missing flag are errors") {
  std::vector specs{option({"--data-dir"}), option({"--data-name"}), option({"--out"})};
  specs[2].required = true;
  CHECK(match(specs, "--out x").errors.empty());
  CHECK(match(specs, "--out x --data y").errors.at(0).message ==
        "the flag --data could be --data-dir or --data-name");
  CHECK(match(specs, "--out").errors.at(0).message == "the flag --out needs a value");
  CHECK(match(specs, "").errors.at(0).message == "the required argument --out is missing");
  FlagSyntax strict;
  strict.abbreviations = false;
  CHECK(shown(specs, match(specs, "--out x --data-d y", strict)) == "--out=x | --data-d y");
}

TEST_CASE("positionals are shared out greedily around the options") {
  const std::vector specs{positional("config"), option({"--gpus"}), positional("opts", "...")};
  CHECK(shown(specs, match(specs, "a.py --gpus 4 x --y 2")) == "config=a.py opts=--gpus,4,x,--y,2");
  CHECK(shown(specs, match(specs, "--gpus 4 a.py x --y 2")) == "--gpus=4 config=a.py opts=x,--y,2");
  const std::vector rest{option({"--cfg"}), positional("opts", "...")};
  CHECK(shown(rest, match(rest, "$MORE --cfg a x 1")) == "--cfg=a opts=x,1 | $MORE");
  CHECK(shown(rest, match(rest, "--cfg a $MORE x 1")) == "--cfg=a opts=$MORE,x,1");
  const std::vector many{positional("files", "+"), positional("last")};
  CHECK(shown(many, match(many, "a b c")) == "files=a,b last=c");
  CHECK(match(many, "").errors.size() == 2);
  const std::vector optional{positional("mode", "?"), option({"--n"}, "*")};
  CHECK(shown(optional, match(optional, "--n 1 2 -- go")) == "--n=1,2 mode=go");
  CHECK(shown(optional, match(optional, "")) == "mode");
}

TEST_CASE("negative numbers are values unless a flag looks like one") {
  const std::vector plain{option({"--x"})};
  CHECK(shown(plain, match(plain, "--x -3")) == "--x=-3");
  const std::vector numeric{option({"--x"}), option({"-3"}, "0")};
  CHECK(shown(numeric, match(numeric, "--x -3")) == "--x -3 ! the flag --x needs a value");
}

TEST_CASE("negations never take a value and attached-only flags leave the next word") {
  FlagSpec amp = option({"--amp"}, "?");
  amp.negations = {"--noamp"};
  amp.attached_only = true;
  const std::vector specs{amp, positional("file", "?")};
  CHECK(shown(specs, match(specs, "--amp x")) == "--amp file=x");
  CHECK(shown(specs, match(specs, "--noamp --amp=0")) == "--amp! --amp=0 file");
}

TEST_CASE("words no flag takes are left over, and unknown words make the match uncertain") {
  const std::vector specs{option({"--lr"})};
  CHECK(shown(specs, match(specs, "--foo 1 --lr 2 bar")) == "--lr=2 | --foo 1 bar");
  CHECK(match(specs, "--lr 2").certain);
  CHECK_FALSE(match(specs, "--lr 2 $EXTRA").certain);
}

TEST_CASE("without free order the first positional ends the options") {
  const std::vector specs{option({"--debug"}, "0"), option({"--n"}), positional("command", "A...")};
  FlagSyntax group;
  group.free_order = false;
  CHECK(shown(specs, match(specs, "--n 2 train --debug --n 3", group)) ==
        "--n=2 command=train,--debug,--n,3");
}

}  // namespace
}  // namespace schedmate::python::natives
