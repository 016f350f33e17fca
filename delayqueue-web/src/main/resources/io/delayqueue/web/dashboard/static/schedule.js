// Shows one schedule: its definition, its next times, its skips, and the actions.

import { html, nothing } from './lib/lit-html.js';
import { count, countdown, exactDuration, shown } from './format.js';
import { askForView, may, now, queuePath, requireNotFound, state } from './store.js';
import { link, showQuery } from './address.js';
import { crumbs, loading, name, time, title } from './frame.js';
import { facts, payload } from './message.js';
import { outcome, ownerName, pausedTag, REASONS, times, untilNext, zoneName } from './schedules.js';
import { askSchedules, resumeSchedule } from './schedule-actions.js';

const PREVIEWS = ['10', '25', '100'];

// The number of skips that the store keeps.
const ENTRIES = 20;

const MISFIRE = { ONCE: 'the last missed one is sent', SKIP: 'missed ones are skipped', ALL: 'missed ones are sent' };

const OVERLAP = { ALLOW: 'occurrences may run at the same time', QUEUE: 'an occurrence waits for those before it', SKIP: 'skipped while the queue holds the last one' };

export function prepareSchedule({ query }) {
  state.page.preview = PREVIEWS.includes(query.times) ? query.times : PREVIEWS[0];
}

export async function loadSchedule(route) {
  const view = state.page;
  const { preview } = view;
  try {
    const details = await askForView('GET', `${queuePath(route.queue)}/schedules/by-name`, { name: route.schedule, times: preview });
    if (state.page === view && view.preview === preview) {
      Object.assign(view, { details, gone: false });
    }
  }
  catch (failure) {
    requireNotFound(failure);
    view.gone = true;
  }
}

/** Formats a time in the zone of the schedule; null if the reader's clock shows the same, or the browser does not know the zone. */
function inZone(schedule) {
  const parts = { weekday: 'short', month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' };
  const mine = new Intl.DateTimeFormat('en-GB', parts);
  try {
    const theirs = new Intl.DateTimeFormat('en-GB', { ...parts, timeZone: zoneName(schedule) });
    return theirs.resolvedOptions().timeZone === mine.resolvedOptions().timeZone ? null : (iso) => theirs.format(new Date(iso));
  }
  catch {
    return null;
  }
}

function nextTimes(schedule, following) {
  const local = schedule.cron === null ? null : inZone(schedule);
  return html`<section aria-labelledby="next"><div class="head"><h2 id="next">Next times</h2>
    <div class="bar"><label class="beside">Show <select @change=${({ target }) => showQuery({ times: target.value === PREVIEWS[0] ? null : target.value })}>
      ${PREVIEWS.map((number) => html`<option value=${number} ?selected=${state.page.preview === number}>the next ${number}</option>`)}</select></label></div></div>
    ${following.length === 0 ? html`<p class="empty">The schedule has no times.</p>` : html`
    ${schedule.paused ? html`<p class="alert warning">The schedule is paused: these occurrences are skipped, and counted, until it is resumed.</p>` : nothing}
    <div class="scroll" tabindex="0" role="group" aria-labelledby="next"><table><caption class="unseen">Next times</caption>
      <thead><tr><th scope="col">Time</th>${local ? html`<th scope="col">In ${zoneName(schedule)}</th>` : nothing}<th scope="col">Due</th></tr></thead>
      <tbody>${following.map((iso) => html`<tr><th scope="row">${time(iso)}</th>${local ? html`<td data-label=${`In ${zoneName(schedule)}`}>${local(iso)}</td>` : nothing}<td data-label="Due">${countdown(iso, now())}</td></tr>`)}</tbody></table></div>`}</section>`;
}

function skips(schedule) {
  const totals = Object.entries(schedule.skipped);
  return html`<section aria-labelledby="skips"><h2 id="skips">Skipped occurrences</h2>
    ${totals.length === 0 ? html`<p class="empty">No occurrence was skipped.</p>` : html`
    <p class="note">${totals.map(([reason, number], index) => html`${index > 0 ? ', ' : ''}${count(number)} ${reason}`)}. Below are the last ${ENTRIES} skips at most; each stands for occurrences in a row.</p>
    <div class="scroll" tabindex="0" role="group" aria-labelledby="skips"><table><caption class="unseen">The last skips, the latest first</caption>
      <thead><tr><th scope="col">Reason</th><th scope="col">First</th><th scope="col">Last</th><th scope="col" class="number">Occurrences</th></tr></thead>
      <tbody>${schedule.skips.map((skip) => html`<tr><th scope="row">${skip.reason} <span class="soft">${REASONS[skip.reason] ?? ''}</span></th>
        <td data-label="First">${time(skip.first)}</td><td data-label="Last">${time(skip.last)}</td><td class="number" data-label="Occurrences">${count(skip.count)}</td></tr>`)}</tbody></table></div>`}</section>`;
}

function actions(queue, schedule) {
  if (!may('OPERATE')) {
    return null;
  }
  const asking = (doing, text) => html`<button type="button" @click=${() => askSchedules(queue, doing, [schedule.name])}>${text} …</button>`;
  return html`<div class="bar">
    ${schedule.paused ? html`<button type="button" class="primary" @click=${() => resumeSchedule(queue, schedule.name)}>Resume</button>` : asking('pause', 'Pause')}
    ${asking('trigger', 'Trigger')}${asking('remove', 'Remove')}</div>`;
}

export function schedulePage() {
  const { queue, schedule: wanted } = state.route;
  const { details, gone } = state.page;
  const head = crumbs([queue, link('queues', queue)], ['Schedules', link('queues', queue, 'schedules')], [wanted, link('queues', queue, 'schedules', wanted)]);
  if (!details || gone) {
    return html`${head}${title(html`Schedule ${name(wanted)}`)}${gone ? html`<p class="empty" role="status">Queue ${name(queue)} has no schedule of this name, or no longer has it.</p>` : loading()}`;
  }
  const { schedule, following } = details;
  return html`${head}
    ${title(html`Schedule ${name(wanted)}${pausedTag(schedule)}`, actions(queue, schedule))}
    ${facts([
    ['Times', times(schedule)],
    ['Next occurrence', schedule.nextAt ? html`${time(schedule.nextAt)} <strong>${untilNext(schedule.nextAt)}</strong>` : 'none'],
    ['Last occurrence', schedule.lastAt ? html`${time(schedule.lastAt)} <span class="soft line">${countdown(schedule.lastAt, now())}</span>` : 'none was sent'],
    ['Outcome of the last', schedule.lastAt ? html`${outcome(queue, schedule.lastOutcome)}${schedule.lastOutcome?.lastFailure ? html`<span class="soft line">${shown(schedule.lastOutcome.lastFailure)}</span>` : nothing}` : null],
    ['Sent', count(schedule.sent)],
    ['Owner', schedule.owner ? html`${ownerName(schedule.owner)} <span class="soft line">declares it in its code</span>` : 'none: it was put by a call'],
    ['Misfire', html`${schedule.misfire} <span class="soft line">${MISFIRE[schedule.misfire] ?? ''}</span>`],
    ['Overlap', html`${schedule.overlap} <span class="soft line">${OVERLAP[schedule.overlap] ?? ''}</span>`],
    ['Catch-up limit', count(schedule.catchUpLimit)],
    ['Time to live', schedule.timeToLiveMillis === null ? null : exactDuration(schedule.timeToLiveMillis)],
    ['Jitter', schedule.jitterMillis === 0 ? null : `at most ${exactDuration(schedule.jitterMillis)}`],
    ['Priority', schedule.priority],
  ])}
    ${nextTimes(schedule, following)}
    ${skips(schedule)}
    ${payload(details)}`;
}
