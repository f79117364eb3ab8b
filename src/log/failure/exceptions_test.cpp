// SPDX-License-Identifier: Apache-2.0
#include "log/failure/exceptions.hpp"

#include <doctest/doctest.h>

#include "log/failure/raised_in.hpp"

namespace schedmate::failure {

TEST_CASE("an exception line is a dotted name with a fitting end") {
  CHECK(exception_name("ValueError: bad") == "ValueError");
  CHECK(exception_name("pkg.mod.SomeError") == "pkg.mod.SomeError");
  CHECK(exception_name("    \"message\": \"ConnectError: x\"") == std::nullopt);
  CHECK(exception_name("': \"RendezvousError: x\"") == "RendezvousError");
  CHECK(exception_name("KeyboardInterrupt  ") == "KeyboardInterrupt");
  CHECK_FALSE(exception_name("raise ValueError(x)"));
  CHECK_FALSE(exception_name("error: something"));
  CHECK_FALSE(exception_name("ValueError in step 3"));
}

TEST_CASE("a frame gives its file and function") {
  const auto frame = read_frame("  File \"/a/train.py\", line 12, in main");
  REQUIRE(frame);
  CHECK(frame->file == "/a/train.py");
  CHECK(frame->function == "main");
  CHECK_FALSE(read_frame("File not found, line 3"));
}

TEST_CASE("the innermost frame says whose code raised an exception") {
  const Frame own{"/data/job/train.py", "main"};
  const Frame torch{"/env/lib/python3.10/site-packages/torch/nn/linear.py", "forward"};
  const Frame tune{"/env/lib/python3.10/site-packages/ray/tune.py", "hook"};
  const auto place = [](std::vector<Frame> frames) { return raised_in(frames); };
  CHECK(place({}) == RaisedIn::nowhere);
  CHECK(place({torch, own}) == RaisedIn::project);
  CHECK(place({own, torch}) == RaisedIn::library);
  CHECK(place({own, tune, torch}) == RaisedIn::library_from_library);
  CHECK(place({{"/env/bin/torchrun", ""}, torch}) == RaisedIn::only_library);
  // "'Net' object has no attribute 'fc3'": torch looks it up for the job.
  const Frame look_up{"/env/lib/python3.10/site-packages/torch/nn/module.py", "__getattr__"};
  CHECK(place({own, look_up}) == RaisedIn::project);
  CHECK(place({look_up}) == RaisedIn::only_library);
}

}  // namespace schedmate::failure
