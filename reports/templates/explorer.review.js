// Marks of reviewers, in a page that `evalkit view` serves: a score is wrong, a prompt is bad.

const OUTCOMES = ["correct", "incorrect", "abstained"];
/** Where the browser keeps the reviewer's name, so that it is typed once. */
const NAME_KEPT = "evalkit-reviewer";

class Review {
  /** @param {Record<string, string>} words */
  constructor(words) {
    this.words = words;
    /** @type {any[]} */
    this.marks = [];
    /** @type {any} the pair that is open */
    this.about = null;
    this.bar = make("p", { class: "x-review", role: "status" });
    this.list = make("div", { class: "x-marks" });
  }

  /** @param {HTMLElement} root */
  async start(root) {
    root.before(this.bar);
    root.addEventListener("explorer:pair", (event) => {
      if (event instanceof CustomEvent) this.offer(event.detail, root);
    });
    await this.load();
  }

  async load() {
    try {
      const answer = await fetch("marks", { cache: "no-store" });
      if (!answer.ok) throw new Error((await answer.json()).error);
      this.marks = await answer.json();
      this.count();
    } catch (error) {
      this.bar.textContent = `${this.words.unread} ${error instanceof Error ? visible(error.message) : ""}`;
    }
    this.list.replaceChildren(...this.told());
  }

  count() {
    const again = make("button", { type: "button", click: () => location.reload() }, this.words.again);
    const n = this.standing().length;
    const sentence = [this.words.none, this.words.one][n] ?? this.words.count;
    this.bar.replaceChildren(told(sentence, { n }), " ", ...(this.marks.length ? [again] : []));
  }

  /** Marks that nobody has taken back. */
  standing() {
    const gone = new Set(this.marks.map((mark) => mark.withdraws));
    return this.marks.filter((mark) => mark.kind !== "withdrawal" && !gone.has(mark.mark_id));
  }

  /**
   * Put buttons beside a pair that was opened.
   * @param {any} about the pair
   * @param {HTMLElement} root
   */
  offer(about, root) {
    const { words } = this;
    this.about = about;
    [about.baseline, about.candidate].forEach((arm, side) => {
      if (about.pair.answers[side].error !== null) return;
      const form = make("div", { class: "x-mark", hidden: true });
      const open = make("button", { type: "button", click: () => this.ask(form, open, { kind: "score", arm }) }, words.score);
      about.bars[side].append(open, form);
    });
    const head = root.querySelector(".x-head");
    if (head === null) return;
    const form = make("div", { class: "x-mark", hidden: true });
    const open = make("button", { type: "button", click: () => this.ask(form, open, { kind: "prompt" }) }, words.prompt);
    head.append(make("div", { class: "x-bar" }, open, form), this.list);
    this.list.replaceChildren(...this.told());
  }

  /** The marks on the open pair. */
  told() {
    const { about, words } = this;
    if (about === null) return [];
    const own = this.standing().filter(
      (mark) =>
        mark.taskset === about.taskset &&
        mark.sample_id === about.id &&
        (mark.kind === "prompt" || (mark.epoch === about.epoch && [about.baseline, about.candidate].includes(mark.arm))),
    );
    return own.map((mark) => {
      const said = mark.kind === "prompt" ? words.is_bad : `${visible(mark.arm)}: ${words[mark.outcome]}`;
      const form = make("div", { class: "x-mark", hidden: true });
      const back = make("button", { type: "button", click: () => this.ask(form, back, { kind: "withdrawal", withdraws: mark.mark_id }) }, words.withdraw);
      return make(
        "p",
        { class: "x-made" },
        make("strong", {}, said),
        " · ",
        make("bdi", {}, visible(mark.reviewer)),
        ": ",
        make("bdi", {}, visible(mark.reason)),
        " ",
        back,
        form,
      );
    });
  }

  /**
   * Open the form of one mark.
   * @param {HTMLElement} form
   * @param {HTMLElement} opener gets the focus back
   * @param {Record<string, string>} mark
   */
  ask(form, opener, mark) {
    const { words, about } = this;
    if (!form.hidden) return this.fold(form, opener);
    const outcome = make("select", {}, ...OUTCOMES.map((key) => make("option", { value: key }, words[key])));
    const reason = make("textarea", { rows: "2", maxlength: "2000" });
    const name = make("input", { type: "text", maxlength: "200", autocomplete: "name", value: kept() });
    const trouble = make("span", { class: "x-trouble", role: "alert" });
    const save = () => {
      const said = {
        ...mark,
        taskset: about.taskset,
        sample_id: about.id,
        epoch: about.epoch,
        reason: field(reason),
        reviewer: field(name),
        ...(mark.kind === "score" ? { outcome: field(outcome) } : {}),
      };
      this.save(said, trouble, () => this.fold(form, opener));
    };
    const label = (/** @type {string} */ word, /** @type {HTMLElement} */ input) =>
      make("label", {}, make("span", {}, word), input);
    form.replaceChildren(
      ...(mark.kind === "score" ? [label(words.outcome, outcome)] : []),
      label(words.reason, reason),
      label(words.reviewer, name),
      make("button", { type: "button", click: save }, words.save),
      make("button", { type: "button", click: () => this.fold(form, opener) }, words.cancel),
      trouble,
    );
    // Esc leaves the form and not the pair.
    form.onkeydown = (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      this.fold(form, opener);
    };
    form.hidden = false;
    const first = form.querySelector("select, textarea");
    if (first instanceof HTMLElement) first.focus();
  }

  /**
   * @param {HTMLElement} form
   * @param {HTMLElement} opener
   */
  fold(form, opener) {
    form.hidden = true;
    form.replaceChildren();
    opener.focus();
  }

  /**
   * @param {Record<string, any>} said
   * @param {HTMLElement} trouble
   * @param {() => void} done
   */
  async save(said, trouble, done) {
    if (!said.reason.trim() || !said.reviewer.trim()) {
      trouble.textContent = this.words.incomplete;
      return;
    }
    try {
      localStorage.setItem(NAME_KEPT, said.reviewer);
    } catch {
      // A browser that keeps nothing asks for the name again.
    }
    try {
      const headers = { "Content-Type": "application/json" };
      const answer = await fetch("marks", { method: "POST", headers, body: JSON.stringify(said) });
      const body = await answer.json();
      if (!answer.ok) throw new Error(body.error);
      this.marks.push(body);
    } catch (error) {
      trouble.textContent = `${this.words.unsaved} ${error instanceof Error ? visible(error.message) : ""}`;
      return;
    }
    done();
    this.count();
    this.list.replaceChildren(...this.told());
  }
}

/** @param {HTMLElement} input */
function field(input) {
  const typed = input instanceof HTMLTextAreaElement || input instanceof HTMLInputElement;
  return typed || input instanceof HTMLSelectElement ? input.value : "";
}

function kept() {
  try {
    return localStorage.getItem(NAME_KEPT) ?? "";
  } catch {
    return "";
  }
}

async function review() {
  const root = document.getElementById("explorer-app");
  if (root === null) return;
  await new Review(JSON.parse(await inflated("explorer-review"))).start(root);
}

review();
