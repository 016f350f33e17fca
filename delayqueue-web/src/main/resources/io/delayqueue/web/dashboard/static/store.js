// Holds the state of the page, and requests data from the server.

import { follow } from './throughput.js';
import { member } from './json.js';

export const state = {
  route: { page: 'overview', parts: [], query: {} },
  // The last address of the list of queues, for the way back to it.
  overviewAddress: '#/',
  overview: null,
  failure: null,
  // When the first request failed since the last answer, and what the node knows of its Redis.
  failingSince: null,
  outage: null,
  // Whether the failure is that of a view alone, so that it ends with the view.
  ofView: false,
  live: true,
  skew: 0,
  page: {},
  history: [],
};

/** Maximum number of responses that the plots show: five minutes, if the server responds. */
export const HISTORY = 180;

// The counts of nodes.
const track = [];

// Each ends a request for data of the view.
const requestsOfView = new Set();

let draw = () => {};

export function onChange(listener) {
  draw = listener;
}

/** Schedules a rendering of the page, one for all changes until then. */
export function changed() {
  draw();
}

/** Returns the time of Redis, as far as this page knows it. */
export function now() {
  return Date.now() + state.skew;
}

export function may(authority) {
  return state.overview?.authorities.includes(authority) ?? false;
}

export class RequestError extends Error {
  constructor(status, title, detail) {
    super(detail || title);
    this.status = status;
    this.title = title;
  }

  /** Returns whether the server has rejected the request, so that a repetition is of no use. */
  get rejected() {
    return this.status >= 400 && this.status < 500;
  }
}

/** Sends a request. The path is relative to that of the page, so that it works behind any proxy. */
export function ask(method, path, query = {}, body = undefined) {
  return request(method, path, query, body, new AbortController());
}

/**
 * Sends a request for data of the view, which ends when the user leaves it. Browsers send few requests at a time to a host, so
 * those of a view that was left would delay the next one, and the question about an outage.
 */
export async function askForView(method, path, query = {}, body = undefined) {
  const limit = new AbortController();
  requestsOfView.add(limit);
  try {
    return await request(method, path, query, body, limit);
  }
  finally {
    requestsOfView.delete(limit);
  }
}

/** Ends the requests for data of the view, because the user leaves it. */
export function leaveView() {
  requestsOfView.forEach((limit) => limit.abort());
}

async function request(method, path, query, body, limit) {
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  const timer = setTimeout(() => limit.abort(), 30_000);
  try {
    // The server reads a plus as a plus, not as a blank; that of a value is written as %2B.
    const text = asked.toString().replaceAll('+', '%20');
    const answer = await fetch(address(`data/${path}${text ? `?${text}` : ''}`), {
      method,
      credentials: 'same-origin',
      redirect: 'manual',
      headers: body === undefined ? { Accept: 'application/json' }
        : { Accept: 'application/json', 'Content-Type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: limit.signal,
    });
    return await read(answer);
  }
  catch (failure) {
    if (failure instanceof RequestError) {
      throw failure;
    }
    throw new RequestError(0, 'No response', 'The application did not respond. It may be restarting, or the network is down.');
  }
  finally {
    clearTimeout(timer);
  }
}

/** Removes credentials from the address of the page, because browsers reject requests with them. */
function address(path) {
  const url = new URL(path, location.href);
  url.username = '';
  url.password = '';
  return url;
}

async function read(answer) {
  if (answer.type === 'opaqueredirect' || answer.status === 401) {
    // An application with a login page redirects to it.
    throw new RequestError(401, 'Not signed in', 'Your session has ended. Reload this page.');
  }
  const type = answer.headers.get('Content-Type') ?? '';
  if (answer.ok && answer.status !== 204 && !type.includes('json')) {
    throw new RequestError(0, 'Unexpected response', 'Something other than the application responded, such as a proxy or a login page. Reload this page.');
  }
  const text = type.includes('json') ? await answer.text() : 'null';
  const json = JSON.parse(text);
  if (answer.ok) {
    if (json?.payload !== null && json?.payload !== undefined) {
      json.payloadText = member(text, 'payload');
    }
    return json;
  }
  throw new RequestError(answer.status, json?.title ?? 'Rejected', json?.detail ?? `The server responded with status ${answer.status}.`);
}

/** Throws a failure again, unless the server has found nothing of that name. */
export function requireNotFound(failure) {
  if (failure.status !== 404) {
    throw failure;
  }
}

export function queuePath(queue) {
  return `queues/${encodeURIComponent(queue)}`;
}

/** Returns whether there is such a queue; the answer that a message was not found does not say that. */
export async function exists(queue) {
  if (state.overview?.queues.some((one) => one.queue === queue)) {
    return true;
  }
  try {
    await askForView('GET', queuePath(queue));
    return true;
  }
  catch (failure) {
    requireNotFound(failure);
    return false;
  }
}

/** Adds a response to the history that the plots show, which begins when the page is opened. */
export function remember(overview) {
  state.overview = overview;
  state.outage = null;
  // Without queues the time of Redis is unknown.
  state.skew = overview.queues.length > 0 ? Date.parse(overview.now) - Date.now() : 0;
  const sum = (field) => overview.queues.reduce((total, queue) => total + queue[field], 0);
  const queues = new Map(overview.queues.map((queue) => [queue.queue, queue]));
  const at = Date.now();
  state.history.push({
    at,
    listens: overview.throughput !== null,
    throughput: follow(track, at, overview.throughput),
    queues,
    total: { scheduled: sum('scheduled'), due: sum('due'), leased: sum('leased'), dead: sum('dead') },
  });
  if (state.history.length > HISTORY) {
    state.history.shift();
  }
}
