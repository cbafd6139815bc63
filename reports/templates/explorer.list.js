// The list: fifty thousand pairs, and in the page only the rows that are in sight.

const ROW = 28;
const BEYOND = 8;

class List {
  /**
   * @param {HTMLElement} box scrolls
   * @param {(row: number) => (Node | string)[]} fill content of a row
   * @param {(at: number) => void} open
   */
  constructor(box, fill, open) {
    this.box = box;
    this.fill = fill;
    this.rows = new Uint32Array(0);
    this.at = -1;
    this.long = make("div", { class: "x-long", role: "presentation" });
    box.append(this.long);
    let due = false;
    const soon = () => {
      if (due) return;
      due = true;
      requestAnimationFrame(() => {
        due = false;
        this.draw();
      });
    };
    box.addEventListener("scroll", soon, { passive: true });
    new ResizeObserver(soon).observe(box);
    box.addEventListener("click", (event) => {
      const row = event.target instanceof Element ? event.target.closest("[data-at]") : null;
      if (row instanceof HTMLElement) open(Number(row.dataset.at));
    });
  }

  /**
   * @param {Uint32Array} rows
   * @param {number} chosen the row that is open; it stays in sight if it is among them
   */
  show(rows, chosen) {
    this.rows = rows;
    this.at = rows.indexOf(chosen);
    this.long.style.height = `${rows.length * ROW}px`;
    if (this.at >= 0) this.reveal();
    else this.box.scrollTop = 0;
    this.draw();
  }

  /** @param {number} at */
  choose(at) {
    this.at = at;
    this.reveal();
    this.draw();
  }

  reveal() {
    const top = this.at * ROW, { scrollTop, clientHeight } = this.box;
    if (top < scrollTop) this.box.scrollTop = top;
    else if (top + ROW > scrollTop + clientHeight) this.box.scrollTop = top + ROW - clientHeight;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / ROW) - BEYOND);
    const last = Math.min(
      this.rows.length,
      Math.ceil((this.box.scrollTop + this.box.clientHeight) / ROW) + BEYOND,
    );
    const drawn = [];
    for (let at = first; at < last; at++) {
      const chosen = at === this.at;
      const row = make(
        "div",
        {
          class: chosen ? "x-row chosen" : "x-row",
          role: "option",
          id: `explorer-row-${at}`,
          "data-at": at,
          "aria-selected": String(chosen),
          "aria-posinset": at + 1,
          "aria-setsize": this.rows.length,
        },
        ...this.fill(this.rows[at]),
      );
      row.style.top = `${at * ROW}px`;
      drawn.push(row);
    }
    this.long.replaceChildren(...drawn);
    const seen = this.at >= first && this.at < last;
    if (seen) this.box.setAttribute("aria-activedescendant", `explorer-row-${this.at}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}
