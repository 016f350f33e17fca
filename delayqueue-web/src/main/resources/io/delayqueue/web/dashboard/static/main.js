// Starts the page: selects the view, and requests data periodically.

import { html, render } from './lib/lit-html.js';
import { ask, askForView, changed, leaveView, onChange, remember, state } from './store.js';
import { link, parse } from './address.js';
import { forgetPlots, plot } from './plots.js';
import { frame, loading, title } from './frame.js';
import { named } from './format.js';
import { overviewPage, prepareOverview } from './overview.js';
import { loadQueue, prepareQueue, queuePage } from './queue.js';
import { loadMessage, messagePage } from './message.js';
import { deadLetterPage, deadLettersPage, loadDeadLetter, loadDeadLetters, prepareDeadLetters } from './dead-letters.js';
import { loadNodes, nodesPage } from './nodes.js';
import { loadNode, nodePage, nodeTitle } from './node.js';
import { alertsPage } from './alerts.js';
import { loadActivity } from './activity.js';
import { loadNextHour } from './next-hour.js';
import { schedulePage, loadSchedule, prepareSchedule } from './schedule.js';
import { loadQueueSchedules, loadSchedules, prepareQueueSchedules, prepareSchedules, queueSchedulesPage, schedulesPage } from './schedules.js';
import { dismiss } from './dialog.js';
import { leaveSearch, loadSearch, searchPage } from './search.js';

const PAGES = {
  overview: { view: overviewPage, load: () => Promise.all([loadNextHour(), loadActivity(state.page)]), prepare: prepareOverview, text: () => 'Queues' },
  alerts: { view: alertsPage, text: () => 'Alerts' },
  nodes: { view: nodesPage, load: loadNodes, text: () => 'Nodes' },
  node: { view: nodePage, load: loadNode, text: nodeTitle },
  schedules: { view: schedulesPage, load: loadSchedules, prepare: prepareSchedules, text: () => 'Schedules' },
  queueSchedules: { view: queueSchedulesPage, load: loadQueueSchedules, prepare: prepareQueueSchedules, text: ({ queue }) => `Schedules – ${named(queue)}` },
  schedule: { view: schedulePage, load: loadSchedule, prepare: prepareSchedule, text: ({ queue, schedule }) => `${named(schedule)} – schedules – ${named(queue)}` },
  search: { view: searchPage, load: loadSearch, text: ({ id }) => `Search for ${named(id)}` },
  queue: { view: queuePage, load: loadQueue, prepare: prepareQueue, text: ({ queue }) => named(queue) },
  message: { view: messagePage, load: loadMessage, text: ({ queue, id }) => `${named(id)} – ${named(queue)}` },
  deadLetters: { view: deadLettersPage, load: loadDeadLetters, prepare: prepareDeadLetters, text: ({ queue }) => `Dead letters – ${named(queue)}` },
  deadLetter: { view: deadLetterPage, load: loadDeadLetter, text: ({ queue }) => `${named(state.page.opened?.deadLetter?.id ?? 'Dead letter')} – dead letters – ${named(queue)}` },
  unknown: { view: () => html`${title('No such page')}<p class="empty" role="status">This address belongs to no page of the dashboard. <a href="#/">All queues</a></p>`, text: () => 'No such page' },
};

const DEAD_LETTERS = ['deadLetters', 'deadLetter'];
// Together these let an outage show within three seconds. An answer that takes longer than PATIENCE may be one.
export const FASTEST = 1_600;
export const PATIENCE = 1_000;
const SLOWEST = 5_000;

/** Counts the questions about the store, and the data that answer them. */
let questions = 0;
let asking = null;
/** Counts the refreshes; the latest one alone decides when the next begins. */
let refreshes = 0;
let refreshing = false;
let pause = FASTEST;
let timer;
let drawing = false;

/** Renders a view once the overview is known, which all views need. */
function view(page) {
  return state.overview || !page.load ? page.view() : html`${title(page.text(state.route))}${loading()}`;
}

function draw() {
  if (drawing) {
    return;
  }
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const onTitle = document.activeElement?.tagName === 'H1';
    render(frame(view(PAGES[state.route.page])), document.getElementById('app'));
    // Rendering may have replaced the title element.
    if (onTitle && document.activeElement === document.body) {
      document.querySelector('h1')?.focus();
    }
    document.title = `${PAGES[state.route.page].text(state.route)} – DelayQueue`;
    plot();
  });
}

async function enter() {
  const hash = location.hash;
  if (hash === '#main') {
    return;
  }
  const before = state.route;
  const route = parse(hash);
  if (JSON.stringify(route) === JSON.stringify(before) && state.entered) {
    return;
  }
  const first = !state.entered;
  const sameView = link(...route.parts) === link(...before.parts);
  state.entered = true;
  if (!sameView) {
    // Keep the state of the list while one of its dead letters is shown.
    if (!(DEAD_LETTERS.includes(route.page) && DEAD_LETTERS.includes(before.page) && route.queue === before.queue)) {
      leaveSearch(state.page);
      clearTimeout(state.page.typing);
      state.page = {};
    }
    dismiss();
    leaveView();
    if (state.ofView) {
      state.failure = null;
      state.failingSince = null;
    }
  }
  state.route = route;
  PAGES[route.page].prepare?.(route);
  if (!sameView) {
    forgetPlots();
  }
  changed();
  if (!first && !sameView) {
    focusTitle();
  }
  await refresh();
}

/** Gives the focus to the title once the page is rendered. */
function focusTitle(when = '*', preventScroll = false) {
  requestAnimationFrame(() => requestAnimationFrame(() => document.activeElement?.matches(when) && document.querySelector('h1')?.focus({ preventScroll })));
}

async function readOverview() {
  const overview = await askForView('GET', 'overview');
  questions++;
  remember(overview);
  changed();
}

/** Requests the data of the view, less often while the server does not respond. */
async function refresh() {
  clearTimeout(timer);
  const route = state.route;
  const number = ++refreshes;
  refreshing = true;
  // Redis may stop answering at any of these requests, so the node is asked more than once.
  const impatient = setInterval(askStore, PATIENCE);
  try {
    // Side by side, so that a view waits for its own data only. A failure waits for both, so that requests do not pile up.
    const overview = readOverview();
    const answers = await Promise.allSettled([overview, PAGES[route.page].load?.(route, overview)?.then(changed)]);
    if (number === refreshes) {
      state.ofView = answers[0].status === 'fulfilled';
    }
    const failed = answers.find(({ status }) => status === 'rejected');
    if (failed) {
      throw failed.reason;
    }
    pause = FASTEST;
    if (number === refreshes) {
      state.failure = null;
      state.failingSince = null;
    }
  }
  catch (failure) {
    if (number === refreshes) {
      state.failure = failure;
      state.failingSince ??= new Date().toISOString();
      pause = Math.min(pause * 2, SLOWEST);
      await askStore();
    }
  }
  finally {
    clearInterval(impatient);
  }
  if (number !== refreshes) {
    // The user navigated or changed something meanwhile, which has started another refresh.
    return;
  }
  refreshing = false;
  changed();
  again();
}

/** Asks the node whether its Redis answers, which it says without waiting for Redis. There is one question at a time. */
function askStore() {
  asking ??= question().finally(() => {
    asking = null;
  });
  return asking;
}

/** Ignores an answer that newer data overtook. */
async function question() {
  const number = ++questions;
  let outage = null;
  try {
    const store = await ask('GET', 'store');
    if (store.unansweredForMillis !== null) {
      outage = { ...store, since: new Date(Date.now() - store.unansweredForMillis).toISOString() };
    }
  }
  catch {
    // The failure of the view is shown instead.
  }
  if (number === questions) {
    state.outage = outage;
    changed();
  }
}

function again() {
  clearTimeout(timer);
  if (state.live && !document.hidden) {
    timer = setTimeout(refresh, pause);
  }
}

function setLive(live) {
  state.live = live;
  changed();
  if (live) {
    refresh();
  }
  else {
    clearTimeout(timer);
  }
}

onChange(draw);
document.addEventListener('dashboard:live', (event) => setLive(event.detail));
document.addEventListener('dashboard:refresh', async () => {
  pause = FASTEST;
  await refresh();
  // The action may have removed or disabled its button.
  focusTitle('body, :disabled', true);
});
document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('main')?.focus();
});
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && !event.ctrlKey && !event.metaKey && !event.target.closest('input, select, textarea, dialog')) {
    event.preventDefault();
    document.getElementById('find')?.focus();
  }
});
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    clearTimeout(timer);
  }
  else if (state.live && !refreshing) {
    refresh();
  }
});
document.addEventListener('dashboard:address', enter);
window.addEventListener('hashchange', enter);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => {
  forgetPlots();
  changed();
});
// Keep countdowns running between two refreshes.
setInterval(() => !document.hidden && changed(), 1_000);
render(html`<p class="loading">Loading …</p>`, document.getElementById('app'));
enter();
