"""Configuration files: what is understood, and what one sentence says of what is not."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from evalkit.config import Config, check_config, load_config
from evalkit.errors import ConfigError, ExitCode
from evalkit.policy import Policy, policy_changes, read_policy, shipped_policies

Write = Callable[[str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str | bytes) -> Path:
        path = tmp_path / "evalkit.yaml"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return _write


def test_nothing_given_means_the_documented_defaults() -> None:
    config = load_config(None)
    assert config.policy.alpha == 0.05
    assert config.policy.margins.accuracy == 2.0
    assert config.policy.guard_min_pairs == 300
    assert config.sampling.temperature == 0.0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sed: 1", "Unknown key 'sed' in .*Did you mean seed"),
        ("policy: {margins: {acuracy: 1}}", "'policy.margins.acuracy'.*Did you mean accuracy"),
        ("sampling: {temprature: 0}", "'sampling.temprature'.*Did you mean temperature"),
        ("seed: x", "Key 'seed' in .*integer"),
        ("epochs: 0", "Key 'epochs' in .*greater than or equal to 1"),
        ("policy: {alpha: 0.9}", "Key 'policy.alpha'"),
        ("policy: {margins: {accuracy: .nan}}", "finite"),
        ("policy: {margins: {families: {maths: 1}}}", "maths"),
        ("a: [", "line 1 is not valid YAML"),
        ("seed: 1\nseed: 2", "line 2 is not valid YAML: key 'seed' stands twice"),
        ("- a", "holds a list"),
        ("baseline: ${EVALKIT_TEST_UNSET}", "'EVALKIT_TEST_UNSET'.*is not set"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ("x: !!python/object/apply:os.system [true]", "not valid YAML"),
    ],
)
def test_faults_are_one_sentence(write: Write, text: str | bytes, message: str) -> None:
    with pytest.raises(ConfigError, match=message) as caught:
        load_config(write(text))
    assert caught.value.exit_code == ExitCode.USAGE
    assert "\n" not in str(caught.value)
    assert "pydantic" not in str(caught.value)


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"does not exist.*evalkit init"):
        load_config(tmp_path / "none.yaml")
    with pytest.raises(ConfigError, match="cannot be read"):
        load_config(tmp_path)


def test_secrets_do_not_stand_in_errors(write: Write) -> None:
    path = write("endpoints: {a: ${TOKEN}}\nrequests: {api_key: ${TOKEN}}")
    with pytest.raises(ConfigError) as caught:
        load_config(path, environment={"TOKEN": "sk-secret"})
    assert "sk-secret" not in str(caught.value)


def test_environment_and_overrides(write: Write) -> None:
    path = write("baseline: ${ARM:-q8}\ncandidates: ['${ARM}x']\nseed: 3")
    config = load_config(path, ["seed=5", "policy.margins.accuracy=1"], environment={"ARM": "f"})
    assert (config.baseline, config.candidates, config.seed) == ("f", ("fx",), 5)
    assert config.policy.margins.accuracy == 1.0


@pytest.mark.parametrize("override", ["seed", "=1", "seed.x=1", "seed=[", "polcy.alpha=1"])
def test_faulty_overrides_are_refused(override: str, write: Write) -> None:
    with pytest.raises(ConfigError):
        load_config(write("seed: 1"), [override])


def test_a_policy_file_holds_the_policy_alone(write: Write) -> None:
    assert read_policy(write("alpha: 0.01")).alpha == 0.01
    with pytest.raises(ConfigError, match=r"Unknown key 'alfa'.*Did you mean alpha"):
        read_policy(write("alfa: 0.01"))


def test_the_shipped_template_is_a_valid_configuration() -> None:
    template = Path(__file__).parent.parent / "evalkit" / "cli" / "evalkit.yaml"
    config = load_config(template)
    assert (config.baseline, config.candidates) == ("q8", ("q4",))
    assert config.policy == Config().policy
    assert config.sampling == Config().sampling


CONFIGS = sorted((Path(__file__).parent.parent / "configs").glob("*.yaml"))


@pytest.mark.parametrize(
    "path", [p for p in CONFIGS if not p.name.startswith("policy-")], ids=lambda p: p.name
)
def test_the_example_configurations_are_valid(path: Path) -> None:
    config = load_config(path)
    assert config.baseline in config.endpoints
    assert set(config.candidates) <= set(config.endpoints)


def test_the_shipped_policies_are_what_they_say() -> None:
    shipped = {name: read_policy(Path(name)) for name in shipped_policies()}
    assert set(shipped) == {"default", "strict", "two-stage", "sequential"}
    assert shipped["default"] == Policy()
    assert policy_changes(Policy(), shipped["two-stage"]) == {"plan": ("single", "two-stage")}
    assert policy_changes(Policy(), shipped["sequential"]) == {"plan": ("single", "sequential")}
    strict = policy_changes(Policy(), shipped["strict"])
    assert all(new < old for key, (old, new) in strict.items() if key != "power")
    assert strict["power"] == (0.8, 0.9)
    assert len({policy.fingerprint for policy in shipped.values()}) == 4
    for path in (p for p in CONFIGS if p.name.startswith("policy-")):
        assert read_policy(path) == shipped[path.stem.removeprefix("policy-")]
        # Every number stands in the file: nothing is left to a default that may change.
        written = set(yaml.safe_load(path.read_text(encoding="utf-8")))
        assert written | {"judges"} == set(Policy.model_fields)


def test_an_unknown_policy_names_those_that_ship() -> None:
    with pytest.raises(ConfigError, match="no policy 'lax'") as error:
        read_policy(Path("lax"))
    assert "two-stage" in str(error.value.hint)


@given(st.text(max_size=60))
def test_no_text_makes_a_traceback(text: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "c.yaml"
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        with contextlib.suppress(ConfigError):
            load_config(path)


def test_a_judge_by_its_name_alone() -> None:
    judge = check_config({"judge": "big"}, where="here").judge
    assert judge == check_config({"judge": {"endpoint": "big"}}, where="here").judge
    assert judge is not None
    assert judge.endpoint == "big"
