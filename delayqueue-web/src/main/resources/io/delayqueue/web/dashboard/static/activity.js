// Plots the counts of all nodes for the last three hours, by minute, as Redis has recorded it.

import { html, nothing } from './lib/lit-html.js';
import { count, duration, plural } from './format.js';
import { askForView, queuePath, state } from './store.js';
import { plotOf } from './plots.js';
import { link, showQuery } from './address.js';
import { name } from './frame.js';

const MAX_AGE = 6_000;
const MINUTE = 60_000;
// An axis names every half hour.
const LABELLED = 30;
const LONGEST = 600_000;
// Queues that are left out, and named.
const NAMED = 3;
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

/** Requests the activity of a queue, or of all, at most every six seconds. The other data of the view does not depend on it. */
export async function loadActivity(view, queue = null) {
  if (!view.activity || Date.now() - view.activity.at >= MAX_AGE) {
    try {
      const read = await askForView('GET', queue ? `${queuePath(queue)}/activity` : 'activity');
      view.activity = { ...read, at: Date.now() };
    }
    catch {
      // An outage is shown for the other data.
    }
  }
}

/** Returns whether the plots show the recorded activity: unless it is empty, or the last minutes of this tab are chosen. */
export function showsActivity(activity) {
  return !isLive() && Boolean(activity?.minutes.some((minute) => minute.reported));
}

/** Returns whether the plots show the last five minutes of this tab instead. */
function isLive({ query } = state.route) {
  return query.plots === 'live';
}

function late(millis) {
  return millis >= LONGEST ? `≥ ${duration(LONGEST)}` : duration(millis);
}

/** Returns the spans of minutes that meet a condition: { first, last }, indices. */
function spans(minutes, condition) {
  const found = [];
  minutes.forEach((minute, index) => {
    if (condition(minute, index)) {
      const before = found.at(-1);
      if (before?.last === index - 1) {
        before.last = index;
      }
      else {
        found.push({ first: index, last: index });
      }
    }
  });
  return found;
}

function outagesOf(minutes) {
  return spans(minutes, (minute) => minute.unanswered);
}

function begin(minutes) {
  return minutes.findIndex((minute) => minute.reported);
}

/** Returns the minutes without a report since the first one. Nodes may still report the current one. */
function gapsOf(minutes) {
  const first = begin(minutes);
  return spans(minutes, (minute, index) => !minute.reported && !minute.unanswered && index > first && index < minutes.length - 1);
}

/** Returns which minutes have a label: full half hours of the reader's time zone. */
function ticks(minutes) {
  return minutes.map((minute) => new Date(minute.from).getMinutes() % LABELLED === 0);
}

/** Returns the minutes in which nodes reported, and messages were not counted. Nodes may still count those of the current one. */
function uncountedOf(minutes) {
  return spans(minutes, (minute, index) => minute.reported && minute.due === null && index < minutes.length - 1);
}

function plotted(key, title, activity, series, unit) {
  const { minutes } = activity;
  return plotOf(key, {
    title,
    kind: 'line',
    labels: minutes.map((minute) => clock.format(new Date(minute.from))),
    ticks: ticks(minutes),
    bands: [...outagesOf(minutes).map((span) => ({ ...span, kind: 'outage' })), ...gapsOf(minutes).map((span) => ({ ...span, kind: 'gap' }))],
    series: series.map(([label, value]) => ({ label, data: minutes.map((minute, index) => value(minute, index === minutes.length - 1)) })),
    unit,
    whole: unit === count,
  });
}

/** The minute that is not over has no number of handlers yet. */
function whole(field) {
  return (minute, current) => current || !minute.reported ? null : minute[field];
}

function lateness(field) {
  return (minute) => minute[field];
}

/** Plots the activity: what queues hold, handler starts and failures, and lateness with the objective. */
export function activityPlots(activity, of) {
  const objective = state.overview.objectiveMillis;
  return [
    plotted('activity-backlog', `Messages of ${of}`, activity, [['Due', lateness('due')], ['In flight', lateness('leased')], ['Dead letters', lateness('dead')]], count),
    plotted('activity-handlers', 'Handlers per minute', activity, [['Started', whole('started')], ['Failed', whole('failed')]], count),
    plotted('activity-lateness', 'Lateness', activity, [['50 %', lateness('p50Millis')], ['99 %', lateness('p99Millis')], ['Objective', () => objective]], late),
  ];
}

function from(minute) {
  return clock.format(new Date(minute.from));
}

function between(minutes, { first, last }) {
  const end = clock.format(new Date(Date.parse(minutes[last].from) + MINUTE));
  return html`<span class="whole">${from(minutes[first])} to ${last === minutes.length - 1 ? 'now' : end}</span>`;
}

function listed(minutes, found) {
  return found.slice(-5).map((span, index) => html`${index > 0 ? ', ' : nothing}${between(minutes, span)}`);
}

/** Renders in words what the bands of the plots mean, and which queues have no plots. */
export function activityNote(activity) {
  const { minutes, queue, queues, maxQueues } = activity;
  const outages = outagesOf(minutes);
  const known = begin(minutes);
  const gaps = gapsOf(minutes);
  const uncounted = uncountedOf(minutes);
  const left = queue === null ? state.overview.queues.map((one) => one.queue).filter((one) => !queues.includes(one)) : [];
  return html`<p class="note">Of all nodes together, by minute${known > 0 ? `, recorded since ${from(minutes[known])}` : ''}.
    ${outages.length > 0 ? html`<span class="key outage"></span>Redis did not answer a node ${listed(minutes, outages)}. ` : nothing}
    ${gaps.length > 0 ? html`<span class="key gap-key"></span>No node reported ${listed(minutes, gaps)}. ` : nothing}
    ${uncounted.length > 0 ? html`Messages were not counted ${listed(minutes, uncounted)}. ` : nothing}
    ${left.length > 0 ? html`Messages are those of ${plural(queues.length, 'queue')}; left out ${left.length === 1 ? 'is' : 'are'} ${left.slice(0, NAMED).map((one, index) => html`${index > 0 ? ', ' : nothing}<a href=${link('queues', one)}>${name(one)}</a>`)}${left.length > NAMED
    ? ` and ${plural(left.length - NAMED, 'other')}` : ''}, ${queues.length >= maxQueues ? `beyond the first ${count(maxQueues)}` : 'without a listener'}.` : nothing}</p>`;
}

/** Renders why a queue has no plots of three hours. */
export function notRecorded(activity) {
  return !activity || activity.recorded || isLive() ? nothing : html`<p class="note">No activity of this queue is recorded: no node has had a listener for it within six
    hours${state.overview.queues.length > activity.maxQueues ? `, or it is not one of the first ${count(activity.maxQueues)} queues` : ''}.</p>`;
}

/** Renders the choice between three hours and the last minutes of this tab. */
export function rangeChoice() {
  const live = isLive();
  return html`<fieldset class="choices range"><legend class="unseen">Time of the plots</legend>
    ${[[false, '3 hours'], [true, 'Live']].map(([which, text]) => html`<label><input type="radio" name="plots" .checked=${live === which}
      @change=${() => showQuery({ plots: which ? 'live' : null })}>${text}</label>`)}</fieldset>`;
}
