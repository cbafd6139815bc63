// One pair: what was asked, both answers side by side, and why each scored as it did.

const SIGNS = {
  regression: "✓ → ✗",
  improvement: "✗ → ✓",
  both_right: "✓ → ✓",
  both_wrong: "✗ → ✗",
  missing: "– – –",
};
/** The first characters of a hash do for reading. */
const HASH = 12;

class Detail {
  /**
   * @param {HTMLElement} box
   * @param {Data} data
   */
  constructor(box, data) {
    this.box = box;
    this.data = data;
    this.words = data.index.words;
    this.names = data.index.names_of;
  }

  /** @param {string} text */
  say(text) {
    this.box.replaceChildren(make("p", { class: "x-empty" }, text));
  }

  /**
   * Show a pair.
   * @param {number} row
   * @param {any} pair its texts
   * @param {HTMLElement} steps buttons to go on
   */
  show(row, pair, steps) {
    const { words, data } = this, { index } = data;
    const [before, after] = pair.answers;
    const both = typeof before.text === "string" && typeof after.text === "string";
    const compared = both ? diff(before.text, after.text) : null;
    const arms = [index.names[0], index.names[index.candidate[row] + 1]];
    const bars = arms.map(() => make("div", { class: "x-bar" }));
    const requests = [index.requests[0], index.requests[index.candidate[row] + 1]];
    requests.forEach((request, side) => this.offerCurl(bars[side], row, pair, request));
    const cause = data.value("cause", row);
    const facts = ["taskset", "family", "language", "length"].map((name) => data.label(name, row));
    if (pair.category) facts.push(visible(pair.category));
    if (index.epoch[row]) facts.push(told(words.epoch, { n: index.epoch[row] }));
    this.box.replaceChildren(
      make(
        "header",
        { class: "x-head" },
        make("h3", { id: "explorer-pair", tabindex: "-1" }, make("bdi", { class: "mono" }, index.id[row])),
        make(
          "p",
          { class: `x-moved x-${data.value("transition", row)}` },
          `${SIGNS[data.value("transition", row)]} ${data.label("transition", row)}`,
          cause ? ` · ${data.label("cause", row)}` : "",
        ),
        steps,
        make("p", { class: "x-where" }, ...isolated([...new Set(facts)].filter((fact) => fact !== ""))),
      ),
      this.asked(pair),
      make("p", { class: "x-note" }, this.compared(compared, before, after)),
      make(
        "div",
        { class: "answers" },
        this.answer(arms[0], before, compared?.before ?? null, "del", bars[0]),
        this.answer(arms[1], after, compared?.after ?? null, "ins", bars[1]),
      ),
    );
    this.box.scrollTop = 0;
    // Whoever adds buttons (a review, say) listens for this: `steps` is for the pair as a whole,
    // `bars` are for the baseline's answer and the candidate's.
    const key = { taskset: data.value("taskset", row), id: index.id[row], epoch: index.epoch[row] };
    const about = { ...key, baseline: arms[0], candidate: arms[1], pair };
    this.box.dispatchEvent(
      new CustomEvent("explorer:pair", { bubbles: true, detail: { ...about, steps, bars } }),
    );
  }

  /** @param {any} pair */
  asked(pair) {
    const { words } = this;
    const turns = pair.prompt.flatMap((/** @type {[string, string]} */ [role, content]) => [
      make("p", { class: "role" }, named(this.names.message_role, role)),
      text(visible(content)),
    ]);
    if (pair.hash !== null) {
      turns.push(text(told(words.redacted, { hash: pair.hash.slice(0, HASH) }), "missing"));
    }
    return make(
      "div",
      { class: "asked" },
      make("h4", {}, words.prompt),
      ...turns,
      pair.target
        ? make("p", { class: "target" }, make("span", {}, words.target), " ", mono(pair.target))
        : null,
    );
  }

  /**
   * @param {ReturnType<typeof diff> | null} compared
   * @param {any} before
   * @param {any} after
   */
  compared(compared, before, after) {
    const { words } = this;
    if (compared !== null) {
      if (compared.at === null) return words.same;
      const place = told(words.differs, { n: compared.at + 1 });
      return compared.whole ? place : `${place} ${words.too_different}`;
    }
    if (before.hash !== null && after.hash !== null) {
      return before.hash === after.hash ? words.same : words.hash_differs;
    }
    return "";
  }

  /**
   * @param {string} arm
   * @param {any} answer
   * @param {[string, boolean][] | null} shown
   * @param {string} mark element for what differs
   * @param {HTMLElement} bar
   */
  answer(arm, answer, shown, mark, bar) {
    const { words } = this;
    const outcome = answer.error !== null ? "missing" : (answer.outcome ?? "unscored");
    return make(
      "div",
      { class: "answer" },
      make("h4", {}, make("bdi", {}, arm), " ", make("span", { class: "outcome" }, named(this.names.outcome, outcome))),
      bar,
      this.said(answer, shown, mark),
      answer.reasoning
        ? make("details", {}, make("summary", {}, words.reasoning), text(visible(answer.reasoning)))
        : null,
      make("dl", { class: "facts" }, ...this.facts(answer)),
    );
  }

  /**
   * @param {any} answer
   * @param {[string, boolean][] | null} shown
   * @param {string} mark
   */
  said(answer, shown, mark) {
    const { words } = this;
    if (answer.error !== null) return text(told(words.no_answer, { reason: visible(answer.error) }), "missing");
    if (answer.hash !== null) {
      const facts = { n: answer.length ?? 0, hash: answer.hash.slice(0, HASH) };
      return text(told(words.redacted_text, facts), "missing");
    }
    if (answer.text === null) return text(words.null_text, "missing");
    if (answer.text.trim() === "") return text(words.empty_text, "missing");
    if (shown === null) return text(visible(answer.text));
    const box = text("");
    for (const [part, differs] of shown) {
      box.append(differs ? make(mark, {}, allVisible(part)) : visible(part));
    }
    return box;
  }

  /** @param {any} answer */
  facts(answer) {
    const { words } = this;
    const flags = answer.flags.map((/** @type {string} */ flag) => named(this.names.flag, flag));
    const seconds = (/** @type {number | null} */ s) => (s === null ? null : told(words.seconds_unit, { s: s.toFixed(s < 1 ? 3 : 2) }));
    /** @type {[string, string | null][]} */
    const rows = [
      [words.extracted, answer.answer],
      [words.value, answer.value === null ? null : String(Math.round(answer.value * 1000) / 1000)],
      [words.explanation, answer.explanation],
      [words.flags, flags.join(", ")],
      [words.finish, answer.finish],
      [words.tokens, answer.tokens === null ? null : counted(answer.tokens)],
      [words.seconds, seconds(answer.seconds)],
      [words.first, seconds(answer.first)],
    ];
    return rows
      .filter(([, value]) => value !== null && value !== "")
      .map(([name, value]) =>
        make("div", {}, make("dt", {}, name), make("dd", {}, make("bdi", {}, visible(value ?? "")))),
      );
  }

  /**
   * @param {HTMLElement} bar
   * @param {number} row
   * @param {any} pair
   * @param {any} request
   */
  offerCurl(bar, row, pair, request) {
    const { words, data } = this;
    const taskset = data.value("taskset", row);
    if (pair.prompt.length === 0 || !pair.whole || !Object.hasOwn(request.bodies, taskset)) return;
    const said = make("span", { class: "x-said", role: "status" });
    const copy = async () => {
      const command = curlCommand(request, taskset, data.index.epoch[row], pair.prompt);
      const more = request.more.length ? ` ${told(words.curl_more, { names: request.more.join(", ") })}` : "";
      try {
        await navigator.clipboard.writeText(command);
        said.textContent = words.copied + more;
      } catch {
        // Where the browser lends no clipboard, the command is there to be selected.
        const held = make("textarea", { class: "x-command", readonly: true, rows: "4", "aria-label": words.curl });
        held.textContent = command;
        said.replaceChildren(words.copy_failed + more, held);
        if (held instanceof HTMLTextAreaElement) held.select();
      }
    };
    bar.append(make("button", { type: "button", click: copy }, words.curl), said);
  }
}

/**
 * @param {string} content
 * @param {string} [kind]
 */
function text(content, kind = "") {
  return make("pre", { class: `text ${kind}`.trim(), dir: "auto", tabindex: "0" }, content);
}

/**
 * @param {Record<string, string>} words
 * @param {string} key
 */
function named(words, key) {
  return Object.hasOwn(words, key) ? words[key] : visible(key);
}

/** @param {string} content */
function mono(content) {
  return make("bdi", { class: "mono" }, visible(content));
}

/**
 * Names from anywhere side by side, none of which turns the others round.
 * @param {string[]} names
 */
function isolated(names) {
  return names.flatMap((name, at) => (at ? [" · ", make("bdi", {}, name)] : [make("bdi", {}, name)]));
}
