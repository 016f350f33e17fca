// Where the page begins: which view is shown, and when the server is asked.

import { html, render } from './lib/lit-html.js';
import { ask, changed, onChange, remember, state } from './store.js';
import { forgetPlots, plot } from './plots.js';
import { frame } from './frame.js';
import { overviewPage } from './overview.js';
import { loadQueue, queuePage } from './queue.js';
import { loadMessage, messagePage } from './message.js';
import { letterPage, lettersPage, loadLetter, loadLetters } from './letters.js';
import { loadNodes, nodesPage } from './nodes.js';
import { problemsPage } from './problems.js';

const PAGES = {
  overview: { view: overviewPage },
  problems: { view: problemsPage },
  nodes: { view: nodesPage, load: loadNodes },
  queue: { view: queuePage, load: loadQueue },
  message: { view: messagePage, load: loadMessage },
  letters: { view: lettersPage, load: loadLetters },
  letter: { view: letterPage, load: loadLetter },
};

const LETTERS = ['letters', 'letter'];
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
      return parts[3] ? { page: 'letter', queue, letterId: parts[3] } : { page: 'letters', queue };
    }
    return { page: 'queue', queue };
  }
  return { page: ['problems', 'nodes'].includes(parts[0]) ? parts[0] : 'overview' };
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
    // The title may be another element once all of the page is there.
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
  // Who goes back from a letter finds the list as it was.
  if (!(LETTERS.includes(route.page) && LETTERS.includes(state.route.page) && route.queue === state.route.queue)) {
    state.page = {};
  }
  state.route = route;
  forgetPlots();
  changed();
  if (!first) {
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector('h1')?.focus()));
  }
  await look();
}

/** Asks for what the view shows; slower and slower while the server does not answer. */
async function look() {
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
    // Whoever went elsewhere meanwhile has asked anew.
    return;
  }
  changed();
  again();
}

function again() {
  clearTimeout(timer);
  if (state.live && !document.hidden) {
    timer = setTimeout(look, pause);
  }
}

export function setLive(live) {
  state.live = live;
  changed();
  if (live) {
    look();
  }
}

/** After something was changed by the user, who wants to see it. */
export function lookNow() {
  pause = FASTEST;
  return look();
}

onChange(draw);
document.addEventListener('dashboard:live', (event) => setLive(event.detail));
document.addEventListener('dashboard:look', () => lookNow());
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('main')?.focus();
});
document.addEventListener('visibilitychange', () => document.hidden ? clearTimeout(timer) : look());
window.addEventListener('hashchange', enter);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  forgetPlots();
  changed();
});
// Countdowns go on between two looks.
setInterval(() => !document.hidden && changed(), 1_000);
render(html`<p class="loading">Loading …</p>`, document.getElementById('app'));
enter();
