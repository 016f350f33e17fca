// What the page knows, and how it asks the server.

import { follow } from './flow.js';
import { member } from './json.js';

export const state = {
  route: { page: 'overview' },
  overview: null,
  failure: null,
  live: true,
  skew: 0,
  filter: '',
  sort: { by: 'queue', down: false },
  shownRows: 50,
  page: {},
  history: [],
};

/** How many answers the plots show: five minutes of them, if the server answers. */
export const HISTORY = 150;

// What nodes have counted.
const track = [];

let draw = () => {};

export function onChange(listener) {
  draw = listener;
}

/** Has the page drawn again, once for all changes until then. */
export function changed() {
  draw();
}

/** The time of Redis, as well as this page knows it. */
export function now() {
  return Date.now() + state.skew;
}

export function may(authority) {
  return state.overview?.authorities.includes(authority) ?? false;
}

export class Refusal extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
  }
}

/** Asks the server; the path is below that of the page, so a proxy may put it anywhere. */
export async function ask(method, path, query = {}, body = undefined) {
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), 30_000);
  try {
    const answer = await fetch(address(`data/${path}${asked.size > 0 ? `?${asked}` : ''}`), {
      method,
      credentials: 'same-origin',
      redirect: 'error',
      headers: body === undefined ? { Accept: 'application/json' }
        : { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: limit.signal,
    });
    return await read(answer);
  }
  catch (failure) {
    if (failure instanceof Refusal) {
      throw failure;
    }
    throw new Refusal(0, 'No answer', 'The application did not answer. It may be restarting, or the network is down.');
  }
  finally {
    clearTimeout(timer);
  }
}

/** Without a password that the page's own address may contain: no browser fetches such a one. */
function address(path) {
  const url = new URL(path, location.href);
  url.username = '';
  url.password = '';
  return url;
}

async function read(answer) {
  const type = answer.headers.get('Content-Type') ?? '';
  const text = type.includes('json') ? await answer.text() : 'null';
  const json = JSON.parse(text);
  if (answer.ok) {
    if (json?.payload !== null && json?.payload !== undefined) {
      json.payloadText = member(text, 'payload');
    }
    return json;
  }
  if (answer.status === 401) {
    throw new Refusal(401, 'Not signed in', 'You are not signed in any more. Load this page again.');
  }
  throw new Refusal(answer.status, json?.title ?? 'Refused', json?.detail ?? `The server answered with status ${answer.status}.`);
}

export function queuePath(queue) {
  return `queues/${encodeURIComponent(queue)}`;
}

/** Keeps what the plots show; only what this page has seen itself. */
export function remember(overview) {
  state.overview = overview;
  state.failure = null;
  // Without queues nobody knows what time it is there.
  state.skew = overview.queues.length > 0 ? Date.parse(overview.now) - Date.now() : 0;
  const sum = (field) => overview.queues.reduce((total, queue) => total + queue[field], 0);
  const queues = new Map(overview.queues.map((queue) => [queue.queue, queue]));
  const at = Date.now();
  state.history.push({
    at,
    listens: overview.flow !== null,
    flow: follow(track, at, overview.flow),
    queues,
    total: { scheduled: sum('scheduled'), due: sum('due'), leased: sum('leased'), dead: sum('dead') },
  });
  if (state.history.length > HISTORY) {
    state.history.shift();
  }
}
