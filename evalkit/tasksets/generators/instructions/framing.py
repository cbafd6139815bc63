"""Instructions on data, content, beginning and end: JSON, tables, titles, postscripts."""

from __future__ import annotations

from evalkit.tasksets.generators.instructions.kinds import STRICT, Part, Scene, kind, listing

_STARTS = (
    ("To begin with", "首先"),
    ("Let me tell you", "让我告诉你"),
    ("Picture this", "想象一下"),
    ("Here is what I know", "据我所知"),
    ("Once upon a time", "很久以前"),
)
_ENDS = (
    ("That is all.", "就是这样。"),
    ("Thank you for reading.", "谢谢阅读。"),
    ("Is there anything else I can help with?", "还有什么可以帮您的吗？"),
    ("Now it is your turn.", "现在轮到你了。"),
    ("I wish you well.", "祝你一切顺利。"),
)
_KEYS = {
    "title": "string", "summary": "string", "place": "string", "author": "string",
    "score": "integer", "count": "integer", "year": "integer", "price": "number",
    "tags": "array", "steps": "array", "open": "boolean", "popular": "boolean",
}  # fmt: skip
_TYPE_NAMES = {
    "string": ("string", "字符串"), "integer": ("integer", "整数"), "number": ("number", "数字"),
    "array": ("array", "数组"), "boolean": ("boolean", "布尔值"),
}  # fmt: skip


# ---- JSON, tables, items, options ----------------------------------------------------


@kind("detectable_format:json_format", "shape", f"{STRICT} marks lines per_line case")
def json_format(scene: Scene) -> Part:
    text = scene.say(
        (
            "The entire output must be in JSON format; markdown ticks around it are fine.",
            "整个输出必须是JSON格式，可以用Markdown代码块包起来。",
        ),
        ("Wrap the whole answer in valid JSON.", "把整个回答写成合法的JSON。"),
    )
    return Part({}, text)


@kind("detectable_format:json_schema", "shape digits",
      f"{STRICT} marks lines per_line case word_length")  # fmt: skip
def json_schema(scene: Scene) -> Part:
    # One that takes text, so that words asked for have a place.
    text_key = scene.rng.choice([name for name in _KEYS if _KEYS[name] == "string"])
    others = scene.rng.sample(sorted(_KEYS.keys() - {text_key}), scene.by_level(1, 2, 4))
    names = scene.rng.sample([text_key, *others], 1 + len(others))
    keys = {name: _KEYS[name] for name in names}
    joint, form = (", ", '"{k}" ({v})') if scene.language == "en" else ("、", "“{k}”（{v}）")
    listed = joint.join(form.format(k=k, v=scene.say(_TYPE_NAMES[v])) for k, v in keys.items())
    text = scene.say(
        (
            "Answer with one JSON object that has exactly these keys: {k}.",
            "只用一个JSON对象作答，键恰好为：{k}。",
        ),
        k=listed,
    )
    literals = "true false" if "boolean" in keys.values() else ""
    return Part({"keys": keys}, text, f"{' '.join(names)} {literals}")


@kind("detectable_format:table_shape", "shape", f"{STRICT} lines per_line")
def table_shape(scene: Scene) -> Part:
    columns, rows = scene.whole(2, scene.by_level(2, 3, 5)), scene.whole(2, scene.by_level(3, 5, 8))
    text = scene.say(
        (
            "Answer with one Markdown table of {c} columns and {r} rows below its header.",
            "用一个Markdown表格作答：{c}列，表头之下{r}行。",
        ),
        c=columns,
        r=rows,
    )
    return Part({"columns": columns, "rows": rows}, text)


@kind("detectable_format:separated_items", "shape", f"{STRICT} marks lines per_line keywords")
def separated_items(scene: Scene) -> Part:
    n = scene.whole(3, scene.by_level(5, 8, 12))
    text = scene.say(
        (
            "Give exactly {n} different ones on a single line with commas between them, "
            "and nothing else.",
            "恰好给出{n}个，不重复，写在同一行，用逗号隔开，不写别的内容。",
        ),
        n=n,
    )
    return Part({"num_items": n}, text, task=listing(scene))


@kind("detectable_format:constrained_response", "alone")
def constrained_response(scene: Scene) -> Part:
    task = scene.say(
        ("Would you enjoy {t}?", "你会喜欢{t}吗？"),
        ("Is {t} something that children would like?", "孩子们会喜欢{t}吗？"),
        ("Should more people know about {t}?", "应该让更多人了解{t}吗？"),
        t=scene.topic.name,
    )
    if scene.language == "en":
        text = (
            'Answer with exactly one of these: "My answer is yes.", "My answer is no.", '
            '"My answer is maybe."'
        )
        return Part({}, text, task=task)
    options = scene.rng.choice((("是", "不是", "不一定"), ("同意", "反对", "弃权")))
    text = f"只能从以下选项中选一个回答，不写别的内容：{scene.quoted(options)}。"
    return Part({"options": list(options)}, text, task=task)


# ---- content, beginning and end ------------------------------------------------------


@kind("detectable_content:number_placeholders", "placeholders", "case")
def placeholders(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(2, 3, 5))
    text = scene.say(
        (
            "Use at least {n} placeholders in square brackets, such as [name].",
            "至少使用{n}个方括号占位符，例如[姓名]。",
        ),
        n=n,
    )
    return Part({"num_placeholders": n}, text)


@kind("detectable_format:number_highlighted_sections", "highlights")
def highlights(scene: Scene) -> Part:
    n = scene.whole(2, scene.by_level(2, 3, 5))
    text = scene.say(
        (
            "Highlight at least {n} passages with markdown, such as *this passage*.",
            "用Markdown强调至少{n}处文字，例如*这段文字*。",
        ),
        n=n,
    )
    return Part({"num_highlights": n}, text)


@kind("detectable_content:number_questions", "questions")
def questions(scene: Scene) -> Part:
    relation = scene.by_level("at least", "at least", "exactly")
    n = scene.whole(2, scene.by_level(2, 4, 5))
    text = scene.say(
        (
            "Ask {r} {n} questions, each with a question mark.",
            "文中要有{z}{n}个问句，各带一个问号。",
        ),
        r=relation,
        z={"at least": "至少", "exactly": "恰好"}[relation],
        n=n,
    )
    return Part({"relation": relation, "num_questions": n}, text)


@kind("detectable_content:postscript", "end", "case shape quotes letters")
def postscript(scene: Scene) -> Part:
    marker = scene.rng.choice(("P.S.", "P.P.S"))
    text = scene.say(
        (
            "At the end, add a postscript that starts with {m}",
            "在末尾加一句附言，以{m}开头。",
        ),
        m=marker,
    )
    return Part({"postscript_marker": marker}, text, marker)


@kind("detectable_format:title", "title", "start quotes per_line")
def title(scene: Scene) -> Part:
    text = scene.say(
        (
            "Give it a title in double angular brackets, such as <<a title>>.",
            "加一个标题，用双尖括号括起来，例如<<标题>>。",
        ),
        (
            "The answer must have a title, wrapped in double angular brackets like <<this>>.",
            "回答必须有标题，写成<<标题>>这种形式。",
        ),
    )
    return Part({}, text)


@kind("startend:start_checker", "start", "case quotes title")
def start_phrase(scene: Scene) -> Part:
    phrase = scene.say(*_STARTS)
    text = scene.say(
        ('Begin with exactly these words: "{p}".', "开头必须是“{p}”。"),
        ('Start the answer with the phrase "{p}".', "以“{p}”这几个字开始回答。"),
        p=phrase,
    )
    return Part({"start_phrase": phrase}, text, phrase)


@kind("startend:end_checker", "end", "case quotes marks questions")
def end_phrase(scene: Scene) -> Part:
    phrase = scene.say(*_ENDS)
    text = scene.say(
        (
            'Finish with exactly this phrase: "{p}" Nothing may follow it.',
            "最后一句必须是“{p}”后面不能再有内容。",
        ),
        (
            'End the answer with this very sentence: "{p}"',
            "用这句话结束全文：“{p}”",
        ),
        p=phrase,
    )
    return Part({"end_phrase": phrase}, text, phrase)


@kind("startend:quotation", "quotes", "start end title shape")
def quotation(scene: Scene) -> Part:
    if scene.language == "zh":
        return Part({"marks": "“”"}, "把整个回答放在一对中文双引号“”之内。")
    text = scene.say(("Wrap the entire answer in double quotation marks.", ""),
                     ("Put double quotation marks around the whole answer.", ""))  # fmt: skip
    return Part({}, text)


@kind("combination:repeat_prompt", "start",
      "case marks digits letters ban length title shape lines per_line quotes language "
      "word_length keywords line_start line_end")  # fmt: skip
def repeat_prompt(scene: Scene) -> Part:
    text = scene.say(
        (
            'First repeat this request word for word, without change: "{t}" Then give the answer.',
            "请先一字不差地重复这个要求：“{t}”，然后再作答。",
        ),
        t=scene.task,
    )
    return Part({"prompt_to_repeat": scene.task}, text, scene.task)
