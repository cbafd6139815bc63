// The embedded data: an index of columns, and chunks of pairs that are inflated when needed.

/** Chunks that stay inflated: some hundred kilobytes each. */
const KEPT_CHUNKS = 8;

/**
 * Inflate what an inert element of the page holds.
 * @param {string} id
 * @returns {Promise<string>}
 */
async function inflated(id) {
  const held = await content(id);
  const packed = atob(held), bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at++) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  return new Response(stream).text();
}

/**
 * The chunks stand at the end of the page: it may still be on its way.
 * @param {string} id
 * @returns {Promise<string>}
 */
async function content(id) {
  const next = () => document.getElementById(id);
  while (document.readyState === "loading" && (next()?.nextSibling ?? null) === null) {
    await new Promise((done) => setTimeout(done, 20));
  }
  const found = next();
  if (found === null) throw new Error(`${id} is missing`);
  return found.textContent ?? "";
}

/** A macrotask, so that the page can paint and hear keys. */
const breath = () => new Promise((done) => setTimeout(done));

class Data {
  /** @param {any} index what evalkit/report/explorer.py writes */
  constructor(index) {
    this.index = index;
    this.size = index.id.length;
    /** @type {Map<number, Promise<any[]>>} */
    this.chunks = new Map();
  }

  static async open() {
    return new Data(JSON.parse(await inflated("explorer-index")));
  }

  /**
   * The value of a column of codes.
   * @param {string} column
   * @param {number} row
   */
  value(column, row) {
    const { values, codes } = this.index.columns[column];
    return values[codes[row]];
  }

  /**
   * @param {string} column
   * @param {number} row
   */
  label(column, row) {
    const { labels, codes } = this.index.columns[column];
    return labels[codes[row]];
  }

  /**
   * Rows that pass all filters, in the order of the list.
   * @param {Record<string, string>} filters value of each column; empty: any
   * @param {number} candidate
   * @returns {Uint32Array}
   */
  rows(filters, candidate) {
    const { columns, candidate: of } = this.index;
    /** @type {((row: number) => boolean)[]} */
    const tests = [(row) => of[row] === candidate];
    for (const [name, value] of Object.entries(filters)) {
      if (value === "" || columns[name] === undefined) continue;
      const code = columns[name].values.indexOf(value), codes = columns[name].codes;
      if (code < 0) tests.push(() => false);
      else if (name === "state") tests.push((row) => ((codes[row] >>> code) & 1) === 1);
      else tests.push((row) => codes[row] === code);
    }
    const found = new Uint32Array(this.size);
    let n = 0;
    for (let row = 0; row < this.size; row++) {
      if (tests.every((test) => test(row))) found[n++] = row;
    }
    return found.slice(0, n);
  }

  /** @param {number} row */
  chunkOf(row) {
    return Math.floor(this.index.place[row] / this.index.chunk);
  }

  /**
   * The texts of a pair.
   * @param {number} row
   */
  async pair(row) {
    const number = this.chunkOf(row);
    const kept = this.chunks.get(number) ?? inflated(`explorer-chunk-${number}`).then(JSON.parse);
    this.chunks.delete(number);
    this.chunks.set(number, kept);
    if (this.chunks.size > KEPT_CHUNKS) this.chunks.delete(this.chunks.keys().next().value ?? 0);
    return (await kept)[this.index.place[row] % this.index.chunk];
  }

  /**
   * Look for a text in prompts and answers, chunk by chunk; yields what is known so far.
   * Ids are looked at first, without inflating anything.
   * @param {Uint32Array} rows
   * @param {string} query
   * @param {() => boolean} stopped
   * @returns {AsyncGenerator<{found: Set<number>, done: number, all: number}>}
   */
  async *search(rows, query, stopped) {
    const wanted = query.toLowerCase(), raw = JSON.stringify(wanted).slice(1, -1);
    const found = new Set();
    /** @type {Map<number, number[]>} */
    const byChunk = new Map();
    for (const row of rows) {
      if (this.index.id[row].toLowerCase().includes(wanted)) found.add(row);
      const number = this.chunkOf(row);
      byChunk.get(number)?.push(row) ?? byChunk.set(number, [row]);
    }
    let done = 0;
    yield { found, done, all: byChunk.size };
    for (const [number, members] of byChunk) {
      if (stopped()) return;
      const text = await inflated(`explorer-chunk-${number}`);
      // Most chunks do not hold the text at all, and need not be parsed.
      if (text.toLowerCase().includes(raw)) {
        const pairs = JSON.parse(text);
        for (const row of members) {
          if (holds(pairs[this.index.place[row] % this.index.chunk], wanted)) found.add(row);
        }
      }
      yield { found, done: ++done, all: byChunk.size };
      await breath();
    }
  }
}

/**
 * @param {any} pair
 * @param {string} wanted in lower case
 */
function holds(pair, wanted) {
  const texts = [...pair.prompt.map((/** @type {string[]} */ turn) => turn[1]), pair.target];
  for (const { text, reasoning, answer } of pair.answers) texts.push(text, reasoning, answer);
  return texts.some((text) => typeof text === "string" && text.toLowerCase().includes(wanted));
}
