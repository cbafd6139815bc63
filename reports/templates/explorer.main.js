// The explorer: filters, search, keys and the address, put together.

/** Filters in the order of the page, each a column of the index. */
const FILTERS = ["transition", "family", "taskset", "cause", "language", "length", "state"];
const SEARCH_DELAY = 250;

class Explorer {
  /**
   * @param {HTMLElement} root
   * @param {Data} data
   */
  constructor(root, data) {
    this.root = root;
    this.data = data;
    this.words = data.index.words;
    this.chosen = -1;
    this.query = "";
    this.candidate = 0;
    /** @type {Record<string, string>} */
    this.filters = Object.fromEntries(FILTERS.map((name) => [name, ""]));
    this.searches = 0;
    this.typing = 0;
    this.build();
    this.listen();
  }

  build() {
    const { words } = this;
    /** @type {Record<string, HTMLSelectElement>} */
    this.selects = {};
    this.input = make("input", { type: "search", id: "explorer-search", placeholder: words.search_hint, autocomplete: "off", spellcheck: "false" });
    this.keys = make("input", { type: "checkbox", checked: true });
    this.status = make("p", { class: "x-status", role: "status" });
    this.progress = make("span", { class: "x-progress" });
    this.stop = make("button", { type: "button", hidden: true, click: () => this.halt() }, words.stop);
    const box = make("div", { class: "x-list", role: "listbox", tabindex: "0", id: "explorer-list", "aria-label": words.list });
    const pane = make("div", { class: "x-detail", role: "region", "aria-label": words.pair, tabindex: "-1" });
    this.list = new List(box, (row) => this.rowContent(row), (at) => this.open(at));
    this.detail = new Detail(pane, this.data);
    this.root.replaceChildren(
      make(
        "form",
        { class: "x-filters", role: "search", submit: (/** @type {Event} */ event) => event.preventDefault() },
        ...this.choices(),
        make(
          "div",
          { class: "x-field x-search" },
          make("label", { for: "explorer-search" }, words.search),
          this.input,
        ),
        make("button", { type: "button", click: () => this.clear() }, words.clear),
        make("label", { class: "x-keys" }, this.keys, " ", words.keys),
      ),
      make("div", { class: "x-line" }, this.status, this.progress, this.stop),
      make("div", { class: "x-panes" }, box, pane),
    );
    this.detail.say(words.choose);
  }

  *choices() {
    const { index } = this.data;
    if (index.names.length > 2) {
      const candidates = index.names.slice(1).map((/** @type {string} */ name, /** @type {number} */ at) => [String(at), name]);
      yield this.choice("candidate", candidates, false);
    }
    for (const name of FILTERS) {
      const { values, labels } = index.columns[name];
      const known = values.map((/** @type {string} */ value, /** @type {number} */ at) => [value, labels[at]]);
      const offered = known.filter((/** @type {string[]} */ [value]) => value !== "");
      if (offered.length > 1 || name === "transition" || (name === "state" && offered.length)) {
        yield this.choice(name, offered, true);
      }
    }
  }

  /**
   * @param {string} name
   * @param {[string, string][]} offered value and label
   * @param {boolean} any whether it may be left open
   */
  choice(name, offered, any) {
    const id = `explorer-${name}`;
    const select = make("select", { id, change: () => this.filter() });
    if (!(select instanceof HTMLSelectElement)) throw new TypeError("no select");
    if (any) select.append(make("option", { value: "" }, this.words.any));
    for (const [value, label] of offered) {
      const sign = name === "transition" ? `${SIGNS[value]} ` : "";
      select.append(make("option", { value }, sign + label));
    }
    this.selects[name] = select;
    return make("div", { class: "x-field" }, make("label", { for: id }, this.words[name]), select);
  }

  listen() {
    this.input.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.filter(), SEARCH_DELAY);
    });
    // Other links within the page are none of ours.
    addEventListener("hashchange", () => location.hash.startsWith("#/") && this.restore());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {number} row */
  rowContent(row) {
    const { data } = this, moved = data.value("transition", row);
    const rest = data.value("cause", row) ? data.label("cause", row) : data.label("transition", row);
    return [
      make("span", { class: `x-sign x-${moved}` }, SIGNS[moved]),
      make("bdi", { class: "x-id" }, data.index.id[row]),
      make("span", { class: "x-rest" }, make("bdi", {}, data.label("family", row)), ` · ${rest}`),
    ];
  }

  /** Take filters over from the page. */
  filter() {
    for (const name of FILTERS) this.filters[name] = this.selects[name]?.value ?? "";
    this.candidate = Number(this.selects.candidate?.value ?? 0);
    this.query = this.input.value.trim();
    this.apply();
    this.remember();
  }

  clear() {
    for (const name of FILTERS) if (this.selects[name]) this.selects[name].value = "";
    this.input.value = "";
    this.filter();
  }

  /** Show what passes the filters; a search goes on behind it. */
  apply() {
    const rows = this.data.rows(this.filters, this.candidate);
    const search = ++this.searches;
    this.stop.hidden = true;
    this.progress.textContent = "";
    if (this.query === "") this.present(rows);
    else this.search(rows, search);
  }

  /**
   * @param {Uint32Array} rows
   * @param {number} search
   */
  async search(rows, search) {
    const current = () => this.searches === search;
    this.stop.hidden = false;
    let shown = -1;
    try {
      for await (const { found, done, all } of this.data.search(rows, this.query, () => !current())) {
        if (!current()) return;
        this.progress.textContent = told(this.words.searching, { done, all });
        if (found.size !== shown) this.present(rows.filter((row) => found.has(row)));
        shown = found.size;
      }
    } catch {
      this.progress.textContent = this.words.unreadable;
    }
    if (current()) this.stop.hidden = true;
  }

  /** Stop a search; what it has found stays. */
  halt() {
    this.searches++;
    this.stop.hidden = true;
    this.progress.textContent = `${this.progress.textContent} ${this.words.stopped}`;
  }

  /** @param {Uint32Array} rows */
  present(rows) {
    this.list.show(rows, this.chosen);
    this.list.box.hidden = rows.length === 0;
    const facts = { n: rows.length, total: this.data.size };
    this.status.textContent = told(rows.length ? this.words.count : this.words.none, facts);
    this.root.dataset.shown = String(rows.length);
  }

  /** @param {number} at place in the list */
  async open(at) {
    if (at < 0 || at >= this.list.rows.length) return;
    this.list.choose(at);
    await this.openRow(this.list.rows[at]);
    this.remember();
  }

  /** @param {number} row */
  async openRow(row) {
    this.chosen = row;
    try {
      const pair = await this.data.pair(row);
      // Somebody may have gone on while it was inflated.
      if (this.chosen === row) this.detail.show(row, pair, this.steps());
    } catch {
      this.detail.say(this.words.unreadable);
    }
    this.root.classList.toggle("open", this.chosen >= 0);
  }

  steps() {
    const step = (/** @type {string} */ word, /** @type {() => void} */ go) =>
      make("button", { type: "button", click: go }, word);
    return make(
      "div",
      { class: "x-steps" },
      step(this.words.previous, () => this.step(-1, 1)),
      step(this.words.next, () => this.step(1, 2)),
      step(this.words.close, () => this.close()),
    );
  }

  /**
   * Go on by a button, which is made anew with the pair and keeps the focus.
   * @param {number} by
   * @param {number} nth button
   */
  async step(by, nth) {
    await this.open(this.list.at + by);
    const button = this.root.querySelector(`.x-steps button:nth-child(${nth})`);
    if (button instanceof HTMLElement) button.focus({ preventScroll: true });
  }

  close() {
    this.chosen = -1;
    this.root.classList.remove("open");
    this.detail.say(this.words.choose);
    this.list.choose(-1);
    this.list.box.focus({ preventScroll: true });
    this.remember();
  }

  /** Keep what is shown in the address, so that it can be sent to somebody. */
  remember() {
    const { index } = this.data, said = new URLSearchParams();
    if (index.names.length > 2) said.set("candidate", index.names[this.candidate + 1]);
    for (const name of FILTERS) if (this.filters[name]) said.set(name, this.filters[name]);
    if (this.query) said.set("q", this.query);
    let path = "#/";
    if (this.chosen >= 0) {
      path += `s/${encodeURIComponent(index.id[this.chosen])}`;
      const twins = this.named(index.id[this.chosen]);
      if (twins.length > 1) {
        said.set("in", this.data.value("taskset", this.chosen));
        said.set("epoch", String(index.epoch[this.chosen]));
      }
    }
    history.replaceState(null, "", said.size ? `${path}?${said}` : path);
  }

  /**
   * Rows of the candidate with an id.
   * @param {string} id
   * @returns {number[]}
   */
  named(id) {
    const { index } = this.data, found = [];
    for (let row = index.id.indexOf(id); row >= 0; row = index.id.indexOf(id, row + 1)) {
      if (index.candidate[row] === this.candidate) found.push(row);
    }
    return found;
  }

  /** Show what the address says; without any word of ours in it, the regressions. */
  restore() {
    const [, id, query] = /^#\/(?:s\/([^?]*))?(?:\?(.*))?$/s.exec(location.hash) ?? [];
    const ours = location.hash.startsWith("#/"), asked = new URLSearchParams(query ?? "");
    const { names, columns } = this.data.index;
    this.candidate = Math.max(0, names.indexOf(asked.get("candidate") ?? "", 1) - 1);
    if (this.selects.candidate) this.selects.candidate.value = String(this.candidate);
    for (const name of FILTERS) {
      const start = !ours && name === "transition" ? "regression" : "";
      const value = asked.get(name) ?? start;
      this.filters[name] = columns[name].values.includes(value) ? value : "";
      if (this.selects[name]) this.selects[name].value = this.filters[name];
    }
    this.query = asked.get("q") ?? "";
    this.input.value = this.query;
    this.chosen = -1;
    if (id) this.restorePair(decoded(id), asked);
    else this.detail.say(this.words.choose);
    this.apply();
    if (ours) this.root.closest("section")?.scrollIntoView();
  }

  /**
   * @param {string} id
   * @param {URLSearchParams} asked
   */
  restorePair(id, asked) {
    const twins = this.named(id), within = asked.get("in"), epoch = asked.get("epoch");
    const exact = twins.filter(
      (row) =>
        (within === null || this.data.value("taskset", row) === within) &&
        (epoch === null || String(this.data.index.epoch[row]) === epoch),
    );
    if (exact.length) this.openRow(exact[0]);
    else this.detail.say(told(this.words.not_here, { id: visible(id) }));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const at = event.target instanceof HTMLElement ? event.target : document.body;
    const inside = this.root.contains(at), free = at === document.body || inside;
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || !free) return;
    if (event.key === "Escape") return this.escape(at);
    const on = at === this.list.box;
    if (on && this.listKey(event.key)) return event.preventDefault();
    const writes = at.matches("input:not([type=checkbox]), textarea, select");
    if (writes || !(this.keys instanceof HTMLInputElement && this.keys.checked)) return;
    if (event.key === "/") this.input.focus();
    else if (event.key === "j") this.open(this.list.at + 1);
    else if (event.key === "k") this.open(this.list.at - 1);
    else return;
    if (!inside) {
      this.root.scrollIntoView({ block: "nearest" });
      // So that Tab goes on from here, and not from the top of the page.
      if (event.key !== "/") this.list.box.focus({ preventScroll: true });
    }
    event.preventDefault();
  }

  /**
   * Keys that a list has everywhere.
   * @param {string} key
   * @returns {boolean} whether it was one
   */
  listKey(key) {
    const { list } = this, page = Math.max(1, Math.floor(list.box.clientHeight / ROW) - 1);
    const last = list.rows.length - 1;
    /** @type {Record<string, number>} */
    const goals = {
      ArrowDown: Math.min(list.at + 1, last),
      ArrowUp: Math.max(list.at - 1, 0),
      PageDown: Math.min(list.at + page, last),
      PageUp: Math.max(list.at - page, 0),
      Home: 0,
      End: last,
    };
    if (key === "Enter") document.getElementById("explorer-pair")?.focus();
    else if (goals[key] !== undefined) this.open(goals[key]);
    else return false;
    return true;
  }

  /**
   * One step back: from the search to the list, from a pair to the list.
   * @param {HTMLElement} at
   */
  escape(at) {
    if (!this.stop.hidden) this.halt();
    if (at === this.input) this.list.box.focus({ preventScroll: true });
    else if (this.chosen >= 0) this.close();
  }
}

/** @param {string} part of an address */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function start() {
  const [root, unscripted, old, broken] = ["app", "noscript", "old", "broken"].map((name) => {
    return /** @type {HTMLElement} */ (document.getElementById(`explorer-${name}`));
  });
  unscripted.hidden = true;
  if (typeof DecompressionStream === "undefined") {
    old.hidden = false;
    return;
  }
  const data = await Data.open().catch(() => null);
  if (data === null) {
    broken.hidden = false;
    return;
  }
  const explorer = new Explorer(root, data);
  root.hidden = false;
  explorer.restore();
  performance.mark("explorer-ready");
  Object.assign(window, {
    evalkitExplorer: { explorer, visible, tokens, diff, shellQuote, curlCommand },
  });
}

start();
