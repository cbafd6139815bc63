"""Fractions and percentages."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

from evalkit.tasksets.generators.math.problem import (
    DOLLARS,
    Dice,
    Problem,
    priced,
    template,
    written,
)


def _proper(d: Dice, low: int = 3, high: int = 9) -> Fraction:
    """Return a fraction between 0 and 1 in lowest terms."""
    bottom = d.whole(low, high)
    top = d.pick([n for n in range(1, bottom) if gcd(n, bottom) == 1])
    return Fraction(top, bottom)


@template("fraction")
def part_then_part_of_the_rest(d: Dice) -> Problem:
    first, second = _proper(d), _proper(d)
    total = first.denominator * second.denominator * d.few()
    left = total * (1 - first) * (1 - second)
    return Problem(
        (
            f"A farmer has {total} kilograms of rice. He sells {first} of it in the morning and "
            f"{second} of the rest in the afternoon.",
            f"农民有{total}千克大米，上午卖出其中的{first}，下午又卖出剩下的{second}。",
        ),
        ("How many kilograms are left?", "还剩多少千克？"),
        left,
        4,
        ("kg", "千克"),
    )


@template("fraction", ("easy", "medium"))
def slices(d: Dice) -> Problem:
    part = _proper(d, 2, 6)
    total = part.denominator * d.few()
    return Problem(
        (
            f"A class of {total} children goes on a trip. {part} of the children bring a hat.",
            f"一个班的{total}名孩子去郊游，其中{part}的孩子带了帽子。",
        ),
        ("How many children bring a hat?", "有多少名孩子带了帽子？"),
        total * part,
        2,
    )


@template("fraction")
def tank(d: Dice) -> Problem:
    first, second = sorted((_proper(d), _proper(d)))
    if first == second:
        first, second = Fraction(1, 4), Fraction(3, 4)
    whole = first.denominator * second.denominator * d.few()
    poured = whole * (second - first)
    return Problem(
        (
            f"A tank is {first} full. After {written(poured)} liters are poured in it is "
            f"{second} full.",
            f"一个水箱装了{first}的水，再倒入{written(poured)}升后，水占水箱的{second}。",
        ),
        ("How many liters does the full tank hold?", "水箱装满时有多少升？"),
        whole,
        2,
        ("liter", "升"),
    )


@template("fraction", ("medium", "hard"))
def sum_of_parts(d: Dice) -> Problem:
    (one, other), a, b = d.people(2), _proper(d, 3, 12), _proper(d, 3, 12)
    if d.level == "hard":
        return Problem(
            (
                f"{one[0]} paints {a} of a wall in an hour. {other[0]} paints {b} of such a wall "
                "in an hour. They paint together for half an hour.",
                f"{one[1]}一小时能刷一面墙的{a}，{other[1]}一小时能刷同样一面墙的{b}，"
                "两人一起刷了半小时。",
            ),
            (
                "Which fraction of one wall have they painted? Give a fraction.",
                "他们一共刷了一面墙的几分之几？请用分数回答。",
            ),
            (a + b) / 2,
            2,
            as_fraction=True,
        )
    return Problem(
        (
            f"{one[0]} drinks {a} of a bottle of water and {other[0]} drinks {b} of another "
            "bottle of the same size.",
            f"{one[1]}喝了一瓶水的{a}，{other[1]}喝了另一瓶同样大小的水的{b}。",
        ),
        (
            "How much do they drink together, in bottles? Give a fraction.",
            "两人一共喝了多少瓶？请用分数回答。",
        ),
        a + b,
        1,
        as_fraction=True,
    )


@template("fraction", ("medium", "hard"))
def inheritance(d: Dice) -> Problem:
    a, b = Fraction(1, d.whole(2, 4)), Fraction(1, d.whole(5, 8))
    total = a.denominator * b.denominator * d.step(100, 2000, 100)
    rest = total * (1 - a - b)
    heirs = d.pick([n for n in (2, 3, 4, 5, 6) if rest % n == 0] or [1])
    return Problem(
        (
            f"An estate of {total} dollars goes {a} to the widow and {b} to a museum. "
            f"{heirs} children share the rest equally.",
            f"一笔{total}元的遗产，{a}归遗孀，{b}捐给博物馆，其余由{heirs}个孩子平分。",
        ),
        ("How many dollars does each child get?", "每个孩子得到多少元？"),
        rest / heirs,
        4,
        DOLLARS,
    )


@template("fraction")
def what_was_the_whole(d: Dice) -> Problem:
    who, part = d.person(), _proper(d)
    whole = part.denominator * d.count()
    return Problem(
        (
            f"{who[0]} has read {written(whole * part)} pages, which is {part} of the book.",
            f"{who[1]}已经读了{written(whole * part)}页，正好是全书的{part}。",
        ),
        ("How many pages are still unread?", "还有多少页没有读？"),
        whole - whole * part,
        3,
    )


@template("percent")
def reduced_price(d: Dice) -> Problem:
    off = d.step(5, 60, 5)
    price = d.step(20, 400, 20)
    n = 1 if d.level == "easy" else d.few()
    return Problem(
        (
            f"A jacket costs {price} dollars. In a sale its price is reduced by {off}%.",
            f"一件外套原价{price}元，促销时降价{off}%。",
        ),
        (
            f"How many dollars {'does' if n == 1 else 'do'} {n} such jacket"
            f"{'' if n == 1 else 's'} cost in the sale?",
            f"促销时买{n}件这样的外套要多少元？",
        ),
        Fraction(n * price * (100 - off), 100),
        2 + (n > 1),
        DOLLARS,
    )


@template("percent")
def share_of_a_group(d: Dice) -> Problem:
    total = d.pick((20, 25, 40, 50, 80, 125, 200, 250, 400))
    some = d.whole(1, total - 1)
    late = d.whole(0, total - some)
    return Problem(
        (
            f"Of {total} guests, {some} come by train and {late} by bus. The others walk.",
            f"{total}位客人中，{some}位坐火车来，{late}位坐公交车来，其余的步行。",
        ),
        ("What percent of the guests walk?", "步行的客人占百分之几？"),
        Fraction(100 * (total - some - late), total),
        3,
        percent=True,
    )


@template("percent")
def up_then_down(d: Dice) -> Problem:
    up, down = d.step(10, 60, 10), d.step(10, 50, 10)
    price = d.step(100, 2000, 100)
    return Problem(
        (
            f"A rent of {price} dollars rises by {up}% and later falls by {down}% "
            "of what it is then.",
            f"租金原为{price}元，先上涨{up}%，后来又在此基础上下降{down}%。",
        ),
        ("How many dollars is the rent now?", "现在的租金是多少元？"),
        Fraction(price * (100 + up) * (100 - down), 10_000),
        4,
        DOLLARS,
    )


@template("percent")
def before_the_tax(d: Dice) -> Problem:
    tax, net = d.step(5, 25, 5), d.step(20, 900, 20)
    gross = Fraction(net * (100 + tax), 100)
    return Problem(
        (
            f"With a tax of {tax}% included, a machine costs {priced(gross)} dollars.",
            f"一台机器含{tax}%的税，售价为{priced(gross)}元。",
        ),
        ("How many dollars does it cost without the tax?", "不含税的价格是多少元？"),
        net,
        2,
        DOLLARS,
    )


@template("percent", ("easy", "medium"))
def percent_change(d: Dice) -> Problem:
    old = d.step(20, 400, 20)
    change = d.step(5, 95, 5)
    new = Fraction(old * (100 + change), 100)
    return Problem(
        (
            f"A club had {old * 5} members last year and has {written(new * 5)} this year.",
            f"一个俱乐部去年有{old * 5}名会员，今年有{written(new * 5)}名。",
        ),
        (
            "By what percent has the number of members grown?",
            "会员人数增长了百分之几？",
        ),
        change,
        2,
        percent=True,
    )


@template("percent", ("medium", "hard"))
def mixture(d: Dice) -> Problem:
    a, b = d.step(100, 900, 100), d.step(100, 900, 100)
    p, q = d.step(5, 30, 5), d.step(40, 80, 5)
    return Problem(
        (
            f"{a} grams of a {p}% salt solution are mixed with {b} grams of a {q}% solution.",
            f"把{a}克浓度为{p}%的盐水和{b}克浓度为{q}%的盐水混合。",
        ),
        ("How many grams of salt are in the mixture?", "混合后的盐水中含盐多少克？"),
        Fraction(a * p + b * q, 100),
        3,
        ("g", "克"),
    )


@template("percent")
def simple_interest(d: Dice) -> Problem:
    sum_, rate, years = d.step(200, 9000, 100), d.whole(2, 8), d.few()
    return Problem(
        (
            f"{sum_} dollars are lent at {rate}% simple interest a year for {years} years.",
            f"借出{sum_}元，年利率{rate}%，按单利计算，期限{years}年。",
        ),
        (
            "How many dollars are paid back in all, interest included?",
            "到期连本带利一共收回多少元？",
        ),
        sum_ + Fraction(sum_ * rate * years, 100),
        3,
        DOLLARS,
    )


@template("percent", ("hard",))
def compound_interest(d: Dice) -> Problem:
    sum_, years = d.step(1000, 20_000, 1000), d.whole(2, 3)
    rate = d.pick((10, 20, 30, 40)) if years == 3 else d.pick((2, 3, 4, 5, 6, 8, 10))
    return Problem(
        (
            f"{sum_} dollars grow at {rate}% interest a year, and the interest is added to the "
            "sum at the end of each year.",
            f"{sum_}元存入银行，年利率{rate}%，每年年底利息计入本金。",
        ),
        (
            f"How many dollars are there after {years} years?",
            f"{years}年后一共有多少元？",
        ),
        sum_ * Fraction(100 + rate, 100) ** years,
        2 * years,
        DOLLARS,
    )
