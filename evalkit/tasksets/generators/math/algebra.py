"""Unknown numbers, and how many ways there are."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

from evalkit.tasksets.generators.math.problem import Dice, Problem, template


@template("algebra")
def think_of_a_number(d: Dice) -> Problem:
    who, x, times, plus = d.person(), d.count(), d.few(), d.count()
    return Problem(
        (
            f"{who[0]} thinks of a number, multiplies it by {times}, adds {plus} and gets "
            f"{times * x + plus}.",
            f"{who[1]}想了一个数，乘以{times}再加上{plus}，得到{times * x + plus}。",
        ),
        ("What is the number?", "这个数是多少？"),
        x,
        2,
    )


@template("algebra", ("medium", "hard"))
def number_on_both_sides(d: Dice) -> Problem:
    x, fewer, plus = d.count(), d.whole(2, 6), d.count()
    times = fewer + d.whole(1, 6)
    right = (times - fewer) * x + plus
    return Problem(
        (
            f"{times} times a number plus {plus} is as much as {fewer} times the number "
            f"plus {right}.",
            f"一个数的{times}倍加上{plus}，等于这个数的{fewer}倍加上{right}。",
        ),
        ("What is the number?", "这个数是多少？"),
        x,
        3,
    )


@template("algebra")
def sum_and_difference(d: Dice) -> Problem:
    (one, other), small, more = d.people(2), d.count(), d.count()
    return Problem(
        (
            f"{one[0]} and {other[0]} have {2 * small + more} points together. "
            f"{one[0]} has {more} points more than {other[0]}.",
            f"{one[1]}和{other[1]}一共得了{2 * small + more}分，{one[1]}比{other[1]}多{more}分。",
        ),
        (f"How many points does {one[0]} have?", f"{one[1]}得了多少分？"),
        small + more,
        3,
    )


@template("algebra", ("medium", "hard"))
def twice_as_old(d: Dice) -> Problem:
    (parent, child), years, young = d.people(2), d.whole(2, 15), d.whole(3, 20)
    times = d.whole(2, 4)
    old = times * (young + years) - years
    return Problem(
        (
            f"{child[0]} is {young} years old and {parent[0]} is {old}.",
            f"{child[1]}今年{young}岁，{parent[1]}今年{old}岁。",
        ),
        (
            f"In how many years will {parent[0]} be {times} times as old as {child[0]}?",
            f"多少年后{parent[1]}的年龄是{child[1]}的{times}倍？",
        ),
        years,
        4,
    )


@template("algebra")
def heads_and_legs(d: Dice) -> Problem:
    ducks, sheep = d.count(), d.count()
    return Problem(
        (
            f"Ducks and sheep stand in a yard. There are {ducks + sheep} heads and "
            f"{2 * ducks + 4 * sheep} legs.",
            f"院子里有鸭子和羊，共有{ducks + sheep}个头、{2 * ducks + 4 * sheep}条腿。",
        ),
        ("How many sheep are there?", "有多少只羊？"),
        sheep,
        4,
    )


@template("algebra", ("medium", "hard"))
def two_kinds_of_notes(d: Dice) -> Problem:
    small, large = d.sample((5, 10, 20, 50, 100), 2)
    a, b = d.count(), d.count()
    return Problem(
        (
            f"A till holds {a + b} notes, some of {small} and the others of {large} dollars, "
            f"worth {a * small + b * large} dollars in all.",
            f"收银机里有{a + b}张钞票，面额为{small}元和{large}元，总共{a * small + b * large}元。",
        ),
        (
            f"How many notes of {large} dollars are there?",
            f"{large}元的钞票有多少张？",
        ),
        b,
        4,
    )


@template("algebra")
def numbers_in_a_row(d: Dice) -> Problem:
    n = d.pick((3, 5, 7))
    middle = d.count() + 4
    return Problem(
        (
            f"The sum of {n} whole numbers that follow one another is {n * middle}.",
            f"{n}个连续整数的和是{n * middle}。",
        ),
        ("What is the largest of them?", "其中最大的数是多少？"),
        middle + n // 2,
        2,
    )


@template("geometry")
def field_from_its_border(d: Dice) -> Problem:
    width, more = d.count(), d.count()
    return Problem(
        (
            f"A rectangular field is {more} meters longer than wide. The fence around it "
            f"is {2 * (2 * width + more)} meters long.",
            f"一块长方形的地，长比宽多{more}米，四周的围栏长{2 * (2 * width + more)}米。",
        ),
        (
            "What is the area of the field in square meters?",
            "这块地的面积是多少平方米？",
        ),
        width * (width + more),
        4,
    )


@template("geometry")
def room_with_a_niche(d: Dice) -> Problem:
    long, wide = d.whole(4, 40), d.whole(4, 40)
    a, b = d.whole(1, long - 2), d.whole(1, wide - 2)
    price = d.whole(2, 30)
    return Problem(
        (
            f"A room is {long} meters long and {wide} meters wide. A corner of {a} by {b} meters "
            f"is walled off. The remaining floor gets a carpet at {price} dollars a square meter.",
            f"一个房间长{long}米，宽{wide}米，其中一角（{a}米×{b}米）被隔开，"
            f"其余地面铺地毯，每平方米{price}元。",
        ),
        ("How many dollars does the carpet cost?", "地毯一共要多少元？"),
        (long * wide - a * b) * price,
        4,
        ("dollar", "元"),
    )


@template("geometry")
def fence_posts(d: Dice) -> Problem:
    gap, gaps, sides = d.whole(2, 9), d.count(), d.whole(1, 2)
    en = "along one side" if sides == 1 else "along both sides"
    zh = "一侧" if sides == 1 else "两侧"
    return Problem(
        (
            f"Trees are planted {en} of a straight road of {gap * gaps} meters, one every {gap} "
            "meters, with a tree at each end.",
            f"在一条{gap * gaps}米长的笔直道路{zh}种树，每隔{gap}米一棵，两端都种。",
        ),
        ("How many trees are planted?", "一共种了多少棵树？"),
        sides * (gaps + 1),
        2 + (sides > 1),
    )


@template("geometry", ("medium", "hard"))
def tiles(d: Dice) -> Problem:
    side = d.pick((20, 25, 40, 50))
    long, wide, spare = d.whole(5, 40), d.whole(5, 40), d.whole(3, 30)
    return Problem(
        (
            f"A floor of {long * side} by {wide * side} centimeters is covered with square "
            f"tiles whose side is {side} centimeters. {spare} tiles are bought as spares.",
            f"地面长{long * side}厘米，宽{wide * side}厘米，用边长{side}厘米的正方形瓷砖铺满，"
            f"另外多买{spare}块备用。",
        ),
        ("How many tiles are bought in all?", "一共买了多少块瓷砖？"),
        long * wide + spare,
        4,
    )


@template("geometry", ("medium", "hard"))
def aquarium(d: Dice) -> Problem:
    a, b, c = (d.step(20, 120, 10) for _ in range(3))
    below = d.step(5, c - 10, 5)
    return Problem(
        (
            f"An aquarium is {a} centimeters long, {b} centimeters wide and {c} centimeters "
            f"high. The water stands {below} centimeters below the rim.",
            f"一个水族箱长{a}厘米，宽{b}厘米，高{c}厘米，水面离上沿{below}厘米。",
        ),
        ("How many liters of water are in it?", "里面有多少升水？"),
        Fraction(a * b * (c - below), 1000),
        4,
        ("liter", "升"),
    )


@template("combinatorics", ("easy", "medium"))
def outfits(d: Dice) -> Problem:
    who, a, b, c = d.person(), d.few(), d.few(), d.whole(2, 6)
    return Problem(
        (
            f"{who[0]} has {a} shirts, {b} pairs of trousers and {c} hats, and wears one of each.",
            f"{who[1]}有{a}件衬衫、{b}条裤子和{c}顶帽子，每样各穿戴一件。",
        ),
        ("How many different outfits are possible?", "一共有多少种不同的搭配？"),
        a * b * c,
        2,
    )


@template("combinatorics")
def handshakes(d: Dice) -> Problem:
    who = d.person()
    guests = d.count() + 2
    couples = d.whole(1, guests // 2) if d.level != "easy" else 0
    en = f" Among them are {couples} couples, who do not shake hands with each other."
    zh = f"其中有{couples}对夫妻，夫妻之间不握手。"
    return Problem(
        (
            f"{guests} guests come to {who[0]}'s party, and each shakes hands once with each "
            "other guest." + (en if couples else ""),
            f"{guests}位客人来参加{who[1]}的聚会，每两位客人握手一次。" + (zh if couples else ""),
        ),
        ("How many handshakes are there?", "一共握手多少次？"),
        comb(guests, 2) - couples,
        2 + (couples > 0),
    )


@template("combinatorics", ("medium", "hard"))
def committee(d: Dice) -> Problem:
    women, men = d.whole(3, 9), d.whole(3, 9)
    a, b = d.whole(1, 3), d.whole(1, 3)
    return Problem(
        (
            f"A committee of {a} women and {b} men is chosen from {women} women and {men} men.",
            f"从{women}名女士和{men}名男士中选出{a}名女士和{b}名男士组成委员会。",
        ),
        ("How many different committees are possible?", "有多少种不同的选法？"),
        comb(women, a) * comb(men, b),
        3,
    )


@template("combinatorics")
def in_a_row(d: Dice) -> Problem:
    n = {"easy": d.whole(3, 4), "medium": d.whole(4, 6), "hard": d.whole(5, 8)}[d.level]
    who = d.person()
    en, zh = d.pick(
        (("books", "本书"), ("pictures", "幅画"), ("vases", "个花瓶"), ("flags", "面旗"))
    )
    near = d.level == "hard"
    return Problem(
        (
            f"{who[0]} puts {n} different {en} in a row"
            + (", and two certain ones must be neighbors." if near else "."),
            f"{who[1]}把{n}{zh}排成一排（各不相同）"
            + ("，其中指定的两个必须相邻。" if near else "。"),
        ),
        ("How many orders are possible?", "一共有多少种排法？"),
        2 * factorial(n - 1) if near else factorial(n),
        3 if near else 2,
    )


@template("combinatorics", ("medium", "hard"))
def codes(d: Dice) -> Problem:
    who, letters, digits = d.person(), d.whole(3, 26), d.whole(2, 4)
    return Problem(
        (
            f"{who[0]}'s code is one of {letters} letters followed by {digits} digits from 0 to 9, "
            "in which no digit stands twice.",
            f"{who[1]}的密码由{letters}个字母中的一个加上{digits}位0到9的数字组成，数字不能重复。",
        ),
        ("How many codes are there?", "一共有多少个不同的密码？"),
        letters * factorial(10) // factorial(10 - digits),
        3,
    )


@template("combinatorics", ("medium", "hard"))
def ways_on_a_grid(d: Dice) -> Problem:
    who, east, north = d.person(), d.whole(2, 7), d.whole(2, 6)
    return Problem(
        (
            f"In a city of square blocks, {who[0]}'s hotel lies {east} blocks east and {north} "
            "blocks north of the station.",
            f"在棋盘式街道的城市里，{who[1]}的酒店位于车站以东{east}个街区、以北{north}个街区处。",
        ),
        (
            "How many shortest ways lead from the station to the hotel?",
            "从车站到酒店的最短路线有多少条？",
        ),
        comb(east + north, east),
        2,
    )
