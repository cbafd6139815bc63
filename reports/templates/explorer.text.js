// Texts of models: made visible, quoted for a shell, put on the page as text and never as markup.

/** Characters that act instead of being read; the same as `_ACTING` in evalkit/report/text.py. */
const ACTING =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufdd0-\ufdef\ufffe\uffff\u{e0000}-\u{e007f}]|\p{Cs}/gu;
/** What nobody sees: shown only where it is all that differs. */
const UNSEEN = /[\u00ad\u061c\u180e\u200b-\u200f\u2028\u2029\u2060-\u2064\ufe00-\ufe0f\ufeff]/gu;

/** @param {string} char */
function picture(char) {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, "0")}⟧`;
}

/**
 * Replace each acting character by one that can be seen.
 * @param {string} text
 * @returns {string}
 */
function visible(text) {
  return text.replaceAll("\r\n", "\n").replace(ACTING, picture);
}

/**
 * Make also visible what has no width, for words that differ.
 * @param {string} text
 */
function allVisible(text) {
  const seen = visible(text);
  return seen.replace(UNSEEN, "").trim() === "" ? seen.replace(UNSEEN, picture) : seen;
}

/**
 * Quote a text so that a POSIX shell takes it as one word.
 * @param {string} text
 */
function shellQuote(text) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * Write JSON in which nothing acts on a terminal.
 * @param {unknown} value
 */
function quietJson(value) {
  return JSON.stringify(value).replace(ACTING, (char) =>
    Array.from({ length: char.length }, (_, at) => {
      return "\\u" + char.charCodeAt(at).toString(16).padStart(4, "0");
    }).join(""),
  );
}

/** A shell's argument may have 128 KiB on Linux. */
const LONGEST_ARGUMENT = 60_000;

/**
 * Return the command that asks an arm again. The key stands in it by its variable's name alone.
 * @param {{url: string | null, bodies: Record<string, Record<string, any>>}} request
 * @param {string} taskset
 * @param {number} epoch
 * @param {[string, string][]} prompt roles and contents
 */
function curlCommand(request, taskset, epoch, prompt) {
  const { model, ...rest } = request.bodies[taskset];
  const messages = prompt.map(([role, content]) => ({ role, content }));
  const body = { model, ...rest, messages };
  if (typeof body.seed === "number") body.seed += epoch;
  const json = quietJson(body);
  const url = request.url === null ? '"$OPENAI_BASE_URL/chat/completions"' : shellQuote(request.url);
  const head = [
    `curl -sS ${url}`,
    "-H 'Content-Type: application/json'",
    '-H "Authorization: Bearer $OPENAI_API_KEY"',
  ];
  return json.length > LONGEST_ARGUMENT
    ? [...head, "--data-binary @- <<'EVALKIT_BODY'"].join(" \\\n  ") + `\n${json}\nEVALKIT_BODY`
    : [...head, `--data-raw ${shellQuote(json)}`].join(" \\\n  ");
}

/**
 * Make an element. Strings become text nodes; there is no way to make markup of them.
 * @param {string} tag
 * @param {Record<string, any>} [set] attributes; `class` too; functions are listeners
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
function make(tag, set = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(set)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/**
 * Fill a sentence of the catalogue.
 * @param {string} template with `$name` where a fact belongs
 * @param {Record<string, string | number>} facts
 */
function told(template, facts) {
  return template.replace(/\$([a-z]+)/g, (whole, name) => {
    const fact = facts[name];
    if (fact === undefined) return whole;
    return typeof fact === "number" ? counted(fact) : fact;
  });
}

/** @param {number} n */
function counted(n) {
  return n.toLocaleString("en-US");
}
