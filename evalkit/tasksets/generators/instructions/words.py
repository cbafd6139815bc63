"""Instructions on words, letters, lengths, case, marks and languages."""

from __future__ import annotations

from evalkit.tasksets.generators.instructions.kinds import Part, Scene, kind

_LANGUAGES = {
    "en": ("English", "英语"),
    "zh": ("Chinese", "中文"),
    "es": ("Spanish", "西班牙语"),
    "fr": ("French", "法语"),
    "de": ("German", "德语"),
    "it": ("Italian", "意大利语"),
    "pt": ("Portuguese", "葡萄牙语"),
    "ru": ("Russian", "俄语"),
    "ja": ("Japanese", "日语"),
    "ko": ("Korean", "韩语"),
    "ar": ("Arabic", "阿拉伯语"),
    "hi": ("Hindi", "印地语"),
}
_RELATIONS = {
    "at least": ("at least {n}", "至少{n}"),
    "less than": ("fewer than {n}", "少于{n}"),
    "at most": ("at most {n}", "最多{n}"),
    "exactly": ("exactly {n}", "恰好{n}"),
}
_LETTERS = {
    "en": ("qzxjkvwy", "bpgfmcudlh", "tnsroia"),
    "zh": ("吧呢嘛您", "很都也那", "的是了在"),
}
_FOREIGN = "keywords ban letters length case start end title capitals word_length questions"

# What asks for Chinese, and does not go with an answer in English.
_CHINESE = "keywords ban letters length start end title shape lines per_line quotes"


def _relations(scene: Scene) -> tuple[str, ...]:
    """Return what a length may be; hitting it exactly is never easy."""
    return ("less than", "at least", "at most", "exactly")[: scene.by_level(3, 4, 4)]


def _bound(scene: Scene, relation: str, n: int) -> str:
    return scene.say(_RELATIONS[relation], n=n)


# ---- keywords and letters ------------------------------------------------------------


@kind("keywords:existence", "keywords")
def existence(scene: Scene) -> Part:
    words = scene.words(scene.by_level(1, 2, 3) + scene.whole(0, 1))
    text = scene.say(
        ("Include the words {w}.", "文中要出现{w}。"),
        ("Use each of these words: {w}.", "请用上这些词：{w}。"),
        w=scene.quoted(words),
    )
    return Part({"keywords": words}, text, " ".join(words))


@kind("keywords:frequency", "keywords")
def frequency(scene: Scene) -> Part:
    (word,), relation = scene.words(1), scene.rng.choice(("at least", "less than", "exactly"))
    n = scene.whole(2, scene.by_level(2, 4, 6))
    text = scene.say(
        ('Use the word "{w}" {n} times.', "“{w}”这个词的出现次数{n}次。"),
        ('The word "{w}" must appear {n} times.', "全文中“{w}”一词出现次数{n}次。"),
        w=word,
        n=_bound(scene, relation, n),
    )
    return Part({"keyword": word, "relation": relation, "frequency": n}, text, f"{word} " * n)


@kind("keywords:word_order", "keywords")
def word_order(scene: Scene) -> Part:
    words = scene.words(scene.by_level(2, 3, 4))
    text = scene.say(
        (
            "Use the words {w}, and let them first appear in this order.",
            "依次使用{w}这几个词，它们首次出现的先后须与此一致。",
        ),
        (
            "The words {w} must all appear, for the first time in exactly this order.",
            "必须用到{w}，而且第一次出现的顺序不能变。",
        ),
        w=scene.quoted(words),
    )
    return Part({"keywords": words}, text, " ".join(words))


@kind("keywords:forbidden_words", "ban", last=True)
def forbidden_words(scene: Scene) -> Part:
    words = scene.words(scene.by_level(1, 2, 3))
    text = scene.say(
        ("Use none of these words: {w}.", "不要使用{w}。"),
        ("Avoid the words {w} altogether.", "全文不得出现{w}。"),
        w=scene.quoted(words),
    )
    return Part({"forbidden_words": words}, text)


def _letter(scene: Scene, hardest: int = 2) -> str:
    groups = _LETTERS[scene.language]
    at = min(hardest, scene.by_level(0, 1, 2))
    free = [one for group in groups[: at + 1][::-1] for one in group if one not in scene.needs]
    return scene.rng.choice(free[:6])


@kind("keywords:forbidden_letters", "letters", "language start", last=True)
def forbidden_letters(scene: Scene) -> Part:
    letter = _letter(scene)
    text = scene.say(
        ('Do not use the letter "{x}" anywhere.', "全文不能出现“{x}”字。"),
        ('No word may contain the letter "{x}".', "请避免使用“{x}”这个字。"),
        x=letter,
    )
    return Part({"letters": [letter]}, text)


@kind("keywords:letter_frequency", "letters", "language start lines shape per_line", last=True)
def letter_frequency(scene: Scene) -> Part:
    if scene.rng.random() < 0.5:
        letter, relation = _letter(scene, 0), "at least"
        n = scene.whole(2, scene.by_level(3, 5, 8))
    else:
        letter, relation = _letter(scene, 1), "less than"
        n = scene.whole(2, scene.by_level(6, 4, 3))
    text = scene.say(
        ('The letter "{x}" must appear {n} times.', "“{x}”字的出现次数{n}次。"),
        ('Use the letter "{x}" {n} times in all.', "全文中“{x}”这个字出现次数{n}次。"),
        x=letter,
        n=_bound(scene, relation, n),
    )
    return Part({"letter": letter, "let_relation": relation, "let_frequency": n}, text)


# ---- length --------------------------------------------------------------------------


@kind("length_constraints:number_words", "length", only="en")
def number_words(scene: Scene) -> Part:
    relation = scene.rng.choice(_relations(scene))
    if relation == "exactly":
        n = scene.whole(30, 60)
    elif relation == "at least":
        n = scene.whole(*scene.by_level((20, 60), (60, 120), (120, 200)))
    else:
        n = scene.whole(*scene.by_level((90, 150), (60, 90), (45, 60)))
    text = scene.say(
        ("Write {n} words.", ""),
        ("The answer must have {n} words.", ""),
        n=_bound(scene, relation, n),
    )
    return Part({"relation": relation, "num_words": n}, text)


@kind("length_constraints:number_characters", "length", only="zh")
def number_characters(scene: Scene) -> Part:
    relation = scene.rng.choice(_relations(scene))
    if relation == "exactly":
        n = scene.whole(50, 80)
    elif relation == "at least":
        n = scene.whole(*scene.by_level((30, 80), (80, 150), (150, 250)))
    else:
        n = scene.whole(*scene.by_level((120, 200), (80, 120), (60, 80)))
    text = scene.say(
        ("", "全文{n}个汉字（不计标点）。"),
        ("", "汉字数{n}个，标点不算。"),
        n=_bound(scene, relation, n),
    )
    return Part({"relation": relation, "num_characters": n}, text)


@kind("length_constraints:number_sentences", "length", "shape end questions")
def number_sentences(scene: Scene) -> Part:
    relation = scene.rng.choice(("less than", "at least", "exactly"))
    n = scene.whole(*scene.by_level((3, 6), (3, 8), (4, 9)))
    text = scene.say(
        ("Write {n} sentences.", "写{n}句话。"),
        ("The answer must consist of {n} sentences.", "全文{n}个句子。"),
        n=_bound(scene, relation, n),
    )
    return Part({"relation": relation, "num_sentences": n}, text)


@kind("length_constraints:word_length", "word_length",
      "keywords start end title language shape capitals", only="en")  # fmt: skip
def word_length(scene: Scene) -> Part:
    n = scene.by_level(10, 8, 6)
    text = scene.say(
        ("No word may have more than {n} letters.", ""),
        ("Use only words of at most {n} letters.", ""),
        n=n,
    )
    return Part({"num_letters": n}, text)


# ---- case, marks, languages ----------------------------------------------------------


@kind("change_case:english_capital", "case language", "start end", only="en")
@kind("change_case:english_capital", "case language", _CHINESE, only="zh")
def english_capital(scene: Scene) -> Part:
    text = scene.say(
        ("Write in English, in capital letters only.", "请用英语回答，并且全部使用大写字母。"),
        (
            "The whole answer must be in English and in upper case.",
            "整个回答要用英语写，字母一律大写。",
        ),
    )
    return Part({}, text, answer_language="en")


@kind("change_case:english_lowercase", "case language", "start end", only="en")
@kind("change_case:english_lowercase", "case language", _CHINESE, only="zh")
def english_lowercase(scene: Scene) -> Part:
    text = scene.say(
        (
            "Write in English, in small letters only, without any capital.",
            "请用英语回答，并且全部使用小写字母。",
        ),
        (
            "The whole answer must be in English and in lower case.",
            "整个回答要用英语写，不得出现大写字母。",
        ),
    )
    return Part({}, text, answer_language="en")


@kind("change_case:title_case", "case", "language", only="en")
def title_case(scene: Scene) -> Part:
    text = scene.say(
        ("Begin every single word with a capital letter.", ""),
        ("Every word of the answer must start with a capital letter.", ""),
    )
    return Part({}, text)


@kind("change_case:capital_word_frequency", "capitals", "case language", only="en")
def capital_words(scene: Scene) -> Part:
    relation = scene.rng.choice(("at least", "at least", "less than"))
    n = scene.whole(2, scene.by_level(3, 5, 8)) + 2 * (relation == "less than")
    text = scene.say(
        ("Write {n} words in all capital letters.", ""),
        ("The answer must hold {n} words in capitals only.", ""),
        n=_bound(scene, relation, n),
    )
    return Part({"capital_relation": relation, "capital_frequency": n}, text)


@kind("punctuation:no_comma", "marks", only="en")
def no_comma(scene: Scene) -> Part:
    text = scene.say(
        ("Do not use any commas.", ""), ("The answer must not contain a single comma.", "")
    )
    return Part({}, text)


@kind("punctuation:forbidden_marks", "marks", "questions start end language")
def forbidden_marks(scene: Scene) -> Part:
    # The marks with their name and what is easy to go without.
    marks, name = scene.rng.choice({
        "en": [(["!"], "exclamation marks"), ([";", ":"], "semicolons or colons"),
               (["(", ")"], "brackets"), (["."], "full stops")],
        "zh": [(["，"], "逗号"), (["。"], "句号"), (["、"], "顿号"), (["！", "!"], "感叹号")],
    }[scene.language])  # fmt: skip
    text = scene.say(
        ("Do not use {m}.", "不要使用{m}。"),
        ("Write without any {m}.", "全文不得出现{m}。"),
        m=name,
    )
    return Part({"marks": marks}, text)


@kind("punctuation:no_digits", "digits")
def no_digits(scene: Scene) -> Part:
    text = scene.say(
        ("Do not use any digits.", "不要使用阿拉伯数字。"),
        ("Write without a single digit.", "全文不得出现任何阿拉伯数字。"),
    )
    return Part({}, text)


@kind("language:response_language", "language", _FOREIGN)
def response_language(scene: Scene) -> Part:
    code = scene.rng.choice(sorted(set(_LANGUAGES) - {scene.language}))
    text = scene.say(
        (
            "Answer entirely in {x}, and in no other language.",
            "请全部用{x}回答，不要使用其他语言。",
        ),
        ("The whole answer must be in {x}.", "整个回答必须用{x}写。"),
        x=scene.say(_LANGUAGES[code]),
    )
    return Part({"language": code}, text, answer_language=code)


@kind("language:paragraph_languages", "language shape", f"{_FOREIGN} lines quotes")
def paragraph_languages(scene: Scene) -> Part:
    pool = ["en", "zh"] if scene.level == "easy" else ["en", "zh", "es", "fr", "de", "ja"]
    codes = scene.rng.sample(pool, scene.by_level(2, 2, 3))
    names = [scene.say(_LANGUAGES[code]) for code in codes]
    text = scene.say(
        (
            "Write {n} paragraphs with a blank line between them, in these languages in turn: {x}.",
            "写{n}段，段与段之间空一行，各段依次使用：{x}。",
        ),
        n=len(codes),
        x=(", " if scene.language == "en" else "、").join(names),
    )
    return Part({"languages": codes}, text, answer_language="mixed")
