// Reads and writes the address: the view, and in its query what the view shows.

import { state } from './store.js';

const PAGES = ['alerts', 'nodes', 'schedules'];

/** Returns the address of a view. An object at the end is its query, of which absent values are left out. */
export function link(...parts) {
  const query = typeof parts.at(-1) === 'object' ? parts.pop() : {};
  const shown = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== null && value !== undefined && value !== ''));
  return `#/${parts.map(encodeURIComponent).join('/')}${shown.size > 0 ? `?${shown}` : ''}`;
}

export function parse(hash) {
  const [path, text = ''] = hash.replace(/^#\/?/, '').split('?');
  let parts;
  try {
    parts = path.split('/').map(decodeURIComponent).filter((part, index, all) => part !== '' || index < all.length - 1);
  }
  catch {
    return { page: 'unknown', parts: [], query: {} };
  }
  return { ...view(parts), parts, query: Object.fromEntries(new URLSearchParams(text)) };
}

function view([first, second, third, fourth]) {
  if (first === undefined) {
    return { page: 'overview' };
  }
  if (first === 'queues' && second) {
    if (third === 'messages' && fourth) {
      return { page: 'message', queue: second, id: fourth };
    }
    if (third === 'dead-letters') {
      return fourth ? { page: 'deadLetter', queue: second, deadLetterId: fourth } : { page: 'deadLetters', queue: second };
    }
    if (third === 'schedules') {
      return fourth ? { page: 'schedule', queue: second, schedule: fourth } : { page: 'queueSchedules', queue: second };
    }
    return third === undefined ? { page: 'queue', queue: second } : { page: 'unknown' };
  }
  if (first === 'nodes' && second) {
    return third === undefined ? { page: 'node', node: second } : { page: 'unknown' };
  }
  if (first === 'search' && second) {
    return { page: 'search', id: second, queue: third, prefix: Boolean(third) };
  }
  return { page: PAGES.includes(first) ? first : 'unknown' };
}

/** Changes the query of the address. Typing replaces the entry in the history of the browser, a click adds one. */
export function showQuery(changes, replace = false) {
  const address = link(...state.route.parts, { ...state.route.query, ...changes });
  if (replace) {
    history.replaceState(null, '', address);
  }
  else {
    history.pushState(null, '', address);
  }
  document.dispatchEvent(new CustomEvent('dashboard:address'));
}
