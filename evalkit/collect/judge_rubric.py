"""What a judge grades by: fixed, in two languages, with a version and a hash.

A rubric says which answer is right. How material is quoted and how a verdict must look is
no part of it (`judge_prompt`), but is hashed with it: a verdict under other words is
another verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evalkit.errors import ConfigError, UnknownNameError
from evalkit.fingerprint import digest
from evalkit.types import Language
from evalkit.yamlfile import explain_validation, read_yaml

_LIMIT = 20_000

# The three grades are C, I and N of Wei et al. 2024 (SimpleQA); the words are ours.
_ANSWERS: Mapping[Language, str] = {
    "en": """\
CORRECT: the answer says what the reference says, in whatever words, order or detail, and \
nothing in it contradicts the reference. Spelling, capitals and units that mean the same do \
not matter. Where several right answers are given, one is enough.
INCORRECT: the answer asserts something that contradicts the reference or is like one of the \
wrong answers, also where it hedges ("I think it is ..."), or names the right answer as one of \
several that cannot all be true.
NOT_ATTEMPTED: the answer gives what was asked for neither rightly nor wrongly: it declines, \
says that it does not know, asks back, or speaks of something else.
Where the reference says that there is no answer, or that the question rests on a mistake, an \
answer that says so or declines is CORRECT, and one that answers all the same is INCORRECT.
Grade what the answer says, not how long, polite or sure it is.""",
    "zh": """\
CORRECT：回答说出了参考答案的内容（措辞、顺序、详略不限），并且没有任何与参考答案相矛盾之处。\
拼写、大小写、等价的单位都无关紧要。参考答案列出几个正确答案时，说出其中一个即可。
INCORRECT：回答断言了与参考答案相矛盾的内容，或与某个错误答案相同；即使用了“我想大概是……”之类的\
保留说法，或者把正确答案与其他不能同时成立的答案并列，也算 INCORRECT。
NOT_ATTEMPTED：回答既没有给出正确的、也没有给出错误的答案：拒绝回答、表示不知道、反问，或者说的是别的事情。
如果参考答案说明该问题没有答案，或者问题的前提有误，那么指出这一点或拒绝回答的回答是 CORRECT，\
仍然给出答案的回答是 INCORRECT。
只看回答说了什么，不看它的长短、礼貌程度或语气是否肯定。""",
}


@dataclass(frozen=True, slots=True)
class Rubric:
    """What is right and what is wrong, for a judge.

    Attributes:
        name: Of a rubric that ships, or of the user's own.
        version: Changes with its words.
        texts: The three grades explained, by language.
    """

    name: str
    version: int
    texts: Mapping[Language, str]

    @property
    def hash(self) -> str:
        """Hash of name, version and words."""
        return digest([self.name, self.version, dict(self.texts)])

    def text(self, language: Language) -> str:
        """Return the words for prompts in a language; English where it has no others."""
        return self.texts.get(language) or self.texts["en"]

    def plain(self) -> dict[str, Any]:
        """Return what a header keeps of it."""
        return {"name": self.name, "version": self.version, "texts": dict(self.texts)}


RUBRICS: Mapping[str, Rubric] = {"answers": Rubric("answers", 1, _ANSWERS)}
"""The rubrics that ship."""


class _File(BaseModel):
    """A rubric of the user's own, as YAML. The three grades must be named in each text."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", max_length=60)
    version: int = Field(ge=1)
    en: str = Field(min_length=1, max_length=_LIMIT)
    zh: str = Field("", max_length=_LIMIT)


def read_rubric(name: str) -> Rubric:
    """Return a rubric that ships, or read one from a YAML file (`name`, `version`, `en`, `zh`).

    Raises:
        UnknownNameError: For a name that is neither.
        ConfigError: For a file that is no rubric.
    """
    if name in RUBRICS:
        return RUBRICS[name]
    path = Path(name)
    if path.suffix not in {".yaml", ".yml"}:
        raise UnknownNameError("rubric", name, RUBRICS)
    try:
        found = _File.model_validate(
            read_yaml(path, "Rubric file", f"Rubrics by name: {', '.join(RUBRICS)}.")
        )
    except ValidationError as error:
        message, hint = explain_validation(error, f"'{path}'", _File)
        raise ConfigError(message, hint=hint) from None
    if found.name in RUBRICS:
        raise ConfigError(
            f"'{path}': the name '{found.name}' is that of a rubric that ships.",
            hint="Give your own rubric another name.",
        )
    texts: dict[Language, str] = {"en": found.en}
    if found.zh:
        texts["zh"] = found.zh
    for language, text in texts.items():
        for grade in ("CORRECT", "INCORRECT", "NOT_ATTEMPTED"):
            if grade not in text:
                raise ConfigError(
                    f"'{path}': the text in '{language}' does not say when the grade is {grade}.",
                    hint="Explain all three: CORRECT, INCORRECT and NOT_ATTEMPTED.",
                )
    return Rubric(found.name, found.version, texts)


def recorded_rubric(data: Mapping[str, Any]) -> Rubric:
    """Read back what `Rubric.plain` made.

    Raises:
        KeyError, TypeError: When it is none.
    """
    return Rubric(str(data["name"]), int(data["version"]), dict(data["texts"]))
