"""Stories of prices, wages and savings."""

from __future__ import annotations

from fractions import Fraction

from evalkit.tasksets.generators.math.problem import DOLLARS, Dice, Problem, priced, template


@template("money", ("easy",))
def one_price(d: Dice) -> Problem:
    price, n, thing = d.whole(2, 12), d.few(), d.thing()
    return Problem(
        (
            f"One of these {thing.en} costs {price} dollars.",
            f"一{thing.measure}{thing.zh}的价格是{price}元。",
        ),
        (
            f"How many dollars do {n} of them cost?",
            f"买{n}{thing.measure}要多少元？",
        ),
        price * n,
        1,
        DOLLARS,
    )


@template("money")
def change_from_a_note(d: Dice) -> Problem:
    who = d.person()
    a, b = d.whole(2, 6), d.whole(2, 6)
    p, q = d.cents(1, 6), d.cents(1, 6)
    total = a * p + b * q
    note = next(n for n in (20, 50, 100, 200) if n > total)
    return Problem(
        (
            f"{who[0]} buys {a} sandwiches at {priced(p)} dollars each and {b} juices at "
            f"{priced(q)} dollars each, and pays with a {note} dollar note.",
            f"{who[1]}买了{a}个三明治，每个{priced(p)}元，又买了{b}瓶果汁，每瓶{priced(q)}元，"
            f"付了一张{note}元的钞票。",
        ),
        ("How many dollars is the change?", "应找回多少元？"),
        note - total,
        4,
        DOLLARS,
    )


@template("money")
def tickets(d: Dice) -> Problem:
    adults, children = d.few(), d.count()
    full, half = d.step(8, 30, 2), d.whole(3, 7)
    return Problem(
        (
            f"A museum ticket costs {full} dollars for an adult and {half} dollars for a child. "
            f"A group of {adults} adults and {children} children goes in.",
            f"博物馆的成人票每张{full}元，儿童票每张{half}元。"
            f"一个团有{adults}名成人和{children}名儿童入馆。",
        ),
        ("How many dollars does the group pay in all?", "这个团一共要付多少元？"),
        adults * full + children * half,
        3,
        DOLLARS,
    )


@template("money")
def bulk_discount(d: Dice) -> Problem:
    thing, price, off = d.thing(), d.whole(5, 20), d.whole(1, 4)
    limit = d.whole(5, 12)
    n = limit + d.count()
    return Problem(
        (
            f"A shop sells {thing.en} for {price} dollars each. "
            f"For each one beyond the first {limit}, it takes {off} dollars off the price.",
            f"商店里每{thing.measure}{thing.zh}卖{price}元。"
            f"超过{limit}{thing.measure}的部分，每{thing.measure}便宜{off}元。",
        ),
        (
            f"How many dollars do {n} of them cost?",
            f"买{n}{thing.measure}一共要多少元？",
        ),
        limit * price + (n - limit) * (price - off),
        4,
        DOLLARS,
    )


@template("money", ("medium", "hard"))
def overtime(d: Dice) -> Problem:
    who, wage, usual = d.person(), d.step(12, 40, 2), d.pick((35, 38, 40))
    hours = usual + d.whole(2, 15)
    weeks = 1 if d.level == "medium" else d.whole(2, 6)
    weekly = usual * wage + (hours - usual) * wage * Fraction(3, 2)
    return Problem(
        (
            f"{who[0]} earns {wage} dollars an hour for the first {usual} hours of a week and "
            f"one and a half times as much for every further hour. "
            f"{who[0]} works {hours} hours in each of {weeks} weeks.",
            f"{who[1]}每周前{usual}小时每小时挣{wage}元，超出的每小时工资是平时的1.5倍。"
            f"{who[1]}连续{weeks}周每周都工作{hours}小时。",
        ),
        (f"How many dollars does {who[0]} earn in all?", f"{who[1]}一共挣多少元？"),
        weeks * weekly,
        4 + (weeks > 1),
        DOLLARS,
    )


@template("money")
def weeks_to_save(d: Dice) -> Problem:
    who, weekly, spent = d.person(), d.whole(8, 30), d.whole(1, 7)
    have, weeks = d.count(), d.few() + d.whole(0, 9)
    goal = have + weeks * (weekly - spent)
    return Problem(
        (
            f"{who[0]} has {have} dollars and wants a bicycle for {goal} dollars. "
            f"Each week {who[0]} gets {weekly} dollars and spends {spent} of them.",
            f"{who[1]}有{have}元，想买一辆{goal}元的自行车。"
            f"{who[1]}每周得到{weekly}元，其中花掉{spent}元。",
        ),
        (
            "After how many weeks is there exactly enough money?",
            "多少周以后钱正好够买自行车？",
        ),
        weeks,
        3,
    )


@template("money", ("medium", "hard"))
def bill_with_tip(d: Dice) -> Problem:
    people, tip = d.whole(2, 6), d.pick((10, 15, 20, 25))
    bill = people * d.step(20, 200, 20)
    return Problem(
        (
            f"{people} friends have a meal that costs {bill} dollars. They add a tip of {tip}% "
            "and share everything equally.",
            f"{people}个朋友吃了一顿{bill}元的饭，另付{tip}%的小费，所有费用平均分摊。",
        ),
        ("How many dollars does each of them pay?", "每人要付多少元？"),
        Fraction(bill * (100 + tip), 100 * people),
        3,
        DOLLARS,
    )


@template("money")
def jar_of_coins(d: Dice) -> Problem:
    fifties, twenties, tens = (d.count() for _ in range(3))
    cents = 50 * fifties + 20 * twenties + 10 * tens
    return Problem(
        (
            f"A jar holds {fifties} coins of 50 cents, {twenties} coins of 20 cents "
            f"and {tens} coins of 10 cents.",
            f"罐子里有{fifties}枚5角、{twenties}枚2角和{tens}枚1角的硬币。",
        ),
        ("How many dollars are in the jar?", "罐子里一共有多少元？"),
        Fraction(cents, 100),
        6,
        DOLLARS,
    )


@template("money")
def yearly_or_monthly(d: Dice) -> Problem:
    monthly = d.whole(5, 40)
    yearly = monthly * d.whole(8, 11)
    years = d.whole(1, 2) if d.level == "easy" else d.few()
    return Problem(
        (
            f"A subscription costs {monthly} dollars a month or {yearly} dollars a year.",
            f"一项订阅每月{monthly}元，按年订则每年{yearly}元。",
        ),
        (
            f"How many dollars does the yearly price save in {years} years?",
            f"按年订，{years}年一共可以省多少元？",
        ),
        years * (12 * monthly - yearly),
        3,
        DOLLARS,
    )


@template("money", ("medium", "hard"))
def stall_profit(d: Dice) -> Problem:
    who, thing = d.person(), d.thing()
    cost, gain, rest = d.whole(2, 8), d.whole(2, 9), d.whole(1, 6)
    sold, left = d.count(), d.count()
    spent = cost * (sold + left)
    income = sold * (cost + gain) + left * (cost + rest)
    return Problem(
        (
            f"{who[0]} buys {sold + left} {thing.en} at {cost} dollars each, sells {sold} of "
            f"them for {cost + gain} dollars each and the rest for {cost + rest} dollars each.",
            f"{who[1]}以每{thing.measure}{cost}元买进{thing.counted(sold + left)}，"
            f"其中{sold}{thing.measure}以每{thing.measure}{cost + gain}元卖出，"
            f"其余的以每{thing.measure}{cost + rest}元卖出。",
        ),
        (f"How many dollars of profit does {who[0]} make?", f"{who[1]}一共赚了多少元？"),
        income - spent,
        6,
        DOLLARS,
    )


@template("money")
def print_shop(d: Dice) -> Problem:
    base, page, pages, copies = d.whole(2, 9), d.step(5, 30, 5), d.few(), d.count()
    return Problem(
        (
            f"A print shop takes {base} dollars for an order and {page} cents for each page. "
            f"A leaflet of {pages} pages is printed {copies} times in one order.",
            f"打印店每单收费{base}元，另外每页收{page / 100:.2f}元。"
            f"一份{pages}页的传单在一单里打印{copies}份。",
        ),
        ("How many dollars does the order cost?", "这一单要多少元？"),
        base + Fraction(page * pages * copies, 100),
        4,
        DOLLARS,
    )


@template("money")
def phone_plan(d: Dice) -> Problem:
    fee, free, rate = d.whole(8, 30), d.step(50, 300, 10), d.step(5, 40, 5)
    more = d.count()
    return Problem(
        (
            f"A phone plan costs {fee} dollars a month with {free} minutes included. Each "
            f"further minute costs {rate} cents. Somebody talks {free + more} minutes in a month.",
            f"某手机套餐月费{fee}元，含{free}分钟通话，超出部分每分钟"
            f"{rate / 100:.2f}元。某人一个月通话{free + more}分钟。",
        ),
        ("How many dollars is the bill?", "这个月的话费是多少元？"),
        fee + Fraction(more * rate, 100),
        4,
        DOLLARS,
    )
