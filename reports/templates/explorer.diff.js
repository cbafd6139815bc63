// Two answers, word by word: words where a script has spaces, characters where it has none.

/** Scripts without spaces between words: one character (with its marks) is one token. */
const TOKENS = new RegExp(
  [
    "\\p{Extended_Pictographic}[\\p{M}\\u{1f3fb}-\\u{1f3ff}]*(?:\\u200d\\p{Extended_Pictographic}[\\p{M}\\u{1f3fb}-\\u{1f3ff}]*)*",
    "[\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]\\p{M}*",
    "(?:(?![\\p{sc=Han}\\p{sc=Hira}\\p{sc=Kana}\\p{sc=Hang}\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}])[\\p{L}\\p{N}\\p{M}_'’])+",
    "\\n",
    "[^\\S\\n]+",
    "[^]",
  ].join("|"),
  "gu",
);
/** More edits than this are not told apart: all behind the first difference is marked. */
const MOST_EDITS = 1200;

/**
 * Split a text into words, spaces, signs and characters; joined they are the text again.
 * @param {string} text
 * @returns {string[]}
 */
function tokens(text) {
  return text.match(TOKENS) ?? [];
}

/**
 * Compare two texts from their first difference on.
 * @param {string} before
 * @param {string} after
 * @returns {{before: [string, boolean][], after: [string, boolean][], at: number | null, whole: boolean}}
 *   parts of both texts with whether they differ; the place of the first difference in
 *   characters, `null` when there is none; whether they were compared to their ends
 */
function diff(before, after) {
  const a = tokens(before), b = tokens(after);
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  const most = Math.min(a.length, b.length) - head;
  while (tail < most && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const inA = a.slice(head, a.length - tail), inB = b.slice(head, b.length - tail);
  const same = head === a.length && head === b.length;
  const found = same ? { a: [], b: [], whole: true } : edits(inA, inB);
  const start = a.slice(0, head).join(""), end = a.slice(a.length - tail).join("");
  return {
    before: parts(start, inA, found.a, end),
    after: parts(start, inB, found.b, end),
    at: same ? null : [...start].length,
    whole: found.whole,
  };
}

/**
 * Find which tokens differ: Myers, An O(ND) difference algorithm, Algorithmica 1:251, 1986.
 * @param {string[]} a
 * @param {string[]} b
 * @returns {{a: boolean[], b: boolean[], whole: boolean}} for each token whether it differs
 */
function edits(a, b) {
  const all = { a: a.map(() => true), b: b.map(() => true), whole: a.length === 0 || b.length === 0 };
  if (all.whole) return all;
  const most = Math.min(a.length + b.length, MOST_EDITS);
  const reach = new Int32Array(2 * most + 3), middle = most + 1;
  /** @type {Int32Array[]} */
  const steps = [];
  for (let d = 0; d <= most; d++) {
    steps.push(reach.slice(middle - d - 1, middle + d + 2));
    for (let k = -d; k <= d; k += 2) {
      const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
      let x = down ? reach[middle + k + 1] : reach[middle + k - 1] + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      reach[middle + k] = x;
      if (x >= a.length && x - k >= b.length) {
        const marks = walk(a.length, b.length, steps);
        smooth(a, b, marks);
        return { ...marks, whole: true };
      }
    }
  }
  return all;
}

/**
 * Go the way back from the ends of both texts.
 * @param {number} x
 * @param {number} y
 * @param {Int32Array[]} steps how far each diagonal had come before each edit
 */
function walk(x, y, steps) {
  const a = new Array(x).fill(false), b = new Array(y).fill(false);
  for (let d = steps.length - 1; d > 0; d--) {
    const reach = steps[d], middle = d + 1, k = x - y;
    const down = k === -d || (k !== d && reach[middle + k - 1] < reach[middle + k + 1]);
    const from = down ? k + 1 : k - 1;
    const oldX = reach[middle + from], oldY = oldX - from;
    if (down) b[oldY] = true;
    else a[oldX] = true;
    x = oldX;
    y = oldY;
  }
  return { a, b };
}

/**
 * Mark also what two texts share between larger differences: a phrase reads better than
 * confetti, and two answers to one prompt share many a "the".
 * @param {string[]} a
 * @param {string[]} b
 * @param {{a: boolean[], b: boolean[]}} marks changed in place
 */
function smooth(a, b, marks) {
  const size = (/** @type {string[]} */ words) => words.join("").trim().length;
  const changed = (/** @type {boolean[]} */ of, /** @type {number} */ from) => {
    let to = from;
    while (of[to]) to++;
    return to;
  };
  let endA = changed(marks.a, 0), endB = changed(marks.b, 0);
  let before = Math.max(size(a.slice(0, endA)), size(b.slice(0, endB)));
  while (endA < a.length && endB < b.length) {
    let shared = 0;
    while (endA + shared < a.length && !marks.a[endA + shared] && !marks.b[endB + shared]) shared++;
    const fromA = endA + shared, fromB = endB + shared;
    const toA = changed(marks.a, fromA), toB = changed(marks.b, fromB);
    const after = Math.max(size(a.slice(fromA, toA)), size(b.slice(fromB, toB)));
    const between = size(a.slice(endA, fromA));
    if (before > 0 && after > 0 && between <= Math.min(before, after)) {
      marks.a.fill(true, endA, fromA);
      marks.b.fill(true, endB, fromB);
      before += between + after;
    } else {
      before = after;
    }
    endA = toA;
    endB = toB;
  }
}

/**
 * @param {string} start
 * @param {string[]} words
 * @param {boolean[]} marks
 * @param {string} end
 * @returns {[string, boolean][]}
 */
function parts(start, words, marks, end) {
  /** @type {[string, boolean][]} */
  const found = start === "" ? [] : [[start, false]];
  words.forEach((word, at) => {
    const last = found.at(-1);
    if (last !== undefined && last[1] === marks[at]) last[0] += word;
    else found.push([word, marks[at]]);
  });
  const last = found.at(-1);
  if (end !== "" && last !== undefined && !last[1]) last[0] += end;
  else if (end !== "") found.push([end, false]);
  return found;
}
