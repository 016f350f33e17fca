// Shows whether queues are on time, by the objective of the application.

import { html, nothing } from './lib/lit-html.js';
import { count, duration, plural } from './format.js';
import { now, state } from './store.js';
import { link } from './address.js';
import { name } from './frame.js';

/**
 * Returns how late a queue is, in milliseconds: its oldest due message, or the 99th percentile of the handlers that all
 * nodes have begun within this minute and the one before, whichever is more. A queue that is paused is not late.
 */
function latenessOf(queue) {
  return queue.paused ? null : Math.max(queue.oldestDueMillis ?? -1, queue.latenessMillis ?? -1);
}

export function isLate(queue) {
  return latenessOf(queue) > state.overview.objectiveMillis;
}

/** Returns whether a message is later than the objective; one of a paused queue is not late. */
export function isMessageLate(queue, dueAt) {
  const paused = state.overview.queues.find((one) => one.queue === queue)?.paused;
  return !paused && now() - Date.parse(dueAt) > state.overview.objectiveMillis;
}

/** Returns whether a queue is late only by the handlers that have started: its oldest due message is not late. */
export function isLateByHandlers(queue) {
  return isLate(queue) && (queue.oldestDueMillis ?? -1) <= state.overview.objectiveMillis;
}

function tile(late, value, detail, more = nothing) {
  return html`<div class=${late ? 'bad' : 'good'}><dt>${late ? 'Late' : 'On time'}</dt><dd>${value}</dd><dd>${detail}; objective ${duration(state.overview.objectiveMillis)}</dd>${more}</div>`;
}

/** Names the larger of the two values of a queue. The activity of its handlers may not be recorded, or not be known yet. */
function kind(queue, recorded) {
  return queue.oldestDueMillis >= latenessOf(queue) ? 'oldest due'
    : `99 % of handlers${recorded === undefined ? '' : recorded ? ' on all nodes' : ' on this node'}`;
}

/** Renders for how many queues the handlers of all nodes count. */
function coverage({ activity }, { queues }) {
  if (!activity) {
    return nothing;
  }
  const recorded = new Set(activity.queues);
  const number = queues.filter(({ queue }) => recorded.has(queue)).length;
  return html`<dd>Handlers of ${number === queues.length ? 'all queues' : `${count(number)} of ${plural(queues.length, 'queue')}`} on all nodes count</dd>`;
}

/** Renders the tile of all queues: how many are late, and the worst of them. */
export function latenessTile() {
  const { queues, failures, more } = state.overview;
  if ((failures.length > 0 || more) && !queues.some(isLate)) {
    return html`<div><dt>On time</dt><dd>Unknown</dd><dd>Some queues are not read</dd></div>`;
  }
  const worst = queues.reduce((one, other) => one && latenessOf(one) >= latenessOf(other) ? one : other, null);
  if (!worst || latenessOf(worst) === null || latenessOf(worst) < 0) {
    return tile(false, 'Yes', queues.length > 0 && queues.every((queue) => queue.paused) ? 'All queues are paused' : 'No message is due', coverage(state.page, state.overview));
  }
  const late = queues.filter(isLate);
  return tile(late.length > 0, duration(latenessOf(worst)), html`<a href=${link('queues', worst.queue)}>${name(worst.queue)}</a>, ${kind(worst, state.page.activity?.queues.includes(worst.queue))}${late.length > 1 ? html`, and ${plural(late.length - 1, 'other queue')}` : nothing}`, coverage(state.page, state.overview));
}

/** Renders the tile of one queue. */
export function queueLatenessTile(name) {
  const queue = state.overview.queues.find((one) => one.queue === name);
  if (!queue || queue.paused) {
    return nothing;
  }
  const late = latenessOf(queue);
  return late < 0 ? tile(false, 'Yes', 'No message is due') : tile(isLate(queue), duration(late), kind(queue, state.page.activity?.recorded));
}
