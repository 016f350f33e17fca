// Lists schedules: those of all queues that are due next, or those of one queue, page by page.

import { html, nothing } from './lib/lit-html.js';
import { repeat } from './lib/directives/repeat.js';
import { count, countdown, duration, exactDuration, moment, named, plural } from './format.js';
import { ask, askForView, changed, may, now, queuePath, requireNotFound, state } from './store.js';
import { link, showQuery } from './address.js';
import { crumbs, loading, name, noQueue, time, title } from './frame.js';
import { show } from './dialog.js';
import { choosing, choosingAll, FIRST_PAGE, openPage, pageSize, pagesOf, turning, typing } from './pages.js';
import { DOING, askSchedules } from './schedule-actions.js';
import { ICONS } from './icons.js';

// Collecting more at once would take too long.
const MOST = 10_000;
const BATCH = 100;
const STEPS = 10;
const MAX_AGE = 10_000;
// The schedules of all queues may be this old: the node and the page each keep them for ten seconds.
const PATIENCE = 25_000;

// The owner of schedules that an application without a name declares.
const UNNAMED = '?';

/** Explains why occurrences were skipped. */
export const REASONS = {
  PAUSED: 'the schedule was paused',
  MISFIRE: 'missed, and the misfire policy does not make up for it',
  CATCH_UP_LIMIT: 'missed, and more than catchUpLimit later ones were due',
  EXPIRED: 'the time to live was over',
  OVERLAP: 'the queue still held the last occurrence',
  BACKLOG: 'the queue still held the occurrence that is catchUpLimit before it',
  REDEFINED: 'other times replaced those of the definition',
  DATA_LOSS: 'Redis had lost the schedule; some may have been sent before',
};

// ---- what a schedule looks like

export function zoneName({ zone }) {
  return zone === 'Z' ? 'UTC' : zone;
}

/** Renders when occurrences are sent: the expression and its zone, or the rate. */
export function times(schedule) {
  if (schedule.fixedRateMillis !== null) {
    return html`<span class="line">every ${exactDuration(schedule.fixedRateMillis)}</span>`;
  }
  return schedule.cron === '-' ? html`<span class="soft">no times: disabled</span>`
    : html`<code>${named(schedule.cron)}</code> <span class="soft line">${zoneName(schedule)}</span>`;
}

/** Renders the application that declares a schedule. */
export function ownerName(owner) {
  return owner === UNNAMED ? html`<span title="spring.application.name is not set">an application without a name</span>` : name(owner);
}

export function pausedTag({ paused }) {
  return paused ? html` <span class="tag paused">paused</span>` : nothing;
}

/** Renders what became of the last occurrence that was sent. */
export function outcome(queue, last) {
  if (!last) {
    return '–';
  }
  const message = (content) => html`<a href=${link('queues', queue, 'messages', last.id)}>${content}</a>`;
  switch (last.state) {
    case 'WAITING': return message('waiting');
    case 'IN_FLIGHT': return message('in flight');
    case 'RETRYING': return html`${message(html`<span class="tag warning">${ICONS.warning} retrying</span>`)} <span class="soft">${plural(last.failures, 'failure')}</span>`;
    case 'DEAD_LETTER': return html`<a href=${link('queues', queue, 'dead-letters', last.deadLetterId)}><span class="tag error">${ICONS.error} dead letter</span></a>`;
    case 'HANDLED': return html`<span class="tag ok">${ICONS.ok} handled</span>`;
    case 'EXPIRED': return 'expired';
    case 'CANCELLED': return 'cancelled';
    case 'PURGED': return 'dead letter, purged';
    case 'ENDED': return html`<span title="It was handled, or was cancelled, or expired. With a history of messages, the page of the schedule says which.">ended</span>`;
    case 'UNKNOWN': return html`<span title="The queue does not hold it, and it is not among the latest dead letters.">ended, or an older dead letter</span>`;
    // A newer node may return a state that this page does not know.
    default: return last.state;
  }
}

/** Renders how long it is until an occurrence. One that is not sent in time is late: no node fires it. */
export function untilNext(iso) {
  const behind = now() - Date.parse(iso);
  return behind < PATIENCE ? html`<span class="soft line">${behind > 0 ? 'now' : countdown(iso, now())}</span>`
    : html`<span class="late line">${duration(behind)} late</span>`;
}

function skipped(schedule) {
  const total = Object.values(schedule.skipped).reduce((sum, one) => sum + one, 0);
  const [latest] = schedule.skips;
  return html`<td class=${`number${total > 0 ? '' : ' zero'}`} data-label="Skipped">${count(total)}${latest
    ? html` <span class="soft line" title=${`${moment(latest.last)}: ${REASONS[latest.reason] ?? ''}`}>${latest.reason}</span>` : nothing}</td>`;
}

function row(schedule, within) {
  const { queue } = schedule;
  return html`<tr>
    ${within ? choosing(schedule.name, named(schedule.name)) : nothing}
    <th scope="row"><a href=${link('queues', queue, 'schedules', schedule.name)}>${name(schedule.name)}</a>${pausedTag(schedule)}</th>
    ${within ? nothing : html`<td class="queue" data-label="Queue"><a href=${link('queues', queue, 'schedules')}>${name(queue)}</a></td>`}
    <td data-label="Times">${times(schedule)}</td>
    <td class=${schedule.nextAt ? '' : 'zero'} data-label="Next">${time(schedule.nextAt)} ${schedule.nextAt ? untilNext(schedule.nextAt) : nothing}</td>
    <td class=${schedule.lastAt ? '' : 'zero'} data-label="Last">${time(schedule.lastAt)} ${schedule.lastAt ? html`<span class="soft line">${countdown(schedule.lastAt, now())}</span>` : nothing}</td>
    <td class=${schedule.lastOutcome ? '' : 'zero'} data-label="Outcome">${outcome(queue, schedule.lastOutcome)}</td>
    <td class=${`number${schedule.sent ? '' : ' zero'}`} data-label="Sent">${count(schedule.sent)}</td>
    ${skipped(schedule)}
    <td class=${schedule.owner ? '' : 'zero'} data-label="Owner">${schedule.owner ? ownerName(schedule.owner) : html`<span title="It was put by a call">–</span>`}</td>
  </tr>`;
}

function table(schedules, within) {
  return html`<div class="scroll" tabindex="0" role="group" aria-labelledby="schedules"><table>
    <caption class="unseen">Schedules, the one that is due next first</caption>
    <thead><tr>${within ? choosingAll(schedules.map((schedule) => schedule.name)) : nothing}
      <th scope="col">Name</th>${within ? nothing : html`<th scope="col">Queue</th>`}<th scope="col">Times</th><th scope="col">Next occurrence</th><th scope="col">Last occurrence</th>
      <th scope="col">Outcome of the last</th><th scope="col" class="number">Sent</th><th scope="col" class="number">Skipped</th><th scope="col">Owner</th></tr></thead>
    <tbody>${repeat(schedules, (schedule) => `${schedule.queue}\n${schedule.name}`, (schedule) => row(schedule, within))}</tbody>
  </table></div>`;
}

/** Renders how to add the first schedule. */
function howToAdd(queue) {
  const declared = `@DelayedSchedule(name = "daily-report", cron = "0 0 6 * * MON-FRI", queue = "${queue}")
void report(ScheduledOccurrence occurrence) { … }`;
  const put = `delayQueue.schedules("${queue}").put(ScheduleDefinition.cron("daily-report", "0 0 6 * * MON-FRI").build());`;
  const http = `PUT …/queues/${queue}/schedules/by-name?name=daily-report
{"cron": "0 0 6 * * MON-FRI", "zone": "Europe/Berlin"}`;
  return html`<div class="empty how"><p>There are no schedules. A schedule sends a message, an occurrence, at each of its times. There are three ways to add one:</p>
    ${[['Declared in the code, on a method of a bean', declared], ['Put by a call', put], ['Put over HTTP, with the authority DELAYQUEUE_SEND', http]]
    .map(([text, code]) => html`<h2>${text}</h2><pre tabindex="0">${code}</pre>`)}</div>`;
}

// ---- filter, in the address

function readFilter(view, query) {
  view.paused = query.state === 'paused';
  view.filter = query.filter ?? '';
  view.typed = view.typing ? view.typed : view.filter;
}

function filters(text) {
  const view = state.page;
  return html`<fieldset class="choices"><legend class="unseen">State</legend>${[['all', 'All'], ['paused', 'Only paused ones']].map(([which, label]) => html`<label><input type="radio" name="state" value=${which}
      .checked=${view.paused === (which === 'paused')} @change=${() => showQuery({ state: which === 'all' ? null : which, ...FIRST_PAGE })}>${label}</label>`)}</fieldset>
    <label><span class="unseen">${text}</span><input type="search" placeholder=${text} .value=${view.typed} @input=${typing('filter')}></label>`;
}

// ---- of all queues

export function prepareSchedules({ query }) {
  readFilter(state.page, query);
}

/** Requests the schedules of all queues, at most every ten seconds. With many queues the node reads them in parts. */
export async function loadSchedules() {
  const view = state.page;
  if (view.all && Date.now() - view.readAt < MAX_AGE) {
    return;
  }
  do {
    view.all = await askForView('GET', 'schedules');
    view.readAt = Date.now();
    view.asOf = new Date(view.readAt - view.all.ageMillis).toISOString();
    changed();
  } while (view.all.left > 0 && state.page === view);
}

function matching() {
  const view = state.page;
  const wanted = view.filter.trim().toLowerCase();
  return view.all.schedules.filter((schedule) => (!view.paused || schedule.paused)
    && [schedule.name, schedule.queue, schedule.owner ?? ''].some((text) => text.toLowerCase().includes(wanted)));
}

/** Says which schedules the page does not show. */
function omitted({ more, unread }) {
  const links = (queues) => queues.slice(0, 5).map((queue, index) => html`${index > 0 ? ', ' : ''}<a href=${link('queues', queue, 'schedules')}>${name(queue)}</a>`);
  const rest = (queues) => queues.length > 5 ? ` and ${count(queues.length - 5)} more` : '';
  return html`${more.length > 0 ? html`<p class="note">Only those that are due next are shown of ${more.length === 1 ? 'queue' : 'queues'} ${links(more)}${rest(more)}.</p>` : nothing}
    ${unread.length > 0 ? html`<p class="alert warning">The schedules of these queues could not be read: ${links(unread)}${rest(unread)}.</p>` : nothing}`;
}

export function schedulesPage() {
  const view = state.page;
  const head = title('Schedules');
  if (!view.all) {
    return html`${head}${loading()}`;
  }
  if (view.all.schedules.length === 0 && view.all.unread.length === 0) {
    return view.all.left > 0 ? html`${head}${loading()}` : html`${head}${howToAdd('reports')}`;
  }
  const some = matching();
  return html`${head}
    <section aria-labelledby="schedules">
      <div class="head"><h2 id="schedules">By next occurrence</h2>
      <div class="bar wide"><span class="soft" role="status">${plural(some.length, 'schedule')}, ${view.all.left > 0 ? `${plural(view.all.left, 'queue')} still to read …` : `as of ${moment(view.asOf)}`}</span>${filters('Name, queue or owner contains')}</div></div>
      ${some.length === 0 ? html`<p class="empty">No schedule matches.</p>` : table(some, false)}
      ${omitted(view.all)}
    </section>`;
}

// ---- of one queue

export function prepareQueueSchedules({ query }) {
  const view = state.page;
  const before = [view.paused, view.filter];
  readFilter(view, query);
  if (!view.pages || before[0] !== view.paused || before[1] !== view.filter) {
    view.pages = pagesOf();
  }
  openPage(view.pages, query);
  Object.assign(view, { found: null, chosen: new Set() });
}

function selection(view) {
  return { nameContains: view.filter, paused: view.paused ? 'true' : null };
}

/** Requests steps until there is a page or a limit is reached, because with a filter a step may return few or none. */
async function find(queue, view, from) {
  const schedules = [];
  const unreadable = [];
  let cursor = from;
  for (let steps = 0; steps < STEPS; steps++) {
    const some = await askForView('GET', `${queuePath(queue)}/schedules`, { ...selection(view), cursor, limit: pageSize() });
    schedules.push(...some.schedules);
    unreadable.push(...some.unreadable);
    cursor = some.nextCursor;
    if (!cursor || schedules.length >= pageSize()) {
      break;
    }
  }
  return { schedules, unreadable, nextCursor: cursor };
}

export async function loadQueueSchedules(route) {
  const view = state.page;
  const { cursor } = view.pages;
  const wanted = JSON.stringify(selection(view));
  try {
    const found = await find(route.queue, view, cursor);
    if (state.page === view && view.pages.cursor === cursor && JSON.stringify(selection(view)) === wanted) {
      Object.assign(view, { found, gone: false });
    }
  }
  catch (failure) {
    requireNotFound(failure);
    view.gone = true;
  }
}

/** Counts first: collects the names of what is shown, on all pages, even if the filter is changed meanwhile. */
async function askAll(queue, doing) {
  const view = state.page;
  const wanted = selection(view);
  const names = [];
  show('Counting …');
  try {
    let cursor = null;
    do {
      const some = await ask('GET', `${queuePath(queue)}/schedules`, { ...wanted, cursor, limit: BATCH });
      if (state.page !== view) {
        show('');
        return;
      }
      names.push(...some.schedules.map((schedule) => schedule.name));
      cursor = some.nextCursor;
      show(`Counting … ${count(names.length)}`);
    } while (cursor && names.length < MOST);
    show(cursor ? `More than ${count(MOST)} match; these are the first` : '');
    if (names.length > 0) {
      askSchedules(queue, doing, [...new Set(names)]);
    }
    else {
      show('No schedule matches');
    }
  }
  catch (error) {
    show(`Nothing was changed: ${error.message}`);
  }
}

function actions(queue) {
  if (!may('OPERATE')) {
    return nothing;
  }
  const chosen = [...state.page.chosen];
  // While a filter is typed, the schedules that match are not those on the page yet.
  return html`<div class="bar" role="group" aria-label="Actions">
    ${Object.entries(DOING).map(([doing, how]) => html`<button type="button" ?disabled=${chosen.length === 0} @click=${() => askSchedules(queue, doing, chosen)}>${how.verb}${chosen.length > 0 ? ` (${count(chosen.length)})` : ''} …</button>`)}
    <span class="gap"></span>
    ${Object.entries(DOING).filter(([, how]) => how.many).map(([doing, how]) => html`<button type="button" ?disabled=${Boolean(state.page.typing)} @click=${() => askAll(queue, doing)}>${how.verb}: all matching …</button>`)}
  </div>`;
}

function broken(schedule) {
  return html`<p class="alert error"><strong>${name(schedule.name)}</strong> is not readable and does not fire: ${schedule.reason}. Put it again, or remove it by the API.</p>`;
}

export function queueSchedulesPage() {
  const { queue } = state.route;
  const view = state.page;
  const head = html`${crumbs([queue, link('queues', queue)], ['Schedules', link('queues', queue, 'schedules')])}${title(html`Schedules of ${name(queue)}`)}`;
  if (view.gone) {
    return html`${head}${noQueue()}`;
  }
  if (!view.found) {
    return html`${head}${loading()}`;
  }
  const { schedules, unreadable, nextCursor } = view.found;
  const filtered = view.filter || view.paused;
  if (schedules.length === 0 && unreadable.length === 0 && !filtered && view.pages.number === 1) {
    return html`${head}${howToAdd(queue)}`;
  }
  return html`${head}
    <section aria-labelledby="schedules"><div class="head"><h2 id="schedules">By next occurrence</h2>
      <div class="bar">${filters('Name contains')}</div></div>
      ${actions(queue)}
      ${unreadable.map(broken)}
      ${schedules.length === 0 ? html`<p class="empty">${nextCursor ? 'No schedule of this page matches.' : 'No schedule matches.'}</p>` : table(schedules, true)}
      ${turning(view.pages, nextCursor)}
    </section>`;
}
