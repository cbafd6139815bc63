"""Names that stand in the place of another: people, streets, towns, days, sights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from evalkit.scoring.longform_cues import LEAD, MAX_MENTIONS, NEGATION, REST, Fact, cue_patterns
from evalkit.scoring.longform_text import Body, Finding
from evalkit.scoring.text import Span

_NAME = re.compile(
    r"\b[A-Z][a-z'-]+(?: (?:[A-Z]\.|van|von|de|da) ?)?(?: [A-Z][a-z'-]+)+|\b[A-Z][a-z'-]+"
)
_PLURAL_HALF = re.compile(r"(?:'s|')$")


def wrong_names(fact: Fact, body: Body) -> Iterator[Finding]:
    """Yield other names at the cues of a fact: the sheet's own, or whole names of strangers."""
    behind, ahead = cue_patterns(tuple(fact.get("before", ())), tuple(fact.get("after", ())), True)
    # A given or a family name alone is the person; "Lane" alone is no street.
    own = (
        {word.casefold() for value in fact["values"] for word in value.split()}
        if fact.get("is") == "person"
        else set()
    )
    for span in _names(fact, body):
        name = _PLURAL_HALF.sub("", body.text[span.start : span.end])
        if own & set(name.casefold().split()) or _within(name, fact["values"]):
            continue
        lead = body.plain[max(0, span.start - LEAD) : span.start]
        match = ahead.search(lead) if ahead is not None else None
        if match is not None and not NEGATION.search(lead[: match.start()]):
            yield Finding(f"{fact['name']} contradicted: {match['cue']} {name}", span.start)
            continue
        rest = body.plain[span.end : span.end + REST]
        match = behind.match(rest) if behind is not None else None
        if match is None and fact.get("is") == "person":
            match = _in_role(fact, body, span)
        if match is not None and not NEGATION.search(lead):
            yield Finding(f"{fact['name']} contradicted: {name} {match['cue']}", span.start)
        elif match is None and fact.get("is") == "street":
            yield Finding(f"{fact['name']} contradicted: {name}", span.start)


def _in_role(fact: Fact, body: Body, span: Span) -> re.Match[str] | None:
    """Match what makes a name the holder of a role ("Rosa, who has been the director")."""
    match = _roles(tuple(fact.get("after", ()))).match(body.text[span.end : span.end + REST])
    if match is None:
        return None
    # "the director Silas Brandt" behind a comma is the next one of a list.
    said = body.text[span.end + match.end() : span.end + match.end() + REST].lstrip()
    return None if any(said.startswith(value) for value in fact["values"]) else match


@lru_cache(maxsize=512)
def _roles(cues: tuple[str, ...]) -> re.Pattern[str]:
    nouns = [cue for cue in cues if cue.split() == [cue] and not cue.endswith(("ed", "ing"))]
    if not nouns:
        return _NOTHING
    return re.compile(
        r"(?:, (?:the|our|its|their) |,? (?:who |and )?(?:is|was|has been|had been|became|remains"
        r"|serves as|served as) (?:(?:the|its|our|a|current|present|first|proud) ){0,3}"
        r"|(?:先生|女士)?(?:如今|现在|现任|目前|一直|也|就|正|还)*(?:是|为|担任|出任)[^，。；！？\n]{0,8}?)"
        rf"(?P<cue>{'|'.join(map(re.escape, nouns))})(?![a-z]|的)(?! [A-Z])"
    )


_NOTHING = re.compile(r"(?!)(?P<cue>)")


def _within(name: str, values: Sequence[str]) -> bool:
    return any(name in value or value in name for value in values)


_STREET = re.compile(
    r"(?P<street>\b[A-Z][a-z]+ (?:Street|Lane|Road|Square|Avenue))\b"
    r"|(?<=[在从到于是])(?P<zh>(?![^街路巷]*[条这那的小大老一公铁马])[\u4e00-\u9fff]{2}[街路巷])"
)


def _names(fact: Fact, body: Body) -> list[Span]:
    """Return where names stand: those of the sheet's others, and whole unknown ones."""
    others = list(fact.get("others", ()))
    if fact.get("is") == "person" and body.language == "en":
        others += [part for other in others for part in other.split() if " " in other]
    spans = [span for other in others for span in body.phrase(other)]
    if fact.get("is") == "street":
        spans += [Span(*match.span(match.lastgroup or 0)) for match in _STREET.finditer(body.text)]
    if fact.get("is") == "person":
        taken = [(span.start, span.end) for span in spans]
        pattern = _NAME if body.language == "en" else _CHINESE_NAME
        spans += [
            Span(*match.span())
            for match in pattern.finditer(body.text)
            if (body.language == "zh" or " " in match.group())
            and not any(start <= match.start() < end for start, end in taken)
        ]
    # A name in full goes before its parts.
    ordered = sorted(spans[:MAX_MENTIONS], key=lambda span: (span.start, -span.end))
    kept_spans: list[Span] = []
    for span in ordered:
        if not kept_spans or span.start >= kept_spans[-1].end:
            kept_spans.append(span)
    return kept_spans


SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余"
    "潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
_CHINESE_NAME = re.compile(
    rf"(?<=[由是为：，人者长师])[{SURNAMES}][\u4e00-\u9fff]{{1,2}}(?=[，。、；！（）\s]|于|在|创|设|担|主|负|说|和)"
)


def wrong_people(fact: Fact, body: Body, known: str) -> Iterator[Finding]:
    """Yield a given name with a family name that is not the sheet's, headings left out."""
    if "person" not in fact:
        return
    full_name = re.compile(rf"\b{re.escape(fact['person'])} ([A-Z][a-z]+)\b")
    words = set(re.findall(r"[a-z]+", known))
    at = 0
    for line in body.text.split("\n"):
        if line.rstrip()[-1:] in {".", "!", "?", '"', ","}:
            for match in full_name.finditer(line):
                if match[1].lower() not in words:
                    what = f"{fact['name']} contradicted: {match.group()}"
                    yield Finding(what, at + match.start())
        at += len(line) + 1
