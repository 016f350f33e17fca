// JSON as text: a parsed number loses digits, so payloads are shown without being parsed.

const TOKENS = /"(?:[^"\\]+|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;

/** Returns the text of a member of a JSON object as it stands there, or null if there is none. */
export function member(json, name) {
  let depth = 0;
  let start = -1;
  let previous = '';
  for (const { 0: token, index } of json.matchAll(TOKENS)) {
    if (depth === 1 && start >= 0 && (token === ',' || token === '}')) {
      return json.slice(start, index).trim();
    }
    if (depth === 1 && token === ':' && previous === JSON.stringify(name)) {
      start = index + 1;
    }
    depth += token === '{' || token === '[' ? 1 : token === '}' || token === ']' ? -1 : 0;
    previous = token;
  }
  return null;
}

/** Lays out JSON text in lines; every value stays as it is written. */
export function indented(json) {
  const tokens = json.match(TOKENS) ?? [];
  const parts = [];
  let depth = 0;
  const line = () => parts.push('\n', '  '.repeat(depth));
  tokens.forEach((token, at) => {
    const opens = token === '{' || token === '[';
    const closes = token === '}' || token === ']';
    const empty = closes && (tokens[at - 1] === '{' || tokens[at - 1] === '[');
    depth -= closes ? 1 : 0;
    if (closes && !empty) {
      line();
    }
    parts.push(token === ':' ? ': ' : token);
    depth += opens ? 1 : 0;
    if (token === ',' || (opens && tokens[at + 1] !== '}' && tokens[at + 1] !== ']')) {
      line();
    }
  });
  return parts.join('');
}
