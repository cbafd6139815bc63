"""Speculation against servers that draft by a plan: each figure is what really happened."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from statistics import median

import pytest

from evalkit.performance import Performance
from evalkit.probe.plan import ProbePlan, SpeculationPlan
from evalkit.probe.workloads import load_workloads
from evalkit.speculation import WORKLOADS, Route, Speculation, SpeculativeArm
from tests.probe.test_truth import measured as probed
from tests.probe.test_truth import quiet
from tests.servers.clocked import Pace
from tests.servers.speculating import Drafting, SpeculatingServer, Tally

TOKENS = 25
GAP = 0.004
# Of four steps three times: 2, 0, 1 and 3 of three drafted tokens are right.
PLAN = (2, 0, 1, 3)


def measured(
    labels: tuple[str, ...],
    *servers: SpeculatingServer,
    concurrency: tuple[int, ...] = (1,),
    prompts: int = 2,
    contexts: tuple[int, ...] = (64,),
) -> Performance:
    plan = ProbePlan(
        contexts=contexts,
        concurrency=concurrency,
        output_tokens=TOKENS,
        repeats=6,
        requests=1,
        speculation=SpeculationPlan(tuple(map(part, labels)), prompts, ("en",), 8),
    )

    return probed(plan, *servers)


def part(label: str) -> tuple[str | None, str]:
    group, _, name = label.rpartition("/")
    return group or None, name


def only(found: Performance) -> tuple[Speculation, dict[str, SpeculativeArm], dict[str, Route]]:
    (one,) = found.speculation
    return one, {arm.label: arm for arm in one.arms}, {route.case: route for route in one.routes}


def asked_of(server: SpeculatingServer) -> dict[str, list[Tally]]:
    """The server's own counts of the shipped prompts, by kind of work."""
    found: dict[str, list[Tally]] = defaultdict(list)
    for prompt in load_workloads(("en",), 2):
        text = prompt.messages[0].content
        found[prompt.workload].append(server.of_prompts[text][-1])
    return found


@dataclass(frozen=True)
class Pair:
    found: Performance
    off: SpeculatingServer
    on: SpeculatingServer


@pytest.fixture(scope="module")
def pair() -> Pair:
    """Off makes a token a step; on two and a half, but each further request makes it slower."""

    def measure() -> Pair:
        off = SpeculatingServer(Pace(first=0.02, gap=GAP, context=4096), Drafting(prefix=None))
        crowded = Drafting(PLAN, crowd=1.5, prefix="llamacpp", timings=True, lag=0.03)
        on = SpeculatingServer(Pace(first=0.03, gap=GAP, context=4096), crowded)
        found = measured(("off", "on"), off, on, concurrency=(1, 2, 4), contexts=(64, 1024))
        return Pair(found, off, on)

    return quiet(measure, lambda pair: _turns(pair.found))


def _turns(found: Performance) -> bool:
    crossover = found.speculation[0].arms[1].crossover
    return crossover is not None and crossover.kind == "between"


def test_acceptance_is_what_the_server_counted_by_work_and_place(pair: Pair) -> None:
    found, server = pair.found, pair.on
    _, arms, routes = only(found)
    tallies = asked_of(server)
    for name in WORKLOADS:
        told = arms["on"].workloads[name].acceptance
        assert told is not None
        mine = tallies[name]
        assert (told.drafted, told.accepted, told.drafts, told.source) == (
            sum(one.drafted for one in mine),
            sum(one.accepted for one in mine),
            sum(one.drafts for one in mine),
            "metrics",
        )
        assert told.rate.value == pytest.approx(told.accepted / told.drafted)
        assert told.rate.n_clusters == len(mine) == 2
        places = [sum(one.positions[at] for one in mine) / told.drafts for at in range(3)]
        assert [one.value for one in told.positions] == pytest.approx(places)
    assert arms["on"].depth == 3
    rate = arms["on"].workloads["long_output"].acceptance
    assert rate is not None
    assert routes["long_output"].acceptance == {"on": pytest.approx(rate.rate.value)}
    assert arms["off"].workloads["long_output"].acceptance is None


def clock(server: SpeculatingServer, prompt: str, back: int) -> tuple[float, float]:
    """What the server itself did: seconds to the first token, and tokens a second after it."""
    seen = [one for one in server.streamed if one.prompt == prompt][-back]
    return (
        seen.writes[0] - seen.arrived,
        (TOKENS - 1) / (seen.writes[-1] - seen.writes[0]),
    )


def test_ratios_are_those_of_the_servers_clocks_whatever_a_part_holds(pair: Pair) -> None:
    _, arms, _ = only(pair.found)
    for name, work in arms["on"].workloads.items():
        texts = [p.messages[0].content for p in load_workloads(("en",), 2) if p.workload == name]
        # The one without speculation was asked once more at the end.
        before = [clock(pair.off, text, 2) for text in texts]
        after = [clock(pair.on, text, 1) for text in texts]
        for at, metric in enumerate(("ttft", "decode")):
            pairs = zip(before, after, strict=True)
            expected = math.exp(median(math.log(late[at] / early[at]) for early, late in pairs))
            assert work.ratios[metric].value == pytest.approx(expected, rel=0.06), metric


def test_the_crossover_is_found_and_routes_follow_the_figures(pair: Pair) -> None:
    _, arms, routes = only(pair.found)
    crossover = arms["on"].crossover
    assert crossover is not None
    assert (crossover.kind, crossover.faster_up_to) == ("between", 1)
    assert crossover.slower_from in (2, 4)
    assert crossover.estimate is not None
    assert crossover.estimate.value is not None
    assert 1 < crossover.estimate.value < 4
    assert (routes["interactive"].choice, routes["interactive"].rule) == ("on", "faster")
    assert (routes["batch"].choice, routes["batch"].rule) == ("off", "slower")
    assert routes["batch"].concurrency == 4
    long = routes["long_prompt_short_answer"]
    assert long.context == 1024
    assert long.ttft is not None
    assert (long.ttft["on"].value or 0) > 1.2, "the first token comes ten milliseconds later"
    assert arms["on"].contexts.keys() == {64, 1024}
    assert arms["on"].equality is not None
    assert arms["on"].equality.finding == "equal"
    words = arms["on"].compare.split()
    assert [word.strip("'").endswith("#clocked") for word in words[2:4]] == [True, True]
    assert [*words[:2], *words[4:]] == ["evalkit", "compare", "--allow-confounded"]


def test_without_metrics_the_answers_tell_and_without_both_nobody_does() -> None:
    told = Drafting(PLAN, prefix=None, timings=True)
    silent = Drafting(PLAN, prefix=None)
    pace = Pace(first=0.005, gap=0.001, context=4096)
    off = SpeculatingServer(pace, Drafting(prefix=None))
    on, deep = SpeculatingServer(pace, told), SpeculatingServer(pace, silent)
    found = measured(("off", "on", "depth3"), off, on, deep)
    _, arms, routes = only(found)
    acceptance = arms["on"].workloads["code_review"].acceptance
    assert acceptance is not None
    assert (acceptance.source, acceptance.positions, acceptance.drafts) == ("timings", (), None)
    assert acceptance.accepted == sum(one.accepted for one in asked_of(on)["code_review"])
    assert arms["depth3"].workloads["code_review"].acceptance is None
    assert [r.values["endpoint"] for r in found.remarks if r.code == "NO_COUNTS"] == [
        arms["depth3"].arm
    ]
    assert routes["batch"].choice is None, "one load alone is no batch"


def test_a_deeper_draft_must_be_shown_to_pay_more() -> None:
    pace = Pace(first=0.005, gap=GAP, context=4096)
    off = SpeculatingServer(pace, Drafting())
    shallow = SpeculatingServer(pace, Drafting((1,), depth=1))
    deep = SpeculatingServer(pace, Drafting((5,), depth=5))
    found = measured(("off", "deep", "shallow"), off, deep, shallow)
    _, _, routes = only(found)
    assert (routes["interactive"].choice, routes["interactive"].rule) == ("deep", "deeper")
    # Two prompts of one kind decide nothing, however far apart.
    assert (routes["templated_code"].choice, routes["templated_code"].rule) == (None, "few")
    deeper = routes["interactive"].deeper
    assert deeper is not None
    assert (deeper.value or 0) > 1.5


def test_texts_that_change_are_held_against_the_noise_of_the_same_server() -> None:
    pace = Pace(first=0.003, gap=0.0005, context=4096)

    def noisy(prompt: str, ask: int) -> str:
        return f"w{ask % 2}" if len(prompt) % 2 else "w"

    off = SpeculatingServer(pace, Drafting(), noisy)
    other = SpeculatingServer(pace, Drafting(PLAN), lambda prompt, ask: "x")
    found = measured(("off", "on"), off, other)
    _, arms, _ = only(found)
    equality = arms["on"].equality
    assert equality is not None
    assert equality.n == 12
    assert equality.different == 12
    assert 0 < equality.noise < 12
    assert equality.finding == "beyond"
    assert equality.excess is not None
    assert equality.excess.value == pytest.approx((12 - equality.noise) / 12)
    assert equality.agreement == pytest.approx(2 / 51, abs=0.02)


def test_a_restart_and_other_people_spoil_no_rate() -> None:
    pace = Pace(first=0.003, gap=0.0005, context=4096)
    server = SpeculatingServer(pace, Drafting(PLAN, prefix="vllm"))
    count, seen = server._count, []

    def meddle(tally: Tally) -> None:
        seen.append(tally)
        if len(seen) % 7 == 3:
            server.restart()
        count(tally)
        if len(seen) % 7 == 5:
            count(Tally(drafts=9, drafted=27, accepted=27, positions=[9, 9, 9], made=36))

    server._count = meddle  # type: ignore[method-assign]
    found = measured(("on",), server)
    one, arms, routes = only(found)
    codes = {remark.code: remark.values for remark in found.remarks}
    assert {"OTHER_TRAFFIC", "SET_BACK"} <= codes.keys()
    rates = [work.acceptance for work in arms["on"].workloads.values()]
    assert all(r is None or 0 < (r.rate.value or 0) < 0.9 for r in rates)
    assert any(rates)
    # One endpoint alone: acceptance is told, and nothing is chosen.
    assert one.off is None
    assert {route.choice for route in routes.values()} == {None}
    assert {route.rule for route in routes.values()} == {"not_measured"}
    assert arms["on"].lifetime is not None
    assert arms["on"].crossover is None
    assert arms["on"].equality is None


def test_every_build_is_held_against_its_own_off() -> None:
    fast, slow = Pace(first=0.003, gap=0.001, context=4096), Pace(first=0.003, gap=GAP)
    servers = [
        SpeculatingServer(slow, Drafting()),
        SpeculatingServer(slow, Drafting((3,))),
        SpeculatingServer(fast, Drafting()),
        SpeculatingServer(fast, Drafting((0,))),
    ]
    found = measured(("fp8/off", "fp8/on", "int4/off", "int4/on"), *servers)
    fp8, int4 = found.speculation
    assert (fp8.group, int4.group) == ("fp8", "int4")
    names = [arm.name for arm in found.arms]
    assert [arm.arm for one in (fp8, int4) for arm in one.arms] == names
    routes = [{r.case: r for r in one.routes}["interactive"] for one in (fp8, int4)]
    assert [route.choice for route in routes] == ["on", "off"]
    acceptance = int4.arms[1].workloads["long_output"].acceptance
    assert acceptance is not None
    assert (acceptance.accepted, acceptance.rate.value) == (0, 0.0)


def test_an_endpoint_named_off_that_speculates_is_told() -> None:
    pace = Pace(first=0.002, gap=0.0005, context=4096)
    off = SpeculatingServer(pace, Drafting(PLAN))
    on = SpeculatingServer(pace, Drafting(PLAN))
    found = measured(("off", "on"), off, on)
    assert "SPECULATES_TOO" in {remark.code for remark in found.remarks}
