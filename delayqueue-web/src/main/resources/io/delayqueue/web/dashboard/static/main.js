// Starts the page: selects the view, and requests data periodically.

import { html, render } from './lib/lit-html.js';
import { ask, changed, onChange, remember, state } from './store.js';
import { forgetPlots, plot } from './plots.js';
import { frame } from './frame.js';
import { overviewPage } from './overview.js';
import { loadQueue, queuePage } from './queue.js';
import { loadMessage, messagePage } from './message.js';
import { deadLetterPage, deadLettersPage, loadDeadLetter, loadDeadLetters } from './dead-letters.js';
import { loadNodes, nodesPage } from './nodes.js';
import { alertsPage } from './alerts.js';

const PAGES = {
  overview: { view: overviewPage },
  alerts: { view: alertsPage },
  nodes: { view: nodesPage, load: loadNodes },
  queue: { view: queuePage, load: loadQueue },
  message: { view: messagePage, load: loadMessage },
  deadLetters: { view: deadLettersPage, load: loadDeadLetters },
  deadLetter: { view: deadLetterPage, load: loadDeadLetter },
};

const DEAD_LETTERS = ['deadLetters', 'deadLetter'];
const FASTEST = 2_000;
const SLOWEST = 30_000;

let pause = FASTEST;
let timer;
let drawing = false;

function parse(hash) {
  let parts;
  try {
    parts = hash.replace(/^#\/?/, '').split('/').map(decodeURIComponent);
  }
  catch {
    return { page: 'overview' };
  }
  if (parts[0] === 'queues' && parts[1]) {
    const queue = parts[1];
    if (parts[2] === 'messages' && parts[3]) {
      return { page: 'message', queue, id: parts[3] };
    }
    if (parts[2] === 'dead-letters') {
      return parts[3] ? { page: 'deadLetter', queue, deadLetterId: parts[3] } : { page: 'deadLetters', queue };
    }
    return { page: 'queue', queue };
  }
  return { page: ['alerts', 'nodes'].includes(parts[0]) ? parts[0] : 'overview' };
}

function draw() {
  if (drawing) {
    return;
  }
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const onTitle = document.activeElement?.tagName === 'H1';
    render(frame(PAGES[state.route.page].view()), document.getElementById('app'));
    // Rendering may have replaced the title element.
    if (onTitle && document.activeElement === document.body) {
      document.querySelector('h1')?.focus();
    }
    plot();
  });
}

async function enter() {
  const hash = location.hash;
  if (hash === '#main') {
    return;
  }
  const before = JSON.stringify(state.route);
  const route = parse(hash);
  if (JSON.stringify(route) === before && state.entered) {
    return;
  }
  const first = !state.entered;
  state.entered = true;
  // Keep the state of the list while one of its dead letters is shown.
  if (!(DEAD_LETTERS.includes(route.page) && DEAD_LETTERS.includes(state.route.page) && route.queue === state.route.queue)) {
    state.page = {};
  }
  state.route = route;
  forgetPlots();
  changed();
  if (!first) {
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector('h1')?.focus()));
  }
  await refresh();
}

/** Requests the data of the view, less often while the server does not respond. */
async function refresh() {
  clearTimeout(timer);
  const route = state.route;
  try {
    remember(await ask('GET', 'overview'));
    if (route === state.route) {
      await PAGES[route.page].load?.(route);
    }
    pause = FASTEST;
  }
  catch (failure) {
    if (route === state.route) {
      state.failure = failure;
      pause = Math.min(pause * 2, SLOWEST);
    }
  }
  if (route !== state.route) {
    // The user navigated meanwhile, which has started another refresh.
    return;
  }
  changed();
  again();
}

function again() {
  clearTimeout(timer);
  if (state.live && !document.hidden) {
    timer = setTimeout(refresh, pause);
  }
}

export function setLive(live) {
  state.live = live;
  changed();
  if (live) {
    refresh();
  }
}

/** Refreshes now, to show a change that the user has made. */
export function refreshNow() {
  pause = FASTEST;
  return refresh();
}

onChange(draw);
document.addEventListener('dashboard:live', (event) => setLive(event.detail));
document.addEventListener('dashboard:refresh', () => refreshNow());
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('main')?.focus();
});
document.addEventListener('visibilitychange', () => document.hidden ? clearTimeout(timer) : refresh());
window.addEventListener('hashchange', enter);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  forgetPlots();
  changed();
});
// Keep countdowns running between two refreshes.
setInterval(() => !document.hidden && changed(), 1_000);
render(html`<p class="loading">Loading …</p>`, document.getElementById('app'));
enter();
