"""Names of people and places in a text that its prompt does not hold."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evalkit.scoring.longform_people import SURNAMES
from evalkit.scoring.longform_text import Body, Finding

_TOKEN = re.compile(r"[A-Z][A-Za-z]*(?:['-][A-Za-z]+)*")
_SEQUENCE = re.compile(rf"{_TOKEN.pattern}(?: (?:(?:of|de|van|von|da|la|le) )?{_TOKEN.pattern})*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;\n…*#>|\"“(\[]|[.!?][\"')\]]+|--|—|–)[\s*_\"'“(]*$")
_END_MARK = re.compile(r"[.!?,;:\"')*]$")
_LETTERS = re.compile(r"[A-Za-z]+")
_HEADING = 12
_PAIR = re.compile(r"\b([A-Z][a-z'-]+)(?= ([A-Z][a-z'-]+)\b)")
_POSSESSIVE = re.compile(r"'s?$")
# Capitalised without being anybody's name here.
_PLAIN_WORDS = """
    i i'm i've i'll i'd mr mrs ms dr prof professor sir madam lady lord miss god english french
    german spanish italian dutch irish scottish welsh swedish polish russian chinese japanese
    indian african asian european europe american british western eastern northern southern
    north south east west earth sun moon internet wi-fi wifi tv ok street st road avenue lane
    square river lake mount mountain hill town city county village hall house park garden
    gardens bridge station museum hotel library school orchard theater theatre observatory
    bakery company house ferry president director founder owner mayor manager architect designer
    builder chief head curator victorian gothic renaissance baroque roman latin greek welcome
    chapter section part page history christmas easter new year spring summer autumn fall winter
    monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december fair day festival renovation founding
    opening staff visitors title note conclusion introduction overview board council ministry
    university college department center centre institute church main old great grand royal
    national international public the a an and or but in on at by for with from to its it he she
    they we you his her their our my your this that these those there here as when while where
    what who whether if after before since until although however moreover finally first second
    third one two three four five six seven eight nine ten every each all no not yes dear ladies
    gentlemen o'clock
"""
_PLAIN = frozenset(_PLAIN_WORDS.split())
_ROLE_ZH = (
    "馆长|园长|校长|经理|院长|台长|厂长|店长|船长|创始人|创办人|主任|设计师|建筑师|负责人|掌门人"
    "|主人|老板|厨师长?|大厨|园丁|管家|门卫|店员|导游|画家|作家|商人|木匠|师傅|[县市镇村]长"
)
# Common words that begin with what can be a family name.
_NO_NAME_ZH = (
    "(?!高兴|高大|高高|高声|石头|石板|石阶|石砌|白色|白天|白发|白墙|金色|金黄|方形|方便|方才|万分|万一|万年|马上"
    "|江边|江南|常常|常年|常说|常来|常在|安静|安详|夏天|夏日|夏季|夏夜|雷声|龙头|毛笔|叶子|田野|田里|田间|文化"
    "|史料|段时|段路|钱财|钱币|严肃|严格|曾|何|余|谢谢|谢绝|许多|许久|许是|顾客|顾不|温和|武术|易于|汤|孔|熊|黄色"
    "|黄昏|朱红|唐代|宋代|陈旧|陈列|程序|程度|路过|向来|时|连|和|花|水|尹始|郑重|康复|陆续|江水|林中|林间|杨树|柳)"
)
_NAME_ZH = f"{_NO_NAME_ZH}[{SURNAMES}][\u4e00-\u9fff]{{1,2}}"
_PERSON_ZH = re.compile(
    rf"(?:{_ROLE_ZH})(?:是|为|、|：|叫|名叫|由)?(?P<name>{_NAME_ZH}?)"
    r"(?=[，。、；！（）\s“]|的|先生|女士|于|在|说|也|曾|来|担任|主持|负责|带|亲|热情|介绍|告诉)"
    rf"|(?:由|名叫|叫做|位叫)(?P<name3>{_NAME_ZH}?)"
    r"(?=[，。；]?$|创|设计|担任|主持|负责|领导|掌管|接手|亲自|一手|的人)"
    rf"|(?<![\u4e00-\u9fff])(?P<name2>{_NAME_ZH})(?:先生|女士|教授|老师)"
)
_PLACE_ZH = re.compile(
    r"(?:位于|坐落于|坐落在|来自|地处|迁往|迁到|搬到|建在|落户|设在)"
    r"(?P<name>[\u4e00-\u9fff]{1,6}?[市县镇村省])"
    r"|(?<=[在到是来])(?P<name2>[\u4e00-\u9fff]{2}[县镇村])"
)
_COMMON_ZH = re.compile(
    r"(?:[这那一个每我你他们]|各|全|外|邻|附近|某|几|小|古|城|老|乡|山|水|渔|本|这|该|大|那|一个|一座|闹|集|条|主|此|郊|的"
    r"|美丽|宁静|繁华|安静)[镇市村县省]$"
)


def invented_names(body: Body, prompt: str) -> Iterator[Finding]:
    """Yield names of people and places that the prompt does not hold.

    In English a capital inside a sentence makes a name, unless the word is known, common, or
    written small elsewhere; headings are left out. In Chinese a surname after a title or in
    "由 ... 创办", and a town or village after 位于 or the like.
    """
    found = _chinese_names(body, prompt) if body.language == "zh" else _english_names(body, prompt)
    seen: set[str] = set()
    for finding in found:
        if finding.what not in seen:
            seen.add(finding.what)
            yield finding


def mixed_names(body: Body, people: Sequence[str]) -> Iterator[Finding]:
    """Yield names of which one part is one person's of the sheet, and the other another's."""
    given = {name.split()[0] for name in people}
    family = {name.split()[-1] for name in people}
    for match in _PAIR.finditer(body.text):
        if match[1] in given and match[2] in family and " ".join(match.groups()) not in people:
            yield Finding(f"invented name: {match[1]} {match[2]}", match.start())


def _english_names(body: Body, prompt: str) -> Iterator[Finding]:
    words = {word.lower() for word in _LETTERS.findall(prompt)}
    small = {word for word in _LETTERS.findall(body.text) if word.islower()}
    at = 0
    for line in body.text.split("\n"):
        if not _is_heading(line):
            for match in _SEQUENCE.finditer(line):
                tokens = match.group().split()
                if _SENTENCE_START.search(line[max(0, match.start() - 8) : match.start()]) or (
                    match.start() == 0
                ):
                    tokens = tokens[1:] if len(tokens) > 1 else []
                strange = [t for t in tokens if t[0].isupper() and _is_strange(t, words, small)]
                if strange:
                    name = _POSSESSIVE.sub("", match.group())
                    lead = len(name) - len(name := name.removeprefix("The "))
                    yield Finding(f"invented name: {name}", at + match.start() + lead)
        at += len(line) + 1


def _is_heading(line: str) -> bool:
    bare = line.strip()
    if bare.startswith("#") or (bare.startswith("**") and bare.endswith("**")):
        return True
    words = _LETTERS.findall(bare)
    if len(words) >= _HEADING:
        return False
    return not _END_MARK.search(bare) or sum(word[0].isupper() for word in words) > 0.7 * len(words)


def _is_strange(token: str, words: set[str], small: set[str]) -> bool:
    bare = _POSSESSIVE.sub("", token).lower()
    if len(bare) < 3 or token.isupper() or bare in words or bare in small:
        return False
    if bare in _PLAIN or bare.removesuffix("s") in _PLAIN:
        return False
    parts = [part for part in re.split(r"['-]", bare) if part]
    if all(part in words or part in small or part in _PLAIN or len(part) < 3 for part in parts):
        return False
    # Inflections: Ashmere's, Lopezes, Lisboner.
    stem = bare[:-2] if bare.endswith(("es", "er", "an")) else bare.removesuffix("s")
    return stem not in words and bare.removesuffix("ers") not in words


def _chinese_names(body: Body, prompt: str) -> Iterator[Finding]:
    for match in _PERSON_ZH.finditer(body.text):
        group = match.lastgroup or "name"
        name = match[group]
        if name not in prompt and name[:2] not in prompt:
            yield Finding(f"invented name: {name}", match.start(group))
    for match in _PLACE_ZH.finditer(body.text):
        name = match[match.lastgroup or "name"]
        if name[-3:] not in prompt and not _COMMON_ZH.search(name):
            yield Finding(f"invented name: {name}", match.start(match.lastgroup or "name"))
