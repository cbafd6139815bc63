"""Instructions on the shape of an answer: paragraphs, lists, sections and lines."""

from __future__ import annotations

from evalkit.tasksets.generators.instructions.kinds import LINES, Part, Scene, kind, listing

_OPENERS = {
    "en": ("perhaps", "suddenly", "today", "many", "people", "sometimes", "nobody", "outside"),
    "zh": ("也许", "忽然", "今天", "许多", "有人", "有时", "从前", "外面"),
}


def _poem(scene: Scene) -> str:
    return scene.say(("Write a short poem about {t}.", "写一首关于{t}的小诗。"), t=scene.topic.name)


# ---- paragraphs, lists, sections -----------------------------------------------------


@kind("length_constraints:number_paragraphs", "shape", "end title highlights lines per_line quotes")
def starred_paragraphs(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(2, 4, 6))
    text = scene.say(
        (
            "Write exactly {n} paragraphs and put a line with three asterisks, ***, between them.",
            "写恰好{n}段，段与段之间用单独一行的三个星号***隔开。",
        ),
        (
            "There should be {n} paragraphs, separated by the markdown divider: ***",
            "全文分为{n}段，用Markdown分隔符***分开。",
        ),
        n=n,
    )
    return Part({"num_paragraphs": n}, text)


@kind("length_constraints:number_blocks", "shape", "end title lines per_line quotes")
def blocks(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(2, 4, 6))
    text = scene.say(
        (
            "Write exactly {n} paragraphs with a blank line between them.",
            "写恰好{n}段，段与段之间空一行。",
        ),
        (
            "The answer must have {n} paragraphs, no more and no fewer, with blank lines between.",
            "全文不多不少{n}段，各段之间留一个空行。",
        ),
        n=n,
    )
    return Part({"num_paragraphs": n}, text)


@kind("length_constraints:nth_paragraph_first_word", "shape",
      "start end title lines per_line quotes case letters language", only="en")  # fmt: skip
def nth_paragraph(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(3, 4, 5))
    nth, word = scene.whole(1, n), scene.rng.choice(_OPENERS["en"])
    text = scene.say(
        (
            "Write {n} paragraphs with nothing but two line breaks between them; "
            'paragraph {k} must start with the word "{w}".',
            "",
        ),
        n=n,
        k=nth,
        w=word,
    )
    return Part({"num_paragraphs": n, "nth_paragraph": nth, "first_word": word}, text, word)


@kind("detectable_format:number_bullet_lists", "shape",
      "start end title highlights lines per_line quotes")  # fmt: skip
def bullets(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(3, 5, 8))
    text = scene.say(
        (
            "Answer with exactly {n} bullet points, each on a line that begins with * or -.",
            "用恰好{n}个项目符号作答，每项单独一行，以“*”或“-”开头。",
        ),
        (
            "The answer must have {n} markdown bullet points, such as: * This is a point.",
            "回答必须有{n}个Markdown项目符号，例如：* 这是一点",
        ),
        n=n,
    )
    return Part({"num_bullets": n}, text)


@kind("detectable_format:numbered_list", "shape digits marks",
      "start end title highlights lines per_line quotes")  # fmt: skip
def numbered_list(scene: Scene) -> Part:
    n = scene.whole(3, scene.by_level(4, 6, 9))
    text = scene.say(
        (
            "Answer as a numbered list from 1. to {n}., one item a line.",
            "用编号列表作答，从“1.”到“{n}.”，每行一项。",
        ),
        ("Number your {n} points 1., 2. and so on, each on its own line.",
         "写{n}点，每点单独一行，依次编号为“1.”“2.”等。"),
        n=n,
    )  # fmt: skip
    return Part({"num_items": n}, text)


@kind("detectable_format:multiple_sections", "shape digits",
      "start end title lines per_line quotes case language")  # fmt: skip
def sections(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(2, 4, 5))
    mark = scene.say(("Section", "部分"), ("Part", "章节"), ("Chapter", "小节"))
    text = scene.say(
        (
            "Write {n} sections, and mark the beginning of each with {m} X, such as {m} 1.",
            "写{n}个部分，每个部分开头标明“{m} X”，例如“{m} 1”。",
        ),
        n=n,
        m=mark,
    )
    return Part({"section_spliter": mark, "num_sections": n}, text, mark)


@kind("combination:two_responses", "shape",
      "start end title highlights length lines per_line quotes questions placeholders")  # fmt: skip
def two_responses(scene: Scene) -> Part:
    text = scene.say(
        (
            "Give two different responses, with six asterisks, ******, and nothing else "
            "between them.",
            "给出两个不同的回答，两者之间只用六个星号******隔开。",
        ),
    )
    return Part({}, text)


# ---- lines ---------------------------------------------------------------------------


@kind("length_constraints:number_lines", "lines", LINES)
def number_lines(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(4, 6, 9))
    text = scene.say(
        ("Write exactly {n} lines.", "写恰好{n}行。"),
        (
            "The answer must have {n} lines, neither more nor fewer.",
            "全文必须是{n}行，不多也不少。",
        ),
        n=n,
    )
    return Part({"relation": "exactly", "num_lines": n}, text)


@kind("length_constraints:words_per_line", "per_line", f"{LINES} keywords", only="en")
def words_per_line(scene: Scene) -> Part:
    relation = scene.by_level("at most", "at most", "exactly")
    n = scene.whole(*scene.by_level((6, 9), (4, 6), (3, 7)))
    text = scene.say(
        ("Every line must have {r} {n} words.", ""),
        ("Put {r} {n} words in each line.", ""),
        r=relation,
        n=n,
    )
    return Part({"relation": relation, "num_words": n}, text, task=_poem(scene))


@kind("length_constraints:characters_per_line", "per_line", f"{LINES} keywords", only="zh")
def characters_per_line(scene: Scene) -> Part:
    relation, said = scene.by_level(("at most", "最多"), ("at most", "最多"), ("exactly", "恰好"))
    n = scene.whole(*scene.by_level((9, 12), (7, 9), (5, 8)))
    text = scene.say(
        ("", "每行{r}{n}个汉字（不计标点）。"),
        ("", "每一行{r}{n}个汉字，标点不算。"),
        r=said,
        n=n,
    )
    return Part({"relation": relation, "num_characters": n}, text, task=_poem(scene))


@kind("length_constraints:growing_lines", "lines per_line", LINES)
def growing_lines(scene: Scene) -> Part:
    n = scene.whole(3, scene.by_level(3, 5, 7))
    text = scene.say(
        (
            "Write exactly {n} lines, each of them longer than the line before.",
            "写恰好{n}行，每一行都要比上一行长。",
        ),
        n=n,
    )
    return Part({"num_lines": n}, text)


@kind("detectable_format:sorted_lines", "lines per_line line_start", f"{LINES} keywords", only="en")
def sorted_lines(scene: Scene) -> Part:
    n = scene.whole(3, scene.by_level(4, 6, 8))
    text = scene.say(
        ("Write exactly {n} of them, one a line, in alphabetical order, without numbers.", ""), n=n
    )
    return Part({"num_lines": n}, text, task=listing(scene))


@kind("detectable_format:acrostic", "lines line_start", LINES)
def acrostic(scene: Scene) -> Part:
    words = [word for word in scene.topic.words if 2 <= len(word) <= 6 and word.isalpha()]
    word = scene.rng.choice(words)
    text = scene.say(
        (
            'Write {n} lines whose first letters spell the word "{w}".',
            "写{n}行，各行的第一个字连起来是“{w}”（藏头）。",
        ),
        n=len(word),
        w=word,
    )
    return Part({"letters": word}, text, word)


@kind("startend:line_start", "line_start", LINES)
def line_start(scene: Scene) -> Part:
    mark = scene.rng.choice([">>", "~", "=>", "#"] if scene.language == "en" else ["◆", "※", "→"])
    text = scene.say(
        ('Begin every line with "{m}".', "每一行都以“{m}”开头。"),
        ('Every line has to start with "{m}".', "所有行的开头都必须是“{m}”。"),
        m=mark,
    )
    return Part({"mark": mark}, text)


@kind("startend:line_end", "line_end marks", LINES)
def line_end(scene: Scene) -> Part:
    mark = scene.rng.choice([";", "!", "..."] if scene.language == "en" else ["！", "；", "～"])
    text = scene.say(
        ('End every line with "{m}".', "每一行都以“{m}”结尾。"),
        ('The last thing in every line has to be "{m}".', "所有行的结尾都必须是“{m}”。"),
        m=mark,
    )
    return Part({"mark": mark}, text)
