"""Speed, work and proportion."""

from __future__ import annotations

from fractions import Fraction

from evalkit.tasksets.generators.math.problem import Dice, Problem, template, written


@template("rates")
def trains_that_meet(d: Dice) -> Problem:
    a, b, hours = d.step(40, 120, 5), d.step(40, 120, 5), d.whole(2, 9)
    distance = (a + b) * hours
    wait = 0 if d.level != "hard" else d.whole(2, 4)
    if wait:
        distance += a * wait
    told = f" The second one starts {wait} hours later." if wait else ""
    zh = f"第二列火车晚出发{wait}小时。" if wait else ""
    return Problem(
        (
            f"Two trains start {distance} kilometers apart and drive towards each other, one at "
            f"{a} and the other at {b} kilometers per hour.{told}",
            f"两列火车相距{distance}千米，相向而行，第一列每小时{a}千米，第二列每小时{b}千米。{zh}",
        ),
        (
            "How many hours after the first train's start do they meet?",
            "第一列火车出发后多少小时两车相遇？",
        ),
        hours + wait,
        2 + 2 * (wait > 0),
    )


@template("rates")
def journey_with_break(d: Dice) -> Problem:
    a, b = d.step(30, 120, 10), d.step(30, 120, 10)
    x, y = d.whole(2, 6), d.whole(2, 6)
    return Problem(
        (
            f"A driver goes {x} hours at {a} kilometers per hour, rests for an hour, and then "
            f"goes {y} hours at {b} kilometers per hour.",
            f"司机以每小时{a}千米的速度行驶{x}小时，休息1小时，再以每小时{b}千米的速度行驶{y}小时。",
        ),
        ("How many kilometers does the driver cover?", "一共行驶了多少千米？"),
        a * x + b * y,
        3,
        ("km", "千米"),
    )


@template("rates", ("medium", "hard"))
def catching_up(d: Dice) -> Problem:
    (one, other), slow, hours = d.people(2), d.step(4, 40, 2), d.whole(2, 5)
    faster = d.pick([n for n in range(1, 21) if slow * hours % n == 0])
    return Problem(
        (
            f"{one[0]} sets out at {slow} kilometers per hour. {hours} hours later {other[0]} "
            f"follows on the same road at {slow + faster} kilometers per hour.",
            f"{one[1]}以每小时{slow}千米的速度出发，{hours}小时后{other[1]}"
            f"沿同一条路以每小时{slow + faster}千米的速度追赶。",
        ),
        (
            f"How many hours does {other[0]} need to catch up with {one[0]}?",
            f"{other[1]}追上{one[1]}需要多少小时？",
        ),
        slow * hours // faster,
        3,
    )


@template("rates", ("medium", "hard"))
def working_together(d: Dice) -> Problem:
    one, other = d.people(2)
    a, b = d.pick(((3, 6), (4, 12), (6, 12), (10, 15), (12, 24), (20, 30), (6, 30), (5, 20)))
    return Problem(
        (
            f"{one[0]} alone mows a field in {a} hours, {other[0]} alone needs {b} hours.",
            f"{one[1]}独自割一块草地需要{a}小时，{other[1]}独自割需要{b}小时。",
        ),
        (
            "How many minutes do both need when they work together?",
            "两人一起割需要多少分钟？",
        ),
        Fraction(60 * a * b, a + b),
        4,
        ("min", "分钟"),
    )


@template("rates")
def typing(d: Dice) -> Problem:
    who, rate, minutes = d.person(), d.whole(20, 90), d.whole(3, 40)
    left = d.count()
    return Problem(
        (
            f"{who[0]} types {rate} words per minute. A text has {rate * minutes + left} words, "
            f"and {left} of them are typed already.",
            f"{who[1]}每分钟打{rate}个字。一篇文章共{rate * minutes + left}个字，"
            f"已经打好了{left}个。",
        ),
        (
            "How many minutes does the rest take?",
            "打完剩下的部分需要多少分钟？",
        ),
        minutes,
        2,
        ("min", "分钟"),
    )


@template("rates")
def machines(d: Dice) -> Problem:
    machines_, hours, each = d.whole(2, 9), d.whole(2, 8), d.whole(3, 30)
    more, longer = d.whole(2, 12), d.whole(2, 12)
    return Problem(
        (
            f"{machines_} machines make {machines_ * hours * each} screws in {hours} hours.",
            f"{machines_}台机器{hours}小时生产{machines_ * hours * each}颗螺丝。",
        ),
        (
            f"How many screws do {more} such machines make in {longer} hours?",
            f"{more}台同样的机器{longer}小时能生产多少颗螺丝？",
        ),
        more * longer * each,
        4,
    )


@template("rates", ("easy", "medium"))
def steady_drip(d: Dice) -> Problem:
    drops, per = d.whole(2, 30), d.step(10, 50, 10)
    hours = 1 if d.level == "easy" else d.whole(2, 12)
    return Problem(
        (
            f"A tap loses {drops} milliliters of water every minute, "
            f"and a bucket under it is {per} liters large.",
            f"水龙头每分钟漏水{drops}毫升，下面的水桶容量为{per}升。",
        ),
        (
            f"How many liters of water are lost in {hours} hour{'s' if hours > 1 else ''}?",
            f"{hours}小时漏掉多少升水？",
        ),
        Fraction(drops * 60 * hours, 1000),
        3,
        ("liter", "升"),
    )


@template("rates", ("medium", "hard"))
def map_scale(d: Dice) -> Problem:
    scale, length = d.pick((20_000, 25_000, 50_000, 200_000)), Fraction(d.whole(11, 199), 10)
    return Problem(
        (
            f"On a map with the scale 1 : {scale} a road is {written(length)} centimeters long.",
            f"在比例尺为1:{scale}的地图上，一条路长{written(length)}厘米。",
        ),
        ("How many kilometers long is the road?", "这条路实际长多少千米？"),
        length * scale / 100_000,
        2,
        ("km", "千米"),
    )


@template("rates")
def food_for_animals(d: Dice) -> Problem:
    animals, days, daily, more = d.whole(2, 9), d.whole(4, 20), d.whole(1, 6), d.whole(1, 8)
    store = animals * (animals + more) * days * daily
    return Problem(
        (
            f"{animals} horses eat {daily} kilograms of hay each a day. The barn holds {store} "
            f"kilograms. {more} more horses that eat as much arrive.",
            f"{animals}匹马每匹每天吃{daily}千克干草，谷仓里有{store}千克。"
            f"又来了{more}匹吃得同样多的马。",
        ),
        (
            "For how many days does the hay last now?",
            "现在干草够吃多少天？",
        ),
        animals * days,
        3,
    )
