"""Stories of things that are counted, shared, packed and passed on."""

from __future__ import annotations

from evalkit.tasksets.generators.math.problem import Dice, Problem, template


@template("integer")
def bought_and_given(d: Dice) -> Problem:
    who, thing = d.person(), d.thing()
    have, more = d.count(), d.count()
    given = d.whole(1, have + more - 1)
    return Problem(
        (
            f"{who[0]} has {have} {thing.en} and buys {more} more. "
            f"Then {who[0]} gives {given} of them to a friend.",
            f"{who[1]}有{thing.counted(have)}，又买了{more}{thing.measure}，"
            f"然后送给朋友{given}{thing.measure}。",
        ),
        (
            f"How many {thing.en} does {who[0]} have now?",
            f"{who[1]}现在有多少{thing.measure}{thing.zh}？",
        ),
        have + more - given,
        2,
    )


@template("integer", ("easy",))
def one_sum(d: Dice) -> Problem:
    who, thing = d.person(), d.thing()
    have, more = d.count(), d.count()
    return Problem(
        (
            f"{who[0]} has {have} {thing.en}. A friend brings {more} more.",
            f"{who[1]}有{thing.counted(have)}，朋友又带来{more}{thing.measure}。",
        ),
        (
            f"How many {thing.en} are there now?",
            f"现在一共有多少{thing.measure}{thing.zh}？",
        ),
        have + more,
        1,
    )


@template("integer", ("easy", "medium"))
def one_product(d: Dice) -> Problem:
    thing, boxes, each = d.thing(), d.few(), d.few()
    return Problem(
        (
            f"There are {boxes} boxes with {each} {thing.en} in each of them.",
            f"有{boxes}个盒子，每个盒子里有{thing.counted(each)}。",
        ),
        (f"How many {thing.en} are there in all?", f"一共有多少{thing.measure}{thing.zh}？"),
        boxes * each,
        1,
    )


@template("integer")
def boxes_and_loose(d: Dice) -> Problem:
    who, thing = d.person(), d.thing()
    boxes, each, loose = d.few(), d.count(), d.count()
    return Problem(
        (
            f"{who[0]} has {boxes} boxes with {each} {thing.en} in each, "
            f"and {loose} {thing.en} that lie loose.",
            f"{who[1]}有{boxes}个盒子，每个盒子里有{thing.counted(each)}，"
            f"另外还有{loose}{thing.measure}散放着。",
        ),
        (
            f"How many {thing.en} does {who[0]} have altogether?",
            f"{who[1]}一共有多少{thing.measure}{thing.zh}？",
        ),
        boxes * each + loose,
        2,
    )


@template("integer")
def shared_after_loss(d: Dice) -> Problem:
    thing, friends, each, lost = d.thing(), d.few(), d.count(), d.count()
    total = friends * each + lost
    return Problem(
        (
            f"A bag holds {total} {thing.en}. {lost} of them are lost, and the rest "
            f"is shared equally among {friends} friends.",
            f"一个袋子里有{thing.counted(total)}，丢了{lost}{thing.measure}，"
            f"剩下的平均分给{friends}个朋友。",
        ),
        (
            f"How many {thing.en} does each friend get?",
            f"每个朋友分到多少{thing.measure}{thing.zh}？",
        ),
        each,
        2,
    )


@template("integer")
def together_with_more(d: Dice) -> Problem:
    (one, other), thing = d.people(2), d.thing()
    have, more = d.count(), d.count()
    return Problem(
        (
            f"{one[0]} has {have} {thing.en}. {other[0]} has {more} {thing.en} more than {one[0]}.",
            f"{one[1]}有{thing.counted(have)}，{other[1]}比{one[1]}多{more}{thing.measure}。",
        ),
        (
            f"How many {thing.en} do they have together?",
            f"他们两人一共有多少{thing.measure}{thing.zh}？",
        ),
        2 * have + more,
        2,
    )


@template("integer")
def times_as_many(d: Dice) -> Problem:
    (one, other), thing = d.people(2), d.thing()
    given, times = d.whole(1, 9), d.whole(2, 9)
    have = given + d.count()
    return Problem(
        (
            f"{one[0]} has {have} {thing.en}, and {other[0]} has {times} times as many. "
            f"{one[0]} gives all but {given} away to {other[0]}.",
            f"{one[1]}有{thing.counted(have)}，{other[1]}的数量是{one[1]}的{times}倍。"
            f"{one[1]}自己只留下{given}{thing.measure}，其余都给了{other[1]}。",
        ),
        (
            f"How many {thing.en} does {other[0]} have then?",
            f"这时{other[1]}有多少{thing.measure}{thing.zh}？",
        ),
        have * times + have - given,
        3,
    )


@template("integer")
def bus_stops(d: Dice) -> Problem:
    stops = {"easy": d.whole(1, 2), "medium": 3, "hard": 4}[d.level]
    people = start = d.whole(8, 40)
    en, zh = [], []
    for number in range(1, stops + 1):
        off = d.whole(1, people)
        on = d.whole(1, 18)
        people += on - off
        en.append(f"At stop {number}, {off} people get off and {on} get on.")
        zh.append(f"到第{number}站，{off}人下车，{on}人上车。")
    return Problem(
        (
            f"A bus leaves the station with {start} passengers. {' '.join(en)}",
            f"一辆公交车从总站出发时有{start}名乘客。{''.join(zh)}",
        ),
        ("How many passengers are on the bus now?", "现在车上有多少名乘客？"),
        people,
        2 * stops,
    )


@template("integer", ("medium", "hard"))
def warehouse_chain(d: Dice) -> Problem:
    thing = d.thing()
    stock = start = d.count() * 2
    en, zh = [], []
    steps = {"medium": 4, "hard": d.whole(6, 8)}[d.level]
    for day in range(1, steps + 1):
        if day % 3 == 0 and stock <= 5000:
            stock *= 2
            en.append(f"On day {day} a delivery doubles the stock.")
            zh.append(f"第{day}天到货，库存翻了一倍。")
        elif day % 2 == 0:
            come = d.count()
            stock += come
            en.append(f"On day {day} {come} more arrive.")
            zh.append(f"第{day}天又运来{come}{thing.measure}。")
        else:
            gone = d.whole(1, stock - 1)
            stock -= gone
            en.append(f"On day {day} {gone} are sold.")
            zh.append(f"第{day}天卖出{gone}{thing.measure}。")
    return Problem(
        (
            f"A store begins with {start} {thing.en}. {' '.join(en)}",
            f"一家商店开始时有{thing.counted(start)}。{''.join(zh)}",
        ),
        (
            f"How many {thing.en} are left at the end?",
            f"最后还剩多少{thing.measure}{thing.zh}？",
        ),
        stock,
        steps,
    )


@template("integer")
def pages_left(d: Dice) -> Problem:
    who = d.person()
    first, days, second, more = d.whole(5, 30), d.few(), d.whole(5, 40), d.few()
    left = d.count()
    total = first * days + second * more + left
    return Problem(
        (
            f"{who[0]} reads a book of {total} pages: {first} pages a day for {days} days, "
            f"then {second} pages a day for {more} days.",
            f"{who[1]}读一本{total}页的书：前{days}天每天读{first}页，"
            f"接下来的{more}天每天读{second}页。",
        ),
        ("How many pages are left to read?", "还剩多少页没读？"),
        left,
        4,
    )


@template("integer")
def legs_on_a_farm(d: Dice) -> Problem:
    hens, cows = d.count(), d.count()
    spiders = 0 if d.level == "easy" else d.few()
    animals = f"{hens} hens and {cows} cows"
    if spiders:
        animals = f"{hens} hens, {cows} cows and {spiders} spiders with 8 legs each"
    more = f"，还有{spiders}只蜘蛛（每只8条腿）" if spiders else ""
    return Problem(
        (
            f"On a farm there are {animals}.",
            f"农场里有{hens}只母鸡和{cows}头牛{more}。",
        ),
        ("How many legs do these animals have in all?", "这些动物一共有多少条腿？"),
        2 * hens + 4 * cows + 8 * spiders,
        5 if spiders else 3,
    )


@template("integer")
def free_seats(d: Dice) -> Problem:
    rows, seats = d.few(), d.whole(6, 30)
    taken = d.whole(1, rows * seats - 10)
    broken = d.whole(1, 9)
    return Problem(
        (
            f"A theater has {rows} rows of {seats} seats. {taken} seats are taken "
            f"and {broken} of the others are broken.",
            f"一个剧场有{rows}排座位，每排{seats}个。已有{taken}个座位坐了人，"
            f"其余座位中有{broken}个是坏的。",
        ),
        ("How many seats can still be used?", "还有多少个座位可以使用？"),
        rows * seats - taken - broken,
        3,
    )


@template("integer")
def boxes_needed(d: Dice) -> Problem:
    thing, size = d.thing(), d.whole(4, 24)
    total = size * d.few() + d.whole(0, size - 1)
    return Problem(
        (
            f"{total} {thing.en} are packed into boxes that hold at most {size} each.",
            f"要把{thing.counted(total)}装进盒子，每个盒子最多装{size}{thing.measure}。",
        ),
        ("How many boxes are needed at least?", "至少需要多少个盒子？"),
        -(-total // size),
        2,
    )


@template("integer")
def what_is_left_over(d: Dice) -> Problem:
    thing, friends = d.thing(), d.whole(3, 13)
    bags, each = d.few(), d.whole(5, 40)
    return Problem(
        (
            f"{bags} bags with {each} {thing.en} each are emptied and shared equally among "
            f"{friends} children, each getting as many as possible.",
            f"把{bags}袋{thing.zh}（每袋{each}{thing.measure}）倒在一起，"
            f"尽可能多地平均分给{friends}个孩子。",
        ),
        (f"How many {thing.en} are left over?", f"最后剩下多少{thing.measure}{thing.zh}？"),
        bags * each % friends,
        2,
    )


@template("integer")
def chain_of_ages(d: Dice) -> Problem:
    a, b, c = d.people(3)
    age, older, times = d.whole(3, 12), d.whole(2, 15), d.whole(2, 4)
    return Problem(
        (
            f"{a[0]} is {age} years old. {b[0]} is {older} years older than {a[0]}. "
            f"{c[0]} is {times} times as old as {a[0]}.",
            f"{a[1]}今年{age}岁，{b[1]}比{a[1]}大{older}岁，{c[1]}的年龄是{a[1]}的{times}倍。",
        ),
        ("How old are the three together, in years?", "三人的年龄之和是多少岁？"),
        2 * age + older + times * age,
        4,
    )


@template("integer")
def worst_case_draw(d: Dice) -> Problem:
    colors = d.whole(3, 6)
    wanted = d.whole(2, 5)
    each = wanted + d.whole(2, 20)
    return Problem(
        (
            f"A drawer holds socks of {colors} colors, {each} socks of each color. "
            "It is dark, and socks are taken out one by one.",
            f"抽屉里有{colors}种颜色的袜子，每种颜色各有{each}只。屋里很黑，袜子一只一只地取出来。",
        ),
        (
            f"How many socks must be taken to be sure of {wanted} socks of one color?",
            f"至少要取出多少只，才能保证有{wanted}只颜色相同？",
        ),
        colors * (wanted - 1) + 1,
        2,
    )
