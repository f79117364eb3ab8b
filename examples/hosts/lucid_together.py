# SPDX-License-Identifier: Apache-2.0
"""The stages of Lucid's simulator, side by side in time: for lucid_host.py.

As released, the profiler goes through the whole trace before the first virtual cluster begins. Here
it depends on what a virtual cluster has learned whether its job has to be profiled, so each runs in
a thread of its own, as far as the profiler's next question needs it. One thread runs at a time.
"""

import bisect
import copy
import threading


class Arrivals(list):
    """A queue of the host that asks about each job that comes; told False, it lets it not in."""
    def __init__(self, enters):
        super().__init__()
        self._enters = enters

    def append(self, job):
        if self._enters(job):
            super().append(job)


def paced(policy):
    """The host's class of a virtual cluster, at work in a thread of its own until a second."""
    class Paced(policy):
        until, failed = float("inf"), None

        @property
        def time(self):
            return self._time

        @time.setter
        def time(self, now):
            self._time = now
            if now > self.until:
                self.paused.set()
                self.goes_on.wait()
                self.goes_on.clear()

        def begin(self, until):
            self.until, self.paused, self.goes_on = until, threading.Event(), threading.Event()
            self.thread = threading.Thread(target=self._run, daemon=True)
            self.thread.start()
            self.paused.wait()

        def _run(self):
            try:
                self.time = self._time  # pauses before the first second
                self.simulate()
            except BaseException as error:  # pylint: disable=broad-exception-caught
                self.failed = error
            self.thread = None
            self.paused.set()

        def advance(self, until):
            if self.thread is not None and until > self.until:
                self.until = until
                self.paused.clear()
                self.goes_on.set()
                self.paused.wait()
            if self.failed is not None:
                raise self.failed

        def get_profile_scaling_data(self, cluster):
            self.vc_echo_scaling = cluster == "Venus" and self._vc_name == "vcYVn"
            self.scaling_time_list = self.profiler.scaling_time_list

        @property
        def profile_scaling_df(self):
            import pandas
            return pandas.DataFrame({"time": self.profiler.scaling_time_list,
                                     "scaling_num": self.profiler.scaling_num_list})

        def log_recorder(self, policy_name):
            """The answer is in the jobs."""

    return Paced


class Cluster:
    """One virtual cluster between the host and SchedMate."""

    def __init__(self, host, asked):
        self.host, self.asked, self.elsewhere = host, asked, []
        host.que_list = Arrivals(self.enters)
        release = host._vc.release_resource
        host._vc.release_resource = lambda job: self.ends(job) and release(job)

    def learn_until(self, second):
        """Of jobs that ended in the profiler."""
        while self.elsewhere and self.elsewhere[0][0] <= second:
            end, _, job = self.elsewhere.pop(0)
            self.asked.learn(job["job_id"], end)

    def ends(self, job):
        self.learn_until(self.host.time - 1)
        return self.asked.learn(job["job_id"], self.host.time) is None

    def ask(self, job, now):
        told = self.asked.predict(job["job_id"], now)
        job["priority"] = told.run_time * job["gpu_num"]
        if told.sharing_score is not None:
            job["gmem"], job["sharescore"] = told.memory_mib, told.sharing_score
        return told

    def enters(self, job):
        self.learn_until(self.host.time)
        self.ask(job, self.host.time)
        return True


def with_module(profiler, hosts, asked):
    """The profiler leads; each virtual cluster follows as far as the next question needs it."""
    originals = {job["job_id"]: job for job in profiler.trace.job_list}
    profiler.trace = copy.copy(profiler.trace)
    profiler.trace.job_list = [dict(job, nodes=[]) for job in profiler.trace.job_list]
    clusters = {host._vc_name: Cluster(host, asked) for host in hosts}

    def arrives(job):
        cluster, original = clusters[job["vc"]], originals[job["job_id"]]
        cluster.host.advance(profiler.time - 1)
        cluster.learn_until(profiler.time - 1)
        if cluster.ask(original, profiler.time).sharing_score is not None:
            profiler.end_job_num += 1
            return False
        original["profiled"] = 1
        original["toskip"] = int(job["duration"] <= profiler.time_limit)
        return True

    def leaves(job):
        if job["toskip"]:
            end = (profiler.time, profiler.rows[job["job_id"]], job)
            bisect.insort(clusters[job["vc"]].elsewhere, end)
        return release(job)

    profiler.que_list, release = Arrivals(arrives), profiler._vc.release_resource
    profiler._vc.release_resource = leaves
    for host in hosts:
        host.begin(profiler.time - 1)
    profiler.profile()
    for host in hosts:
        host.advance(float("inf"))
    for job in profiler.trace.job_list:
        original = originals[job["job_id"]]
        if original["toskip"]:
            original.update(job)
        original["profqueue"] = job["profqueue"]
