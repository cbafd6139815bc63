"""Lengths, weights, volumes, hours and dates."""

from __future__ import annotations

from calendar import month_name
from datetime import date, timedelta
from fractions import Fraction
from math import lcm

from evalkit.tasksets.generators.math.problem import Dice, Pair, Problem, template, written


def _tenths(d: Dice, low: int, high: int) -> Fraction:
    return Fraction(d.whole(10 * low, 10 * high), 10)


def _day(day: date) -> Pair:
    return f"{month_name[day.month]} {day.day}", f"{day.month}月{day.day}日"


def _clock(minutes: int) -> str:
    hour, minute = divmod(minutes % 1440, 60)
    return f"{hour}:{minute:02d}"


@template("decimal")
def pieces_of_rope(d: Dice) -> Problem:
    piece, n = _tenths(d, 1, 4), d.few()
    left = _tenths(d, 1, 9)
    whole = piece * n + left
    return Problem(
        (
            f"From a rope of {written(whole)} meters, {n} pieces of {written(piece)} meters "
            "are cut off.",
            f"从一根{written(whole)}米长的绳子上剪下{n}段，每段长{written(piece)}米。",
        ),
        ("How many meters of rope are left?", "绳子还剩多少米？"),
        left,
        2,
        ("m", "米"),
    )


@template("decimal")
def fuel(d: Dice) -> Problem:
    per, hundreds, price = _tenths(d, 4, 9), d.few(), _tenths(d, 1, 3)
    return Problem(
        (
            f"A car needs {written(per)} liters of fuel for 100 kilometers. A liter costs "
            f"{written(price)} dollars. The car is driven {100 * hundreds} kilometers.",
            f"一辆汽车每100千米耗油{written(per)}升，每升油{written(price)}元。"
            f"这辆车行驶了{100 * hundreds}千米。",
        ),
        ("How many dollars does the fuel cost?", "油费一共是多少元？"),
        per * hundreds * price,
        3,
        ("dollar", "元"),
    )


@template("decimal")
def parcels(d: Dice) -> Problem:
    weights = [_tenths(d, 1, 9) for _ in range({"easy": 2, "medium": 3, "hard": 5}[d.level])]
    limit = sum(weights) + _tenths(d, 1, 9)
    listed = ", ".join(written(weight) for weight in weights)
    return Problem(
        (
            f"A bag may weigh {written(limit)} kilograms. It holds parcels of {listed} kilograms.",
            f"一个袋子最多可装{written(limit)}千克，里面的包裹分别重"
            f"{'、'.join(written(weight) for weight in weights)}千克。",
        ),
        ("How many kilograms may still be added?", "还可以再装多少千克？"),
        limit - sum(weights),
        len(weights),
        ("kg", "千克"),
    )


@template("decimal")
def recipe(d: Dice) -> Problem:
    serves, grams, guests = d.pick((2, 4, 5, 8)), d.step(100, 900, 50), d.whole(3, 24)
    return Problem(
        (
            f"A recipe for {serves} people takes {grams} grams of flour.",
            f"一份供{serves}人食用的食谱需要{grams}克面粉。",
        ),
        (
            f"How many grams of flour are needed for {guests} people?",
            f"供{guests}人食用需要多少克面粉？",
        ),
        Fraction(grams * guests, serves),
        2,
        ("g", "克"),
    )


@template("decimal", ("medium", "hard"))
def mean_of_days(d: Dice) -> Problem:
    n = {"medium": 3, "hard": 5}[d.level]
    temperatures = [d.whole(8, 32) for _ in range(n - 1)]
    mean = Fraction(d.whole(2 * 12, 2 * 26), 2)
    last = mean * n - sum(temperatures)
    listed = ", ".join(map(str, temperatures))
    return Problem(
        (
            f"The mean temperature of {n} days is {written(mean)} degrees. On all days but the "
            f"last it was {listed} degrees.",
            f"{n}天的平均气温是{written(mean)}度，除最后一天外，各天的气温依次为"
            f"{'、'.join(map(str, temperatures))}度。",
        ),
        (
            "By how many degrees does the last day differ from the mean?",
            "最后一天的气温与平均气温相差多少度？",
        ),
        abs(last - mean),
        n + 1,
    )


@template("units")
def hours_and_minutes(d: Dice) -> Problem:
    hours, minutes, times = d.whole(1, 9), d.step(5, 55, 5), d.few()
    if d.level == "easy":
        times = 1
    told = ("One lesson takes", "一节课") if times == 1 else ("A shift takes", "一个班次")
    return Problem(
        (
            f"{told[0]} {hours} hour{'s' if hours > 1 else ''} and {minutes} minutes.",
            f"{told[1]}的时间是{hours}小时{minutes}分钟。",
        ),
        (
            f"How many minutes {'is that' if times == 1 else f'do {times} shifts take'}?",
            "一共是多少分钟？" if times == 1 else f"{times}个班次一共是多少分钟？",
        ),
        times * (60 * hours + minutes),
        2 + (times > 1),
        ("min", "分钟"),
    )


@template("units")
def laps(d: Dice) -> Problem:
    lap, n, days = d.step(200, 800, 50), d.few(), d.few()
    return Problem(
        (
            f"A runner runs {n} laps of {lap} meters on each of {days} days.",
            f"一名运动员连续{days}天跑步，每天跑{n}圈，每圈{lap}米。",
        ),
        ("How many kilometers is that in all?", "一共跑了多少千米？"),
        Fraction(lap * n * days, 1000),
        3,
        ("km", "千米"),
    )


@template("units")
def packets(d: Dice) -> Problem:
    grams, packets_ = d.pick((50, 125, 200, 250, 400)), d.count()
    sack = Fraction(grams * packets_, 1000)
    return Problem(
        (
            f"A sack of {written(sack)} kilograms of tea is filled into packets of {grams} grams.",
            f"把一袋{written(sack)}千克的茶叶分装成每包{grams}克。",
        ),
        ("How many packets does that give?", "一共可以装多少包？"),
        packets_,
        2,
    )


@template("units")
def glasses(d: Dice) -> Problem:
    glass, n, bottles = d.pick((150, 200, 250, 300)), d.few(), d.whole(2, 6)
    left = d.step(50, 450, 50)
    milliliters = glass * n + left
    whole = Fraction(milliliters * bottles, 1000)
    return Problem(
        (
            f"{written(whole)} liters of juice stand in {bottles} equal full jugs. From one jug "
            f"{n} glasses of {glass} milliliters are poured.",
            f"{written(whole)}升果汁平均装在{bottles}个壶里。从其中一壶倒出{n}杯，每杯{glass}毫升。",
        ),
        (
            "How many milliliters are left in that jug?",
            "那一壶里还剩多少毫升？",
        ),
        left,
        4,
        ("ml", "毫升"),
    )


@template("units", ("medium", "hard"))
def speed_in_other_units(d: Dice) -> Problem:
    speed, seconds = d.whole(2, 30), d.step(10, 600, 10)
    return Problem(
        (
            f"A cyclist rides at a steady {speed} meters per second for {seconds} seconds.",
            f"一名骑车人以每秒{speed}米的速度匀速骑行{seconds}秒。",
        ),
        (
            "What is the speed in kilometers per hour?",
            "速度是每小时多少千米？",
        ),
        Fraction(speed * 36, 10),
        2,
    )


@template("dates")
def days_between(d: Dice) -> Problem:
    first = date(2000 + d.whole(1, 60), d.whole(1, 12), d.whole(1, 28))
    span = {"easy": 25, "medium": 90, "hard": 360}[d.level]
    last = first + timedelta(days=d.whole(5, span))
    (a, b), (c, e) = _day(first), _day(last)
    return Problem(
        (
            f"A loan begins on {a}, {first.year} and is paid back on {c}, {last.year}.",
            f"一笔借款从{first.year}年{b}开始，到{last.year}年{e}还清。",
        ),
        (
            "How many days lie between the two dates, counting the last but not the first?",
            "这两个日期之间相隔多少天（算尾不算头）？",
        ),
        (last - first).days,
        {"easy": 2, "medium": 3, "hard": 6}[d.level],
    )


@template("dates")
def minutes_of_a_film(d: Dice) -> Problem:
    start, length = d.whole(6 * 60, 19 * 60), d.whole(35, 280)
    pause = 0 if d.level == "easy" else d.step(5, 30, 5)
    told = f" with one break of {pause} minutes" if pause else ""
    zh = f"，中间休息{pause}分钟" if pause else ""
    return Problem(
        (
            f"A concert begins at {_clock(start)} and ends at "
            f"{_clock(start + length + pause)} on the same day{told}.",
            f"一场音乐会{_clock(start)}开始，当天{_clock(start + length + pause)}结束{zh}。",
        ),
        (
            "How many minutes of music are there?" if pause else "How many minutes does it last?",
            "音乐一共有多少分钟？" if pause else "音乐会一共多少分钟？",
        ),
        length,
        2 + (pause > 0),
        ("min", "分钟"),
    )


@template("dates", ("easy", "medium"))
def age_in_a_year(d: Dice) -> Problem:
    who, born, age = d.person(), d.whole(1900, 1990), d.whole(19, 32)
    later = d.whole(1, 12)
    return Problem(
        (
            f"{who[0]} was born on January 1, {born}. {who[0]} married at {age} and had a "
            f"daughter {later} years after that.",
            f"{who[1]}生于{born}年1月1日，{age}岁结婚，婚后{later}年女儿出生。",
        ),
        ("In which year was the daughter born?", "女儿是哪一年出生的？"),
        born + age + later,
        2,
    )


@template("dates", ("medium", "hard"))
def meeting_again(d: Dice) -> Problem:
    one, other = d.people(2)
    a, b = d.sample((4, 6, 8, 9, 10, 12, 14, 15, 18, 20, 21, 24), 2)
    return Problem(
        (
            f"{one[0]} and {other[0]} are both at the pool today. {one[0]} comes every {a} days, "
            f"{other[0]} every {b} days.",
            f"{one[1]}和{other[1]}今天都在游泳馆。{one[1]}每{a}天来一次，{other[1]}每{b}天来一次。",
        ),
        (
            "After how many days are both there again for the first time?",
            "最少过多少天他们会再次同一天来？",
        ),
        lcm(a, b),
        3,
    )


@template("dates", ("medium", "hard"))
def delayed_train(d: Dice) -> Problem:
    start, ride, late = d.whole(8 * 60, 11 * 60), d.whole(250, 500), d.whole(5, 55)
    stop = d.whole(3, 20)
    return Problem(
        (
            f"A train should leave at {_clock(start)} and needs {ride} minutes in motion plus "
            f"{stop} minutes of stops. It leaves {late} minutes late.",
            f"一列火车原定{_clock(start)}发车，行驶需要{ride}分钟，途中停靠共{stop}分钟，"
            f"实际晚点{late}分钟发车。",
        ),
        (
            "How many minutes after noon does it arrive?",
            "它在中午12点之后多少分钟到达？",
        ),
        start + late + ride + stop - 720,
        4,
    )
